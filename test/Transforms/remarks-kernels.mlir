// RUN: split-file %s %t
// RUN: aicf-opt %t/step.mlir --aicf-rt-select-kernels --remarks-filter=aicf --verify-diagnostics -o /dev/null
// RUN: aicf-opt %t/timed.mlir --aicf-rt-select-kernels=profile=%t/profile.json --remarks-filter=aicf --verify-diagnostics -o /dev/null
// RUN: sed /expected/d %t/step.mlir | aicf-opt --aicf-rt-select-kernels 2>&1 | FileCheck %s --allow-empty
// Tests that nothing is said where nobody asks.
// CHECK-NOT: remark

//--- step.mlir
// Tests why a kernel was chosen: what came before it in the table, and why not.
func.func @why(%x: tensor<4x6xf32> {aicf.role = "input", aicf.name = "x"},
               %w: tensor<512x512xf32> {aicf.role = "input", aicf.name = "w"},
               %b: tensor<512xf32> {aicf.role = "input", aicf.name = "b"},
               %v: tensor<32xf32> {aicf.role = "input", aicf.name = "v"})
    attributes {aicf.target = #aicf.target<cuda>} {
  // expected-remark @+1 {{relu runs relu_f32_v0: the first automatic kernel that takes the call and pays; relu_f32_vec4_v0: operand 0's last dimension is not a multiple of 4}}
  %0 = aicf_rt.call relu(%x) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  // expected-remark @+1 {{gemm runs gemm_f32_lt_v0: the first automatic kernel that takes the call and pays; gemm_f32_tile_v0: it does not pay: not (isSmallProduct(c, costs)); gemm_tf32_lt_v0: the target's math is not "tf32"}}
  %1 = aicf_rt.call gemm(%w, %w) : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
  // expected-remark @+1 {{relu runs relu_f32_v0: the call names it}}
  %2 = aicf_rt.call relu(%w) launch<kernel = "relu_f32_v0"> : (tensor<512x512xf32>) -> tensor<512x512xf32>
  // expected-remark @+2 {{copy_saved runs copy_saved}}
  // expected-remark @+1 {{a save stays: aicf-rt-eliminate-saves, which --opt-level=2 runs, was not run}}
  %3 = aicf_rt.call copy_saved(%x) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  // expected-remark @+1 {{gemm, bias_add, relu runs gemm_bias_f32_lt_v0: the first automatic kernel that takes the call and pays; gemm_bias_f32_tile_v0: it does not pay: not (isSmallProduct(c, costs)); gemm_bias_tf32_lt_v0: the target's math is not "tf32"}}
  %4 = aicf_rt.call {
    t0 = gemm(%w, %w)
    t1 = bias_add(t0, %b)
    t2 = relu(t1)
    yield t2
  } : (tensor<512x512xf32>, tensor<512xf32>) -> tensor<512x512xf32>
  // Nothing is said of what comes behind it.
  // expected-remark @+1 {{gemm runs gemm_f32_tile_v0: the first automatic kernel that takes the call and pays"}}
  %5 = aicf_rt.call gemm(%x, %x) {transA = true} : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<6x6xf32>
  %6 = aicf_rt.view %v[2] : tensor<32xf32> to tensor<4x4xf32>
  // expected-remark @+1 {{relu runs relu_f32_v0: the first automatic kernel that takes the call and pays; relu_f32_vec4_v0: a view is not aligned for it}}
  %7 = aicf_rt.call relu(%6) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}

// Tests a product that tf32 admits, and a kernel that only a call may name.
func.func @tf32(%w: tensor<512x512xf32> {aicf.role = "input", aicf.name = "w"})
    attributes {aicf.target = #aicf.target<cuda, math = "tf32">} {
  // expected-remark @+1 {{gemm runs gemm_tf32_lt_v0: the first automatic kernel that takes the call and pays; gemm_f32_tile_v0: it does not pay: not (isSmallProduct(c, costs))}}
  %1 = aicf_rt.call gemm(%w, %w) : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
  return
}

//--- profile.json
{"kernels": {"relu_f32_v0": {"8x8xf32->8x8xf32": 1.5},
             "relu_f32_vec4_v0": {"8x8xf32->8x8xf32": 2}}}
//--- timed.mlir
// Tests a choice by time, and one of a call that was not timed.
func.func @timed(%x: tensor<8x8xf32> {aicf.role = "input", aicf.name = "x"},
                 %y: tensor<4x4xf32> {aicf.role = "input", aicf.name = "y"})
    attributes {aicf.target = #aicf.target<cuda>} {
  // expected-remark @+1 {{relu runs relu_f32_v0: the fastest in the profile, 1.50 us}}
  %0 = aicf_rt.call relu(%x) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  // expected-remark @+1 {{relu runs relu_f32_vec4_v0: the first automatic kernel that takes the call and pays}}
  %1 = aicf_rt.call relu(%y) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}
