// RUN: aicf-opt %s --aicf-mixed-precision=dtype=f16 --split-input-file --verify-diagnostics
// RUN: not aicf-opt %s --aicf-mixed-precision=dtype=f16 --split-input-file
// RUN: not aicf-opt %s "--aicf-mixed-precision=dtype=f16 initial-scale=0" 2>&1 | FileCheck %s --check-prefix=ZERO
// RUN: not aicf-opt %s "--aicf-mixed-precision=dtype=f16 initial-scale=-1" 2>&1 | FileCheck %s --check-prefix=MINUS
// RUN: not aicf-opt %s "--aicf-mixed-precision=dtype=f16 initial-scale=1e39" 2>&1 | FileCheck %s --check-prefix=HUGE
// ZERO: initial-scale is 0, expected a number in [2^-24, 2^126]
// MINUS: initial-scale is -1, expected a number in [2^-24, 2^126]
// HUGE: initial-scale is 1e+39, expected a number in [2^-24, 2^126]

// Tests gradients of f16 that nothing keeps from vanishing.
func.func @unscaled(%t: tensor<4xf32> {aicf.role = "input", aicf.name = "t"},
                    %w: tensor<4xf32> {aicf.role = "param", aicf.name = "w"},
                    %lr: tensor<f32> {aicf.role = "hyper", aicf.name = "lr"})
    -> (tensor<4xf32> {aicf.updates = "w"}) {
  %d = aicf.mse_grad %w, %t : tensor<4xf32>, tensor<4xf32>
  // expected-error @+1 {{trains on gradients of f16 without a loss scale: give it inv_scale and ok, and the loss's gradient loss_scale, or derive the step with 'aicf.minimize'}}
  %n, %m = aicf.sgd_step %w, %d, %lr : tensor<4xf32>, tensor<4xf32>, tensor<f32>
  return %n : tensor<4xf32>
}

// -----

// Tests a second optimizer, which is forgotten.
func.func @forgotten(%t: tensor<4xf32> {aicf.role = "input", aicf.name = "t"},
                     %w: tensor<4xf32> {aicf.role = "param", aicf.name = "w"},
                     %v: tensor<4xf32> {aicf.role = "param", aicf.name = "v"},
                     %s: tensor<f32> {aicf.role = "state", aicf.name = "s"},
                     %lr: tensor<f32> {aicf.role = "hyper", aicf.name = "lr"})
    -> (tensor<4xf32> {aicf.updates = "w"}, tensor<4xf32> {aicf.updates = "v"}) {
  %d = aicf.mse_grad %w, %t, %s : tensor<4xf32>, tensor<4xf32>, tensor<f32>
  %ok = aicf.all_finite %d : tensor<4xf32>
  %i = aicf.reciprocal %s : tensor<f32>
  %n, %m = aicf.sgd_step %w, %d, %lr inv_scale %i ok %ok : tensor<4xf32>, tensor<4xf32>, tensor<f32> inv_scale tensor<f32> ok tensor<i32>
  // expected-error @+1 {{'aicf.sgd_step' op trains on gradients of f16 without a loss scale}}
  %o, %p = aicf.sgd_step %v, %d, %lr : tensor<4xf32>, tensor<4xf32>, tensor<f32>
  return %n, %o : tensor<4xf32>, tensor<4xf32>
}

// -----

// Tests gradients that nobody would unscale.
// expected-error @+1 {{has 'aicf.minimize' without 'aicf.optimizer': f16 multiplies the loss by a scale, and only an optimizer divides the gradients by it}}
func.func @gradients(%t: tensor<4xf32> {aicf.role = "input", aicf.name = "t"},
                     %w: tensor<4xf32> {aicf.role = "param", aicf.name = "w"})
    -> (tensor<f32> {aicf.name = "loss", aicf.minimize}) {
  %l = aicf.mse_loss %w, %t : tensor<4xf32>, tensor<4xf32>
  return %l : tensor<f32>
}
