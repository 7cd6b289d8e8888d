// Tests that passes which refuse an entry fail, and say why once.
// RUN: split-file %s %t
// RUN: not aicf-opt %t/lost.mlir --aicf-lower-to-rt 2>&1 | FileCheck %s --check-prefix=LOST
// RUN: not aicf-opt %t/early.mlir --aicf-split-step 2>&1 | FileCheck %s --check-prefix=EARLY
// RUN: not aicf-opt %t/history.mlir --aicf-expand-history 2>&1 | FileCheck %s --check-prefix=HISTORY
// RUN: not aicf-opt %t/owners.mlir --aicf-expand-history 2>&1 | FileCheck %s --check-prefix=OWNERS
// RUN: not aicf-opt %t/capture.mlir --aicf-check-capture-safety 2>&1 | FileCheck %s --check-prefix=CAPTURE
// RUN: not aicf-opt %t/outputs.mlir --aicf-return-gradients 2>&1 | FileCheck %s --check-prefix=OUTPUTS
// RUN: not aicf-opt %t/type.mlir --aicf-verify-entries 2>&1 | FileCheck %s --check-prefix=TYPE
// RUN: not aicf-opt %t/result.mlir --aicf-verify-entries 2>&1 | FileCheck %s --check-prefix=RESULT
// RUN: not aicf-opt %t/init.mlir --aicf-verify-entries 2>&1 | FileCheck %s --check-prefix=INIT
// RUN: not aicf-opt %t/update.mlir --aicf-verify-entries 2>&1 | FileCheck %s --check-prefix=UPDATE
// RUN: not aicf-opt %t/derived.mlir --aicf-verify-entries 2>&1 | FileCheck %s --check-prefix=DERIVED
// RUN: not aicf-opt %t/kernel.mlir --aicf-rt-select-kernels 2>&1 | FileCheck %s --check-prefix=KERNEL
// RUN: not aicf-opt %t/view.mlir --aicf-set-target=target=cuda --aicf-rt-select-kernels 2>&1 | FileCheck %s --check-prefix=VIEW
// RUN: not aicf-opt %t/shared.mlir --aicf-verify-entries 2>&1 | FileCheck %s --check-prefix=SHARED

//--- early.mlir
// EARLY: error: cannot split @f: its update reads "lr", which the gradients half
// EARLY-NOT: error:
func.func @f(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"},
             %w: tensor<4xf32> {aicf.role = "param", aicf.name = "w"},
             %lr: tensor<f32> {aicf.role = "state", aicf.name = "lr"})
    -> (tensor<4xf32> {aicf.updates = "w"}, tensor<f32> {aicf.updates = "lr"}) {
  %d = aicf.relu %x : tensor<4xf32>
  %n, %m = aicf.sgd_step %w, %d, %lr : tensor<4xf32>, tensor<4xf32>, tensor<f32>
  %l = aicf.add %lr, %lr : tensor<f32>, tensor<f32>
  return %n, %l : tensor<4xf32>, tensor<f32>
}

//--- history.mlir
// HISTORY: error: result 0 has 'aicf.history' but updates "w"
// HISTORY-NOT: error:
func.func @f(%w: tensor<4xf32> {aicf.role = "param", aicf.name = "w"})
    -> (tensor<4xf32> {aicf.updates = "w", aicf.history = 8}) {
  return %w : tensor<4xf32>
}

//--- owners.mlir
// OWNERS: error: output "y" has a history in @f too
// OWNERS-NOT: error:
func.func @f(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4xf32> {aicf.name = "y", aicf.history = 8}) {
  return %x : tensor<4xf32>
}
func.func @g(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4xf32> {aicf.name = "y", aicf.history = 8}) {
  return %x : tensor<4xf32>
}

