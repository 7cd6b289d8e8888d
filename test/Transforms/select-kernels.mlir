// RUN: aicf-opt %s --aicf-rt-select-kernels --split-input-file --verify-diagnostics | FileCheck %s
// RUN: sed -n '/^func.func @offsets/,$p' %s | aicf-opt --aicf-set-target=target=cuda --aicf-rt-select-kernels | FileCheck %s --check-prefix=CUDA

// Tests the choice by dtype, and that a legal kid stays.
// CHECK-LABEL: func.func @choice
func.func @choice(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"},
                  %y: tensor<4xf64> {aicf.role = "input", aicf.name = "y"},
                  %m: tensor<2x2xf32> {aicf.role = "input", aicf.name = "m"}) {
  // CHECK: aicf_rt.call relu(%{{.*}}) launch<kernel = "relu_f32_v0">
  %0 = aicf_rt.call relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: aicf_rt.call relu(%{{.*}}) launch<kernel = "relu_f64_v0">
  %1 = aicf_rt.call relu(%y) : (tensor<4xf64>) -> tensor<4xf64>
  // CHECK: aicf_rt.call cast(%{{.*}}) launch<kernel = "cast_f32_bf16_v0">
  %2 = aicf_rt.call cast(%x) : (tensor<4xf32>) -> tensor<4xbf16>
  // CHECK: aicf_rt.call gemm({{.*}}) launch<kernel = "gemm_f32_blas_v0">
  %3 = aicf_rt.call gemm(%m, %m) launch<kernel = "gemm_f32_blas_v0">
      : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return
}

// -----

// Tests an op without a kernel.
func.func @none(%x: tensor<f16> {aicf.role = "input", aicf.name = "x"}) {
  // expected-error @+1 {{has no kernel on target cpu for 'tensor<f16>' -> 'tensor<f16>'}}
  %0 = aicf_rt.call clip_factor(%x) {max_norm = 1.0} : (tensor<f16>) -> tensor<f16>
  return
}

// -----

// Tests a kid for other dtypes.
func.func @wrong(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"}) {
  // expected-error @+1 {{kid "relu_f64_v0" is not a kernel of target cpu for relu on 'tensor<4xf32>' -> 'tensor<4xf32>'}}
  %0 = aicf_rt.call relu(%x) launch<kernel = "relu_f64_v0"> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// Tests an unknown kid.
func.func @unknown(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"}) {
  // expected-error @+1 {{kid "relu_f32_v9" is not a kernel of target cpu}}
  %0 = aicf_rt.call relu(%x) launch<kernel = "relu_f32_v9"> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// Tests a body that no kernel family takes.
func.func @body(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"}) {
  // expected-error @+1 {{no kernel family takes relu, cumsum in one call}}
  %0 = aicf_rt.call {
    t0 = relu(%x)
    t1 = cumsum(t0) {axis = 0}
    yield t1
  } : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// Tests that other functions keep their calls as they are.
// CHECK-LABEL: func.func @no_entry
// CHECK-SAME: (%arg0: tensor<4xf32>) {
// CHECK-NEXT: aicf_rt.call relu(%arg0) :
func.func @no_entry(%x: tensor<4xf32>) {
  %0 = aicf_rt.call relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// Tests a view that begins where a kernel of four elements at a time may not.
// CUDA-LABEL: func.func @offsets
func.func @offsets(%x: tensor<32xf32> {aicf.role = "input", aicf.name = "x"}) {
  %0 = aicf_rt.view %x[4] : tensor<32xf32> to tensor<4x4xf32>
  %1 = aicf_rt.view %x[2] : tensor<32xf32> to tensor<4x4xf32>
  // CUDA: launch<kernel = "relu_f32_vec4_v0">
  %2 = aicf_rt.call relu(%0) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  // CUDA: launch<kernel = "relu_f32_v0">
  %3 = aicf_rt.call relu(%1) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}
