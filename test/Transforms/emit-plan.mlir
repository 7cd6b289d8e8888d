// RUN: aicf-opt %s --lower-to-backend=opt-level=1 | FileCheck %s
// RUN: aicf-opt %s --lower-to-backend=opt-level=1 | FileCheck %s --check-prefix=FUNCS
// RUN: not aicf-opt %s --aicf-number-values --aicf-lower-to-rt --aicf-rt-emit-plan 2>&1 | FileCheck %s --check-prefix=EARLY
// EARLY: has no kernel: run the phases before --aicf-rt-emit-plan

// Tests that persistent tensors come once, and that an optimizer that works in
// place reads and writes the same buffer.
// CHECK-LABEL: aicf_rt.plan cpu persistent(512)
// CHECK-NEXT:    aicf_rt.global @w param offset(0) vid(1) init(uniform_fan_in) : !aicf_rt.value<3x4xf32>
// CHECK-NEXT:    aicf_rt.global @lr hyper offset(256)
// CHECK-NEXT:    aicf_rt.entry @train io(1024)
// CHECK-NEXT:      %x_buffer = aicf_rt.alloc input "x" bytes(32) offset(0)
// CHECK-NEXT:      %x = aicf_rt.value %x_buffer[0] vid(0) : <2x4xf32>
// CHECK-NEXT:      %w_buffer = aicf_rt.get @w
// CHECK-NEXT:      %w = aicf_rt.value %w_buffer[0] vid(1) : <3x4xf32>
// CHECK-NEXT:      aicf_rt.alloc input "t" bytes(24) offset(256)
// CHECK:           aicf_rt.alloc output "loss" bytes(4) offset(512)
// CHECK:           aicf_rt.call gemm(%x, %w) {transB = true} outs(%pred) in_vids [0, 1] vids [2] launch<kernel = "gemm_f32_blas_v0">
// CHECK:           aicf_rt.call sgd_step(%w, %{{.*}}, %lr) outs(%w) {{.*}}launch<kernel = "sgd_step_f32_v0">
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

// Tests that a second entry shares the param, and that save has its role.
// CHECK:         aicf_rt.entry @predict io(512) temp(256) bound(256)
// CHECK-NEXT:      aicf_rt.alloc input "x" bytes(32) offset(0)
// CHECK:           aicf_rt.get @w
// CHECK:           aicf_rt.alloc output "y" bytes(24) offset(256)
// CHECK:           aicf_rt.alloc saved bytes(32) offset(0)
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
