// RUN: aicf-opt %s --split-input-file --verify-diagnostics

// Tests that a wrong call of the cross entropy is refused where it is written.
func.func @labels(%x: tensor<4x10xf32>, %t: tensor<4xf32>) {
  // expected-error @+1 {{operand 1 (labels) has element type f32, expected i32 or i64}}
  %l = aicf.softmax_cross_entropy %x, %t : tensor<4x10xf32>, tensor<4xf32>
  return
}

// -----

func.func @rows(%x: tensor<4x10xf32>, %t: tensor<5xi32>) {
  // expected-error @+1 {{C2: operand 1 (labels) is 5xi32, expected 4xi32}}
  %l = aicf.softmax_cross_entropy %x, %t : tensor<4x10xf32>, tensor<5xi32>
  return
}

// -----

func.func @scalar(%x: tensor<f32>, %t: tensor<i32>) {
  // expected-error @+1 {{C1: operand 0 (logits) is f32 of rank 0, expected rank 1 or more}}
  %l = aicf.softmax_cross_entropy %x, %t : tensor<f32>, tensor<i32>
  return
}

// -----

func.func @smoothing(%x: tensor<4x10xf32>, %t: tensor<4xi32>) {
  // expected-error @+1 {{label_smoothing is 1, expected a number in [0, 1)}}
  %l = aicf.softmax_cross_entropy %x, %t {label_smoothing = 1.0} : tensor<4x10xf32>, tensor<4xi32>
  return
}

// -----

func.func @rows_of_gradient(%x: tensor<4x10xf32>, %t: tensor<4x1xi32>) {
  // expected-error @+1 {{C2: operand 1 (labels) is 4x1xi32, expected 4xi32}}
  %l = aicf.softmax_cross_entropy_grad %x, %t : tensor<4x10xf32>, tensor<4x1xi32>
  return
}

// -----

func.func @scalar_gradient(%x: tensor<f32>, %t: tensor<i32>) {
  // expected-error @+1 {{C1: operand 0 (logits) is f32 of rank 0, expected rank 1 or more}}
  %l = aicf.softmax_cross_entropy_grad %x, %t : tensor<f32>, tensor<i32>
  return
}

// -----

func.func @loss_scale(%x: tensor<4x10xf16>, %t: tensor<4xi32>, %s: tensor<f16>) {
  // expected-error @+1 {{C3: operand 2 (loss_scale) has element type f16, expected f32}}
  %l = aicf.softmax_cross_entropy_grad %x, %t, %s : tensor<4x10xf16>, tensor<4xi32>, tensor<f16>
  return
}

// -----

func.func @gelu_gradient(%dy: tensor<4xf32>, %x: tensor<5xf32>) {
  // expected-error @+1 {{operand 1 (x) is 5xf32, expected 4xf32}}
  %l = aicf.gelu_bwd %dy, %x : tensor<4xf32>, tensor<5xf32>
  return
}
