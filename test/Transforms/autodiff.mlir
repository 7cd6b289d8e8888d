// RUN: aicf-opt %s --aicf-autodiff --split-input-file | FileCheck %s

// Tests what cotangents are made of.

// A value that is used twice has two cotangents, the later use's first; what no
// parameter needs (the gradient of %x) has none.
// CHECK-LABEL: @residual
func.func @residual(
    %x: tensor<4x8xf32> {aicf.role = "input", aicf.name = "x"},
    %labels: tensor<4xi32> {aicf.role = "input", aicf.name = "labels"},
    %W: tensor<8x8xf32> {aicf.role = "param", aicf.name = "W"},
    %b: tensor<8xf32> {aicf.role = "param", aicf.name = "b"})
    -> (tensor<f32> {aicf.name = "loss", aicf.minimize}) {
  // CHECK: %[[Y:.*]] = aicf.linear
  // CHECK: %[[H:.*]] = aicf.relu %[[Y]]
  // CHECK: %[[SH:.*]] = aicf.save %[[H]]
  // CHECK: %[[Z:.*]] = aicf.add %[[H]], %[[Y]]
  // CHECK: %[[SZ:.*]] = aicf.save %[[Z]]
  // CHECK: aicf.softmax_cross_entropy %[[Z]], %arg1 {label_smoothing = 1.0
  // CHECK: %[[DZ:.*]] = aicf.softmax_cross_entropy_grad %[[SZ]], %arg1 {label_smoothing = 1.0
  // CHECK: %[[DH:.*]] = aicf.relu_bwd %[[DZ]], %[[SH]]
  // CHECK: %[[DY:.*]] = aicf.add %[[DZ]], %[[DH]]
  // CHECK: %{{.*}}, %[[DW:.*]], %[[DB:.*]] = aicf.linear_bwd %[[DY]], %arg0, %arg2
  // CHECK: return %{{.*}}, %[[DW]], %[[DB]]
  %y = aicf.linear %x, %W, %b : tensor<4x8xf32>, tensor<8x8xf32>, tensor<8xf32>
  %h = aicf.relu %y : tensor<4x8xf32>
  %z = aicf.add %h, %y : tensor<4x8xf32>, tensor<4x8xf32>
  %loss = aicf.softmax_cross_entropy %z, %labels {label_smoothing = 0.1 : f64}
      : tensor<4x8xf32>, tensor<4xi32>
  return %loss : tensor<f32>
}

// -----

// The cotangent of a sum of losses is one, and never computed; a weighted one is.
// CHECK-LABEL: @losses
func.func @losses(
    %t: tensor<4xf32> {aicf.role = "input", aicf.name = "t"},
    %W: tensor<4xf32> {aicf.role = "param", aicf.name = "W"})
    -> (tensor<f32> {aicf.name = "loss", aicf.minimize}) {
  // CHECK: %[[B:.*]] = aicf.mse_loss %arg1, %arg1
  // CHECK: aicf.add
  // CHECK: %[[ONE:.*]] = aicf.fill_like %{{.*}} {value = 1.0
  // CHECK: %[[HALF:.*]] = aicf.scale %[[ONE]] {factor = 5.0
  // CHECK: %[[P:.*]] = aicf.mse_grad %arg1, %arg1, %[[HALF]]
  // CHECK: %[[Q:.*]] = aicf.mse_grad %arg1, %arg1, %[[HALF]]
  // CHECK: %[[PQ:.*]] = aicf.add %[[P]], %[[Q]]
  // CHECK: %[[A:.*]] = aicf.mse_grad %arg1, %arg0 : tensor<4xf32>, tensor<4xf32>
  // CHECK: aicf.add %[[PQ]], %[[A]]
  %a = aicf.mse_loss %W, %t : tensor<4xf32>, tensor<4xf32>
  %b = aicf.mse_loss %W, %W : tensor<4xf32>, tensor<4xf32>
  %half = aicf.scale %b {factor = 0.5 : f64} : tensor<f32>
  %loss = aicf.add %a, %half : tensor<f32>, tensor<f32>
  return %loss : tensor<f32>
}

// -----

