// RUN: aicf-opt %s --aicf-rt-verify=phase=streams --split-input-file --verify-diagnostics
// RUN: not aicf-opt %s --aicf-rt-verify=phase=later --split-input-file 2>&1 | FileCheck %s
// CHECK: phase is "later", expected lowered, updates, inplace, kernels, streams

// Tests `lowered`: an aicf op is left.
func.func @f(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"}) {
  // expected-error @+1 {{'aicf.relu' op is not an aicf_rt.call: run --aicf-lower-to-rt first}}
  %0 = aicf.relu %x : tensor<4xf32>
  return
}

// -----

// Tests `updates`: an argument updates another without a copy.
// expected-error @+1 {{result 0 returns argument 0 without a copy}}
func.func @f(%a: tensor<4xf32> {aicf.role = "param", aicf.name = "a"},
             %b: tensor<4xf32> {aicf.role = "param", aicf.name = "b"})
    -> (tensor<4xf32> {aicf.updates = "b"}) {
  return %a : tensor<4xf32>
}

// -----

// expected-error @+1 {{results 0 and 1 return the same value}}
func.func @f(%a: tensor<4xf32> {aicf.role = "param", aicf.name = "a"})
    -> (tensor<4xf32> {aicf.name = "y"}, tensor<4xf32> {aicf.name = "z"}) {
  %0 = aicf_rt.call relu(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %0, %0 : tensor<4xf32>, tensor<4xf32>
}

// -----

// Tests `inplace`: relu overwrites what add still reads.
func.func @f(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4xf32> {aicf.name = "y"}) {
  %0 = aicf_rt.call relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error @+1 {{result 0 overwrites a value that 'add' still reads}}
  %1 = aicf_rt.call relu(%0) inplace [0] : (tensor<4xf32>) -> tensor<4xf32>
  // expected-note @+1 {{read here}}
  %2 = aicf_rt.call add(%0, %1) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// -----

// Tests `inplace` across streams: the reader is not ordered before the writer.
func.func @f(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4xf32> {aicf.name = "y"}) {
  %0 = aicf_rt.call relu(%x) launch<signals = [0]> : (tensor<4xf32>) -> tensor<4xf32>
  // expected-note @+1 {{read here}}
  %1 = aicf_rt.call copy(%0) launch<stream = 1, waits = [0], signals = [1]> : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error @+1 {{result 0 overwrites a value that 'copy' still reads}}
  %2 = aicf_rt.call relu(%0) inplace [0] : (tensor<4xf32>) -> tensor<4xf32>
  %3 = aicf_rt.call add(%1, %2) launch<waits = [1]> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %3 : tensor<4xf32>
}

// -----

// Tests `kernels`: none is named.
func.func @f(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"}) {
  // expected-error @+1 {{kid "" is not a kernel of this call on target cpu}}
  %0 = aicf_rt.call relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// Tests `streams`: an unjoined stream, and a wait without a signal.
// expected-error @+1 {{stream 1: its last call, 0, is not joined into stream 0}}
func.func @f(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"}) {
  %0 = aicf_rt.call relu(%x) launch<stream = 1> : (tensor<4xf32>) -> tensor<4xf32>
  %1 = aicf_rt.call relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// expected-error @+1 {{call 0: waits for event 5, which no earlier call signals (a cycle?)}}
func.func @f(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"}) {
  %0 = aicf_rt.call relu(%x) launch<waits = [5]> : (tensor<4xf32>) -> tensor<4xf32>
  %1 = aicf_rt.call relu(%x) launch<signals = [5]> : (tensor<4xf32>) -> tensor<4xf32>
  return
}
