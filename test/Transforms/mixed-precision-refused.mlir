// RUN: aicf-opt %s --aicf-mixed-precision=dtype=f16 --split-input-file --verify-diagnostics
// RUN: not aicf-opt %s "--aicf-mixed-precision=dtype=f16 initial-scale=0" 2>&1 | FileCheck %s --check-prefix=ZERO
// RUN: not aicf-opt %s "--aicf-mixed-precision=dtype=f16 initial-scale=-1" 2>&1 | FileCheck %s --check-prefix=MINUS
// RUN: not aicf-opt %s "--aicf-mixed-precision=dtype=f16 initial-scale=1e39" 2>&1 | FileCheck %s --check-prefix=HUGE
// ZERO: initial-scale is 0, expected a number in [2^-24, 2^126]
// MINUS: initial-scale is -1, expected a number in [2^-24, 2^126]
// HUGE: initial-scale is 1e+39, expected a number in [2^-24, 2^126]

// Tests a gradient that no loss makes.
func.func @no_loss(%g: tensor<4xf32> {aicf.role = "input", aicf.name = "g"},
                   %w: tensor<4xf32> {aicf.role = "param", aicf.name = "w"},
                   %lr: tensor<f32> {aicf.role = "hyper", aicf.name = "lr"})
    -> (tensor<4xf32> {aicf.updates = "w"}) {
  // expected-error @+1 {{has a gradient that does not come from a loss's gradient before the first optimizer: f16 needs a loss scale on it}}
  %n, %m = aicf.sgd_step %w, %g, %lr : tensor<4xf32>, tensor<4xf32>, tensor<f32>
  return %n : tensor<4xf32>
}

// -----

// Tests a step that scales its loss itself.
func.func @own_scale(%t: tensor<4xf32> {aicf.role = "input", aicf.name = "t"},
                     %w: tensor<4xf32> {aicf.role = "param", aicf.name = "w"},
                     %lr: tensor<f32> {aicf.role = "hyper", aicf.name = "lr"})
    -> (tensor<4xf32> {aicf.updates = "w"}) {
  // expected-error @+1 {{has a loss_scale operand or an operand of another type than f32: the loss scale of --aicf-mixed-precision needs the one free and the others f32}}
  %d = aicf.mse_grad %w, %t, %lr : tensor<4xf32>, tensor<4xf32>, tensor<f32>
  %n, %m = aicf.sgd_step %w, %d, %lr : tensor<4xf32>, tensor<4xf32>, tensor<f32>
  return %n : tensor<4xf32>
}

// -----

// Tests a sum of a scaled gradient and something else.
func.func @sum(%t: tensor<4xf32> {aicf.role = "input", aicf.name = "t"},
               %w: tensor<4xf32> {aicf.role = "param", aicf.name = "w"},
               %lr: tensor<f32> {aicf.role = "hyper", aicf.name = "lr"})
    -> (tensor<4xf32> {aicf.updates = "w"}) {
  %d = aicf.mse_grad %w, %t : tensor<4xf32>, tensor<4xf32>
  // expected-error @+1 {{adds a gradient that the loss scale of --aicf-mixed-precision multiplies, and a value that it does not}}
  %g = aicf.add %d, %w : tensor<4xf32>, tensor<4xf32>
  %n, %m = aicf.sgd_step %w, %g, %lr : tensor<4xf32>, tensor<4xf32>, tensor<f32>
  return %n : tensor<4xf32>
}

// -----

// Tests a gradient that is an output.
// expected-error @+1 {{result 0 is a gradient, which the loss scale of --aicf-mixed-precision would multiply; keep=grad keeps it, scaled}}
func.func @output(%t: tensor<4xf32> {aicf.role = "input", aicf.name = "t"},
                  %w: tensor<4xf32> {aicf.role = "param", aicf.name = "w"},
                  %lr: tensor<f32> {aicf.role = "hyper", aicf.name = "lr"})
    -> (tensor<4xf32> {aicf.name = "d"}, tensor<4xf32> {aicf.updates = "w"}) {
  %d = aicf.mse_grad %w, %t : tensor<4xf32>, tensor<4xf32>
  %n, %m = aicf.sgd_step %w, %d, %lr : tensor<4xf32>, tensor<4xf32>, tensor<f32>
  return %d, %n : tensor<4xf32>, tensor<4xf32>
}

// -----

