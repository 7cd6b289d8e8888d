// RUN: aicf-opt %s --aicf-append-optimizer --split-input-file | FileCheck %s
// RUN: aicf-opt %s --split-input-file --lower-to-backend -o /dev/null

// Tests Lion, clipping, and the two entries that share an update.

// CHECK-LABEL: @lion
// CHECK-SAME: %arg1: tensor<f32> {aicf.name = "lr", aicf.role = "hyper"}, %arg2: tensor<4xf32> {aicf.name = "W.exp_avg", aicf.role = "state"})
func.func @lion(%W: tensor<4xf32> {aicf.role = "param", aicf.name = "W"})
    -> (tensor<4xf32> {aicf.name = "grad:W", aicf.grad = "W"})
    attributes {aicf.optimizer = #aicf.lion<lr = "lr", beta2 = 0.95, weight_decay = 0.1>} {
  // CHECK-NEXT: aicf.lion_step %arg0, %arg0, %arg2, %arg1 {beta2 = 0.9{{.*}}, weight_decay = 1.0
  return %W : tensor<4xf32>
}

// -----

// The norm is over gradients of one type, before the update.
// CHECK-LABEL: @clip
func.func @clip(%W: tensor<4xf32> {aicf.role = "param", aicf.name = "W"},
                %V: tensor<4xf64> {aicf.role = "param", aicf.name = "V"})
    -> (tensor<4xf32> {aicf.name = "grad:W", aicf.grad = "W"},
        tensor<4xf64> {aicf.name = "grad:V", aicf.grad = "V"})
    attributes {aicf.optimizer = #aicf.sgd<lr = "lr", clip_norm = 2.0>} {
  // CHECK: %[[WIDE:.*]] = aicf.cast %arg0 to f64
  // CHECK: %[[NORM:.*]] = aicf.global_norm %[[WIDE]], %arg1
  // CHECK: %[[F:.*]] = aicf.clip_factor %[[NORM]] {max_norm = 2.0{{.*}}} : tensor<f64>
  // CHECK: %[[F32:.*]] = aicf.cast %[[F]] to f32
  // CHECK: aicf.sgd_step %arg0, %arg0, %{{.*}} inv_scale %[[F32]]
  // CHECK: aicf.sgd_step %arg1, %arg1, %{{.*}} inv_scale %[[F]]
  return %W, %V : tensor<4xf32>, tensor<4xf64>
}

// -----

// Behind a loss scale, of gradients that are added up: the factor is 1/scale and
// 1/batches, too.
// CHECK-LABEL: func.func @all(
// CHECK-SAME: %[[ACC:arg[0-9]+]]: tensor<4xf32> {aicf.name = "W.grad_acc", aicf.role = "state"}
// CHECK: %[[WIDE:.*]] = aicf.cast %arg2 to f32
// CHECK: %[[SUM:.*]] = aicf.add %[[ACC]], %[[WIDE]]
// CHECK: %[[ZERO:.*]] = aicf.fill_like %[[ACC]] {value = 0.0
// CHECK: %[[OK:.*]] = aicf.all_finite %[[SUM]]
// CHECK: %[[INV:.*]] = aicf.reciprocal %arg1
// CHECK: %[[NORM:.*]] = aicf.global_norm %[[SUM]]
// CHECK: %[[MEAN:.*]] = aicf.scale %[[INV]] {factor = 2.500000e-01
// CHECK: %[[F:.*]] = aicf.clip_factor %[[NORM]], %[[MEAN]] {max_norm = 1.0
// CHECK: aicf.adam_step %arg0, %[[SUM]], {{.*}} inv_scale %[[F]] ok %[[OK]]
// CHECK: return %arg1, %[[ZERO]],
// CHECK-LABEL: @all.accumulate
// CHECK-SAME: %arg1: tensor<f32> {aicf.name = "scale", aicf.role = "state"}, {{.*}}%[[ACC:arg[0-9]+]]: tensor<4xf32> {aicf.name = "W.grad_acc", aicf.role = "state"})
// CHECK-SAME: -> (tensor<f32> {aicf.name = "loss"}, tensor<4xf32> {aicf.updates = "W.grad_acc"})
// CHECK: %[[WIDE:.*]] = aicf.cast %arg2 to f32
// CHECK: %[[SUM:.*]] = aicf.add %[[ACC]], %[[WIDE]]
// CHECK: return %arg1, %[[SUM]]
func.func @all(
    %W: tensor<4xf32> {aicf.role = "param", aicf.name = "W", aicf.lr_scale = 2.0},
    %s: tensor<f32> {aicf.role = "state", aicf.name = "scale"},
    %g: tensor<4xf16> {aicf.role = "input", aicf.name = "g"})
    -> (tensor<f32> {aicf.name = "loss"}, tensor<4xf16> {aicf.name = "grad:W", aicf.grad = "W"})
    attributes {aicf.loss_scale = "scale",
                aicf.optimizer = #aicf.adamw<lr = "lr", clip_norm = 1.0, accumulate = 4>} {
  return %s, %g : tensor<f32>, tensor<4xf16>
}

// -----

// Without either the factor is 1/batches, in each parameter's type.
// CHECK-LABEL: func.func @mean(
// CHECK: %[[M32:.*]] = aicf.fill_like %[[LR:.*]] {value = 5.000000e-01{{.*}}} : tensor<f32>
// CHECK: aicf.sgd_step %arg0, {{.*}} inv_scale %[[M32]]
// CHECK: aicf.sgd_step %arg1, {{.*}} inv_scale
func.func @mean(%W: tensor<4xf32> {aicf.role = "param", aicf.name = "W"},
                %V: tensor<4xf64> {aicf.role = "param", aicf.name = "V"})
    -> (tensor<4xf32> {aicf.name = "grad:W", aicf.grad = "W"},
        tensor<4xf64> {aicf.name = "grad:V", aicf.grad = "V"})
    attributes {aicf.optimizer = #aicf.sgd<lr = "lr", accumulate = 2>} {
  return %W, %V : tensor<4xf32>, tensor<4xf64>
}

// -----

// Finite and clipped are the same casts.
// CHECK-LABEL: func.func @casts(
// CHECK: %[[WIDE:.*]] = aicf.cast %arg0 to f64
// CHECK: aicf.all_finite %[[WIDE]], %arg1
// CHECK-NOT: aicf.cast %arg0
// CHECK: aicf.global_norm %[[WIDE]], %arg1
func.func @casts(%W: tensor<4xf32> {aicf.role = "param", aicf.name = "W"},
                 %V: tensor<4xf64> {aicf.role = "param", aicf.name = "V"},
                 %s: tensor<f32> {aicf.role = "state", aicf.name = "scale"})
    -> (tensor<4xf32> {aicf.name = "grad:W", aicf.grad = "W"},
        tensor<4xf64> {aicf.name = "grad:V", aicf.grad = "V"})
    attributes {aicf.loss_scale = "scale", aicf.optimizer = #aicf.sgd<lr = "lr", clip_norm = 2.0>} {
  return %W, %V : tensor<4xf32>, tensor<4xf64>
}
