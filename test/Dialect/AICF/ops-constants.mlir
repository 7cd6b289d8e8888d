// RUN: aicf-opt %s | aicf-opt | FileCheck %s

// Tests that constants print what they parse, and infer their type.

// CHECK-LABEL: @constants
func.func @constants() {
  // CHECK: aicf.constant dense<[1.000000e+00, -2.000000e+00]> : tensor<2xf32>
  %a = aicf.constant dense<[1.0, -2.0]> : tensor<2xf32>
  // CHECK: aicf.constant dense<5.000000e-01> : tensor<4x1000000xbf16>
  %b = aicf.constant dense<0.5> : tensor<4x1000000xbf16>
  // CHECK: aicf.constant dense<[true, false]> : tensor<2xi1>
  %c = aicf.constant dense<[true, false]> : tensor<2xi1>
  // CHECK: %[[I:.*]] = aicf.iota [2, 3] {axis = 1 : i64}
  %i = aicf.iota [2, 3] {axis = 1}
  // CHECK: aicf.reshape %[[I]] to [6] : tensor<2x3xi32>
  %r = aicf.reshape %i to [6] : tensor<2x3xi32>
  // CHECK: aicf.iota [4] {axis = 0 : i64, dtype = f16}
  %f = aicf.iota [4] {axis = 0, dtype = f16}
  // CHECK: aicf.iota [1] {axis = 0 : i64, dtype = i1}
  %z = aicf.iota [1] {axis = 0, dtype = i1}
  return
}
