// RUN: aicf-opt %s --aicf-split-step | FileCheck %s
// RUN: aicf-opt %s --lower-to-backend=split-step=true -o /dev/null

// Tests two optimizers on one parameter: the first one's gradient has the name.
// What neither half uses stays with the first: a checkpoint fits both plans.
// CHECK-LABEL: func.func @two.grads
// CHECK-SAME: aicf.name = "idle"
// CHECK-SAME: aicf.updates = "grad:w"
// CHECK-SAME: aicf.updates = "two.cross:1"
// CHECK-LABEL: func.func @two.update
// CHECK-NOT: aicf.name = "idle"
// CHECK: aicf.sgd_step
func.func @two(%x: tensor<2xf32> {aicf.role = "input", aicf.name = "x"},
               %lr: tensor<f32> {aicf.role = "hyper", aicf.name = "lr"},
               %w: tensor<2xf32> {aicf.role = "param", aicf.name = "w"},
               %idle: tensor<3xf32> {aicf.role = "param", aicf.name = "idle"},
               %u: tensor<2xf32> {aicf.role = "param", aicf.name = "u"})
    -> (tensor<2xf32> {aicf.updates = "w"}, tensor<2xf32> {aicf.updates = "u"}) {
  %g = aicf.relu %x : tensor<2xf32>
  %h = aicf.add %x, %g : tensor<2xf32>, tensor<2xf32>
  %p, %m = aicf.sgd_step %w, %g, %lr : tensor<2xf32>, tensor<2xf32>, tensor<f32>
  %q, %n = aicf.sgd_step %w, %h, %lr : tensor<2xf32>, tensor<2xf32>, tensor<f32>
  return %p, %q : tensor<2xf32>, tensor<2xf32>
}

// Tests two entries that train a parameter with gradients of two types: each has a
// state of its own for them.
// CHECK-LABEL: func.func @a.grads
// CHECK: tensor<4xf32> {aicf.updates = "grad:v"}
// CHECK-LABEL: func.func @b.grads
// CHECK: tensor<4xbf16> {aicf.updates = "b.grad:v"}
// CHECK-LABEL: func.func @b.update
// CHECK-SAME: tensor<4xbf16> {aicf.name = "b.grad:v", aicf.role = "state"}
func.func @a(%w: tensor<4xf32> {aicf.role = "param", aicf.name = "v"},
             %g: tensor<4xf32> {aicf.role = "input", aicf.name = "g"},
             %lr: tensor<f32> {aicf.role = "hyper", aicf.name = "lr"})
    -> (tensor<4xf32> {aicf.updates = "v"}) {
  %d = aicf.tanh %g : tensor<4xf32>
  %w2, %m = aicf.sgd_step %w, %d, %lr : tensor<4xf32>, tensor<4xf32>, tensor<f32>
  return %w2 : tensor<4xf32>
}
func.func @b(%w: tensor<4xf32> {aicf.role = "param", aicf.name = "v"},
             %g: tensor<4xbf16> {aicf.role = "input", aicf.name = "g"},
             %lr: tensor<f32> {aicf.role = "hyper", aicf.name = "lr"})
    -> (tensor<4xf32> {aicf.updates = "v"}) {
  %d = aicf.tanh %g : tensor<4xbf16>
  %w2, %m = aicf.sgd_step %w, %d, %lr : tensor<4xf32>, tensor<4xbf16>, tensor<f32>
  return %w2 : tensor<4xf32>
}
