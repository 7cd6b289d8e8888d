// RUN: aicf-opt %s --convert-aicf-to-linalg --split-input-file | FileCheck %s --check-prefix=OUT
// RUN: aicf-opt %s --convert-aicf-to-linalg --convert-linalg-to-aicf --split-input-file | FileCheck %s

// Tests that constants go out as arith.constant and come back, of every type; an
// iota is a row of them that repeats.

// OUT-LABEL: @floats
// OUT: arith.constant dense<{{\[\[}}1.000000e+00, 2.000000e+00]]> : tensor<1x2xf32>
// OUT: linalg.generic
// CHECK-LABEL: @floats
// CHECK: %[[C:.*]] = aicf.constant dense<{{\[\[}}1.000000e+00, 2.000000e+00]]> : tensor<1x2xf32>
// CHECK: aicf.broadcast %{{.*}} to [3, 2]
// CHECK: aicf.add
// CHECK-NOT: linalg
func.func @floats(%x: tensor<3x2xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<3x2xf32> {aicf.name = "y"}) {
  %c = aicf.constant dense<[[1.0, 2.0]]> : tensor<1x2xf32>
  %b = aicf.broadcast %c to [3, 2] : tensor<1x2xf32>
  %y = aicf.add %x, %b : tensor<3x2xf32>, tensor<3x2xf32>
  return %y : tensor<3x2xf32>
}

// -----

// OUT-LABEL: @integers
// OUT: arith.constant dense<[0, 1, 2]> : tensor<3xi64>
// OUT: linalg.yield %in : i64
// OUT: arith.constant dense<[true, false]> : tensor<2xi1>
// OUT: arith.constant dense<7> : tensor<2xi32>
// CHECK-LABEL: @integers
// CHECK: %[[R:.*]] = aicf.constant dense<[0, 1, 2]> : tensor<3xi64>
// CHECK: %[[T:.*]] = aicf.reshape %[[R]] to [3, 1]
// CHECK: aicf.broadcast %[[T]] to [2, 3, 4]
// CHECK: aicf.constant dense<[true, false]> : tensor<2xi1>
// CHECK: aicf.constant dense<7> : tensor<2xi32>
// CHECK-NOT: linalg
func.func @integers() -> (tensor<2x3x4xi64> {aicf.name = "i"}, tensor<2xi1> {aicf.name = "m"},
                          tensor<2xi32> {aicf.name = "s"}) {
  %i = aicf.iota [2, 3, 4] {axis = 1, dtype = i64}
  %m = aicf.constant dense<[true, false]> : tensor<2xi1>
  %s = aicf.constant dense<7> : tensor<2xi32>
  return %i, %m, %s : tensor<2x3x4xi64>, tensor<2xi1>, tensor<2xi32>
}
