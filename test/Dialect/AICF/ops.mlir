// RUN: aicf-opt %s --verify-roundtrip | FileCheck %s

// Tests that every op parses, prints and round-trips, with inferred types.

// CHECK-LABEL: func.func @layers
func.func @layers(%x: tensor<4x3xf32>, %w: tensor<2x3xf32>, %b: tensor<2xf32>,
                  %dy: tensor<4x2xf32>) {
  // CHECK: %[[Y:.*]] = aicf.linear %{{.*}}, %{{.*}}, %{{.*}} : tensor<4x3xf32>, tensor<2x3xf32>, tensor<2xf32>
  %y = aicf.linear %x, %w, %b : tensor<4x3xf32>, tensor<2x3xf32>, tensor<2xf32>
  // CHECK: aicf.linear %{{.*}}, %{{.*}} : tensor<4x3xf32>, tensor<2x3xf32>
  %y2 = aicf.linear %x, %w : tensor<4x3xf32>, tensor<2x3xf32>
  // CHECK: aicf.relu %[[Y]] : tensor<4x2xf32>
  %h = aicf.relu %y : tensor<4x2xf32>
  // CHECK: aicf.save
  %s = aicf.save %h : tensor<4x2xf32>
  // CHECK: aicf.copy
  %c = aicf.copy %h : tensor<4x2xf32>
  // CHECK: aicf.add %{{.*}}, %{{.*}} : tensor<4x2xf32>, tensor<4x2xf32>
  %a = aicf.add %h, %c : tensor<4x2xf32>, tensor<4x2xf32>
  // CHECK: aicf.gelu %{{.*}} : tensor<4x2xf32>
  %e = aicf.gelu %a : tensor<4x2xf32>
  // CHECK: aicf.mul %{{.*}}, %{{.*}} : tensor<4x2xf32>, tensor<4x2xf32>
  %product = aicf.mul %a, %dy : tensor<4x2xf32>, tensor<4x2xf32>
  // CHECK: aicf.sub %{{.*}}, %{{.*}} : tensor<4x2xf32>, tensor<4x2xf32>
  %difference = aicf.sub %a, %dy : tensor<4x2xf32>, tensor<4x2xf32>
  // CHECK: aicf.scale %{{.*}} {factor = -2.0{{.*}}} : tensor<4x2xf32>
  %scaled = aicf.scale %a {factor = -2.0 : f64} : tensor<4x2xf32>
  // CHECK: aicf.fill_like %{{.*}} {value = 5.0{{.*}}} : tensor<4x2xf32>
  %filled = aicf.fill_like %a {value = 0.5 : f64} : tensor<4x2xf32>
  // CHECK: aicf.tanh %{{.*}} : tensor<4x2xf32>
  %tanh = aicf.tanh %a : tensor<4x2xf32>
  // CHECK: aicf.tanh_bwd %{{.*}}, %{{.*}} : tensor<4x2xf32>, tensor<4x2xf32>
  %dtanh = aicf.tanh_bwd %dy, %tanh : tensor<4x2xf32>, tensor<4x2xf32>
  // CHECK: aicf.sigmoid %{{.*}} : tensor<4x2xf32>
  %sigmoid = aicf.sigmoid %a : tensor<4x2xf32>
  // CHECK: aicf.sigmoid_bwd %{{.*}}, %{{.*}} : tensor<4x2xf32>, tensor<4x2xf32>
  %dsigmoid = aicf.sigmoid_bwd %dy, %sigmoid : tensor<4x2xf32>, tensor<4x2xf32>
  // CHECK: aicf.silu %{{.*}} : tensor<4x2xf32>
  %silu = aicf.silu %a : tensor<4x2xf32>
  // CHECK: aicf.silu_bwd %{{.*}}, %{{.*}} : tensor<4x2xf32>, tensor<4x2xf32>
  %dsilu = aicf.silu_bwd %dy, %a : tensor<4x2xf32>, tensor<4x2xf32>
  // CHECK: aicf.stop_gradient %{{.*}} : tensor<4x2xf32>
  %stopped = aicf.stop_gradient %a : tensor<4x2xf32>
  // CHECK: aicf.straight_through %{{.*}}, %{{.*}} : tensor<4x2xf32>, tensor<4x2xf32>
  %through = aicf.straight_through %a, %dy : tensor<4x2xf32>, tensor<4x2xf32>
  // CHECK: aicf.gradient %{{.*}}, %{{.*}} : tensor<f32>, tensor<4x2xf32>
  %once = aicf.mean %a : tensor<4x2xf32>
  %slope = aicf.gradient %once, %a : tensor<f32>, tensor<4x2xf32>
  // CHECK: aicf.gelu_bwd %{{.*}}, %{{.*}} {approximate = true} : tensor<4x2xf32>, tensor<4x2xf32>
  %de = aicf.gelu_bwd %dy, %a {approximate = true} : tensor<4x2xf32>, tensor<4x2xf32>
  // CHECK: aicf.cast %{{.*}} to bf16 : tensor<4x2xf32>
  %k = aicf.cast %a to bf16 : tensor<4x2xf32>
  // CHECK: aicf.relu_bwd
  %dr = aicf.relu_bwd %dy, %s : tensor<4x2xf32>, tensor<4x2xf32>
  // CHECK: aicf.linear_bwd
  %dx, %dw, %db = aicf.linear_bwd %dy, %x, %w
      : tensor<4x2xf32>, tensor<4x3xf32>, tensor<2x3xf32>
  // CHECK: aicf.reduce_sum %{{.*}} over [0] : tensor<4x2xf32>
  %r0 = aicf.reduce_sum %dy over [0] : tensor<4x2xf32>
  // CHECK: aicf.reduce_sum %{{.*}} over [1] {keepdim = true} : tensor<4x2xf32>
  %r1 = aicf.reduce_sum %dy over [1] {keepdim = true} : tensor<4x2xf32>
  return
}

