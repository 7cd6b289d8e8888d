// RUN: aicf-opt %s --aicf-verify-entries --split-input-file --verify-diagnostics

// Tests what is refused about results and bodies.

// expected-error @+1 {{result 0 has neither 'aicf.name' nor 'aicf.updates', expected one of them}}
func.func @f(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"}) -> (tensor<4xf32> {}) {
  return %x : tensor<4xf32>
}

// -----

// expected-error @+1 {{result 0 has both 'aicf.name' and 'aicf.updates', expected one of them}}
func.func @f(%w: tensor<4xf32> {aicf.role = "param", aicf.name = "w"}) -> (tensor<4xf32> {aicf.name = "a", aicf.updates = "w"}) {
  return %w : tensor<4xf32>
}

// -----

// expected-error @+1 {{result 0 updates "v", but no argument has that name}}
func.func @f(%w: tensor<4xf32> {aicf.role = "param", aicf.name = "w"}) -> (tensor<4xf32> {aicf.updates = "v"}) {
  return %w : tensor<4xf32>
}

// -----

// expected-error @+1 {{result 0 updates "x", which is of role input; only params and states may be updated}}
func.func @f(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"}) -> (tensor<4xf32> {aicf.updates = "x"}) {
  return %x : tensor<4xf32>
}

// -----

// expected-error @+1 {{result 0 updates "lr", which is of role hyper}}
func.func @f(%lr: tensor<f32> {aicf.role = "hyper", aicf.name = "lr"}) -> (tensor<f32> {aicf.updates = "lr"}) {
  return %lr : tensor<f32>
}

// -----

// expected-error @+1 {{results 0 and 1 both update "w"}}
func.func @f(%w: tensor<4xf32> {aicf.role = "param", aicf.name = "w"}) -> (tensor<4xf32> {aicf.updates = "w"}, tensor<4xf32> {aicf.updates = "w"}) {
  return %w, %w : tensor<4xf32>, tensor<4xf32>
}

// -----

// expected-error @+1 {{result 0 of type 'tensor<4xf32>' updates "v" of type 'tensor<5xf32>'}}
func.func @f(%w: tensor<4xf32> {aicf.role = "param", aicf.name = "w"}, %v: tensor<5xf32> {aicf.role = "param", aicf.name = "v"}) -> (tensor<4xf32> {aicf.updates = "v"}) {
  return %w : tensor<4xf32>
}

// -----

// expected-error @+1 {{results 0 and 1 are both named "a"}}
func.func @f(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"}) -> (tensor<4xf32> {aicf.name = "a"}, tensor<4xf32> {aicf.name = "a"}) {
  return %x, %x : tensor<4xf32>, tensor<4xf32>
}

// -----

// expected-error @+1 {{result 0 and argument 0 are both named "x"}}
func.func @f(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"}) -> (tensor<4xf32> {aicf.name = "x"}) {
  return %x : tensor<4xf32>
}

// -----

func.func @f(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"}) {
  // expected-error @+1 {{'func.call' inside entry @f: only aicf ops are legal in an entry}}
  func.call @g() : () -> ()
  return
}
func.func private @g()

// -----

func.func @f(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"}) {
  // expected-error @+1 {{'builtin.unrealized_conversion_cast' inside entry @f: only aicf ops are legal in an entry}}
  %0 = builtin.unrealized_conversion_cast %x : tensor<4xf32> to tensor<4xi32>
  return
}

// -----

func.func @f(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"}) {
  // expected-error @+1 {{'func.constant' inside entry @f: only aicf ops are legal in an entry}}
  %0 = func.constant @g : () -> ()
  return
}
func.func private @g()

// -----

func.func @f(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"}) {
  // expected-error @+1 {{'aicf_rt.call' inside entry @f: only aicf ops are legal in an entry}}
  %0 = aicf_rt.call relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}
