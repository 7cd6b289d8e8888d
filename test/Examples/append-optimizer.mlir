// RUN: split-file %s %t
// RUN: aicf-opt %t/before.mlir --aicf-append-optimizer -o %t/got.mlir
// RUN: aicf-opt %t/after.mlir -o %t/expected.mlir
// RUN: diff %t/got.mlir %t/expected.mlir
// RUN: aicf-opt %t/adamw.mlir | FileCheck %s --check-prefix=ADAMW

// The examples of the pass's and of the attribute's page.

//--- before.mlir
func.func @step(%W: tensor<4xf32> {aicf.role = "param", aicf.name = "W"},
                %dW: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4xf32> {aicf.name = "grad:W", aicf.grad = "W"})
    attributes {aicf.optimizer = #aicf.sgd<lr = "lr">} {
  return %dW : tensor<4xf32>
}

//--- after.mlir
func.func @step(%W: tensor<4xf32> {aicf.name = "W", aicf.role = "param"},
                %dW: tensor<4xf32> {aicf.name = "x", aicf.role = "input"},
                %lr: tensor<f32> {aicf.name = "lr", aicf.role = "hyper"})
    -> (tensor<4xf32> {aicf.updates = "W"}) {
  %W2, %m = aicf.sgd_step %W, %dW, %lr
      : tensor<4xf32>, tensor<4xf32>, tensor<f32>
  return %W2 : tensor<4xf32>
}

//--- adamw.mlir
// ADAMW: aicf.optimizer = #aicf.adamw<lr = "lr", weight_decay = 1.000000e-02>
func.func @step(%W: tensor<4xf32> {aicf.role = "param", aicf.name = "W"})
    -> (tensor<4xf32> {aicf.name = "grad:W", aicf.grad = "W"}) attributes {
    aicf.optimizer = #aicf.adamw<lr = "lr", weight_decay = 0.01>
    } {
  return %W : tensor<4xf32>
}
