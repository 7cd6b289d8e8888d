// RUN: aicf-opt %s --aicf-mixed-precision=dtype=bf16 | FileCheck %s

// Tests that attention computes on 16 bits, and that the logarithms of its sums keep 32:
// the gradient reads them as they are.

// CHECK-LABEL: func.func @step
// CHECK: %[[Y:.*]], %[[LSE:.*]] = aicf.attention {{.*}} : tensor<1x4x2x8xbf16>, tensor<1x4x2x8xbf16>, tensor<1x4x2x8xbf16> mask tensor<1x1x4x4xbf16>
// CHECK: aicf.attention_bwd %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[Y]], %[[LSE]] mask {{.*}}, tensor<1x4x2x8xbf16>, tensor<1x2x4xf32> mask tensor<1x1x4x4xbf16>
func.func @step(
    %x: tensor<1x4x2x8xf32> {aicf.role = "input", aicf.name = "x"},
    %mask: tensor<1x1x4x4xf32> {aicf.role = "input", aicf.name = "mask"},
    %dy: tensor<1x4x2x8xf32> {aicf.role = "input", aicf.name = "dy"})
    -> (tensor<1x4x2x8xf32> {aicf.name = "dx"}) {
  %y, %lse = aicf.attention %x, %x, %x mask %mask
      : tensor<1x4x2x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2x8xf32>
        mask tensor<1x1x4x4xf32>
  %dq, %dk, %dv = aicf.attention_bwd %dy, %x, %x, %x, %y, %lse mask %mask
      : tensor<1x4x2x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2x8xf32>,
        tensor<1x4x2x8xf32>, tensor<1x4x2x8xf32>, tensor<1x2x4xf32>
        mask tensor<1x1x4x4xf32>
  return %dq : tensor<1x4x2x8xf32>
}
