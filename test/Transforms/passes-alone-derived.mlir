// RUN: aicf-opt %s --split-input-file --aicf-autodiff --verify-diagnostics
// RUN: aicf-opt %s --split-input-file --aicf-split-step --verify-diagnostics
// RUN: aicf-opt %s --split-input-file --aicf-verify-entries --verify-diagnostics

// Tests that every pass which reads entries refuses a state that cannot be the cast of what
// it is derived from: autodiff adds the gradients of both.

// expected-error @+1 {{argument 1 ("W.f16") is derived from "W": expected the same shape and another float type}}
func.func @other_shape(%W: tensor<4xf32> {aicf.role = "param", aicf.name = "W"},
                       %h: tensor<5xf16> {aicf.role = "state", aicf.name = "W.f16", aicf.derived_from = "W"})
    -> (tensor<f32> {aicf.name = "loss", aicf.minimize}) {
  %y = aicf.mean %W : tensor<4xf32>
  return %y : tensor<f32>
}

// -----

// expected-error @+1 {{argument 1 ("W.i32") is derived from "W": expected the same shape and another float type}}
func.func @integers(%W: tensor<4xf32> {aicf.role = "param", aicf.name = "W"},
                    %h: tensor<4xi32> {aicf.role = "state", aicf.name = "W.i32", aicf.derived_from = "W"})
    -> (tensor<f32> {aicf.name = "loss", aicf.minimize}) {
  %y = aicf.mean %W : tensor<4xf32>
  return %y : tensor<f32>
}

// -----

// expected-error @+1 {{argument 0 ("W.f16") is derived from "W": no argument before it has that name}}
func.func @before(%h: tensor<4xf16> {aicf.role = "state", aicf.name = "W.f16", aicf.derived_from = "W"},
                  %W: tensor<4xf32> {aicf.role = "param", aicf.name = "W"})
    -> (tensor<f32> {aicf.name = "loss", aicf.minimize}) {
  %y = aicf.mean %W : tensor<4xf32>
  return %y : tensor<f32>
}
