// RUN: split-file %s %t
// RUN: aicf-opt %t/before.mlir --aicf-split-step -o %t/got.mlir
// RUN: aicf-opt %t/after.mlir -o %t/expected.mlir
// RUN: diff %t/got.mlir %t/expected.mlir

// The example of the pass's page.

//--- before.mlir
func.func @step(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"},
                %W: tensor<4xf32> {aicf.role = "param", aicf.name = "W"},
                %lr: tensor<f32> {aicf.role = "hyper", aicf.name = "lr"})
    -> (tensor<4xf32> {aicf.updates = "W"}) {
  %dW = aicf.relu %x : tensor<4xf32>
  %W2, %m = aicf.sgd_step %W, %dW, %lr : tensor<4xf32>, tensor<4xf32>, tensor<f32>
  return %W2 : tensor<4xf32>
}

//--- after.mlir
func.func @step.grads(%arg0: tensor<4xf32> {aicf.name = "x", aicf.role = "input"},
                      %arg1: tensor<4xf32> {aicf.name = "grad:W", aicf.role = "state"})
    -> (tensor<4xf32> {aicf.updates = "grad:W"}) {
  %dW = aicf.relu %arg0 : tensor<4xf32>
  return %dW : tensor<4xf32>
}
func.func @step.update(%arg0: tensor<4xf32> {aicf.name = "W", aicf.role = "param"},
                       %arg1: tensor<f32> {aicf.name = "lr", aicf.role = "hyper"},
                       %arg2: tensor<4xf32> {aicf.name = "grad:W", aicf.role = "state"})
    -> (tensor<4xf32> {aicf.updates = "W"}) {
  %W2, %m = aicf.sgd_step %arg0, %arg2, %arg1 : tensor<4xf32>, tensor<4xf32>, tensor<f32>
  return %W2 : tensor<4xf32>
}
