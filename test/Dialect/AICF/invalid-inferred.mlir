// RUN: aicf-opt %s --split-input-file --verify-diagnostics

// Tests that a wrong operand is reported at its op, not where the result of another
// type than expected is used.

func.func @linear_swapped(%x: tensor<4x3xf32>, %w: tensor<3x2xf32>) -> tensor<4x2xf32> {
  // expected-error @+1 {{'aicf.linear' op C2: W is 'tensor<3x2xf32>', expected shape [3, 3]}}
  %0 = aicf.linear %x, %w : tensor<4x3xf32>, tensor<3x2xf32>
  return %0 : tensor<4x2xf32>
}

// -----

func.func @linear_rank(%x: tensor<4xf32>, %w: tensor<2x4xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{'aicf.linear' op C1: x is 'tensor<4xf32>' of rank 1, expected rank 2}}
  %0 = aicf.linear %x, %w : tensor<4xf32>, tensor<2x4xf32>
  return %0 : tensor<2xf32>
}

// -----

func.func @linear_bwd_swapped(%d: tensor<4x2xf32>, %x: tensor<4x3xf32>, %w: tensor<3x2xf32>) -> tensor<4x2xf32> {
  // expected-error @+1 {{'aicf.linear_bwd' op C2: dy is 'tensor<4x2xf32>', expected shape [4, 3]}}
  %0:3 = aicf.linear_bwd %d, %x, %w : tensor<4x2xf32>, tensor<4x3xf32>, tensor<3x2xf32>
  return %0#0 : tensor<4x2xf32>
}

// -----

func.func @loss_integer_target(%x: tensor<4x2xf32>, %t: tensor<4x2xi32>) -> tensor<f32> {
  // expected-error @+1 {{operand 1 (target) has element type i32, expected f16, bf16, f32 or f64}}
  %0 = aicf.mse_loss %x, %t : tensor<4x2xf32>, tensor<4x2xi32>
  return %0 : tensor<f32>
}

// -----

func.func @loss_integer_labels(%x: tensor<4x2xf32>, %t: tensor<4xi64>) -> tensor<f32> {
  // expected-error @+1 {{operand 1 (target) has element type i64, expected f16, bf16, f32 or f64}}
  %0 = aicf.mse_loss %x, %t : tensor<4x2xf32>, tensor<4xi64>
  return %0 : tensor<f32>
}

// -----

func.func @add(%a: tensor<3xf32>, %b: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // expected-error @+1 {{operand 1 (b) is 2x3xf32, expected 3xf32}}
  %0 = aicf.add %a, %b : tensor<3xf32>, tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// -----

func.func @relu_bwd(%a: tensor<3xf32>, %b: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // expected-error @+1 {{operand 1 (saved) is 2x3xf32, expected 3xf32}}
  %0 = aicf.relu_bwd %a, %b : tensor<3xf32>, tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// -----

func.func @reduce_sum(%a: tensor<2x3xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{C1: axes are [2], expected different dimensions of x, [2, 3], in order}}
  %0 = aicf.reduce_sum %a over [2] : tensor<2x3xf32>
  return %0 : tensor<2xf32>
}

// -----

func.func @layer_norm(%x: tensor<f32>, %g: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{C1: operand 0 (x) is f32 of rank 0, expected rank 1 or more}}
  %0:3 = aicf.layer_norm %x, %g, %g : tensor<f32>, tensor<2xf32>, tensor<2xf32>
  return %0#0 : tensor<2xf32>
}

// -----

func.func @step_inc(%n: tensor<1xi64>) -> tensor<i64> {
  // expected-error @+1 {{C1: operand 0 (step) is 1xi64 of rank 1, expected rank 0}}
  %0 = aicf.step_inc %n : tensor<1xi64>
  return %0 : tensor<i64>
}

// -----

func.func @sgd_step(%p: tensor<3xf32>, %g: tensor<2x3xf32>, %lr: tensor<f32>) -> tensor<2x3xf32> {
  // expected-error @+1 {{C1: operand 1 (g) is 2x3xf32, expected 3xf32}}
  %0:2 = aicf.sgd_step %p, %g, %lr : tensor<3xf32>, tensor<2x3xf32>, tensor<f32>
  return %0#0 : tensor<2x3xf32>
}

// -----

func.func @gather_rows(%d: tensor<f32>, %i: tensor<2xi32>) -> tensor<2xf32> {
  // expected-error @+1 {{C1: operand 0 (data) is f32 of rank 0, expected rank 1 or more}}
  %0 = aicf.gather_rows %d, %i : tensor<f32>, tensor<2xi32>
  return %0 : tensor<2xf32>
}

// -----

func.func @shuffle(%n: tensor<i64>) -> tensor<0xi32> {
  // expected-error @+1 {{'aicf.shuffle' op C3: batch is 0, expected a number in [1, 2^31)}}
  %0 = aicf.shuffle %n {size = 4 : i64, batch = 0 : i64} : tensor<i64>
  return %0 : tensor<0xi32>
}

// -----

func.func @record(%h: tensor<4xf32>, %v: tensor<2xf32>, %n: tensor<i64>) -> tensor<4x2xf32> {
  // expected-error @+1 {{C1: operand 1 (value) is 2xf32, expected f32}}
  %0 = aicf.record %h, %v, %n : tensor<4xf32>, tensor<2xf32>, tensor<i64>
  return %0 : tensor<4x2xf32>
}
