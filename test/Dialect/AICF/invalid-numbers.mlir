// RUN: aicf-opt %s --split-input-file --verify-diagnostics

// Tests that the numbers of attributes are finite: before lowering, by the op that
// the user wrote.

func.func @layer_norm_c4_inf(%x: tensor<4x2xf32>, %g: tensor<2xf32>) {
  // expected-error @+1 {{eps is inf, expected a finite number >= 0}}
  %0:3 = aicf.layer_norm %x, %g, %g {eps = 0x7FF0000000000000 : f64} : tensor<4x2xf32>, tensor<2xf32>, tensor<2xf32>
  return
}

// -----

func.func @mse_grad_c3(%x: tensor<4xf32>) {
  // expected-error @+1 {{scale is nan, expected a finite number}}
  %0 = aicf.mse_grad %x, %x {scale = 0x7FF8000000000000 : f64} : tensor<4xf32>, tensor<4xf32>
  return
}

// -----

func.func @loss_scale_update_c2_inf(%s: tensor<f32>, %n: tensor<i32>) {
  // expected-error @+1 {{growth_factor is inf, expected a finite number >= 1}}
  %0:2 = aicf.loss_scale_update %s, %n, %n {growth_factor = 0x7FF0000000000000 : f64} : tensor<f32>, tensor<i32>, tensor<i32>
  return
}

// -----

func.func @adam_step_c4_eps(%p: tensor<4xf32>, %bc: tensor<2xf32>, %lr: tensor<f32>) {
  // expected-error @+1 {{eps is inf, expected a finite number >= 0}}
  %0:3 = aicf.adam_step %p, %p, %p, %p, %bc, %lr {eps = 0x7FF0000000000000 : f64} : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<2xf32>, tensor<f32>
  return
}

// -----

func.func @adam_step_c4_decay(%p: tensor<4xf32>, %bc: tensor<2xf32>, %lr: tensor<f32>) {
  // expected-error @+1 {{weight_decay is inf, expected a finite number >= 0}}
  %0:3 = aicf.adam_step %p, %p, %p, %p, %bc, %lr {weight_decay = 0x7FF0000000000000 : f64} : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<2xf32>, tensor<f32>
  return
}

// -----

func.func @adam_step_c4_nan(%p: tensor<4xf32>, %bc: tensor<2xf32>, %lr: tensor<f32>) {
  // expected-error @+1 {{beta1 is nan, expected a number in [0, 1)}}
  %0:3 = aicf.adam_step %p, %p, %p, %p, %bc, %lr {beta1 = 0x7FF8000000000000 : f64} : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<2xf32>, tensor<f32>
  return
}

// -----

func.func @sgd_step_c4_momentum(%p: tensor<4xf32>, %bc: tensor<2xf32>, %lr: tensor<f32>) {
  // expected-error @+1 {{momentum is inf, expected a finite number >= 0}}
  %0:2 = aicf.sgd_step %p, %p, %lr momentum %p {momentum = 0x7FF0000000000000 : f64} : tensor<4xf32>, tensor<4xf32>, tensor<f32> momentum tensor<4xf32>
  return
}

// -----

func.func @sgd_step_c4_decay(%p: tensor<4xf32>, %bc: tensor<2xf32>, %lr: tensor<f32>) {
  // expected-error @+1 {{weight_decay is inf, expected a finite number >= 0}}
  %0:2 = aicf.sgd_step %p, %p, %lr momentum %p {weight_decay = 0x7FF0000000000000 : f64} : tensor<4xf32>, tensor<4xf32>, tensor<f32> momentum tensor<4xf32>
  return
}