// Tests an optimizer that is gated already.
func.func @own_ok(%t: tensor<4xf32> {aicf.role = "input", aicf.name = "t"},
                  %w: tensor<4xf32> {aicf.role = "param", aicf.name = "w"},
                  %lr: tensor<f32> {aicf.role = "hyper", aicf.name = "lr"})
    -> (tensor<4xf32> {aicf.updates = "w"}) {
  %d = aicf.mse_grad %w, %t : tensor<4xf32>, tensor<4xf32>
  %ok = aicf.all_finite %d : tensor<4xf32>
  // expected-error @+1 {{has an operand ok, but the loss scale of --aicf-mixed-precision needs its place}}
  %n, %m = aicf.sgd_step %w, %d, %lr ok %ok : tensor<4xf32>, tensor<4xf32>, tensor<f32> ok tensor<i32>
  return %n : tensor<4xf32>
}

// -----

// Tests a parameter that the scale of f32 does not fit.
func.func @wide(%t: tensor<4x2xf32> {aicf.role = "input", aicf.name = "t"},
                %y: tensor<4x2xf32> {aicf.role = "input", aicf.name = "y"},
                %w: tensor<4x2xf64> {aicf.role = "param", aicf.name = "w"},
                %lr: tensor<f64> {aicf.role = "hyper", aicf.name = "lr"})
    -> (tensor<4x2xf64> {aicf.updates = "w"}) {
  %d = aicf.mse_grad %y, %t : tensor<4x2xf32>, tensor<4x2xf32>
  %g = aicf.cast %d to f64 : tensor<4x2xf32>
  // expected-error @+1 {{updates 'tensor<4x2xf64>' with a gradient 'tensor<4x2xf64>': the loss scale of --aicf-mixed-precision needs a parameter of f32 and a gradient of f32 or f16}}
  %n, %m = aicf.sgd_step %w, %g, %lr : tensor<4x2xf64>, tensor<4x2xf64>, tensor<f64>
  return %n : tensor<4x2xf64>
}

// -----

// Tests gradients that nobody would unscale.
// expected-error @+1 {{has 'aicf.minimize' without 'aicf.optimizer': f16 multiplies the loss by a scale, and nobody would take it out of the gradients}}
func.func @gradients(%t: tensor<4xf32> {aicf.role = "input", aicf.name = "t"},
                     %w: tensor<4xf32> {aicf.role = "param", aicf.name = "w"})
    -> (tensor<f32> {aicf.name = "loss", aicf.minimize}) {
  %l = aicf.mse_loss %w, %t : tensor<4xf32>, tensor<4xf32>
  return %l : tensor<f32>
}

// -----

// Tests a product that would carry the scale twice.
func.func @square(%t: tensor<4xf32> {aicf.role = "input", aicf.name = "t"},
                  %w: tensor<4xf32> {aicf.role = "param", aicf.name = "w"},
                  %lr: tensor<f32> {aicf.role = "hyper", aicf.name = "lr"})
    -> (tensor<4xf32> {aicf.updates = "w"}) {
  %d = aicf.mse_grad %w, %t : tensor<4xf32>, tensor<4xf32>
  // expected-error @+1 {{multiplies two gradients, and so the loss scale of --aicf-mixed-precision with itself}}
  %g = aicf.mul %d, %d : tensor<4xf32>, tensor<4xf32>
  %n, %m = aicf.sgd_step %w, %g, %lr : tensor<4xf32>, tensor<4xf32>, tensor<f32>
  return %n : tensor<4xf32>
}

// -----

// Tests a function of scaled gradients in the update half: nobody unscales it.
func.func @clipped(%t: tensor<4xf32> {aicf.role = "input", aicf.name = "t"},
                   %w: tensor<4xf32> {aicf.role = "param", aicf.name = "w"},
                   %lr: tensor<f32> {aicf.role = "hyper", aicf.name = "lr"})
    -> (tensor<4xf32> {aicf.updates = "w"}, tensor<f32> {aicf.name = "norm"}) {
  %d = aicf.mse_grad %w, %t : tensor<4xf32>, tensor<4xf32>
  // expected-error @+1 {{'aicf.global_norm' op reads a gradient that the loss scale of --aicf-mixed-precision multiplies, in the update half, where only optimizers take it out again}}
  %norm = aicf.global_norm %d : tensor<4xf32>
  %n, %m = aicf.sgd_step %w, %d, %lr : tensor<4xf32>, tensor<4xf32>, tensor<f32>
  return %n, %norm : tensor<4xf32>, tensor<f32>
}
