// RUN: aicf-opt %s --split-input-file --verify-diagnostics

// Tests the constraints: the ids are those of the op descriptions.

func.func @mse_loss_c1(%a: tensor<4xf32>, %b: tensor<4xf64>) {
  // expected-error @+1 {{C1: operand 0 (pred) has element type f32, expected f64}}
  %r = aicf.mse_loss %a, %b : tensor<4xf32>, tensor<4xf64>
  return
}

// -----

func.func @mse_grad_c1(%a: tensor<4xf32>, %b: tensor<5xf32>) {
  // expected-error @+1 {{C1: operand 0 (pred) is 4xf32, expected 5xf32}}
  %r = aicf.mse_grad %a, %b : tensor<4xf32>, tensor<5xf32>
  return
}

// -----

func.func @mse_grad_c2(%a: tensor<4xf32>, %s: tensor<1xf32>) {
  // expected-error @+1 {{C2: operand 2 (loss_scale) is 1xf32, expected f32}}
  %r = aicf.mse_grad %a, %a, %s : tensor<4xf32>, tensor<4xf32>, tensor<1xf32>
  return
}

// -----

func.func @mse_grad_c2_type(%a: tensor<4xf32>, %s: tensor<f64>) {
  // expected-error @+1 {{C2: operand 2 (loss_scale) has element type f64, expected f32}}
  %r = aicf.mse_grad %a, %a, %s : tensor<4xf32>, tensor<4xf32>, tensor<f64>
  return
}

// -----

func.func @reduce_sum_c1(%a: tensor<4x2xf32>) {
  // expected-error @+1 {{C1: axes are [0, 0], expected different dimensions of x, [4, 2], in order}}
  %r = aicf.reduce_sum %a over [0, 0] : tensor<4x2xf32>
  return
}

// -----

func.func @layer_norm_c1(%x: tensor<f32>, %g: tensor<1xf32>) {
  // expected-error @+1 {{C1: operand 0 (x) is f32 of rank 0, expected rank 1 or more}}
  %r:3 = aicf.layer_norm %x, %g, %g : tensor<f32>, tensor<1xf32>, tensor<1xf32>
  return
}

// -----

func.func @layer_norm_c2(%x: tensor<2x3xf32>, %g: tensor<2xf32>) {
  // expected-error @+1 {{C2: operand 1 (gamma) is 2xf32, expected 3xf32}}
  %r:3 = aicf.layer_norm %x, %g, %g : tensor<2x3xf32>, tensor<2xf32>, tensor<2xf32>
  return
}

// -----

func.func @layer_norm_c3(%x: tensor<2x3xf32>, %g: tensor<3xf64>) {
  // expected-error @+1 {{C3: operand 1 (gamma) has element type f64, expected f32}}
  %r:3 = aicf.layer_norm %x, %g, %g : tensor<2x3xf32>, tensor<3xf64>, tensor<3xf64>
  return
}

// -----

func.func @layer_norm_c4(%x: tensor<2x3xf32>, %g: tensor<3xf32>) {
  // expected-error @+1 {{eps is -1, expected a finite number >= 0}}
  %r:3 = aicf.layer_norm %x, %g, %g {eps = -1.0} : tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>
  return
}

// -----

func.func @layer_norm_bwd_c1(%d: tensor<2x4xf32>, %x: tensor<2x3xf32>, %g: tensor<3xf32>, %m: tensor<2xf32>) {
  // expected-error @+1 {{C1: operand 0 (dy) is 2x4xf32, expected 2x3xf32}}
  %r:3 = aicf.layer_norm_bwd %d, %x, %g, %m, %m : tensor<2x4xf32>, tensor<2x3xf32>, tensor<3xf32>, tensor<2xf32>, tensor<2xf32>
  return
}

// -----

func.func @layer_norm_bwd_c2(%x: tensor<2x3xf32>, %g: tensor<2xf32>, %m: tensor<2xf32>) {
  // expected-error @+1 {{C2: operand 2 (gamma) is 2xf32, expected 3xf32}}
  %r:3 = aicf.layer_norm_bwd %x, %x, %g, %m, %m : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
  return
}

// -----

func.func @layer_norm_bwd_c3(%x: tensor<2x3xf32>, %g: tensor<3xf32>, %m: tensor<3xf32>) {
  // expected-error @+1 {{C3: operand 3 (mean) is 3xf32, expected 2xf32}}
  %r:3 = aicf.layer_norm_bwd %x, %x, %g, %m, %m : tensor<2x3xf32>, tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
  return
}

// -----

func.func @layer_norm_bwd_c4(%x: tensor<2x3xf32>, %g: tensor<3xf32>, %m: tensor<2xf64>) {
  // expected-error @+1 {{C4: operand 3 (mean) has element type f64, expected f32}}
  %r:3 = aicf.layer_norm_bwd %x, %x, %g, %m, %m : tensor<2x3xf32>, tensor<2x3xf32>, tensor<3xf32>, tensor<2xf64>, tensor<2xf64>
  return
}

// -----

func.func @all_finite_c2(%a: tensor<4xf32>, %b: tensor<4xf64>) {
  // expected-error @+1 {{C1: operand 1 (grad) has element type f64, expected f32}}
  %r = aicf.all_finite %a, %b : tensor<4xf32>, tensor<4xf64>
  return
}

// -----

func.func @all_finite_c1() {
  // expected-error @+1 {{got 0 operands, expected 1 or more}}
  %r = "aicf.all_finite"() : () -> tensor<i32>
  return
}
