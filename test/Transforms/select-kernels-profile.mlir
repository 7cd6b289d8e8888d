// RUN: split-file %s %t
// RUN: aicf-opt %t/step.mlir "--aicf-rt-select-kernels=target=cuda profile=%t/profile.json" | FileCheck %t/step.mlir
// RUN: not aicf-opt %t/step.mlir "--aicf-rt-select-kernels=target=cuda profile=%t/none.json" 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not aicf-opt %t/step.mlir "--aicf-rt-select-kernels=target=cuda profile=%t/step.mlir" 2>&1 | FileCheck %s --check-prefix=BAD
// RUN: not aicf-opt %t/step.mlir "--aicf-rt-select-kernels=target=cuda profile=%t/empty.json" 2>&1 | FileCheck %s --check-prefix=BAD
// RUN: not aicf-opt %t/step.mlir "--aicf-rt-select-kernels=target=cpu profile=%t/profile.json" 2>&1 | FileCheck %s --check-prefix=OTHER
// NONE: cannot read profile '{{.*}}none.json'
// OTHER: profile '{{.*}}profile.json' was measured on "some card", but the target is cpu
// BAD: ' is not a profile: expected an object with "kernels", as aicf-run --profile writes it

//--- profile.json
{"device": "some card",
 "kernels": {"relu_f32_v0": {"8x8xf32->8x8xf32": 1.5, "4x4xf32->4x4xf32": 3},
             "relu_f32_vec4_v0": {"8x8xf32->8x8xf32": 2, "4x4xf32->4x4xf32": 2},
             "relu_f64_v0": {"8x8xf32->8x8xf32": 0.1}}}
//--- empty.json
{"kernels": {}}
//--- step.mlir
// Tests that the faster kernel wins where both are known, that a kernel of
// another type never does, and that the table decides where nothing is known.
// CHECK: aicf_rt.call relu({{.*}}) launch<kernel = "relu_f32_v0"
// CHECK: aicf_rt.call relu({{.*}}) launch<kernel = "relu_f32_vec4_v0"
// CHECK: aicf_rt.call relu({{.*}}) launch<kernel = "relu_f32_vec4_v0"
func.func @entry(%x: tensor<8x8xf32> {aicf.role = "input", aicf.name = "x"},
                 %y: tensor<4x4xf32> {aicf.role = "input", aicf.name = "y"},
                 %z: tensor<2x4xf32> {aicf.role = "input", aicf.name = "z"}) {
  %0 = aicf_rt.call relu(%x) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = aicf_rt.call relu(%y) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = aicf_rt.call relu(%z) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}
