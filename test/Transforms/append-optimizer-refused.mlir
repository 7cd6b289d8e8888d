// RUN: aicf-opt %s --aicf-append-optimizer --split-input-file --verify-diagnostics

// Tests what an optimizer cannot be appended to.

// expected-error @+1 {{has 'aicf.optimizer', but no gradients: mark the loss, a result, aicf.minimize}}
func.func @f(%W: tensor<f32> {aicf.role = "param", aicf.name = "W"})
    -> (tensor<f32> {aicf.name = "loss"}) attributes {aicf.optimizer = #aicf.sgd<lr = "lr">} {
  return %W : tensor<f32>
}

// -----

// expected-error @+1 {{result 0 has 'aicf.minimize': run --aicf-autodiff first}}
func.func @f(%W: tensor<f32> {aicf.role = "param", aicf.name = "W"})
    -> (tensor<f32> {aicf.name = "loss", aicf.minimize}) attributes {aicf.optimizer = #aicf.sgd<lr = "lr">} {
  return %W : tensor<f32>
}

// -----

// expected-error @+1 {{result 0 is the gradient of "V", which is not a parameter}}
func.func @f(%W: tensor<f32> {aicf.role = "param", aicf.name = "W"})
    -> (tensor<f32> {aicf.name = "g", aicf.grad = "V"}) attributes {aicf.optimizer = #aicf.sgd<lr = "lr">} {
  return %W : tensor<f32>
}

// -----

// expected-error @+1 {{result 0 is the gradient of "x", which is not a parameter}}
func.func @f(%x: tensor<f32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<f32> {aicf.name = "g", aicf.grad = "x"}) attributes {aicf.optimizer = #aicf.sgd<lr = "lr">} {
  return %x : tensor<f32>
}

// -----

// expected-error @+1 {{argument 1 ("lr") is of role input and type 'tensor<f32>', but 'aicf.optimizer' needs a hyper of 'tensor<f32>' there}}
func.func @f(%W: tensor<f32> {aicf.role = "param", aicf.name = "W"},
             %lr: tensor<f32> {aicf.role = "input", aicf.name = "lr"})
    -> (tensor<f32> {aicf.name = "g", aicf.grad = "W"}) attributes {aicf.optimizer = #aicf.sgd<lr = "lr">} {
  return %W : tensor<f32>
}

// -----

// expected-error @+1 {{argument 1 ("lr") is of role hyper and type 'tensor<f64>', but 'aicf.optimizer' needs a hyper of 'tensor<f32>' there}}
func.func @f(%W: tensor<f32> {aicf.role = "param", aicf.name = "W"},
             %lr: tensor<f64> {aicf.role = "hyper", aicf.name = "lr"})
    -> (tensor<f32> {aicf.name = "g", aicf.grad = "W"}) attributes {aicf.optimizer = #aicf.sgd<lr = "lr">} {
  return %W : tensor<f32>
}

// -----

// expected-error @+1 {{argument 1 is named "W.exp_avg", as a state that 'aicf.optimizer' adds: rename it}}
func.func @f(%W: tensor<f32> {aicf.role = "param", aicf.name = "W"},
             %m: tensor<f32> {aicf.role = "state", aicf.name = "W.exp_avg"})
    -> (tensor<f32> {aicf.name = "g", aicf.grad = "W"}) attributes {aicf.optimizer = #aicf.adamw<lr = "lr">} {
  return %W : tensor<f32>
}

// -----

// expected-error @+1 {{argument 1 is named "W.grad_acc", as a state that 'aicf.optimizer' adds: rename it}}
func.func @f(%W: tensor<f32> {aicf.role = "param", aicf.name = "W"},
             %m: tensor<f32> {aicf.role = "state", aicf.name = "W.grad_acc"})
    -> (tensor<f32> {aicf.name = "g", aicf.grad = "W"})
    attributes {aicf.optimizer = #aicf.sgd<lr = "lr", accumulate = 2>} {
  return %W : tensor<f32>
}

// -----

func.func private @f.accumulate()
// expected-error @+1 {{'aicf.optimizer' accumulates gradients in @f.accumulate, but there is one already: rename it}}
func.func @f(%W: tensor<f32> {aicf.role = "param", aicf.name = "W"})
    -> (tensor<f32> {aicf.name = "g", aicf.grad = "W"})
    attributes {aicf.optimizer = #aicf.sgd<lr = "lr", accumulate = 2>} {
  return %W : tensor<f32>
}

// -----

// expected-error @+1 {{'aicf.loss_scale' is "s", expected the name of a state}}
func.func @f(%W: tensor<f32> {aicf.role = "param", aicf.name = "W"},
             %s: tensor<f32> {aicf.role = "hyper", aicf.name = "s"})
    -> (tensor<f32> {aicf.name = "g", aicf.grad = "W"})
    attributes {aicf.optimizer = #aicf.sgd<lr = "lr">, aicf.loss_scale = "s"} {
  return %W : tensor<f32>
}

// -----

// expected-error @+1 {{'aicf.loss_scale' is "none", expected the name of a state}}
func.func @f(%W: tensor<f32> {aicf.role = "param", aicf.name = "W"})
    -> (tensor<f32> {aicf.name = "g", aicf.grad = "W"})
    attributes {aicf.optimizer = #aicf.sgd<lr = "lr">, aicf.loss_scale = "none"} {
  return %W : tensor<f32>
}
