// RUN: aicf-opt %s --aicf-autodiff --split-input-file --verify-diagnostics

// Tests what cannot be differentiated, and that the message says what to write.

// expected-error @+1 {{results 0 and 1 both have 'aicf.minimize': return their sum (aicf.add) and mark that}}
func.func @two(%W: tensor<4xf32> {aicf.role = "param", aicf.name = "W"})
    -> (tensor<f32> {aicf.name = "a", aicf.minimize}, tensor<f32> {aicf.name = "b", aicf.minimize}) {
  %l = aicf.mse_loss %W, %W : tensor<4xf32>, tensor<4xf32>
  return %l, %l : tensor<f32>, tensor<f32>
}

// -----

// expected-error @+1 {{result 0 has 'aicf.minimize' and is 'tensor<4xf32>': a loss is a 0-d float tensor}}
func.func @vector(%W: tensor<4xf32> {aicf.role = "param", aicf.name = "W"})
    -> (tensor<4xf32> {aicf.name = "loss", aicf.minimize}) {
  return %W : tensor<4xf32>
}

// -----

// expected-error @+1 {{result 0 has 'aicf.minimize' and is 'tensor<i32>'}}
func.func @integer(%W: tensor<4xf32> {aicf.role = "param", aicf.name = "W"})
    -> (tensor<i32> {aicf.name = "loss", aicf.minimize}) {
  %ok = aicf.all_finite %W : tensor<4xf32>
  return %ok : tensor<i32>
}

// -----

// expected-error @+1 {{parameter "W" is 'tensor<i32>': integers have no gradient; mark it aicf.frozen, or make it a state}}
func.func @integer_param(%W: tensor<i32> {aicf.role = "param", aicf.name = "W"},
                         %x: tensor<f32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<f32> {aicf.name = "loss", aicf.minimize}) {
  return %x : tensor<f32>
}

// -----

// expected-error @+1 {{has 'aicf.minimize', but no parameter to train: give an argument the role "param"}}
func.func @nothing(%W: tensor<f32> {aicf.role = "param", aicf.name = "W", aicf.frozen})
    -> (tensor<f32> {aicf.name = "loss", aicf.minimize}) {
  return %W : tensor<f32>
}

// -----

// expected-error @+1 {{the loss does not depend on parameter "V" (argument 1): mark it aicf.frozen if this is meant}}
func.func @unused(%W: tensor<f32> {aicf.role = "param", aicf.name = "W"},
                  %V: tensor<f32> {aicf.role = "param", aicf.name = "V"})
    -> (tensor<f32> {aicf.name = "loss", aicf.minimize}, tensor<f32> {aicf.name = "v"}) {
  %v = aicf.relu %V : tensor<f32>
  return %W, %v : tensor<f32>, tensor<f32>
}

// -----

func.func @stopped(%W: tensor<4xf32> {aicf.role = "param", aicf.name = "W"},
                   %V: tensor<4xf32> {aicf.role = "param", aicf.name = "V"})
    -> (tensor<f32> {aicf.name = "loss", aicf.minimize}, tensor<4xf32> {aicf.name = "v"}) {
  %v = aicf.relu %V : tensor<4xf32>
  // expected-error @+1 {{'aicf.stop_gradient' op cuts the loss off from parameter "V": mark that aicf.frozen if this is meant}}
  %s = aicf.stop_gradient %v : tensor<4xf32>
  %other = aicf.gelu %v : tensor<4xf32>
  %l = aicf.mse_loss %W, %s : tensor<4xf32>, tensor<4xf32>
  return %l, %other : tensor<f32>, tensor<4xf32>
}

// -----

// expected-error @+1 {{result 1 updates "W", which 'aicf.optimizer' trains: mark the parameter aicf.frozen, or remove the update}}
func.func @updated(%W: tensor<f32> {aicf.role = "param", aicf.name = "W"})
    -> (tensor<f32> {aicf.name = "loss", aicf.minimize}, tensor<f32> {aicf.updates = "W"})
    attributes {aicf.optimizer = #aicf.sgd<lr = "lr">} {
  return %W, %W : tensor<f32>, tensor<f32>
}

// -----

// expected-error @+1 {{'aicf.loss_scale' is "s", expected the name of an argument of the loss's type 'tensor<f32>'}}
func.func @scale(%W: tensor<f32> {aicf.role = "param", aicf.name = "W"},
                 %s: tensor<f64> {aicf.role = "state", aicf.name = "s"})
    -> (tensor<f32> {aicf.name = "loss", aicf.minimize}) attributes {aicf.loss_scale = "s"} {
  return %W : tensor<f32>
}

// -----

// expected-error @+1 {{'aicf.loss_scale' is "none", expected the name of an argument of the loss's type 'tensor<f32>'}}
func.func @no_scale(%W: tensor<f32> {aicf.role = "param", aicf.name = "W"})
    -> (tensor<f32> {aicf.name = "loss", aicf.minimize}) attributes {aicf.loss_scale = "none"} {
  return %W : tensor<f32>
}

// -----

// expected-error @+1 {{argument 1 is 'f32', expected a ranked tensor of f16, bf16, f32, f64}}
func.func @no_tensor(%W: tensor<f32> {aicf.role = "param", aicf.name = "W"},
                     %x: f32 {aicf.role = "input", aicf.name = "x"})
    -> (f32 {aicf.name = "loss", aicf.minimize}) {
  return %x : f32
}

// -----

func.func @constant(%W: tensor<f32> {aicf.role = "param", aicf.name = "W"})
    -> (tensor<f32> {aicf.name = "loss", aicf.minimize}) {
  // expected-error @+1 {{'aicf.stop_gradient' op cuts the loss off from parameter "W": mark that aicf.frozen if this is meant}}
  %l = aicf.stop_gradient %W : tensor<f32>
  return %l : tensor<f32>
}
