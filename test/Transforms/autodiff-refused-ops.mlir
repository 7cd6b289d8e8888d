// RUN: aicf-opt %s --aicf-autodiff --split-input-file --verify-diagnostics

// Tests that gradients do not pass what has no derivative.

func.func @no_derivative(%W: tensor<4x2xf32> {aicf.role = "param", aicf.name = "W"},
                         %i: tensor<4xi32> {aicf.role = "input", aicf.name = "i"})
    -> (tensor<f32> {aicf.name = "loss", aicf.minimize}) {
  // expected-error @+1 {{'aicf.gather_rows' op has no derivative: it cuts the loss off from parameter "W": mark that aicf.frozen, or, if it is trained elsewhere, put aicf.stop_gradient on the operand}}
  %g = aicf.gather_rows %W, %i : tensor<4x2xf32>, tensor<4xi32>
  %r = aicf.relu %g : tensor<4x2xf32>
  %l = aicf.mse_loss %r, %W : tensor<4x2xf32>, tensor<4x2xf32>
  return %l : tensor<f32>
}

// -----

// What makes an integer cuts, not what reads it.
func.func @argmax(%W: tensor<4x2xf32> {aicf.role = "param", aicf.name = "W"},
                  %x: tensor<4x2xf32> {aicf.role = "input", aicf.name = "x"},
                  %t: tensor<4x2xf32> {aicf.role = "input", aicf.name = "t"})
    -> (tensor<f32> {aicf.name = "loss", aicf.minimize}) {
  // expected-error @+1 {{'aicf.argmax' op cuts the loss off from parameter "W": mark that aicf.frozen if this is meant}}
  %i = aicf.argmax %W : tensor<4x2xf32>
  %r = aicf.gather_rows %x, %i : tensor<4x2xf32>, tensor<4xi32>
  %l = aicf.mse_loss %r, %t : tensor<4x2xf32>, tensor<4x2xf32>
  return %l : tensor<f32>
}

// -----

func.func @bce(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"},
               %W: tensor<4xf32> {aicf.role = "param", aicf.name = "W"})
    -> (tensor<f32> {aicf.name = "loss", aicf.minimize}) {
  // expected-error @+1 {{'aicf.bce_with_logits' op no derivative with respect to its target: use stop_gradient if that is intended}}
  %l = aicf.bce_with_logits %x, %W : tensor<4xf32>, tensor<4xf32>
  return %l : tensor<f32>
}

// -----

func.func @statistics(%W: tensor<4x2xf32> {aicf.role = "param", aicf.name = "W"},
                      %g: tensor<2xf32> {aicf.role = "input", aicf.name = "g"},
                      %t: tensor<4xf32> {aicf.role = "input", aicf.name = "t"})
    -> (tensor<f32> {aicf.name = "loss", aicf.minimize}) {
  // expected-error @+1 {{'aicf.layer_norm' op the loss depends on its mean or rstd, which have no derivative: use stop_gradient if that is intended}}
  %y, %mean, %rstd = aicf.layer_norm %W, %g, %g : tensor<4x2xf32>, tensor<2xf32>, tensor<2xf32>
  %l = aicf.mse_loss %rstd, %t : tensor<4xf32>, tensor<4xf32>
  return %l : tensor<f32>
}

// -----

// The parameter behind the op is named, not one that is cut off by intent.
func.func @behind(%U: tensor<4x2xf32> {aicf.role = "param", aicf.name = "U"},
                  %W: tensor<4x2xf32> {aicf.role = "param", aicf.name = "W"},
                  %W16: tensor<4x2xf16> {aicf.role = "state", aicf.name = "W.f16", aicf.derived_from = "W"},
                  %i: tensor<4xi32> {aicf.role = "input", aicf.name = "i"})
    -> (tensor<f32> {aicf.name = "loss", aicf.minimize}) {
  %s = aicf.stop_gradient %U : tensor<4x2xf32>
  %c = aicf.cast %W16 to f32 : tensor<4x2xf16>
  %r = aicf.relu %c : tensor<4x2xf32>
  %m = aicf.mul %s, %r : tensor<4x2xf32>, tensor<4x2xf32>
  // expected-error @+1 {{'aicf.gather_rows' op has no derivative: it cuts the loss off from parameter "W"}}
  %g = aicf.gather_rows %m, %i : tensor<4x2xf32>, tensor<4xi32>
  %l = aicf.mse_loss %g, %U : tensor<4x2xf32>, tensor<4x2xf32>
  return %l : tensor<f32>
}