//--- capture.mlir
// CAPTURE: error: 'aicf.adam_step' op capture safety: moment {{.*}} is not an argument of role state
// CAPTURE-NOT: error:
func.func @f(%w: tensor<4xf32> {aicf.role = "param", aicf.name = "w"},
             %v: tensor<4xf32> {aicf.role = "state", aicf.name = "v"},
             %t: tensor<i64> {aicf.role = "state", aicf.name = "t"},
             %lr: tensor<f32> {aicf.role = "hyper", aicf.name = "lr"})
    -> (tensor<4xf32> {aicf.updates = "w"}, tensor<4xf32> {aicf.updates = "v"}, tensor<i64> {aicf.updates = "t"}) {
  %i = aicf.step_inc %t : tensor<i64>
  %bc = aicf.bias_corr %i : tensor<i64>
  %m = aicf.relu %w : tensor<4xf32>
  %n:3 = aicf.adam_step %w, %w, %m, %v, %bc, %lr : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<2xf32>, tensor<f32>
  return %n#0, %n#2, %i : tensor<4xf32>, tensor<4xf32>, tensor<i64>
}

//--- outputs.mlir
// OUTPUTS: error: 'aicf.outputs' names gradients, and the entry trains no parameter
// OUTPUTS-NOT: error:
func.func @f(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4xf32> {aicf.name = "y"})
    attributes {aicf.outputs = ["grad_norm"]} {
  return %x : tensor<4xf32>
}

//--- kernel.mlir
// KERNEL: error: 'aicf_rt.call' op kid "relu_f32_v9" is not a kernel of target cpu
// KERNEL-NOT: error:
func.func @f(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"}) {
  %0 = aicf_rt.call relu(%x) launch<kernel = "relu_f32_v9"> : (tensor<4xf32>) -> tensor<4xf32>
  %1 = aicf_rt.call relu(%x) launch<kernel = "relu_f32_v9"> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

//--- view.mlir
// The view begins where the vectors of the kernel may not.
// VIEW: error: 'aicf_rt.call' op kid "relu_f32_vec4_v0" is not a kernel of target cuda
func.func @f(%x: tensor<32xf32> {aicf.role = "input", aicf.name = "x"}) {
  %0 = aicf_rt.view %x[2] : tensor<32xf32> to tensor<4x4xf32>
  %1 = aicf_rt.call relu(%0) launch<kernel = "relu_f32_vec4_v0"> : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}

//--- type.mlir
// TYPE: error: argument 0 ("x")
// TYPE-NOT: error:
func.func @f(%x: tensor<?xf32> {aicf.role = "input", aicf.name = "x"}) {
  return
}

//--- result.mlir
// RESULT: error: result 0 is 'tensor<2000000000x2000000000xf64>', expected dimensions below 2^31 and up to 64 TiB
// RESULT-NOT: error:
func.func @f(%x: tensor<2000000000xf64> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<1x1xf64> {aicf.name = "y"}) {
  %b = aicf.broadcast %x to [2000000000, 2000000000] : tensor<2000000000xf64>
  %y = aicf.slice %b from [0, 0] to [1, 1] : tensor<2000000000x2000000000xf64>
  return %y : tensor<1x1xf64>
}

//--- init.mlir
// INIT: error: argument 0 ("x") has 'aicf.init' but its role is input
// INIT-NOT: error:
func.func @f(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x", aicf.init = 1.0 : f32}) {
  return
}

//--- update.mlir
// UPDATE: error: result 0 updates "v", but no argument has that name
// UPDATE-NOT: error:
func.func @f(%w: tensor<4xf32> {aicf.role = "param", aicf.name = "w"})
    -> (tensor<4xf32> {aicf.updates = "v"}) {
  return %w : tensor<4xf32>
}

//--- derived.mlir
// DERIVED: error: argument 0 ("c") is derived from "w": no argument before it
// DERIVED-NOT: error:
func.func @f(%c: tensor<4xbf16> {aicf.role = "state", aicf.name = "c", aicf.derived_from = "w"}) {
  return
}

//--- shared.mlir
// SHARED: error: entries disagree about "w"
// SHARED-NOT: error:
func.func @f(%w: tensor<4xf32> {aicf.role = "param", aicf.name = "w"}) {
  return
}
func.func @g(%w: tensor<5xf32> {aicf.role = "param", aicf.name = "w"}) {
  return
}

//--- lost.mlir
// LOST: error: result 0 has 'aicf.history': run --aicf-expand-history first
// LOST-NOT: error:
func.func @f(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4xf32> {aicf.name = "y", aicf.history = 3}) {
  return %x : tensor<4xf32>
}
