// Tests that passes which refuse to derive a step fail, and say why once.
// RUN: split-file %s %t
// RUN: not aicf-opt %t/integer.mlir --aicf-autodiff 2>&1 | FileCheck %s --check-prefix=INTEGER
// RUN: not aicf-opt %t/unused.mlir --aicf-autodiff 2>&1 | FileCheck %s --check-prefix=UNUSED
// RUN: not aicf-opt %t/none.mlir --aicf-append-optimizer 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not aicf-opt %t/counted.mlir --aicf-append-optimizer 2>&1 | FileCheck %s --check-prefix=COUNTED
// RUN: not aicf-opt %t/batches.mlir --aicf-append-optimizer 2>&1 | FileCheck %s --check-prefix=BATCHES
// RUN: not aicf-opt %t/streak.mlir --aicf-append-optimizer 2>&1 | FileCheck %s --check-prefix=STREAK
// RUN: not aicf-opt %t/scale.mlir --aicf-append-optimizer 2>&1 | FileCheck %s --check-prefix=SCALE
// RUN: not aicf-opt %t/counter.mlir --aicf-append-optimizer 2>&1 | FileCheck %s --check-prefix=COUNTER
// RUN: not aicf-opt %t/moment.mlir --aicf-append-optimizer 2>&1 | FileCheck %s --check-prefix=MOMENT
// RUN: not aicf-opt %t/group.mlir --aicf-append-optimizer 2>&1 | FileCheck %s --check-prefix=GROUP

//--- integer.mlir
// INTEGER: error: parameter "N" is 'tensor<i32>': integers have no gradient
// INTEGER-NOT: error:
func.func @f(%W: tensor<f32> {aicf.role = "param", aicf.name = "W"},
             %N: tensor<i32> {aicf.role = "param", aicf.name = "N"})
    -> (tensor<f32> {aicf.name = "loss", aicf.minimize}) {
  return %W : tensor<f32>
}

//--- unused.mlir
// UNUSED: error: the loss does not depend on parameter "V"
// UNUSED-NOT: error:
func.func @f(%W: tensor<f32> {aicf.role = "param", aicf.name = "W"},
             %V: tensor<f32> {aicf.role = "param", aicf.name = "V"})
    -> (tensor<f32> {aicf.name = "loss", aicf.minimize}) {
  return %W : tensor<f32>
}

//--- none.mlir
// NONE: error: has 'aicf.optimizer', but no gradients
// NONE-NOT: error:
func.func @f(%W: tensor<f32> {aicf.role = "param", aicf.name = "W"})
    -> (tensor<f32> {aicf.name = "loss"})
    attributes {aicf.optimizer = #aicf.sgd<lr = "lr">} {
  return %W : tensor<f32>
}

//--- counted.mlir
// COUNTED: error: has 'aicf.optimizer', but no gradients
// COUNTED-NOT: error:
func.func @f(%W: tensor<f32> {aicf.role = "param", aicf.name = "W"})
    -> (tensor<f32> {aicf.name = "loss"})
    attributes {aicf.optimizer = #aicf.sgd<lr = "lr">, aicf.step_count = "n"} {
  return %W : tensor<f32>
}

//--- batches.mlir
// BATCHES: error: 'aicf.optimizer' accumulates gradients in @f.accumulate, but there is one already
// BATCHES-NOT: error:
func.func private @f.accumulate()
func.func @f(%W: tensor<f32> {aicf.role = "param", aicf.name = "W"})
    -> (tensor<f32> {aicf.name = "g", aicf.grad = "W"})
    attributes {aicf.optimizer = #aicf.sgd<lr = "lr", accumulate = 2>} {
  return %W : tensor<f32>
}

//--- streak.mlir
// STREAK: error: argument 2 is named "s.streak", as a state
// STREAK-NOT: error:
func.func @f(%W: tensor<f32> {aicf.role = "param", aicf.name = "W"},
             %s: tensor<f32> {aicf.role = "state", aicf.name = "s"},
             %t: tensor<i32> {aicf.role = "state", aicf.name = "s.streak"})
    -> (tensor<f32> {aicf.name = "g", aicf.grad = "W"})
    attributes {aicf.optimizer = #aicf.sgd<lr = "lr">, aicf.loss_scale = "s"} {
  return %W : tensor<f32>
}

//--- scale.mlir
// SCALE: error: 'aicf.loss_scale' is "s", expected the name of a state
// SCALE-NOT: error:
func.func @f(%W: tensor<f32> {aicf.role = "param", aicf.name = "W"})
    -> (tensor<f32> {aicf.name = "g", aicf.grad = "W"})
    attributes {aicf.optimizer = #aicf.sgd<lr = "lr">, aicf.loss_scale = "s"} {
  return %W : tensor<f32>
}

//--- counter.mlir
// COUNTER: error: argument 1 is named "step", as a state
// COUNTER-NOT: error:
func.func @f(%W: tensor<f32> {aicf.role = "param", aicf.name = "W"},
             %n: tensor<i64> {aicf.role = "state", aicf.name = "step"})
    -> (tensor<f32> {aicf.name = "g", aicf.grad = "W"})
    attributes {aicf.optimizer = #aicf.adamw<lr = "lr">} {
  return %W : tensor<f32>
}

//--- moment.mlir
// MOMENT: error: argument 1 is named "W.exp_avg", as a state
// MOMENT-NOT: error:
func.func @f(%W: tensor<f32> {aicf.role = "param", aicf.name = "W"},
             %m: tensor<f32> {aicf.role = "state", aicf.name = "W.exp_avg"})
    -> (tensor<f32> {aicf.name = "g", aicf.grad = "W"})
    attributes {aicf.optimizer = #aicf.adamw<lr = "lr">} {
  return %W : tensor<f32>
}

//--- group.mlir
// GROUP: error: parameter "W" has 'aicf.group' "a", and 'aicf.optimizer' has no groups
// GROUP-NOT: error:
func.func @f(%W: tensor<f32> {aicf.role = "param", aicf.name = "W", aicf.group = "a"})
    -> (tensor<f32> {aicf.name = "g", aicf.grad = "W"})
    attributes {aicf.optimizer = #aicf.sgd<lr = "lr">} {
  return %W : tensor<f32>
}
