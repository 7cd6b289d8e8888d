// RUN: aicf-opt %s --split-input-file --verify-diagnostics

// Tests the checks of single aicf.* attributes.

// expected-error @+1 {{'aicf.init' must be a finite number, "none", "zeros", "ones", "uniform_fan_in", "normal" or "normal:STDDEV", got true}}
func.func @f(%x: tensor<4xf32> {aicf.init = true}) {
  return
}

// -----

// expected-error @+1 {{must be a finite number}}
func.func @f(%x: tensor<4xf32> {aicf.init = 0x7FC00000 : f32}) {
  return
}

// -----

// expected-error @+1 {{'aicf.values' must be an integer, got "many"}}
func.func @f() attributes {aicf.values = "many"} {
  return
}

// -----

// expected-error @+1 {{'aicf.vid' must be an integer, got "one"}}
func.func @f(%x: tensor<4xf32> {aicf.vid = "one"}) {
  return
}

// -----

// expected-error @+1 {{'aicf.role' must be "input", "param", "state", "hyper" or "constant", got "weight"}}
func.func @f(%x: tensor<4xf32> {aicf.role = "weight"}) {
  return
}

// -----

// expected-error @+1 {{'aicf.name' must be a non-empty string, got ""}}
func.func @f(%x: tensor<4xf32> {aicf.name = ""}) {
  return
}

// -----

// expected-error @+1 {{'aicf.name' must be a non-empty string, got 3 : i64}}
func.func @f(%x: tensor<4xf32> {aicf.name = 3}) {
  return
}

// -----

// expected-error @+1 {{'aicf.name' must be a non-empty string, got "x" : i32}}
func.func @f(%x: tensor<4xf32> {aicf.name = "x" : i32}) {
  return
}

// -----

// expected-error @+1 {{'aicf.init' must be a finite number, "none", "zeros", "ones", "uniform_fan_in", "normal" or "normal:STDDEV", got "xavier"}}
func.func @f(%x: tensor<4xf32> {aicf.init = "xavier"}) {
  return
}

// -----

// expected-error @+1 {{got "normal:-1"}}
func.func @f(%x: tensor<4xf32> {aicf.init = "normal:-1"}) {
  return
}

// -----

// expected-error @+1 {{unknown attribute 'aicf.rolle' on an argument}}
func.func @f(%x: tensor<4xf32> {aicf.rolle = "input"}) {
  return
}

// -----

// expected-error @+1 {{unknown attribute 'aicf.update' on a result}}
func.func @f(%x: tensor<4xf32>) -> (tensor<4xf32> {aicf.update = "w"}) {
  return %x : tensor<4xf32>
}

// -----

// expected-error @+1 {{'aicf.target' must be a target, such as #aicf.target<cuda>, got "cuda"}}
func.func @f() attributes {aicf.target = "cuda"} {
  return
}

// -----

// expected-error @+1 {{unknown attribute 'aicf.targets' on a function}}
func.func @f() attributes {aicf.targets = "f32"} {
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'aicf.vids' must be an array of 1 labels}}
  %0 = aicf.relu %x {aicf.vids = array<i64: 1, 2>} : tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{unexpected attribute 'aicf.name': only functions carry it}}
  %0 = aicf.relu %x {aicf.name = "y"} : tensor<4xf32>
  return
}
