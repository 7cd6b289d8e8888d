// RUN: aicf-opt %s | aicf-opt | FileCheck %s

// Tests the text of ops over rows, of losses and metrics, of what draws numbers.

// CHECK-LABEL: func.func @rows
func.func @rows(%x: tensor<2x3x5xbf16>, %W: tensor<4x5xbf16>, %b: tensor<4xbf16>) {
  // CHECK: %[[Y:.*]] = aicf.linear %{{.*}} : tensor<2x3x5xbf16>, tensor<4x5xbf16>, tensor<4xbf16>
  %y = aicf.linear %x, %W, %b : tensor<2x3x5xbf16>, tensor<4x5xbf16>, tensor<4xbf16>
  // CHECK: aicf.linear_bwd %[[Y]], {{.*}} : tensor<2x3x4xbf16>, tensor<2x3x5xbf16>, tensor<4x5xbf16>
  %dx, %dW, %db = aicf.linear_bwd %y, %x, %W
      : tensor<2x3x4xbf16>, tensor<2x3x5xbf16>, tensor<4x5xbf16>
  // CHECK: aicf.matmul %[[Y]], %{{.*}} {transA = true} : tensor<2x3x4xbf16>, tensor<2x3x5xbf16>
  %g = aicf.matmul %y, %x {transA = true} : tensor<2x3x4xbf16>, tensor<2x3x5xbf16>
  // CHECK: aicf.matmul %[[Y]], %{{.*}} : tensor<2x3x4xbf16>, tensor<4x5xbf16>
  %h = aicf.matmul %y, %W : tensor<2x3x4xbf16>, tensor<4x5xbf16>
  // CHECK: %[[P:.*]] = aicf.softmax %[[Y]] : tensor<2x3x4xbf16>
  %p = aicf.softmax %y : tensor<2x3x4xbf16>
  // CHECK: aicf.softmax_bwd %[[Y]], %[[P]] : tensor<2x3x4xbf16>, tensor<2x3x4xbf16>
  %d = aicf.softmax_bwd %y, %p : tensor<2x3x4xbf16>, tensor<2x3x4xbf16>
  // CHECK: %[[I:.*]] = aicf.argmax %[[Y]] : tensor<2x3x4xbf16>
  %i = aicf.argmax %y : tensor<2x3x4xbf16>
  // CHECK: aicf.top_k %[[Y]] {k = 2 : i64} : tensor<2x3x4xbf16>
  %k = aicf.top_k %y {k = 2} : tensor<2x3x4xbf16>
  // CHECK: aicf.count_equal %[[I]], %[[I]] : tensor<2x3xi32>, tensor<2x3xi32>
  %n = aicf.count_equal %i, %i : tensor<2x3xi32>, tensor<2x3xi32>
  return
}

// CHECK-LABEL: func.func @sums
func.func @sums(%x: tensor<2x3x5xf32>, %s: tensor<f32>) {
  // CHECK: %[[S:.*]] = aicf.reduce_sum %{{.*}} over [0, 1] : tensor<2x3x5xf32>
  %l = aicf.reduce_sum %x over [0, 1] : tensor<2x3x5xf32>
  // CHECK: aicf.broadcast %[[S]] to [2, 3, 5] : tensor<5xf32>
  %e = aicf.broadcast %l to [2, 3, 5] : tensor<5xf32>
  // CHECK: aicf.broadcast %{{.*}} to [4] : tensor<f32>
  %f = aicf.broadcast %s to [4] : tensor<f32>
  // CHECK: aicf.mean %{{.*}} : tensor<2x3x5xf32>
  %m = aicf.mean %x : tensor<2x3x5xf32>
  return
}

// CHECK-LABEL: func.func @losses
func.func @losses(%p: tensor<3x5xbf16>, %t: tensor<3x5xf32>, %s: tensor<f32>) {
  // CHECK: aicf.bce_with_logits %{{.*}} : tensor<3x5xbf16>, tensor<3x5xf32>
  %a = aicf.bce_with_logits %p, %t : tensor<3x5xbf16>, tensor<3x5xf32>
  // CHECK: aicf.bce_with_logits_grad %{{.*}} {scale = 1.0{{.*}}} : tensor<3x5xbf16>, tensor<3x5xf32>, tensor<f32>
  %da = aicf.bce_with_logits_grad %p, %t, %s {scale = 1.0} : tensor<3x5xbf16>, tensor<3x5xf32>, tensor<f32>
  // CHECK: aicf.l1_loss %{{.*}} : tensor<3x5xbf16>, tensor<3x5xf32>
  %b = aicf.l1_loss %p, %t : tensor<3x5xbf16>, tensor<3x5xf32>
  // CHECK: aicf.l1_grad %{{.*}} : tensor<3x5xbf16>, tensor<3x5xf32>{{$}}
  %db = aicf.l1_grad %p, %t : tensor<3x5xbf16>, tensor<3x5xf32>
  return
}