// CHECK-LABEL: func.func @loss
func.func @loss(%p: tensor<4x2xf64>, %t: tensor<4x2xf64>, %s: tensor<f64>) {
  // CHECK: aicf.mse_loss
  %l = aicf.mse_loss %p, %t : tensor<4x2xf64>, tensor<4x2xf64>
  // CHECK: aicf.mse_grad %{{.*}}, %{{.*}} : tensor
  %g0 = aicf.mse_grad %p, %t : tensor<4x2xf64>, tensor<4x2xf64>
  // CHECK: aicf.mse_grad %{{.*}}, %{{.*}}, %{{.*}} {scale = 5.000000e-01 : f64}
  %g1 = aicf.mse_grad %p, %t, %s {scale = 0.5}
      : tensor<4x2xf64>, tensor<4x2xf64>, tensor<f64>
  // CHECK: aicf.all_finite
  %ok = aicf.all_finite %g0, %g1 : tensor<4x2xf64>, tensor<4x2xf64>
  return
}

// CHECK-LABEL: func.func @cross_entropy
// CHECK-SAME: -> (tensor<f32>, tensor<4x10xf16>)
func.func @cross_entropy(%x: tensor<4x10xf16>, %t: tensor<4xi32>, %s: tensor<f32>)
    -> (tensor<f32>, tensor<4x10xf16>) {
  // CHECK-NEXT: %[[L:.*]] = aicf.softmax_cross_entropy %{{.*}}, %{{.*}} {ignore_index = 3 : i64, label_smoothing = 1.000000e-01 : f64} : tensor<4x10xf16>, tensor<4xi32>
  %l = aicf.softmax_cross_entropy %x, %t {label_smoothing = 0.1, ignore_index = 3}
      : tensor<4x10xf16>, tensor<4xi32>
  // CHECK-NEXT: aicf.softmax_cross_entropy_grad %{{.*}}, %{{.*}} : tensor<4x10xf16>, tensor<4xi32>
  %g0 = aicf.softmax_cross_entropy_grad %x, %t : tensor<4x10xf16>, tensor<4xi32>
  // CHECK-NEXT: %[[G:.*]] = aicf.softmax_cross_entropy_grad %{{.*}}, %{{.*}}, %{{.*}} : tensor<4x10xf16>, tensor<4xi32>, tensor<f32>
  %g1 = aicf.softmax_cross_entropy_grad %x, %t, %s : tensor<4x10xf16>, tensor<4xi32>, tensor<f32>
  // CHECK-NEXT: return %[[L]], %[[G]]
  return %l, %g1 : tensor<f32>, tensor<4x10xf16>
}

