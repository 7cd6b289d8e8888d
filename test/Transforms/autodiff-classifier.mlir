// RUN: aicf-opt %s --aicf-autodiff --split-input-file | FileCheck %s
// RUN: aicf-opt %s --split-input-file --lower-to-backend -o /dev/null
// RUN: aicf-compile %examples/residual/model.mlir --require-inplace -o %t.plan

// Tests the derivatives of what is not an activation: sums, means, dropout, softmax.

// The mask is drawn again, and nothing keeps it; the count goes on behind both.
// CHECK-LABEL: @dropped
func.func @dropped(
    %x: tensor<2x3x8xf32> {aicf.role = "input", aicf.name = "x"},
    %t: tensor<2x3x4xf32> {aicf.role = "input", aicf.name = "t"},
    %n: tensor<i64> {aicf.role = "state", aicf.name = "drops"},
    %W: tensor<4x8xf32> {aicf.role = "param", aicf.name = "W"})
    -> (tensor<f32> {aicf.name = "loss", aicf.minimize}, tensor<i64> {aicf.updates = "drops"}) {
  // CHECK: %[[Y:.*]] = aicf.linear %arg0, %arg3
  // CHECK: %[[D:.*]] = aicf.dropout %[[Y]], %arg2 {p = 1.0{{.*}}, seed = 3 : i64}
  // CHECK: %[[P:.*]] = aicf.softmax %[[D]]
  // CHECK: %[[S:.*]] = aicf.save %[[P]]
  // CHECK-NOT: aicf.save
  // CHECK: aicf.l1_loss
  // CHECK: %[[DP:.*]] = aicf.l1_grad %[[S]], %arg1
  // CHECK: %[[DD:.*]] = aicf.softmax_bwd %[[DP]], %[[S]]
  // CHECK: %[[DY:.*]] = aicf.dropout %[[DD]], %arg2 {p = 1.0{{.*}}, seed = 3 : i64}
  // CHECK: aicf.linear_bwd %[[DY]], %arg0, %arg3
  // CHECK: aicf.step_inc %arg2
  %n2 = aicf.step_inc %n : tensor<i64>
  %y = aicf.linear %x, %W : tensor<2x3x8xf32>, tensor<4x8xf32>
  %d = aicf.dropout %y, %n {p = 0.1, seed = 3} : tensor<2x3x4xf32>, tensor<i64>
  %p = aicf.softmax %d : tensor<2x3x4xf32>
  %l = aicf.l1_loss %p, %t : tensor<2x3x4xf32>, tensor<2x3x4xf32>
  return %l, %n2 : tensor<f32>, tensor<i64>
}

// -----

// CHECK-LABEL: @sums
func.func @sums(
    %W: tensor<2x3x8xbf16> {aicf.role = "param", aicf.name = "W"},
    %V: tensor<f32> {aicf.role = "param", aicf.name = "V"})
    -> (tensor<f32> {aicf.name = "loss", aicf.minimize}) {
  // CHECK: %[[M:.*]] = aicf.mean %{{.*}} : tensor<8xbf16>
  // CHECK: %[[ONE:.*]] = aicf.fill_like %[[M]] {value = 1.0
  // CHECK: %[[SHARE:.*]] = aicf.scale %[[ONE]] {factor = 1.250000e-01
  // CHECK: %[[NARROW:.*]] = aicf.cast %[[SHARE]] to bf16
  // CHECK: %[[DS:.*]] = aicf.broadcast %[[NARROW]] to [8] : tensor<bf16>
  // CHECK: %[[KEPT:.*]] = aicf.reshape %[[DS]] to [1, 1, 8] : tensor<8xbf16>
  // CHECK: aicf.broadcast %[[KEPT]] to [2, 3, 8] : tensor<1x1x8xbf16>
  %s = aicf.reduce_sum %W over [0, 1] : tensor<2x3x8xbf16>
  %m = aicf.mean %s : tensor<8xbf16>
  %v = aicf.mean %V : tensor<f32>
  %l = aicf.add %m, %v : tensor<f32>, tensor<f32>
  return %l : tensor<f32>
}

// -----

// A broadcast's derivative is the sum that fits.
// CHECK-LABEL: @broadcasts
func.func @broadcasts(
    %W: tensor<3xf32> {aicf.role = "param", aicf.name = "W"},
    %V: tensor<1x3xf32> {aicf.role = "param", aicf.name = "V"},
    %t: tensor<2x3xf32> {aicf.role = "input", aicf.name = "t"})
    -> (tensor<f32> {aicf.name = "loss", aicf.minimize}) {
  // CHECK: aicf.reduce_sum %{{.*}} over [0, 1] : tensor<4x2x3xf32>
  // CHECK: %[[DV:.*]] = aicf.reduce_sum %{{.*}} over [0] : tensor<2x3xf32>
  // CHECK: aicf.reshape %[[DV]] to [1, 3]
  // CHECK: aicf.reduce_sum %{{.*}} over [0] : tensor<2x3xf32>
  %a = aicf.broadcast %W to [2, 3] : tensor<3xf32>
  %b = aicf.broadcast %V to [2, 3] : tensor<1x3xf32>
  %c = aicf.broadcast %W to [4, 2, 3] : tensor<3xf32>
  %ab = aicf.mul %a, %b : tensor<2x3xf32>, tensor<2x3xf32>
  %l = aicf.bce_with_logits %ab, %t : tensor<2x3xf32>, tensor<2x3xf32>
  %m = aicf.mean %c : tensor<4x2x3xf32>
  %all = aicf.add %l, %m : tensor<f32>, tensor<f32>
  return %all : tensor<f32>
}

// -----

// Of a 16-bit prediction and a target in f32, as mixed precision makes them: the
// target's gradient is minus the prediction's, which alone has an op.
// CHECK-LABEL: @mixed
func.func @mixed(%V: tensor<4xf16> {aicf.role = "param", aicf.name = "V"},
                 %W: tensor<4xf32> {aicf.role = "param", aicf.name = "W"})
    -> (tensor<f32> {aicf.name = "loss", aicf.minimize}) {
  // CHECK: %[[D:.*]] = aicf.mse_grad %arg0, %arg1 : tensor<4xf16>, tensor<4xf32>
  // CHECK: %[[C:.*]] = aicf.cast %[[D]] to f32
  // CHECK: %[[DW:.*]] = aicf.scale %[[C]] {factor = -1.0
  // CHECK: return %{{.*}}, %[[D]], %[[DW]]
  %l = aicf.mse_loss %V, %W : tensor<4xf16>, tensor<4xf32>
  return %l : tensor<f32>
}
