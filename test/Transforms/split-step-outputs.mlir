// RUN: aicf-opt %s --aicf-split-step --aicf-verify-entries | FileCheck %s
// RUN: aicf-opt %s --aicf-keep-values=mode=grad --aicf-verify-entries | FileCheck %s --check-prefix=KEEP

// Tests that the state which carries a gradient has a name of its own where an output, of
// whichever entry, is called as the gradient is.
// CHECK-LABEL: func.func @f.grads
// CHECK-SAME: %{{.*}} {aicf.name = "f.grad:W", aicf.role = "state"}
// CHECK-SAME: -> (tensor<4xf32> {aicf.name = "grad:W"}, tensor<4xf32> {aicf.updates = "f.grad:W"})
// CHECK-LABEL: func.func @f.update
// CHECK-SAME: aicf.name = "f.grad:W", aicf.role = "state"
// CHECK-LABEL: func.func @g.grads
// CHECK-SAME: aicf.updates = "g.grad:W"

// Tests that a gradient which is returned already is kept once, and that of two
// optimizers of one parameter the first counts.
// KEEP-LABEL: func.func @f
// KEEP-SAME: -> (tensor<4xf32> {aicf.name = "grad:W"}, tensor<4xf32> {aicf.updates = "W"})
// KEEP-LABEL: func.func @g
// KEEP-SAME: -> (tensor<4xf32> {aicf.updates = "W"}, tensor<4xf32> {aicf.name = "other"}, tensor<4xf32> {aicf.name = "grad:W"})
func.func @f(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"},
             %w: tensor<4xf32> {aicf.role = "param", aicf.name = "W"},
             %lr: tensor<f32> {aicf.role = "hyper", aicf.name = "lr"})
    -> (tensor<4xf32> {aicf.name = "grad:W"}, tensor<4xf32> {aicf.updates = "W"}) {
  %g = aicf.relu %x : tensor<4xf32>
  %n, %m = aicf.sgd_step %w, %g, %lr : tensor<4xf32>, tensor<4xf32>, tensor<f32>
  return %g, %n : tensor<4xf32>, tensor<4xf32>
}

func.func @g(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"},
             %w: tensor<4xf32> {aicf.role = "param", aicf.name = "W"},
             %lr: tensor<f32> {aicf.role = "hyper", aicf.name = "lr"})
    -> (tensor<4xf32> {aicf.updates = "W"}, tensor<4xf32> {aicf.name = "other"}) {
  %g = aicf.relu %x : tensor<4xf32>
  %h = aicf.neg %g : tensor<4xf32>
  %n, %m = aicf.sgd_step %w, %g, %lr : tensor<4xf32>, tensor<4xf32>, tensor<f32>
  %o, %p = aicf.sgd_step %w, %h, %lr : tensor<4xf32>, tensor<4xf32>, tensor<f32>
  return %n, %o : tensor<4xf32>, tensor<4xf32>
}
