// RUN: split-file %s %t
// RUN: aicf-opt %t/step.mlir --aicf-set-target=target=cuda --aicf-rt-select-kernels=profile=%t/profile.json | FileCheck %t/step.mlir
// RUN: not aicf-opt %t/step.mlir --aicf-set-target=target=cuda --aicf-rt-select-kernels=profile=%t/none.json 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not aicf-opt %t/step.mlir --aicf-set-target=target=cuda --aicf-rt-select-kernels=profile=%t/step.mlir 2>&1 | FileCheck %s --check-prefix=BAD
// RUN: not aicf-opt %t/step.mlir --aicf-set-target=target=cuda --aicf-rt-select-kernels=profile=%t/empty.json 2>&1 | FileCheck %s --check-prefix=EMPTY
// RUN: not aicf-opt %t/step.mlir --aicf-set-target=target=cuda --aicf-rt-select-kernels=profile=%t/number.json 2>&1 | FileCheck %s --check-prefix=BAD
// RUN: not aicf-opt %t/step.mlir --aicf-set-target=target=cuda --aicf-rt-select-kernels=profile=%t/text.json 2>&1 | FileCheck %s --check-prefix=BAD
// RUN: not aicf-opt %t/step.mlir --aicf-set-target=target=cuda --aicf-rt-select-kernels=profile=%t/device.json 2>&1 | FileCheck %s --check-prefix=BAD
// RUN: aicf-opt %t/long.mlir --aicf-set-target=target=cuda --aicf-rt-select-kernels=profile=%t/long.json | FileCheck %t/long.mlir
// RUN: aicf-opt %t/long.mlir --aicf-set-target=target=cuda --aicf-rt-select-kernels | FileCheck %t/long.mlir --check-prefix=GUESS
// RUN: aicf-opt %t/products.mlir --aicf-set-target=target=cuda --aicf-rt-select-kernels=profile=%t/products.json | FileCheck %t/products.mlir
// RUN: aicf-opt %t/step.mlir --aicf-rt-select-kernels=profile=%t/cpu.json | FileCheck %s --check-prefix=CPU
// RUN: not aicf-opt %t/step.mlir --aicf-rt-select-kernels=profile=%t/profile.json 2>&1 | FileCheck %s --check-prefix=OTHER
// NONE: cannot read profile '{{.*}}none.json': No such file or directory
// A profile that does not say where it was measured is taken.
// CPU: launch<kernel = "relu_f32_v0">
// OTHER: profile '{{.*}}profile.json' was measured on "some card", but the target is cpu
// EMPTY: profile '{{.*}}empty.json' has no kernels
// BAD: ' is not a profile: expected an object with "kernels", as aicf-run --profile writes it

//--- profile.json
{"device": "some card",
 "kernels": {"relu_f32_v0": {"8x8xf32->8x8xf32": 1.5, "4x4xf32->4x4xf32": 3,
                             "2x8xf32->2x8xf32": 1e300},
             "relu_f32_vec4_v0": {"8x8xf32->8x8xf32": 2, "4x4xf32->4x4xf32": 2},
             "relu_f64_v0": {"8x8xf32->8x8xf32": 0.1}}}
//--- empty.json
{"kernels": {}}
//--- number.json
{"kernels": {"relu_f32_v0": 3}}
//--- text.json
{"kernels": {"relu_f32_v0": {"8x8xf32->8x8xf32": "1.5"}}}
//--- device.json
{"device": 3, "kernels": {"relu_f32_v0": {"8x8xf32->8x8xf32": 1.5}}}
//--- long.json
{"kernels": {"gemm_f32_tile_v0": {"8x1024xf32,1024x8xf32->8x8xf32": 1},
             "gemm_f32_lt_v0": {"8x1024xf32,1024x8xf32->8x8xf32": 2}}}
//--- long.mlir
// Tests that a time counts more than what a family says of when its kernel pays.
// CHECK: launch<kernel = "gemm_f32_tile_v0"
// GUESS: launch<kernel = "gemm_f32_lt_v0"
func.func @entry(%x: tensor<8x1024xf32> {aicf.role = "input", aicf.name = "x"},
                 %y: tensor<1024x8xf32> {aicf.role = "input", aicf.name = "y"}) {
  %0 = aicf_rt.call gemm(%x, %y) : (tensor<8x1024xf32>, tensor<1024x8xf32>) -> tensor<8x8xf32>
  return
}
//--- cpu.json
{"kernels": {"relu_f32_v0": {"8x8xf32->8x8xf32": 1.5}}}
//--- products.json
{"kernels": {"gemm_tf32_lt_v0": {"8x8xf32,8x8xf32->8x8xf32": 1},
             "gemm_f32_lt_v0": {"8x8xf32,8x8xf32->8x8xf32": 2}}}
//--- products.mlir
// Tests a problem of two operands, that the first kernel of the table was not timed,
// and that one that rounds is faster to no avail where the entry does not allow it.
// CHECK: aicf_rt.call gemm({{.*}}) launch<kernel = "gemm_f32_lt_v0"
func.func @entry(%x: tensor<8x8xf32> {aicf.role = "input", aicf.name = "x"}) {
  %0 = aicf_rt.call gemm(%x, %x) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return
}
//--- step.mlir
// Tests that the faster kernel wins where both are known, that a kernel of
// another type never does, and that the table decides where nothing is known. The
// only kernel that is known wins, however slow, and none that a view does not suit.
// CHECK: aicf_rt.call relu({{.*}}) launch<kernel = "relu_f32_v0"
// CHECK: aicf_rt.call relu({{.*}}) launch<kernel = "relu_f32_vec4_v0"
// CHECK: aicf_rt.call relu({{.*}}) launch<kernel = "relu_f32_vec4_v0"
func.func @entry(%x: tensor<8x8xf32> {aicf.role = "input", aicf.name = "x"},
                 %y: tensor<4x4xf32> {aicf.role = "input", aicf.name = "y"},
                 %z: tensor<2x4xf32> {aicf.role = "input", aicf.name = "z"},
                 %u: tensor<2x8xf32> {aicf.role = "input", aicf.name = "u"},
                 %w: tensor<32xf32> {aicf.role = "input", aicf.name = "w"}) {
  %0 = aicf_rt.call relu(%x) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = aicf_rt.call relu(%y) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = aicf_rt.call relu(%z) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  // CHECK: aicf_rt.call relu({{.*}}) launch<kernel = "relu_f32_v0"
  %3 = aicf_rt.call relu(%u) : (tensor<2x8xf32>) -> tensor<2x8xf32>
  // CHECK: aicf_rt.call relu({{.*}}) launch<kernel = "relu_f32_v0"
  %v = aicf_rt.view %w[2] : tensor<32xf32> to tensor<4x4xf32>
  %4 = aicf_rt.call relu(%v) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}