// Computed again where that is asked for; nothing passes a stop_gradient or goes
// to a frozen parameter.
// CHECK-LABEL: @marks
func.func @marks(
    %t: tensor<4xf32> {aicf.role = "input", aicf.name = "t"},
    %W: tensor<4xf32> {aicf.role = "param", aicf.name = "W"},
    %V: tensor<4xf32> {aicf.role = "param", aicf.name = "V", aicf.frozen})
    -> (tensor<f32> {aicf.name = "loss", aicf.minimize},
        tensor<4xf32> {aicf.name = "stopped"}) {
  // CHECK-NEXT: %[[G:.*]] = aicf.gelu %arg1 {aicf.recompute} : tensor<4xf32>
  // CHECK-NEXT: %[[GS:.*]] = aicf.save %[[G]]
  // CHECK-NEXT: %[[M:.*]] = aicf.mul %[[G]], %arg2
  // CHECK-NEXT: %[[R:.*]] = aicf.tanh %[[M]]
  // CHECK-NEXT: %[[RS:.*]] = aicf.save %[[R]]
  // CHECK-NEXT: %[[L:.*]] = aicf.mse_loss %[[R]], %[[G]]
  // CHECK-NEXT: %[[DR:.*]] = aicf.mse_grad %[[RS]], %[[GS]]
  // CHECK-NEXT: %[[DM:.*]] = aicf.tanh_bwd %[[DR]], %[[RS]]
  // CHECK-NEXT: %[[DG:.*]] = aicf.mul %[[DM]], %arg2
  // CHECK-NEXT: %[[DW:.*]] = aicf.gelu_bwd %[[DG]], %arg1
  // CHECK-NEXT: return %[[L]], %[[G]], %[[DW]]
  %g = aicf.gelu %W {aicf.recompute} : tensor<4xf32>
  %m = aicf.mul %g, %V : tensor<4xf32>, tensor<4xf32>
  %r = aicf.tanh %m : tensor<4xf32>
  %s = aicf.stop_gradient %g : tensor<4xf32>
  %loss = aicf.mse_loss %r, %s : tensor<4xf32>, tensor<4xf32>
  return %loss, %s : tensor<f32>, tensor<4xf32>
}

// -----

// A state derived from a parameter stands for it; both together add up in the
// parameter's type. The loss scale is the cotangent of the loss.
// CHECK-LABEL: @derived
func.func @derived(
    %x: tensor<4x8xf16> {aicf.role = "input", aicf.name = "x"},
    %t: tensor<4x2xf32> {aicf.role = "input", aicf.name = "t"},
    %W: tensor<2x8xf32> {aicf.role = "param", aicf.name = "W"},
    %W16: tensor<2x8xf16> {aicf.role = "state", aicf.name = "W.f16", aicf.derived_from = "W"},
    %z: tensor<2x8xf32> {aicf.role = "input", aicf.name = "z"},
    %s: tensor<f32> {aicf.role = "state", aicf.name = "scale"})
    -> (tensor<f32> {aicf.name = "loss", aicf.minimize})
    attributes {aicf.loss_scale = "scale"} {
  // CHECK: aicf.add
  // CHECK: %[[DZ:.*]] = aicf.mse_grad %arg2, %arg4, %arg5
  // CHECK: %[[DY:.*]] = aicf.mse_grad %{{.*}}, %arg1, %arg5
  // CHECK: %{{.*}}, %[[DW:.*]], %{{.*}} = aicf.linear_bwd %[[DY]], %arg0, %arg3
  // CHECK: %[[WIDE:.*]] = aicf.cast %[[DW]] to f32
  // CHECK: %[[SUM:.*]] = aicf.add %[[DZ]], %[[WIDE]]
  // CHECK: return %{{.*}}, %[[SUM]] : tensor<f32>, tensor<2x8xf32>
  %y = aicf.linear %x, %W16 : tensor<4x8xf16>, tensor<2x8xf16>
  %a = aicf.mse_loss %y, %t : tensor<4x2xf16>, tensor<4x2xf32>
  %b = aicf.mse_loss %W, %z : tensor<2x8xf32>, tensor<2x8xf32>
  %loss = aicf.add %a, %b : tensor<f32>, tensor<f32>
  return %loss : tensor<f32>
}
