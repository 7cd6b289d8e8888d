// RUN: aicf-opt %s --aicf-autodiff -verify-diagnostics

// Tests that a loss may not depend on the logarithms of the sums.

func.func @lse(
    %x: tensor<1x4x2x8xf32> {aicf.role = "param", aicf.name = "x"})
    -> (tensor<f32> {aicf.name = "loss", aicf.minimize}) {
  // expected-error @+1 {{the loss depends on its lse, which has no derivative: use stop_gradient if that is intended}}
  %y, %lse = aicf.attention %x, %x, %x
      : tensor<1x4x2x8xf32>, tensor<1x4x2x8xf32>, tensor<1x4x2x8xf32>
  %loss = aicf.mean %lse : tensor<1x2x4xf32>
  return %loss : tensor<f32>
}
