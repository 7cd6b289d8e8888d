// RUN: aicf-opt %s --allow-unregistered-dialect --aicf-rt-verify=phase=inplace --split-input-file --verify-diagnostics

// Tests that what the entry returns is not overwritten.
func.func @f(%p: tensor<4xf32> {aicf.role = "param", aicf.name = "p"})
    -> (tensor<4xf32> {aicf.updates = "p"}) {
  %0 = aicf_rt.call relu(%p) inplace [0] : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error @+1 {{overwrites a value that the entry returns}}
  %1 = aicf_rt.call relu(%0) inplace [0] : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// Tests that two outputs are two storages.
func.func @f(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4xf32> {aicf.name = "y"}, tensor<4xf32> {aicf.name = "z"}) {
  %0 = aicf_rt.call relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error @+1 {{result 0 is in place on operand 0, but they live in different storages}}
  %1 = aicf_rt.call relu(%0) inplace [0] : (tensor<4xf32>) -> tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// Tests that a param is not overwritten while its old value is still read.
func.func @f(%p: tensor<4xf32> {aicf.role = "param", aicf.name = "p"})
    -> (tensor<4xf32> {aicf.updates = "p"}, tensor<4xf32> {aicf.name = "y"}) {
  // expected-error @+1 {{result 0 overwrites a value that 'add' still reads}}
  %0 = aicf_rt.call relu(%p) : (tensor<4xf32>) -> tensor<4xf32>
  // expected-note @+1 {{read here}}
  %1 = aicf_rt.call add(%0, %p) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// Tests that a call may not overwrite a sibling's work on another stream.
func.func @f(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4xf32> {aicf.name = "y"}) {
  %0 = aicf_rt.call relu(%x) launch<stream = 1, signals = [0]> : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error @+1 {{reads a result of 'relu' that is not ordered before it}}
  %1 = aicf_rt.call relu(%0) inplace [0] : (tensor<4xf32>) -> tensor<4xf32>
  %2 = aicf_rt.call relu(%1) launch<waits = [0]> : (tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// -----

// Tests that nothing but its update overwrites an argument.
func.func @f(%w: tensor<4xf32> {aicf.role = "param", aicf.name = "w"})
    -> (tensor<4xf32> {aicf.name = "y"}) {
  // expected-error @+1 {{overwrites argument 0 ("w"), but is not its update}}
  %0 = aicf_rt.call add(%w, %w) inplace [0] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = aicf_rt.call copy(%0) : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// Tests that a reader is ordered after its producer.
func.func @f(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"}) {
  %0 = aicf_rt.call relu(%x) launch<stream = 1, signals = [0]> : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error @+1 {{reads a result of 'relu' that is not ordered before it}}
  %1 = aicf_rt.call relu(%0) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = aicf_rt.call relu(%1) launch<waits = [0]> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// Tests a foreign op.
func.func @f(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"}) {
  // expected-error @+1 {{is not an aicf_rt.call: run --aicf-lower-to-rt first}}
  "test.foreign"(%x) : (tensor<4xf32>) -> ()
  return
}
