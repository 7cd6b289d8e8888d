// RUN: aicf-opt %s --split-input-file --aicf-autodiff --verify-diagnostics | FileCheck %s

// The value is that of sign(W), and the gradient is that of 3 W: nothing of either reads
// the other, and the mark is gone.
// CHECK-LABEL: @custom
func.func @custom(
    %t: tensor<4xf32> {aicf.role = "input", aicf.name = "t"},
    %W: tensor<4xf32> {aicf.role = "param", aicf.name = "W"})
    -> (tensor<f32> {aicf.name = "loss", aicf.minimize}) {
  // CHECK-NEXT: %[[S:.*]] = aicf.sign %arg1
  // CHECK-NEXT: %[[SS:.*]] = aicf.save %[[S]]
  // CHECK-NEXT: aicf.scale %arg1 {factor = 3.000000e+00 : f64}
  // CHECK-NEXT: %[[L:.*]] = aicf.mse_loss %[[S]], %arg0
  // CHECK-NEXT: %[[DY:.*]] = aicf.mse_grad %[[SS]], %arg0
  // CHECK-NEXT: %[[DW:.*]] = aicf.scale %[[DY]] {factor = 3.000000e+00 : f64}
  // CHECK-NEXT: return %[[L]], %[[DW]]
  %s = aicf.sign %W : tensor<4xf32>
  %way = aicf.scale %W {factor = 3.0 : f64} : tensor<4xf32>
  %y = aicf.straight_through %s, %way : tensor<4xf32>, tensor<4xf32>
  %loss = aicf.mse_loss %y, %t : tensor<4xf32>, tensor<4xf32>
  return %loss : tensor<f32>
}

// -----

// Marks behind each other, and one that is returned.
// CHECK-LABEL: @chain
func.func @chain(
    %t: tensor<4xf32> {aicf.role = "input", aicf.name = "t"},
    %W: tensor<4xf32> {aicf.role = "param", aicf.name = "W"})
    -> (tensor<f32> {aicf.name = "loss", aicf.minimize},
        tensor<4xf32> {aicf.name = "y"}) {
  // CHECK-NEXT: %[[L:.*]] = aicf.mse_loss %arg0, %arg0
  // CHECK-NEXT: %[[DW:.*]] = aicf.mse_grad %arg0, %arg0
  // CHECK-NEXT: return %[[L]], %arg0, %[[DW]]
  %a = aicf.straight_through %t, %W : tensor<4xf32>, tensor<4xf32>
  %b = aicf.straight_through %t, %a : tensor<4xf32>, tensor<4xf32>
  %loss = aicf.mse_loss %b, %t : tensor<4xf32>, tensor<4xf32>
  return %loss, %b : tensor<f32>, tensor<4xf32>
}

// -----

// No gradient goes to the value.
// expected-error @+1 {{the loss does not depend on parameter "W" (argument 1)}}
func.func @cut(
    %V: tensor<4xf32> {aicf.role = "param", aicf.name = "V"},
    %W: tensor<4xf32> {aicf.role = "param", aicf.name = "W"})
    -> (tensor<f32> {aicf.name = "loss", aicf.minimize}) {
  %y = aicf.straight_through %W, %V : tensor<4xf32>, tensor<4xf32>
  %loss = aicf.mse_loss %y, %V : tensor<4xf32>, tensor<4xf32>
  return %loss : tensor<f32>
}
