// RUN: aicf-opt %s --aicf-autodiff -split-input-file | FileCheck %s
// RUN: aicf-opt %s -split-input-file --aicf-autodiff --aicf-lower-to-rt -o /dev/null

// Tests the gradients of attention: one op for q, k and v, another one for a mask of
// floats that needs one; both have the fields of the forward op.

// CHECK-LABEL: func.func @causal
// CHECK: %[[Y:.*]], %[[LSE:.*]] = aicf.attention %[[Q:.*]], %[[K:.*]], %[[V:.*]] {softcap = 5.000000e+00 : f64, window_right = 0 : i64}
// CHECK-DAG: %[[SAVED_Y:.*]] = aicf.save %[[Y]]
// CHECK-DAG: %[[SAVED_LSE:.*]] = aicf.save %[[LSE]]
// CHECK: aicf.attention_bwd %{{.*}}, %[[Q]], %[[K]], %[[V]], %[[SAVED_Y]], %[[SAVED_LSE]] {softcap = 5.000000e+00 : f64, window_right = 0 : i64}
// CHECK-NOT: aicf.attention_mask_bwd
func.func @causal(
    %q: tensor<1x4x2x8xf32> {aicf.role = "param", aicf.name = "q"},
    %k: tensor<1x4x1x8xf32> {aicf.role = "param", aicf.name = "k"},
    %v: tensor<1x4x1x8xf32> {aicf.role = "param", aicf.name = "v"})
    -> (tensor<f32> {aicf.name = "loss", aicf.minimize}) {
  %y, %lse = aicf.attention %q, %k, %v {window_right = 0, softcap = 5.0}
      : tensor<1x4x2x8xf32>, tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>
  %square = aicf.mul %y, %y : tensor<1x4x2x8xf32>, tensor<1x4x2x8xf32>
  %loss = aicf.mean %square : tensor<1x4x2x8xf32>
  return %loss : tensor<f32>
}

// -----

// CHECK-LABEL: func.func @mask
// CHECK: aicf.attention_bwd {{.*}} mask %[[MASK:.*]] step %[[STEP:.*]] {p = 5.000000e-01 : f64, seed = 3 : i64}
// CHECK: aicf.attention_mask_bwd {{.*}}, %[[MASK]] step %[[STEP]] {p = 5.000000e-01 : f64, seed = 3 : i64}
func.func @mask(
    %x: tensor<1x4x2x8xf32> {aicf.role = "param", aicf.name = "x"},
    %mask: tensor<1x2x4x4xf32> {aicf.role = "param", aicf.name = "bias"},
    %step: tensor<i64> {aicf.role = "input", aicf.name = "step"})
    -> (tensor<f32> {aicf.name = "loss", aicf.minimize}) {
  %y, %lse = aicf.attention %x, %x, %x mask %mask step %step {p = 0.5, seed = 3}
      : tensor<1x4x2x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2x8xf32>
        mask tensor<1x2x4x4xf32> step tensor<i64>
  %square = aicf.mul %y, %y : tensor<1x4x2x8xf32>, tensor<1x4x2x8xf32>
  %loss = aicf.mean %square : tensor<1x4x2x8xf32>
  return %loss : tensor<f32>
}

// -----

// Nothing is trained but the mask.
// CHECK-LABEL: func.func @mask_alone
// CHECK-NOT: aicf.attention_bwd
// CHECK: aicf.attention_mask_bwd
func.func @mask_alone(
    %x: tensor<1x4x2x8xf32> {aicf.role = "input", aicf.name = "x"},
    %mask: tensor<1x1x4x4xf32> {aicf.role = "param", aicf.name = "bias"})
    -> (tensor<f32> {aicf.name = "loss", aicf.minimize}) {
  %y, %lse = aicf.attention %x, %x, %x mask %mask
      : tensor<1x4x2x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2x8xf32>
        mask tensor<1x1x4x4xf32>
  %square = aicf.mul %y, %y : tensor<1x4x2x8xf32>, tensor<1x4x2x8xf32>
  %loss = aicf.mean %square : tensor<1x4x2x8xf32>
  return %loss : tensor<f32>
}
