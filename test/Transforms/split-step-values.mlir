// RUN: aicf-opt %s --aicf-split-step --split-input-file | FileCheck %s
// RUN: aicf-opt %s --aicf-split-step --aicf-verify-entries --split-input-file -o /dev/null

// Tests which values and arguments each half has.

// One gradient of two parameters has the name of the first, and crosses once. What
// only hypers say and both halves read crosses too; what nothing reads is gone.
// CHECK-LABEL: func.func @one.grads
// CHECK-SAME: {aicf.updates = "grad:w"}, tensor<f32> {aicf.updates = "one.cross:1"})
// CHECK-LABEL: func.func @one.update
// CHECK-SAME: %[[G:arg[0-9]+]]: tensor<f32> {aicf.name = "grad:w", aicf.role = "state"}, %[[R:arg[0-9]+]]: tensor<f32> {aicf.name = "one.cross:1", aicf.role = "state"})
// CHECK-NEXT: aicf.sgd_step %{{.*}}, %[[G]], %[[R]]
// CHECK-NEXT: aicf.sgd_step %{{.*}}, %[[G]], %[[R]]
// CHECK-NEXT: return
func.func @one(%x: tensor<f32> {aicf.role = "input", aicf.name = "x"},
               %lr: tensor<f32> {aicf.role = "hyper", aicf.name = "lr"},
               %w: tensor<f32> {aicf.role = "param", aicf.name = "w"},
               %u: tensor<f32> {aicf.role = "param", aicf.name = "u"})
    -> (tensor<f32> {aicf.updates = "w"}, tensor<f32> {aicf.updates = "u"}) {
  %r = aicf.scale %lr {factor = 0.5 : f64} : tensor<f32>
  %g = aicf.mul %x, %r : tensor<f32>, tensor<f32>
  %p, %m = aicf.sgd_step %w, %g, %r : tensor<f32>, tensor<f32>, tensor<f32>
  %q, %n = aicf.sgd_step %u, %g, %r : tensor<f32>, tensor<f32>, tensor<f32>
  return %p, %q : tensor<f32>, tensor<f32>
}

// -----

// CHECK-LABEL: func.func @dead.grads
// CHECK-NOT: cross
// CHECK: return
func.func @dead(%x: tensor<f32> {aicf.role = "input", aicf.name = "x"},
                %lr: tensor<f32> {aicf.role = "hyper", aicf.name = "lr"},
                %w: tensor<f32> {aicf.role = "param", aicf.name = "w"})
    -> (tensor<f32> {aicf.updates = "w"}) {
  %r = aicf.scale %lr {factor = 0.5 : f64} : tensor<f32>
  %d = aicf.scale %r {factor = 0.5 : f64} : tensor<f32>
  %g = aicf.mul %x, %r : tensor<f32>, tensor<f32>
  %p, %m = aicf.sgd_step %w, %g, %lr : tensor<f32>, tensor<f32>, tensor<f32>
  return %p : tensor<f32>
}

// -----

// A state that the gradients half returns as it is may be read by the update.
// CHECK-LABEL: func.func @kept.grads
// CHECK-LABEL: func.func @kept.update
// CHECK-SAME: aicf.name = "lr", aicf.role = "state"
func.func @kept(%x: tensor<f32> {aicf.role = "input", aicf.name = "x"},
                %w: tensor<f32> {aicf.role = "param", aicf.name = "w"},
                %lr: tensor<f32> {aicf.role = "state", aicf.name = "lr"})
    -> (tensor<f32> {aicf.updates = "w"}, tensor<f32> {aicf.updates = "lr"}) {
  %g = aicf.relu %x : tensor<f32>
  %p, %m = aicf.sgd_step %w, %g, %lr : tensor<f32>, tensor<f32>, tensor<f32>
  return %p, %lr : tensor<f32>, tensor<f32>
}

// -----

// The gradients half reads only the copy of the parameter; that needs its source.
// CHECK-LABEL: func.func @copy.grads
// CHECK-SAME: aicf.name = "w", aicf.role = "param"
// CHECK-SAME: aicf.derived_from = "w"
func.func @copy(%w: tensor<4xf32> {aicf.role = "param", aicf.name = "w"},
                %c: tensor<4xbf16> {aicf.role = "state", aicf.name = "c", aicf.derived_from = "w"},
                %lr: tensor<f32> {aicf.role = "hyper", aicf.name = "lr"})
    -> (tensor<4xf32> {aicf.updates = "w"}, tensor<4xbf16> {aicf.updates = "c"}) {
  %g = aicf.relu %c : tensor<4xbf16>
  %p, %m = aicf.sgd_step %w, %g, %lr : tensor<4xf32>, tensor<4xbf16>, tensor<f32>
  %d = aicf.cast %p to bf16 : tensor<4xf32>
  return %p, %d : tensor<4xf32>, tensor<4xbf16>
}

// -----

// CHECK-LABEL: func.func @whole(
// CHECK-NOT: func.func
func.func @whole(%g: tensor<f32> {aicf.role = "input", aicf.name = "g"},
                 %w: tensor<f32> {aicf.role = "param", aicf.name = "w"},
                 %lr: tensor<f32> {aicf.role = "hyper", aicf.name = "lr"})
    -> (tensor<f32> {aicf.updates = "w"}) {
  %p, %m = aicf.sgd_step %w, %g, %lr : tensor<f32>, tensor<f32>, tensor<f32>
  return %p : tensor<f32>
}
