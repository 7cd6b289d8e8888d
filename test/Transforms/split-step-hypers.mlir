// RUN: aicf-opt %s --aicf-autodiff --aicf-append-optimizer --aicf-split-step | FileCheck %s

// Tests that what hypers and gradients say about the update belongs to it, and that a
// gradient is called so whoever reads it first.

// CHECK-LABEL: @step.grads(
// CHECK-NOT: aicf.name = "lr"
// CHECK-SAME: {aicf.name = "grad:W", aicf.role = "state"}
// CHECK-NOT: aicf.clip_factor
// CHECK: return
// CHECK-LABEL: @step.update(
// CHECK-SAME: %[[LR:arg[0-9]+]]: tensor<f32> {aicf.name = "lr"
// CHECK-SAME: %[[G:arg[0-9]+]]: tensor<4xf32> {aicf.name = "grad:W"
// CHECK: %[[NORM:.*]] = aicf.global_norm %[[G]]
// CHECK: aicf.clip_factor %[[NORM]]
// CHECK: %[[RATE:.*]] = aicf.scale %[[LR]] {factor = 5.0
// CHECK: aicf.sgd_step %{{.*}}, %[[G]], %[[RATE]]
// CHECK-LABEL: @step.accumulate(
func.func @step(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"},
                %W: tensor<4xf32> {aicf.role = "param", aicf.name = "W", aicf.lr_scale = 0.5})
    -> (tensor<f32> {aicf.name = "loss", aicf.minimize})
    attributes {aicf.optimizer = #aicf.sgd<lr = "lr", clip_norm = 1.0, accumulate = 2>} {
  %loss = aicf.mse_loss %W, %x : tensor<4xf32>, tensor<4xf32>
  return %loss : tensor<f32>
}
