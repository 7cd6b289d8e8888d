// RUN: aicf-opt %s --allow-unregistered-dialect --aicf-rt-verify=phase=lowered --split-input-file --verify-diagnostics
// RUN: aicf-opt %s --allow-unregistered-dialect --aicf-rt-verify=phase=inplace --split-input-file --verify-diagnostics

// What every phase asks of an entry: its arguments, its block, its updates.

// Tests an update of an argument that is not there.
// expected-error @+1 {{result 0 updates "q", which is not a param or state of its type, or is updated twice}}
func.func @no_target(%p: tensor<4xf32> {aicf.role = "param", aicf.name = "p"})
    -> (tensor<4xf32> {aicf.updates = "q"}) {
  %0 = aicf_rt.call relu(%p) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// Tests an update of another type.
// expected-error @+1 {{result 0 updates "p", which is not a param or state of its type}}
func.func @other_type(%p: tensor<8xf32> {aicf.role = "param", aicf.name = "p"},
                      %x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4xf32> {aicf.updates = "p"}) {
  %0 = aicf_rt.call relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// Tests an update of an input.
// expected-error @+1 {{result 0 updates "x", which is not a param or state of its type}}
func.func @an_input(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4xf32> {aicf.updates = "x"}) {
  %0 = aicf_rt.call relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// Tests two updates of one argument.
// expected-error @+1 {{result 1 updates "p", which is not a param or state of its type, or is updated twice}}
func.func @twice(%p: tensor<4xf32> {aicf.role = "param", aicf.name = "p"})
    -> (tensor<4xf32> {aicf.updates = "p"}, tensor<4xf32> {aicf.updates = "p"}) {
  %0 = aicf_rt.call relu(%p) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = aicf_rt.call relu(%0) : (tensor<4xf32>) -> tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// Tests a second block.
// expected-error @+1 {{entry @two_blocks must have one block that ends in func.return, got 2 blocks}}
func.func @two_blocks(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"}) {
  "test.branch"()[^bb1] : () -> ()
^bb1:
  return
}

// -----

// Tests an argument without a static shape.
// expected-error @+1 {{argument 0 is 'tensor<?xf32>' with a dynamic dimension}}
func.func @dynamic(%x: tensor<?xf32> {aicf.role = "input", aicf.name = "x"}) {
  return
}

// -----

// Tests an entry that is right: a state and a param are updated.
func.func @legal(%p: tensor<4xf32> {aicf.role = "param", aicf.name = "p"},
                 %t: tensor<i64> {aicf.role = "state", aicf.name = "t"})
    -> (tensor<4xf32> {aicf.updates = "p"}, tensor<i64> {aicf.updates = "t"}) {
  %0 = aicf_rt.call relu(%p) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = aicf_rt.call step_inc(%t) : (tensor<i64>) -> tensor<i64>
  return %0, %1 : tensor<4xf32>, tensor<i64>
}

// -----

// Tests that what is returned has storage of its own; aicf-lower-to-rt copies it.
func.func @a_view(%x: tensor<4x8xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<8x4xf32, #aicf_rt.strided<[1, 8]>> {aicf.name = "y"}) {
  %t = aicf_rt.view %x[0] : tensor<4x8xf32> to tensor<8x4xf32, #aicf_rt.strided<[1, 8]>>
  // expected-error @+1 {{returns a view as result 0: an output or update has storage of its own}}
  return %t : tensor<8x4xf32, #aicf_rt.strided<[1, 8]>>
}
