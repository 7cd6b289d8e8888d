// RUN: aicf-opt %s | aicf-opt | FileCheck %s

// CHECK-LABEL: func.func @lookup
func.func @lookup(%x: tensor<2x3xf32>, %i: tensor<2xi64>, %n: tensor<2x4xi32>) {
  // CHECK: aicf.pick %{{.*}}, %{{.*}} : tensor<2x3xf32>, tensor<2xi64>
  %0 = aicf.pick %x, %i : tensor<2x3xf32>, tensor<2xi64>
  // CHECK: aicf.pick_bwd %{{.*}}, %{{.*}} {size = 3 : i64} : tensor<2xf32>, tensor<2xi64>
  %1 = aicf.pick_bwd %0, %i {size = 3 : i64} : tensor<2xf32>, tensor<2xi64>
  // CHECK: %[[E:.*]] = aicf.embedding %{{.*}}, %{{.*}} {padding = 0 : i64} : tensor<2x3xf32>, tensor<2x4xi32>
  %2 = aicf.embedding %x, %n {padding = 0 : i64} : tensor<2x3xf32>, tensor<2x4xi32>
  // CHECK: aicf.embedding_bwd %[[E]], %{{.*}} {padding = 0 : i64, rows = 2 : i64} : tensor<2x4x3xf32>, tensor<2x4xi32>
  %3 = aicf.embedding_bwd %2, %n {rows = 2 : i64, padding = 0 : i64} : tensor<2x4x3xf32>, tensor<2x4xi32>
  return
}

// CHECK-LABEL: func.func @rows
func.func @rows(%x: tensor<2x3xf32>, %n: tensor<2x4xi32>) {
  // CHECK: %[[L:.*]] = aicf.log_softmax %{{.*}} : tensor<2x3xf32>
  %0 = aicf.log_softmax %x : tensor<2x3xf32>
  // CHECK: aicf.log_softmax_bwd %{{.*}}, %[[L]] : tensor<2x3xf32>, tensor<2x3xf32>
  %1 = aicf.log_softmax_bwd %x, %0 : tensor<2x3xf32>, tensor<2x3xf32>
  // CHECK: aicf.cumsum %{{.*}} {axis = 1 : i64, reversed = true} : tensor<2x4xi32>
  %2 = aicf.cumsum %n {axis = 1 : i64, reversed = true} : tensor<2x4xi32>
  return
}

// CHECK-LABEL: func.func @random
func.func @random(%step: tensor<i64>) {
  // CHECK: aicf.uniform %{{.*}} to [4, 8] {low = -1.000000e+00 : f64, seed = 7 : i64} : tensor<i64>
  %0 = aicf.uniform %step to [4, 8] {low = -1.0, seed = 7 : i64} : tensor<i64>
  // CHECK: aicf.normal %{{.*}} to [] {dtype = f64, seed = 0 : i64} : tensor<i64>
  %1 = aicf.normal %step to [] {dtype = f64, seed = 0 : i64} : tensor<i64>
  // CHECK: %[[H:.*]] = aicf.normal %{{.*}} to [2] {dtype = f16, seed = 0 : i64} : tensor<i64>
  // CHECK: aicf.relu %[[H]] : tensor<2xf16>
  %2 = aicf.normal %step to [2] {dtype = f16, seed = 0 : i64} : tensor<i64>
  %3 = aicf.relu %2 : tensor<2xf16>
  // CHECK: aicf.uniform %{{.*}} to [2] {dtype = bf16, seed = 0 : i64} : tensor<i64>
  %4 = aicf.uniform %step to [2] {dtype = bf16, seed = 0 : i64} : tensor<i64>
  return
}

// CHECK-LABEL: func.func @groups
func.func @groups(%p: tensor<3xf32>, %g: tensor<5xf32>, %h: tensor<3xf32>, %t: tensor<i64>) {
  // CHECK: %[[BC:.*]] = aicf.group_bias_corr %{{.*}}, %[[G:.*]] : tensor<i64>, tensor<5xf32>
  %bc = aicf.group_bias_corr %t, %g : tensor<i64>, tensor<5xf32>
  // CHECK: aicf.adam_group_step {{.*}}, %[[BC]], %[[G]] {l2 = true}
  %a:3 = aicf.adam_group_step %p, %p, %p, %p, %bc, %g {l2 = true}
      : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2xf32>, tensor<5xf32>
  // CHECK: aicf.sgd_group_step {{.*}} momentum %{{.*}} {nesterov = true}
  %s:2 = aicf.sgd_group_step %p, %p, %h momentum %p {nesterov = true}
      : tensor<3xf32>, tensor<3xf32>, tensor<3xf32> momentum tensor<3xf32>
  return
}

// CHECK-LABEL: func.func @adam
func.func @adam(%p: tensor<3xf32>, %bc: tensor<2xf32>, %lr: tensor<f32>, %g: tensor<5xf32>) {
  // CHECK: aicf.adam_l2_step {{.*}} {weight_decay = 1.000000e-02 : f64}
  %a:3 = aicf.adam_l2_step %p, %p, %p, %p, %bc, %lr {weight_decay = 0.01}
      : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2xf32>, tensor<f32>
  // CHECK: aicf.adam_group_step {{.*}}, %arg1, %arg3 :
  %b:3 = aicf.adam_group_step %p, %p, %p, %p, %bc, %g
      : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2xf32>, tensor<5xf32>
  return
}
