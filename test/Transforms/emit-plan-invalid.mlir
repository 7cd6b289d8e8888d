// RUN: aicf-opt %s --allow-unregistered-dialect --aicf-rt-emit-plan --split-input-file --verify-diagnostics

// Tests an op that no phase before would leave.
func.func @f(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
    attributes {aicf.target = #aicf.target<cpu>} {
  // expected-error @+1 {{is not an aicf_rt.call: run --aicf-lower-to-rt first}}
  "test.foreign"(%x) : (tensor<4xf32>) -> ()
  return
}

// -----

// Tests a call that lacks a decision.
func.func @f(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
    attributes {aicf.target = #aicf.target<cpu>} {
  // expected-error @+1 {{has no kernel: run the phases before --aicf-rt-emit-plan}}
  %0 = aicf_rt.call relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// Tests entries for two devices.
func.func @f(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"}) {
  return
}
// expected-error @+1 {{entry @g is for cuda, and @f for cpu: a plan is for one device}}
func.func @g(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
    attributes {aicf.target = #aicf.target<cuda>} {
  return
}

// -----

// Tests updates and outputs that nobody made copies for: storage has one place for
// a value, and what else it should have been would be lost.
// expected-error @+1 {{results 0 and 2 return the same value: run --aicf-rt-materialize-updates first}}
func.func @f(%a: tensor<2xf32> {aicf.role = "param", aicf.name = "a"})
    -> (tensor<2xf32> {aicf.updates = "a"}, tensor<2xf32> {aicf.name = "old"}, tensor<2xf32> {aicf.name = "o"})
    attributes {aicf.target = #aicf.target<cpu>} {
  %0 = aicf_rt.call relu(%a) launch<kernel = "relu_f32_v0"> : (tensor<2xf32>) -> tensor<2xf32>
  %1 = aicf_rt.call copy(%a) launch<kernel = "copy_f32_v0"> : (tensor<2xf32>) -> tensor<2xf32>
  return %0, %1, %0 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}

// -----

// expected-error @+1 {{result 0 returns argument 1 without a copy: run --aicf-rt-materialize-updates first}}
func.func @f(%a: tensor<2xf32> {aicf.role = "param", aicf.name = "a"},
             %b: tensor<2xf32> {aicf.role = "param", aicf.name = "b"})
    -> (tensor<2xf32> {aicf.updates = "a"})
    attributes {aicf.target = #aicf.target<cpu>} {
  return %b : tensor<2xf32>
}

// -----

// Tests an update that overwrites what a later call still reads: without the copies
// that the phases make, nothing says so but the storage.
func.func @f(%a: tensor<4xf32> {aicf.role = "param", aicf.name = "a"})
    -> (tensor<4xf32> {aicf.updates = "a"}, tensor<4xf32> {aicf.name = "y"})
    attributes {aicf.target = #aicf.target<cpu>} {
  // expected-error @+1 {{result 0 overwrites a value that 'add' still reads}}
  %0 = aicf_rt.call relu(%a) launch<kernel = "relu_f32_v0"> : (tensor<4xf32>) -> tensor<4xf32>
  // expected-note @+1 {{}}
  %1 = aicf_rt.call add(%a, %a) launch<kernel = "add_f32_v0"> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}
