// RUN: aicf-opt %s --aicf-verify-entries --split-input-file --verify-diagnostics

// Tests what is refused about arguments.

// expected-error @+1 {{argument 0 ("x") has no 'aicf.role': expected input, param, state, hyper or constant}}
func.func @f(%x: tensor<4xf32> {aicf.name = "x"}) {
  return
}

// -----

// expected-error @+1 {{argument 0 has no 'aicf.name'}}
func.func @f(%x: tensor<4xf32> {aicf.role = "input"}) {
  return
}

// -----

// expected-error @+1 {{argument 1 has no 'aicf.role'}}
func.func @f(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"}, %y: tensor<4xf32>) {
  return
}

// -----

// expected-error @+1 {{argument 0 ("x") is 'tensor<?x4xf32>' with a dynamic dimension; shapes are static: give every dimension a number, and compile one entry per batch size}}
func.func @f(%x: tensor<?x4xf32> {aicf.role = "input", aicf.name = "x"}) {
  return
}

// -----

// expected-error @+1 {{argument 0 ("x") is 'tensor<0x4xf32>' with a dimension of size 0, expected 1 or more}}
func.func @f(%x: tensor<0x4xf32> {aicf.role = "input", aicf.name = "x"}) {
  return
}

// -----

// expected-error @+1 {{is 'tensor<4xi8>', expected a ranked tensor of f16, bf16, f32, f64, i32, i64 or i1 without encoding}}
func.func @f(%x: tensor<4xi8> {aicf.role = "input", aicf.name = "x"}) {
  return
}

// -----

// expected-error @+1 {{is 'f32', expected a ranked tensor}}
func.func @f(%x: f32 {aicf.role = "input", aicf.name = "x"}) {
  return
}

// -----

// expected-error @+1 {{expected a ranked tensor}}
func.func @f(%x: tensor<*xf32> {aicf.role = "input", aicf.name = "x"}) {
  return
}

// -----

// expected-error @+1 {{of rank 9, the limit is 8}}
func.func @f(%x: tensor<1x1x1x1x1x1x1x1x1xf32> {aicf.role = "input", aicf.name = "x"}) {
  return
}

// -----

// expected-error @+1 {{arguments 0 and 1 are both named "x"}}
func.func @f(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"}, %y: tensor<4xf32> {aicf.role = "input", aicf.name = "x"}) {
  return
}

// -----

// expected-error @+1 {{is a hyper of type 'tensor<1x1xf32>', expected a tensor of rank 0 or 1}}
func.func @f(%lr: tensor<1x1xf32> {aicf.role = "hyper", aicf.name = "lr"}) {
  return
}

// -----

// expected-error @+1 {{has 'aicf.init' but its role is input, expected param or state}}
func.func @f(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x", aicf.init = "zeros"}) {
  return
}

// -----

// expected-error @+1 {{uniform_fan_in needs rank 2 or more, to know the fan-in}}
func.func @f(%w: tensor<4xf32> {aicf.role = "param", aicf.name = "w", aicf.init = "uniform_fan_in"}) {
  return
}

// -----

// expected-error @+1 {{random initial values need a float type}}
func.func @f(%w: tensor<4xi32> {aicf.role = "state", aicf.name = "w", aicf.init = "normal"}) {
  return
}

// -----

// Tests that a layout is the passes' to decide.
// expected-error @+1 {{argument 0 ("x") is 'tensor<3x5xbf16, #aicf_rt.padded>', expected a ranked tensor of f16, bf16, f32, f64, i32, i64 or i1 without encoding}}
func.func @f(%x: tensor<3x5xbf16, #aicf_rt.padded> {aicf.role = "input", aicf.name = "x"}) {
  return
}

// -----

// expected-error @+1 {{argument 0 ("x") has 'aicf.frozen', but is of role input; only params are trained}}
func.func @f(%x: tensor<f32> {aicf.role = "input", aicf.name = "x", aicf.frozen}) {
  return
}

// -----

// expected-error @+1 {{argument 0 ("x") has 'aicf.weight_decay', but is of role state; only params are trained}}
func.func @f(%x: tensor<f32> {aicf.role = "state", aicf.name = "x", aicf.weight_decay = 0.1}) {
  return
}

// -----

// expected-error @+1 {{argument 0 ("x") has 'aicf.lr_scale', but is of role hyper; only params are trained}}
func.func @f(%x: tensor<f32> {aicf.role = "hyper", aicf.name = "x", aicf.lr_scale = 0.1}) {
  return
}

// -----

// expected-error @+1 {{argument 0 ("c") of role constant has no 'aicf.data', expected its elements}}
func.func @f(%c: tensor<2xf32> {aicf.role = "constant", aicf.name = "c"}) {
  return
}

// -----

// expected-error @+1 {{argument 0 ("c") of role state has 'aicf.data': only constants have it}}
func.func @f(%c: tensor<f32> {aicf.role = "state", aicf.name = "c", aicf.data = dense<1.0> : tensor<f32>}) {
  return
}

// -----

// expected-error @+1 {{argument 0 ("c") has 'aicf.init' but its role is constant}}
func.func @f(%c: tensor<f32> {aicf.role = "constant", aicf.name = "c", aicf.init = "ones", aicf.data = dense<1.0> : tensor<f32>}) {
  return
}
