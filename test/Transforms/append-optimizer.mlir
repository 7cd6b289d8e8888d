// RUN: aicf-opt %s --aicf-append-optimizer --split-input-file | FileCheck %s

// Tests the updates of every optimizer, and what they share.

// CHECK-LABEL: @adamw
// CHECK-SAME: %[[LR:arg[0-9]+]]: tensor<f32> {aicf.name = "lr", aicf.role = "hyper"}
// CHECK-SAME: %[[STEP:arg[0-9]+]]: tensor<i64> {aicf.name = "step", aicf.role = "state"}
// CHECK-SAME: %[[M:arg[0-9]+]]: tensor<4xf32> {aicf.name = "W.exp_avg", aicf.role = "state"}
// CHECK-SAME: %[[V:arg[0-9]+]]: tensor<4xf32> {aicf.name = "W.exp_avg_sq", aicf.role = "state"}
// CHECK-SAME: -> (tensor<f32> {aicf.name = "loss"}, tensor<i64> {aicf.updates = "step"}
// CHECK-SAME: {aicf.updates = "W.exp_avg"}, tensor<4xf32> {aicf.updates = "W.exp_avg_sq"}, tensor<4xf32> {aicf.updates = "W"}
// CHECK-NOT: aicf.optimizer
func.func @adamw(
    %W: tensor<4xf32> {aicf.role = "param", aicf.name = "W"},
    %V: tensor<2xf32> {aicf.role = "param", aicf.name = "V", aicf.weight_decay = 0.0, aicf.lr_scale = 0.5},
    %U: tensor<2xf32> {aicf.role = "param", aicf.name = "U", aicf.lr_scale = 0.5},
    %loss: tensor<f32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4xf32> {aicf.name = "grad:W", aicf.grad = "W"},
        tensor<f32> {aicf.name = "loss"},
        tensor<2xf32> {aicf.name = "grad:V", aicf.grad = "V"},
        tensor<2xf32> {aicf.name = "grad:U", aicf.grad = "U"})
    attributes {aicf.optimizer = #aicf.adamw<lr = "lr", beta1 = 0.8, weight_decay = 0.01>} {
  // CHECK: %[[T:.*]] = aicf.step_inc %[[STEP]]
  // CHECK: %[[BC:.*]] = aicf.bias_corr %[[T]] {beta1 = 8.0
  // CHECK: aicf.adam_step %arg0, %arg0, %[[M]], %[[V]], %[[BC]], %[[LR]] {beta1 = 8.0{{.*}}weight_decay = 1.0
  // CHECK: %[[HALF:.*]] = aicf.scale %[[LR]] {factor = 5.0
  // CHECK: aicf.adam_step %arg1, %arg1, %{{.*}}, %{{.*}}, %[[BC]], %[[HALF]] {beta1 = 8.000000e-01 : f64} : tensor<2xf32>
  // CHECK: aicf.adam_step %arg2, %arg2, %{{.*}}, %{{.*}}, %[[BC]], %[[HALF]] {beta1 = 8.0{{.*}}weight_decay
  return %W, %loss, %V, %U : tensor<4xf32>, tensor<f32>, tensor<2xf32>, tensor<2xf32>
}

// -----

// Another hyper of that name is used; a schedule counts steps by itself.
// CHECK-LABEL: @sgd
// CHECK-SAME: %arg1: tensor<f64> {aicf.name = "rate", aicf.role = "hyper"}, %arg2: tensor<4xf64> {aicf.name = "W.momentum_buffer", aicf.role = "state"})
func.func @sgd(
    %W: tensor<4xf64> {aicf.role = "param", aicf.name = "W"},
    %rate: tensor<f64> {aicf.role = "hyper", aicf.name = "rate"})
    -> (tensor<4xf64> {aicf.name = "grad:W", aicf.grad = "W"})
    attributes {aicf.optimizer = #aicf.sgd<lr = "rate", momentum = 0.9, nesterov = true>} {
  // CHECK-NEXT: aicf.sgd_step %arg0, %arg0, %arg1 momentum %arg2 {momentum = 9.0{{.*}}, nesterov = true}
  return %W : tensor<4xf64>
}
// CHECK-LABEL: @cosine
func.func @cosine(
    %W: tensor<4xf64> {aicf.role = "param", aicf.name = "W"},
    %V: tensor<4xf32> {aicf.role = "param", aicf.name = "V"})
    -> (tensor<4xf64> {aicf.name = "grad:W", aicf.grad = "W"},
        tensor<4xf32> {aicf.name = "grad:V", aicf.grad = "V"})
    attributes {aicf.optimizer = #aicf.sgd<lr = #aicf.warmup_cosine<peak = 0.1, warmup = 10, steps = 100>>} {
  // CHECK: %[[T:.*]] = aicf.step_inc
  // CHECK: %[[R64:.*]] = aicf.learning_rate %[[T]] {cosine = true, dtype = f64, end = 0.0{{.*}}, peak = 1.0{{.*}}, start = 0.0{{.*}}, steps = 100 : i64, warmup = 10 : i64}
  // CHECK: aicf.sgd_step %arg0, %arg0, %[[R64]]
  // CHECK: %[[R32:.*]] = aicf.learning_rate %[[T]] {cosine = true, dtype = f32
  // CHECK: aicf.sgd_step %arg1, %arg1, %[[R32]]
  return %W, %V : tensor<4xf64>, tensor<4xf32>
}

