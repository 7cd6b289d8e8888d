// RUN: aicf-opt %s | aicf-opt | FileCheck %s

// CHECK-LABEL: func.func @functions
func.func @functions(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  // CHECK: aicf.selu %{{.*}} : tensor<4xf32>
  %0 = aicf.selu %x : tensor<4xf32>
  // CHECK: aicf.leaky_relu %{{.*}} {{{.*}}} : tensor<4xf32>
  %1 = aicf.leaky_relu %x {slope = 0.2} : tensor<4xf32>
  // CHECK: aicf.hardtanh %{{.*}} {{{.*}}} : tensor<4xf32>
  %2 = aicf.hardtanh %x {max = 6.0, min = 0.0} : tensor<4xf32>
  // CHECK: aicf.hardswish %{{.*}} : tensor<4xf32>
  %3 = aicf.hardswish %x : tensor<4xf32>
  // CHECK: aicf.mish %{{.*}} : tensor<4xf32>
  %4 = aicf.mish %x : tensor<4xf32>
  // CHECK: aicf.log_sigmoid %{{.*}} : tensor<4xf32>
  %5 = aicf.log_sigmoid %x : tensor<4xf32>
  // CHECK: aicf.softsign %{{.*}} : tensor<4xf32>
  %s = aicf.softsign %x : tensor<4xf32>
  // CHECK: aicf.softsign_bwd %{{.*}} : tensor<4xf32>, tensor<4xf32>
  %d = aicf.softsign_bwd %x, %s : tensor<4xf32>, tensor<4xf32>
  // CHECK: aicf.prelu %{{.*}} : tensor<4xf32>, tensor<4xf32>
  %6 = aicf.prelu %x, %y : tensor<4xf32>, tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @derivatives
func.func @derivatives(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  // CHECK: aicf.elu_bwd %{{.*}} {{{.*}}} : tensor<4xf32>, tensor<4xf32>
  %0 = aicf.elu_bwd %x, %y {alpha = 0.5} : tensor<4xf32>, tensor<4xf32>
  // CHECK: aicf.selu_bwd %{{.*}} : tensor<4xf32>, tensor<4xf32>
  %1 = aicf.selu_bwd %x, %y : tensor<4xf32>, tensor<4xf32>
  // CHECK: aicf.leaky_relu_bwd %{{.*}} : tensor<4xf32>, tensor<4xf32>
  %2 = aicf.leaky_relu_bwd %x, %y : tensor<4xf32>, tensor<4xf32>
  // CHECK: aicf.hardtanh_bwd %{{.*}} : tensor<4xf32>, tensor<4xf32>
  %3 = aicf.hardtanh_bwd %x, %y : tensor<4xf32>, tensor<4xf32>
  // CHECK: aicf.hardswish_bwd %{{.*}} : tensor<4xf32>, tensor<4xf32>
  %4 = aicf.hardswish_bwd %x, %y : tensor<4xf32>, tensor<4xf32>
  // CHECK: aicf.softplus_bwd %{{.*}} {{{.*}}} : tensor<4xf32>, tensor<4xf32>
  %5 = aicf.softplus_bwd %x, %y {threshold = 9.0} : tensor<4xf32>, tensor<4xf32>
  // CHECK: aicf.mish_bwd %{{.*}} : tensor<4xf32>, tensor<4xf32>
  %6 = aicf.mish_bwd %x, %y : tensor<4xf32>, tensor<4xf32>
  // CHECK: aicf.log_sigmoid_bwd %{{.*}} : tensor<4xf32>, tensor<4xf32>
  %7 = aicf.log_sigmoid_bwd %x, %y : tensor<4xf32>, tensor<4xf32>
  // CHECK: aicf.prelu_bwd %{{.*}} : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  %8 = aicf.prelu_bwd %x, %y, %y : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  return
}
