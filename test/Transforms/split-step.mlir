// RUN: aicf-opt %s --aicf-split-step --split-input-file | FileCheck %s
// RUN: aicf-opt %s --lower-to-backend=split-step=true --split-input-file -o /dev/null
// RUN: aicf-opt %s "--lower-to-backend=split-step=true keep=grad" --split-input-file -o /dev/null

// Tests that gradients cross as states, that counters go with the update, and
// that each half has only what it needs.
// CHECK-LABEL: func.func @train.grads
// CHECK-SAME: aicf.name = "x"
// CHECK-SAME: aicf.name = "w"
// CHECK-SAME: tensor<2x8xf32> {aicf.name = "grad:w", aicf.role = "state"}
// CHECK-SAME: -> (tensor<f32> {aicf.name = "loss"}, tensor<2x8xf32> {aicf.updates = "grad:w"})
// CHECK: aicf.linear_bwd
// CHECK-NOT: aicf.adam_step
// CHECK-NOT: aicf.step_inc
// CHECK-LABEL: func.func @train.update
// CHECK-NOT: aicf.name = "x"
// CHECK-SAME: %[[W:[a-z0-9]+]]: tensor<2x8xf32> {aicf.name = "w", aicf.role = "param"}
// CHECK-SAME: %[[G:[a-z0-9]+]]: tensor<2x8xf32> {aicf.name = "grad:w", aicf.role = "state"}
// CHECK-NEXT: aicf.step_inc
// CHECK-NEXT: aicf.bias_corr
// CHECK-NEXT: aicf.adam_step %[[W]], %[[G]]
// CHECK-NEXT: return
func.func @train(%x: tensor<4x8xf32> {aicf.role = "input", aicf.name = "x"},
                 %t: tensor<4x2xf32> {aicf.role = "input", aicf.name = "t"},
                 %w: tensor<2x8xf32> {aicf.role = "param", aicf.name = "w"},
                 %m: tensor<2x8xf32> {aicf.role = "state", aicf.name = "m"},
                 %v: tensor<2x8xf32> {aicf.role = "state", aicf.name = "v"},
                 %s: tensor<i64> {aicf.role = "state", aicf.name = "s"},
                 %lr: tensor<f32> {aicf.role = "hyper", aicf.name = "lr"})
    -> (tensor<f32> {aicf.name = "loss"}, tensor<2x8xf32> {aicf.updates = "w"},
        tensor<2x8xf32> {aicf.updates = "m"}, tensor<2x8xf32> {aicf.updates = "v"}, tensor<i64> {aicf.updates = "s"}) {
  %y = aicf.linear %x, %w : tensor<4x8xf32>, tensor<2x8xf32>
  %l = aicf.mse_loss %y, %t : tensor<4x2xf32>, tensor<4x2xf32>
  %d = aicf.mse_grad %y, %t : tensor<4x2xf32>, tensor<4x2xf32>
  %dx, %dw, %db = aicf.linear_bwd %d, %x, %w : tensor<4x2xf32>, tensor<4x8xf32>, tensor<2x8xf32>
  %n = aicf.step_inc %s : tensor<i64>
  %bc = aicf.bias_corr %n : tensor<i64>
  %w2, %m2, %v2 = aicf.adam_step %w, %dw, %m, %v, %bc, %lr : tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>, tensor<2xf32>, tensor<f32>
  return %l, %w2, %m2, %v2, %n : tensor<f32>, tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>, tensor<i64>
}

// -----

// Tests that an entry without an optimizer stays as it is.
// CHECK-LABEL: func.func @predict(
// CHECK-NOT: @predict.grads
func.func @predict(%x: tensor<4x8xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4x8xf32> {aicf.name = "y"}) {
  %y = aicf.relu %x : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

// Tests that functions that are not entries are left alone.
// CHECK-LABEL: func.func private @other
func.func private @other(%p: tensor<4xf32>, %lr: tensor<f32>) -> tensor<4xf32> {
  %n, %m = aicf.sgd_step %p, %p, %lr : tensor<4xf32>, tensor<4xf32>, tensor<f32>
  return %n : tensor<4xf32>
}