// -----

// CHECK-LABEL: @linear
// CHECK: aicf.learning_rate %{{.*}} {dtype = f32, end = 1.0{{.*}}, peak = 5.0{{.*}}, start = 5.0{{.*}}, steps = 9 : i64, warmup = 0 : i64}
func.func @linear(%W: tensor<f32> {aicf.role = "param", aicf.name = "W"})
    -> (tensor<f32> {aicf.name = "grad:W", aicf.grad = "W"})
    attributes {aicf.optimizer = #aicf.sgd<lr = #aicf.linear<start = 0.5, end = 0.1, steps = 9>>} {
  return %W : tensor<f32>
}

// -----

// CHECK-LABEL: @constant
// CHECK: aicf.learning_rate %{{.*}} {dtype = f32, end = 5.0{{.*}}, peak = 5.0{{.*}}, start = 5.0{{.*}}, steps = 0 : i64, warmup = 0 : i64}
func.func @constant(%W: tensor<f32> {aicf.role = "param", aicf.name = "W"})
    -> (tensor<f32> {aicf.name = "grad:W", aicf.grad = "W"})
    attributes {aicf.optimizer = #aicf.sgd<lr = #aicf.constant<value = 0.5>>} {
  return %W : tensor<f32>
}

// -----

// With a loss scale: gradients of two types are judged as f32, a bad step counts
// for nothing, and a copy of a parameter follows it.
// CHECK-LABEL: @scaled
func.func @scaled(
    %W: tensor<4xf32> {aicf.role = "param", aicf.name = "W"},
    %V: tensor<4xf32> {aicf.role = "param", aicf.name = "V"},
    %V16: tensor<4xf16> {aicf.role = "state", aicf.name = "V.f16", aicf.derived_from = "V"},
    %s: tensor<f32> {aicf.role = "state", aicf.name = "scale"})
    -> (tensor<4xf32> {aicf.name = "grad:W", aicf.grad = "W"},
        tensor<4xf16> {aicf.name = "grad:V", aicf.grad = "V"})
    attributes {aicf.optimizer = #aicf.adamw<lr = "lr">, aicf.loss_scale = "scale"} {
  // CHECK: %[[WIDE:.*]] = aicf.cast %arg2 to f32
  // CHECK: %[[OK:.*]] = aicf.all_finite %arg0, %[[WIDE]]
  // CHECK: %[[INV:.*]] = aicf.reciprocal %arg3
  // CHECK: %[[SCALE:.*]], %[[STREAK:.*]] = aicf.loss_scale_update %arg3, %{{.*}}, %[[OK]]
  // CHECK: aicf.step_inc %{{.*}}, %[[OK]]
  // CHECK: aicf.adam_step %arg0, %arg0, {{.*}} inv_scale %[[INV]] ok %[[OK]]
  // CHECK: %[[NEXT:.*]], %{{.*}}, %{{.*}} = aicf.adam_step %arg1, %arg2, {{.*}} inv_scale %[[INV]] ok %[[OK]]
  // CHECK: %[[COPY:.*]] = aicf.cast %[[NEXT]] to f16
  // CHECK: return %[[SCALE]], %[[STREAK]], {{.*}}, %[[NEXT]], %[[COPY]] :
  return %W, %V16 : tensor<4xf32>, tensor<4xf16>
}
