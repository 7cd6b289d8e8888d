// RUN: aicf-opt %s --aicf-rt-verify=phase=kernels --split-input-file --verify-diagnostics

// Tests a kid of another op.
func.func @f(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
    attributes {aicf_rt.target = "cpu"} {
  // expected-error @+1 {{kid "add_f32_v0" is not a kernel of this call on target cpu}}
  %0 = aicf_rt.call relu(%x) launch<kernel = "add_f32_v0"> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// Tests a call without a kid.
func.func @f(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
    attributes {aicf_rt.target = "cpu"} {
  // expected-error @+1 {{kid "" is not a kernel of this call on target cpu}}
  %0 = aicf_rt.call relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// Tests an entry without a target.
// expected-error @+1 {{has no 'aicf_rt.target'}}
func.func @f(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"}) {
  return
}

// -----

// Tests a target that is not a device.
// expected-error @+1 {{'aicf_rt.target' is "tpu", which is not a device, expected cpu or cuda}}
func.func @f(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
    attributes {aicf_rt.target = "tpu"} {
  return
}

// -----

// Tests a legal one, of one primitive and of several.
func.func @f(%x: tensor<4x4xf32> {aicf.role = "input", aicf.name = "x"},
             %b: tensor<4xf32> {aicf.role = "param", aicf.name = "b"})
    attributes {aicf_rt.target = "cuda"} {
  %0 = aicf_rt.call relu(%x) launch<kernel = "relu_f32_v0"> : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = aicf_rt.call {
    t0 = gemm(%x, %0)
    t1 = bias_add(t0, %b)
    yield t1
  } launch<kernel = "gemm_bias_f32_tile_v0"> : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
  return
}
