// RUN: aicf-opt %s --convert-aicf-to-linalg --split-input-file --verify-diagnostics

// expected-error@+1 {{result 0 has 'aicf.minimize': run --aicf-autodiff first}}
func.func @loss(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<f32> {aicf.name = "loss", aicf.minimize}) {
  %l = aicf.mean %x : tensor<4xf32>
  return %l : tensor<f32>
}

// -----

// expected-error@+1 {{has 'aicf.optimizer': run --aicf-append-optimizer first}}
func.func @optimizer(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4xf32> {aicf.name = "y"})
    attributes {aicf.optimizer = #aicf.sgd<lr = "lr">} {
  return %x : tensor<4xf32>
}

// -----

// expected-error@+1 {{result 0 has 'aicf.history': run --aicf-expand-history first}}
func.func @history(%x: tensor<f32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<f32> {aicf.name = "loss", aicf.history = 4}) {
  return %x : tensor<f32>
}

// -----

// There is no moment to give.
func.func @absent(%p: tensor<4xf32>, %lr: tensor<f32>) -> tensor<4xf32> {
  // expected-error@+1 {{its result m_out is used, but the operand m is absent}}
  %p2, %m2 = aicf.sgd_step %p, %p, %lr : tensor<4xf32>, tensor<4xf32>, tensor<f32>
  return %m2 : tensor<4xf32>
}