// CHECK-LABEL: func.func @training
func.func @training(%p: tensor<3xf32>, %g: tensor<3xbf16>, %lr: tensor<f32>, %ok: tensor<i32>,
                    %step: tensor<i64>) {
  // CHECK: aicf.dropout %{{.*}} {p = 1.0{{.*}}, seed = 3 : i64} : tensor<3xf32>, tensor<i64>
  %d = aicf.dropout %p, %step {p = 0.1, seed = 3} : tensor<3xf32>, tensor<i64>
  // CHECK: %[[N:.*]] = aicf.global_norm %{{.*}}, %{{.*}} : tensor<3xbf16>, tensor<3xbf16>
  %n = aicf.global_norm %g, %g : tensor<3xbf16>, tensor<3xbf16>
  // CHECK: %[[F:.*]] = aicf.clip_factor %[[N]] {max_norm = 1.0{{.*}}} : tensor<f32>
  %f = aicf.clip_factor %n {max_norm = 1.0} : tensor<f32>
  // CHECK: aicf.clip_factor %[[N]], %[[F]] {{.*}} : tensor<f32>, tensor<f32>
  %f2 = aicf.clip_factor %n, %f {max_norm = 1.0} : tensor<f32>, tensor<f32>
  // CHECK: aicf.lion_step {{.*}} inv_scale %[[F]] ok %{{.*}} {beta1 = 8.0{{.*}}} : tensor<3xf32>, tensor<3xbf16>, tensor<3xf32>, tensor<f32> inv_scale tensor<f32> ok tensor<i32>
  %l:2 = aicf.lion_step %p, %g, %p, %lr inv_scale %f ok %ok {beta1 = 0.8}
      : tensor<3xf32>, tensor<3xbf16>, tensor<3xf32>, tensor<f32> inv_scale tensor<f32> ok tensor<i32>
  return
}

// CHECK-LABEL: func.func @batches
func.func @batches(%data: tensor<50x3xf32>, %step: tensor<i64>) {
  // CHECK: %[[I:.*]] = aicf.shuffle %{{.*}} {batch = 8 : i64, seed = 1 : i64, size = 50 : i64} : tensor<i64>
  %index = aicf.shuffle %step {size = 50, batch = 8, seed = 1} : tensor<i64>
  // CHECK: %[[R:.*]] = aicf.gather_rows %{{.*}}, %[[I]] : tensor<50x3xf32>, tensor<8xi32>
  %rows = aicf.gather_rows %data, %index : tensor<50x3xf32>, tensor<8xi32>
  // CHECK: aicf.reciprocal %[[R]] : tensor<8x3xf32>
  %r = aicf.reciprocal %rows : tensor<8x3xf32>
  return
}

// CHECK-LABEL: func.func @rates
func.func @rates(%step: tensor<i64>, %table: tensor<9xf32>) {
  // CHECK: aicf.step_decay %{{.*}} {every = 30 : i64, factor = {{.*}}, start = {{.*}}} : tensor<i64>
  %a = aicf.step_decay %step {start = 0.1, factor = 0.5, every = 30 : i64} : tensor<i64>
  // CHECK: aicf.polynomial_decay %{{.*}} {dtype = f64, end = 0.0{{.*}}, power = 2.0{{.*}}, start = {{.*}}, steps = 9 : i64} : tensor<i64>
  %b = aicf.polynomial_decay %step {start = 0.1, end = 0.0, steps = 9 : i64, power = 2.0, dtype = f64} : tensor<i64>
  // CHECK: aicf.rate_table %{{.*}}, %{{.*}} : tensor<i64>, tensor<9xf32>
  %c = aicf.rate_table %step, %table : tensor<i64>, tensor<9xf32>
  return
}
