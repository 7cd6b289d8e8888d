// RUN: aicf-opt %s --aicf-expand-gradients --split-input-file | FileCheck %s

// Tests what stands for a gradient: the sweep of autodiff, in the forward pass.

// The example of the pass. The cotangent of y is one, and of x's two uses the later comes
// first.
// CHECK-LABEL: @square
// CHECK: aicf.mean
// CHECK-NEXT: aicf.fill_like %{{.*}} {value = 1.000000e+00 : f64}
// CHECK-NEXT: aicf.scale %{{.*}} {factor = 2.500000e-01 : f64}
// CHECK-NEXT: aicf.broadcast
// CHECK-NEXT: aicf.mul
// CHECK-NEXT: aicf.mul
// CHECK-NEXT: aicf.add
func.func @square(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4xf32> {aicf.name = "slope"}) {
  %square = aicf.mul %x, %x : tensor<4xf32>, tensor<4xf32>
  %y = aicf.mean %square : tensor<4xf32>
  %dx = aicf.gradient %y, %x : tensor<f32>, tensor<4xf32>
  return %dx : tensor<4xf32>
}

// -----

// What it becomes stays as it is.
// CHECK-LABEL: @square
// CHECK-COUNT-3: aicf.mul
func.func @square(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4xf32> {aicf.name = "slope"}) {
  %square = aicf.mul %x, %x : tensor<4xf32>, tensor<4xf32>
  %y = aicf.mean %square : tensor<4xf32>
  %one = aicf.fill_like %y {value = 1.000000e+00 : f64} : tensor<f32>
  %part = aicf.scale %one {factor = 2.500000e-01 : f64} : tensor<f32>
  %dsquare = aicf.broadcast %part to [4] : tensor<f32>
  %left = aicf.mul %dsquare, %x : tensor<4xf32>, tensor<4xf32>
  %right = aicf.mul %dsquare, %x : tensor<4xf32>, tensor<4xf32>
  %dx = aicf.add %left, %right : tensor<4xf32>, tensor<4xf32>
  return %dx : tensor<4xf32>
}

// -----

// Gradients of one y share a sweep; what x itself is computed from has no part in it, and
// %other, on which y does not depend by way of %h, neither.
// CHECK-LABEL: @two
func.func @two(%x: tensor<4x8xf32> {aicf.role = "input", aicf.name = "x"},
               %W: tensor<2x8xf32> {aicf.role = "input", aicf.name = "W"})
    -> (tensor<4x8xf32> {aicf.name = "a"}, tensor<2x8xf32> {aicf.name = "b"}) {
  // CHECK: %[[H:.*]] = aicf.tanh %arg0
  // CHECK: aicf.linear %[[H]], %arg1
  // CHECK: %[[DH:.*]], %[[DW:.*]], %{{.*}} = aicf.linear_bwd %{{.*}}, %[[H]], %arg1
  // CHECK-NOT: aicf.linear_bwd
  // CHECK-NOT: aicf.tanh_bwd
  // CHECK: return %[[DH]], %[[DW]]
  %h = aicf.tanh %x : tensor<4x8xf32>
  %z = aicf.linear %h, %W : tensor<4x8xf32>, tensor<2x8xf32>
  %y = aicf.mean %z : tensor<4x2xf32>
  %dh = aicf.gradient %y, %h : tensor<f32>, tensor<4x8xf32>
  %dW = aicf.gradient %y, %W : tensor<f32>, tensor<2x8xf32>
  return %dh, %dW : tensor<4x8xf32>, tensor<2x8xf32>
}

// -----

// The second derivative goes through the first one: of tanh it is -2·y·dy. relu's is zero.
// CHECK-LABEL: @second
func.func @second(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4xf32> {aicf.name = "curve"}, tensor<4xf32> {aicf.name = "flat"}) {
  // CHECK: %[[U:.*]] = aicf.tanh %arg0
  // CHECK: %[[DU:.*]] = aicf.tanh_bwd %{{.*}}, %[[U]]
  // CHECK: %[[V:.*]] = aicf.mul %[[C:.*]], %{{.*}} : tensor<4xf32>
  // CHECK: %[[VU:.*]] = aicf.mul %[[V]], %[[U]]
  // CHECK: %[[D2:.*]] = aicf.scale %[[VU]] {factor = -2.0
  // CHECK: %[[CURVE:.*]] = aicf.tanh_bwd %[[D2]], %[[U]]
  // CHECK: %[[R:.*]] = aicf.relu %arg0
  // CHECK: aicf.relu_bwd %{{.*}}, %[[R]]
  // CHECK: %[[FLAT:.*]] = aicf.fill_like %arg0 {value = 0.0
  // CHECK: return %[[CURVE]], %[[FLAT]]
  %u = aicf.tanh %x : tensor<4xf32>
  %y = aicf.mean %u : tensor<4xf32>
  %du = aicf.gradient %y, %x : tensor<f32>, tensor<4xf32>
  %z = aicf.mean %du : tensor<4xf32>
  %curve = aicf.gradient %z, %x : tensor<f32>, tensor<4xf32>
  %r = aicf.relu %x : tensor<4xf32>
  %p = aicf.mean %r : tensor<4xf32>
  %dr = aicf.gradient %p, %x : tensor<f32>, tensor<4xf32>
  %q = aicf.mean %dr : tensor<4xf32>
  %flat = aicf.gradient %q, %x : tensor<f32>, tensor<4xf32>
  return %curve, %flat : tensor<4xf32>, tensor<4xf32>
}

// -----

// y itself, and nothing behind a stop_gradient.
// CHECK-LABEL: @itself
func.func @itself(%x: tensor<f32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<f32> {aicf.name = "a"}, tensor<f32> {aicf.name = "b"}) {
  // CHECK: %[[ONE:.*]] = aicf.fill_like %arg0 {value = 1.0
  // CHECK: %[[STOPPED:.*]] = aicf.stop_gradient %arg0
  // CHECK: aicf.mul %[[STOPPED]], %arg0
  // CHECK: %[[DX:.*]] = aicf.mul %{{.*}}, %[[STOPPED]]
  // CHECK: return %[[ONE]], %[[DX]]
  %one = aicf.gradient %x, %x : tensor<f32>, tensor<f32>
  %stopped = aicf.stop_gradient %x : tensor<f32>
  %y = aicf.mul %stopped, %x : tensor<f32>, tensor<f32>
  %dx = aicf.gradient %y, %x : tensor<f32>, tensor<f32>
  return %one, %dx : tensor<f32>, tensor<f32>
}
