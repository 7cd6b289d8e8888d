// RUN: aicf-opt %s --lower-to-backend=opt-level=1 | FileCheck %s
// RUN: aicf-opt %s --lower-to-backend=opt-level=1 | FileCheck %s --check-prefix=FUNCS
// RUN: not aicf-opt %s --aicf-number-values --aicf-lower-to-rt --aicf-rt-emit-plan 2>&1 | FileCheck %s --check-prefix=EARLY
// EARLY: has no 'aicf_rt.target': run --aicf-rt-select-kernels first

// Tests that persistent tensors come once, and that an optimizer that works in
// place reads and writes the same tids.
// CHECK-LABEL: aicf_rt.plan "cpu" persistent(512)
// CHECK-NEXT:    aicf_rt.tensor 0 "w" "param" "persistent"[0] vid(1) {init = "uniform_fan_in"} : tensor<3x4xf32>
// CHECK-NEXT:    aicf_rt.tensor 1 "lr" "hyper" "persistent"[256]
// CHECK-NEXT:    aicf_rt.entry "train" io(1024)
// CHECK-NEXT:      aicf_rt.tensor 2 "x" "input" "io"[0]
// CHECK-NEXT:      aicf_rt.tensor 3 "t" "input" "io"[256]
// CHECK-NEXT:      aicf_rt.tensor 4 "loss" "output" "io"[512]
// CHECK:           aicf_rt.call "gemm" "gemm_f32_blas_v0" ins [2, 0]
// CHECK:           aicf_rt.call "sgd_step" "sgd_step_f32_v0" ins [0, {{[0-9]+}}, 1, -1, -1, -1] outs [0, -1]
func.func @train(%x: tensor<2x4xf32> {aicf.role = "input", aicf.name = "x"},
                 %w: tensor<3x4xf32> {aicf.role = "param", aicf.name = "w", aicf.init = "uniform_fan_in"},
                 %t: tensor<2x3xf32> {aicf.role = "input", aicf.name = "t"},
                 %lr: tensor<f32> {aicf.role = "hyper", aicf.name = "lr"})
    -> (tensor<f32> {aicf.name = "loss"}, tensor<2x3xf32> {aicf.name = "pred"},
        tensor<3x4xf32> {aicf.updates = "w"}) {
  %y = aicf.linear %x, %w : tensor<2x4xf32>, tensor<3x4xf32>
  %l = aicf.mse_loss %y, %t : tensor<2x3xf32>, tensor<2x3xf32>
  %d = aicf.mse_grad %y, %t : tensor<2x3xf32>, tensor<2x3xf32>
  %dx, %dw, %db = aicf.linear_bwd %d, %x, %w : tensor<2x3xf32>, tensor<2x4xf32>, tensor<3x4xf32>
  %n, %m = aicf.sgd_step %w, %dw, %lr : tensor<3x4xf32>, tensor<3x4xf32>, tensor<f32>
  return %l, %y, %n : tensor<f32>, tensor<2x3xf32>, tensor<3x4xf32>
}

// Tests that a second entry's local tids start over, and save is labelled.
// CHECK:         aicf_rt.entry "predict" io(512) temp(256) bound(256)
// CHECK-NEXT:      aicf_rt.tensor 2 "x" "input" "io"[0]
// CHECK-NEXT:      aicf_rt.tensor 3 "y" "output" "io"[256]
// CHECK-NEXT:      aicf_rt.tensor 4 "" "saved" "temp"[0]
func.func @predict(%x: tensor<2x4xf32> {aicf.role = "input", aicf.name = "x"},
                   %w: tensor<3x4xf32> {aicf.role = "param", aicf.name = "w", aicf.init = "uniform_fan_in"})
    -> (tensor<2x3xf32> {aicf.name = "y"}) {
  %s = aicf.save %x : tensor<2x4xf32>
  %y = aicf.linear %s, %w : tensor<2x4xf32>, tensor<3x4xf32>
  return %y : tensor<2x3xf32>
}

// Tests that functions that are not entries stay, and no entry does.
// FUNCS-NOT: func.func @train
// FUNCS: func.func @helper(%{{.*}}: tensor<?xf32>)
// FUNCS-NOT: func.func
func.func @helper(%x: tensor<?xf32>) {
  return
}
