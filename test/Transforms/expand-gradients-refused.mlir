// RUN: aicf-opt %s --aicf-expand-gradients --split-input-file --verify-diagnostics

// Tests what no gradient is computed of.

// A copy of x is another tensor.
func.func @unreached(%x: tensor<4xf32>, %z: tensor<4xf32>) -> tensor<4xf32> {
  %y = aicf.mean %z : tensor<4xf32>
  // expected-error @+1 {{'aicf.gradient' op y does not depend on x: x must be the very tensor that y is computed from, and no copy, slice or cast of it}}
  %dx = aicf.gradient %y, %x : tensor<f32>, tensor<4xf32>
  return %dx : tensor<4xf32>
}

// -----

func.func @behind_a_stop(%x: tensor<4xf32>) -> tensor<4xf32> {
  %z = aicf.stop_gradient %x : tensor<4xf32>
  %y = aicf.mean %z : tensor<4xf32>
  // expected-error @+1 {{y does not depend on x: x must be the very tensor that y is computed from, and no copy, slice or cast of it}}
  %dx = aicf.gradient %y, %x : tensor<f32>, tensor<4xf32>
  return %dx : tensor<4xf32>
}

// -----

func.func @one_of_two(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %y = aicf.mean %x : tensor<4xf32>
  %z = aicf.scale %x {factor = 2.0 : f64} : tensor<4xf32>
  %dx = aicf.gradient %y, %x : tensor<f32>, tensor<4xf32>
  // expected-error @+1 {{y does not depend on x: x must be the very tensor that y is computed from, and no copy, slice or cast of it}}
  %dz = aicf.gradient %y, %z : tensor<f32>, tensor<4xf32>
  return %dx, %dz : tensor<4xf32>, tensor<4xf32>
}

// -----

func.func @behind_y(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = aicf.mean %x : tensor<4xf32>
  %z = aicf.scale %x {factor = 2.0 : f64} : tensor<4xf32>
  // expected-error @+1 {{y does not depend on x: x must be the very tensor that y is computed from, and no copy, slice or cast of it}}
  %dx = aicf.gradient %y, %z : tensor<f32>, tensor<4xf32>
  return %dx : tensor<4xf32>
}

// -----

func.func @no_derivative(%x: tensor<4x8xf32>, %i: tensor<2xi32>) -> tensor<4x8xf32> {
  // expected-error @+1 {{'aicf.gather_rows' op has no derivative: an aicf.gradient goes through it}}
  %z = aicf.gather_rows %x, %i : tensor<4x8xf32>, tensor<2xi32>
  %y = aicf.mean %z : tensor<2x8xf32>
  // expected-note @+1 {{the gradient is taken here}}
  %dx = aicf.gradient %y, %x : tensor<f32>, tensor<4x8xf32>
  return %dx : tensor<4x8xf32>
}

// -----

func.func @no_second(%x: tensor<4x8xf32>, %g: tensor<8xf32>, %b: tensor<8xf32>)
    -> tensor<4x8xf32> {
  // expected-error @+1 {{'aicf.layer_norm_bwd' op has no derivative: it computes one itself, which a gradient goes through, and a second one is not known}}
  %n, %mean, %rstd = aicf.layer_norm %x, %g, %b
      : tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>
  %y = aicf.mean %n : tensor<4x8xf32>
  %dx = aicf.gradient %y, %x : tensor<f32>, tensor<4x8xf32>
  %z = aicf.mean %dx : tensor<4x8xf32>
  // expected-note @+1 {{the gradient is taken here}}
  %d2 = aicf.gradient %z, %x : tensor<f32>, tensor<4x8xf32>
  return %d2 : tensor<4x8xf32>
}

// -----

func.func @given_slope(%x: tensor<4xf32>) -> tensor<4xf32> {
  %slope = aicf.stop_gradient %x : tensor<4xf32>
  %way = aicf.mul %x, %slope : tensor<4xf32>, tensor<4xf32>
  // expected-error @+1 {{'aicf.straight_through' op has a slope that is given, which aicf.gradient cannot differentiate again}}
  %z = aicf.straight_through %x, %way : tensor<4xf32>, tensor<4xf32>
  %y = aicf.mean %z : tensor<4xf32>
  // expected-note @+1 {{the gradient is taken here}}
  %dx = aicf.gradient %y, %x : tensor<f32>, tensor<4xf32>
  return %dx : tensor<4xf32>
}

// -----

// A slope of another shape is one, too.
func.func @given_slope_of_rows(%x: tensor<4x2xf32>, %s: tensor<4x1xf32>) -> tensor<4x2xf32> {
  %slope = aicf.stop_gradient %s : tensor<4x1xf32>
  %slopes = aicf.broadcast %slope to [4, 2] : tensor<4x1xf32>
  %way = aicf.mul %x, %slopes : tensor<4x2xf32>, tensor<4x2xf32>
  // expected-error @+1 {{has a slope that is given}}
  %z = aicf.straight_through %x, %way : tensor<4x2xf32>, tensor<4x2xf32>
  %y = aicf.mean %z : tensor<4x2xf32>
  // expected-note @+1 {{the gradient is taken here}}
  %dx = aicf.gradient %y, %x : tensor<f32>, tensor<4x2xf32>
  return %dx : tensor<4x2xf32>
}

// -----

func.func @target_of_a_loss(%x: tensor<4xf32>, %t: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{no derivative with respect to its target}}
  %y = aicf.bce_with_logits %x, %t : tensor<4xf32>, tensor<4xf32>
  %dx = aicf.gradient %y, %t : tensor<f32>, tensor<4xf32>
  return %dx : tensor<4xf32>
}