// CHECK-LABEL: func.func @norm
func.func @norm(%x: tensor<2x3x5xf32>, %g: tensor<5xf32>, %b: tensor<5xf32>) {
  // CHECK: aicf.layer_norm
  %y, %mean, %rstd = aicf.layer_norm %x, %g, %b {eps = 1.0e-6}
      : tensor<2x3x5xf32>, tensor<5xf32>, tensor<5xf32>
  // CHECK: aicf.layer_norm_bwd {{.*}} tensor<2x3xf32>, tensor<2x3xf32>
  %dx, %dg, %db = aicf.layer_norm_bwd %y, %x, %g, %mean, %rstd
      : tensor<2x3x5xf32>, tensor<2x3x5xf32>, tensor<5xf32>, tensor<2x3xf32>, tensor<2x3xf32>
  return
}

// CHECK-LABEL: func.func @optimizers
func.func @optimizers(%p: tensor<3xf32>, %lr: tensor<f32>, %inv: tensor<f32>,
                      %ok: tensor<i32>, %step: tensor<i64>, %streak: tensor<i32>) {
  // CHECK: aicf.step_inc %{{.*}} : tensor<i64>
  %t = aicf.step_inc %step : tensor<i64>
  // CHECK: aicf.step_inc %{{.*}}, %{{.*}} : tensor<i64>, tensor<i32>
  %t2 = aicf.step_inc %step, %ok : tensor<i64>, tensor<i32>
  // CHECK: aicf.learning_rate %{{.*}} {cosine = true, end = 0.0{{.*}}, peak = 1.0{{.*}}, start = 0.0{{.*}}, steps = 9 : i64, warmup = 3 : i64} : tensor<i64>
  %rate = aicf.learning_rate %t {start = 0.0, peak = 0.1, end = 0.0, warmup = 3 : i64, steps = 9 : i64, cosine = true} : tensor<i64>
  // CHECK: aicf.bias_corr %{{.*}} : tensor<i64>
  %bc = aicf.bias_corr %t : tensor<i64>
  // CHECK: aicf.bias_corr %{{.*}} {beta1 = 8.000000e-01 : f64, dtype = f64} : tensor<i64>
  %bc64 = aicf.bias_corr %t {beta1 = 0.8, dtype = f64} : tensor<i64>
  // CHECK: aicf.adam_step {{.*}} {weight_decay = 1.000000e-02 : f64}
  %a:3 = aicf.adam_step %p, %p, %p, %p, %bc, %lr {weight_decay = 0.01}
      : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2xf32>, tensor<f32>
  // CHECK: aicf.adam_step {{.*}} ok %{{.*}} : {{.*}} ok tensor<i32>
  %b:3 = aicf.adam_step %p, %p, %p, %p, %bc, %lr ok %ok
      : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2xf32>, tensor<f32> ok tensor<i32>
  // CHECK: aicf.sgd_step {{.*}} momentum %{{.*}} inv_scale %{{.*}} ok %{{.*}} {momentum = 9.000000e-01 : f64, nesterov = true}
  %s:2 = aicf.sgd_step %p, %p, %lr momentum %p inv_scale %inv ok %ok {momentum = 0.9, nesterov = true}
      : tensor<3xf32>, tensor<3xf32>, tensor<f32> momentum tensor<3xf32> inv_scale tensor<f32> ok tensor<i32>
  // CHECK: aicf.loss_scale_update
  %l:2 = aicf.loss_scale_update %inv, %streak, %ok {growth_interval = 10 : i64}
      : tensor<f32>, tensor<i32>, tensor<i32>
  return
}
