// RUN: aicf-opt %s --aicf-mixed-precision=dtype=f16 --split-input-file --verify-diagnostics

// Tests a step without a gradient to scale.
// expected-error @+1 {{f16 needs a loss scale, but entry @no_loss has no aicf.mse_grad}}
func.func @no_loss(%g: tensor<4xf32> {aicf.role = "input", aicf.name = "g"},
                   %w: tensor<4xf32> {aicf.role = "param", aicf.name = "w"},
                   %lr: tensor<f32> {aicf.role = "hyper", aicf.name = "lr"})
    -> (tensor<4xf32> {aicf.updates = "w"}) {
  %n, %m = aicf.sgd_step %w, %g, %lr : tensor<4xf32>, tensor<4xf32>, tensor<f32>
  return %n : tensor<4xf32>
}

// -----

// Tests a step that scales its loss itself.
func.func @own_scale(%t: tensor<4xf32> {aicf.role = "input", aicf.name = "t"},
                     %w: tensor<4xf32> {aicf.role = "param", aicf.name = "w"},
                     %lr: tensor<f32> {aicf.role = "hyper", aicf.name = "lr"})
    -> (tensor<4xf32> {aicf.updates = "w"}) {
  // expected-error @+1 {{has a loss_scale operand, but the loss scale of --aicf-mixed-precision needs its place}}
  %d = aicf.mse_grad %w, %t, %lr : tensor<4xf32>, tensor<4xf32>, tensor<f32>
  %n, %m = aicf.sgd_step %w, %d, %lr : tensor<4xf32>, tensor<4xf32>, tensor<f32>
  return %n : tensor<4xf32>
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
