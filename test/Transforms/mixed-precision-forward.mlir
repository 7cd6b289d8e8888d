// RUN: aicf-opt %s --aicf-mixed-precision=dtype=f16 --split-input-file --verify-diagnostics | FileCheck %s
// RUN: aicf-opt %s --aicf-mixed-precision --split-input-file --verify-diagnostics | FileCheck %s --check-prefix=BF16

// Tests a forward function that --aicf-autodiff is to differentiate: casts, and for
// f16 a loss scale that is left to it.

// The frozen parameter has a copy too, which nothing updates; single numbers stay
// in f32. bf16 needs no scale.
// CHECK-LABEL: @train(
// CHECK-SAME: %arg4: tensor<2x8xf16> {aicf.derived_from = "W", aicf.name = "W.f16"
// CHECK-SAME: %arg5: tensor<2xf16> {aicf.derived_from = "b"
// CHECK-SAME: %arg6: tensor<f32> {aicf.init = 6.553600e+04 : f32, aicf.name = "loss_scale", aicf.role = "state"})
// CHECK-SAME: aicf.loss_scale = "loss_scale"
// CHECK: aicf.linear %{{.*}}, %arg4, %arg5
// CHECK: %[[L:.*]] = aicf.mse_loss %{{.*}}, %arg1 : tensor<4x2xf16>, tensor<4x2xf32>
// CHECK: %[[S:.*]] = aicf.scale %[[L]] {factor = 5.0{{.*}}} : tensor<f32>
// CHECK: return %[[S]] : tensor<f32>
// BF16-LABEL: @train(
// BF16-NOT: loss_scale
func.func @train(
    %x: tensor<4x8xf32> {aicf.role = "input", aicf.name = "x"},
    %t: tensor<4x2xf32> {aicf.role = "input", aicf.name = "t"},
    %W: tensor<2x8xf32> {aicf.role = "param", aicf.name = "W"},
    %b: tensor<2xf32> {aicf.role = "param", aicf.name = "b", aicf.frozen})
    -> (tensor<f32> {aicf.name = "loss", aicf.minimize})
    attributes {aicf.optimizer = #aicf.sgd<lr = "lr">} {
  %y = aicf.linear %x, %W, %b : tensor<4x8xf32>, tensor<2x8xf32>, tensor<2xf32>
  %l = aicf.mse_loss %y, %t : tensor<4x2xf32>, tensor<4x2xf32>
  %loss = aicf.scale %l {factor = 0.5 : f64} : tensor<f32>
  return %loss : tensor<f32>
}

// -----

// One's own scale is kept. What @predict reads in 16 bits, @tune must keep up to
// date, though it reads it in f32 only.
// CHECK-LABEL: @tune(
// CHECK-SAME: %arg3: tensor<2x8xf16> {aicf.derived_from = "W"
// CHECK-NOT: aicf.name = "loss_scale"
// CHECK-LABEL: @predict(
// BF16-LABEL: @tune(
func.func @tune(
    %t: tensor<2x8xf32> {aicf.role = "input", aicf.name = "t"},
    %W: tensor<2x8xf32> {aicf.role = "param", aicf.name = "W"},
    %s: tensor<f32> {aicf.role = "state", aicf.name = "scale"})
    -> (tensor<f32> {aicf.name = "loss", aicf.minimize})
    attributes {aicf.optimizer = #aicf.sgd<lr = "lr">, aicf.loss_scale = "scale"} {
  %l = aicf.mse_loss %W, %t : tensor<2x8xf32>, tensor<2x8xf32>
  return %l : tensor<f32>
}
func.func @predict(
    %x: tensor<4x8xf32> {aicf.role = "input", aicf.name = "x"},
    %W: tensor<2x8xf32> {aicf.role = "param", aicf.name = "W"})
    -> (tensor<4x2xf32> {aicf.name = "y"}) {
  %y = aicf.linear %x, %W : tensor<4x8xf32>, tensor<2x8xf32>
  return %y : tensor<4x2xf32>
}

// -----

// A loss that is a sum stays in f32: 16 bits hold no large one.
// CHECK-LABEL: @sum
func.func @sum(%x: tensor<4x8xf32> {aicf.role = "input", aicf.name = "x"},
               %W: tensor<8x8xf32> {aicf.role = "param", aicf.name = "W"})
    -> (tensor<f32> {aicf.name = "loss", aicf.minimize})
    attributes {aicf.optimizer = #aicf.sgd<lr = "lr">} {
  // CHECK: %[[Y:.*]] = aicf.linear %{{.*}} : tensor<4x8x[[T:b?f16]]>
  // CHECK: %[[WIDE:.*]] = aicf.cast %[[Y]] to f32
  // CHECK: aicf.reduce_sum %[[WIDE]] over [0, 1] : tensor<4x8xf32>
  %y = aicf.linear %x, %W : tensor<4x8xf32>, tensor<8x8xf32>
  %l = aicf.reduce_sum %y over [0, 1] : tensor<4x8xf32>
  return %l : tensor<f32>
}
