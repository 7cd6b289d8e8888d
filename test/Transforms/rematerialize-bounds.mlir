// RUN: aicf-opt %s --aicf-rematerialize --split-input-file | FileCheck %s
// RUN: aicf-opt %s --aicf-rematerialize=rate=100 --split-input-file | FileCheck %s --check-prefix=MASK

// The bounds of hardtanh are outside of where it passes dy on, and f32 holds every bound.
// CHECK-LABEL: @hardtanh
// CHECK: %[[Y:.*]] = aicf.hardtanh
// CHECK-NEXT: %[[S:.*]] = aicf.save %[[Y]]
// CHECK-NOT: aicf.save
// CHECK: aicf.hardtanh_bwd %arg1, %[[S]]
func.func @hardtanh(%W: tensor<4x4xf32> {aicf.role = "param", aicf.name = "W"},
                    %d: tensor<4x4xf32> {aicf.role = "input", aicf.name = "d"})
    -> (tensor<4x4xf32> {aicf.name = "a"}, tensor<4x4xf32> {aicf.name = "b"})
    attributes {aicf.target = #aicf.target<cpu, call_bytes = 0>} {
  %h = aicf.linear %d, %W : tensor<4x4xf32>, tensor<4x4xf32>
  %hs = aicf.save %h : tensor<4x4xf32>
  %y = aicf.hardtanh %h {min = 0.0, max = 0.1} : tensor<4x4xf32>
  %ys = aicf.save %y : tensor<4x4xf32>
  %a = aicf.hardtanh_bwd %d, %hs {min = 0.0, max = 0.1} : tensor<4x4xf32>, tensor<4x4xf32>
  %b = aicf.mul %d, %ys : tensor<4x4xf32>, tensor<4x4xf32>
  return %a, %b : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// MASK-LABEL: @masks
// MASK: %[[H:.*]] = aicf.linear
// MASK-NEXT: %[[L:.*]] = aicf.greater_scalar %[[H]] {value = -1.000000e+00 : f64}
// MASK-NEXT: %[[U:.*]] = aicf.less_scalar %[[H]] {value = 2.000000e+00 : f64}
// MASK-NEXT: %[[M:.*]] = aicf.logical_and %[[L]], %[[U]]
// MASK-NEXT: %[[S:.*]] = aicf.save %[[M]]
// MASK: %[[K:.*]] = aicf.linear %arg1, %arg0 {transW = false}
// MASK-NEXT: %[[L2:.*]] = aicf.greater_equal_scalar %[[K]] {value = -1.000000e+00 : f64}
// MASK-NEXT: %[[U2:.*]] = aicf.less_equal_scalar %[[K]] {value = 2.000000e+00 : f64}
// MASK-NEXT: %[[M2:.*]] = aicf.logical_and %[[L2]], %[[U2]]
// MASK-NEXT: %[[S2:.*]] = aicf.save %[[M2]]
// MASK: aicf.masked_fill %arg1, %[[S]]
// MASK: aicf.masked_fill %arg1, %[[S2]]
func.func @masks(%W: tensor<4x4xf32> {aicf.role = "param", aicf.name = "W"},
                 %d: tensor<4x4xf32> {aicf.role = "input", aicf.name = "d"})
    -> (tensor<4x4xf32> {aicf.name = "a"}, tensor<4x4xf32> {aicf.name = "b"})
    attributes {aicf.target = #aicf.target<cpu, call_bytes = 0>} {
  %h = aicf.linear %d, %W : tensor<4x4xf32>, tensor<4x4xf32>
  %hs = aicf.save %h : tensor<4x4xf32>
  %k = aicf.linear %d, %W {transW = false} : tensor<4x4xf32>, tensor<4x4xf32>
  %ks = aicf.save %k : tensor<4x4xf32>
  %a = aicf.hardtanh_bwd %d, %hs {min = -1.0, max = 2.0} : tensor<4x4xf32>, tensor<4x4xf32>
  %b = aicf.clamp_bwd %d, %ks {min = -1.0, max = 2.0} : tensor<4x4xf32>, tensor<4x4xf32>
  return %a, %b : tensor<4x4xf32>, tensor<4x4xf32>
}
