// RUN: aicf-opt %s --aicf-rt-verify=phase=kernels --split-input-file --verify-diagnostics

// Tests a kid of another op.
func.func @f(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
    attributes {aicf.target = #aicf.target<cpu>} {
  // expected-error @+1 {{kid "add_f32_v0" is not a kernel of this call on target cpu}}
  %0 = aicf_rt.call relu(%x) launch<kernel = "add_f32_v0"> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// Tests a call without a kid.
func.func @f(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
    attributes {aicf.target = #aicf.target<cpu>} {
  // expected-error @+1 {{kid "" is not a kernel of this call on target cpu}}
  %0 = aicf_rt.call relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// Tests an entry without a target, which is one for the CPU.
func.func @f(%x: tensor<4x4xf32> {aicf.role = "input", aicf.name = "x"}) {
  // expected-error @+1 {{kid "relu_f32_vec4_v0" is not a kernel of this call on target cpu}}
  %0 = aicf_rt.call relu(%x) launch<kernel = "relu_f32_vec4_v0"> : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}

// -----

// Tests a legal one, of one primitive and of several.
func.func @f(%x: tensor<4x4xf32> {aicf.role = "input", aicf.name = "x"},
             %b: tensor<4xf32> {aicf.role = "param", aicf.name = "b"})
    attributes {aicf.target = #aicf.target<cuda>} {
  %0 = aicf_rt.call relu(%x) launch<kernel = "relu_f32_v0"> : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = aicf_rt.call {
    t0 = gemm(%x, %0)
    t1 = bias_add(t0, %b)
    yield t1
  } launch<kernel = "gemm_bias_f32_tile_v0"> : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
  return
}
