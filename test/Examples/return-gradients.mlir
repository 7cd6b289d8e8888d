// RUN: split-file %s %t
// RUN: aicf-opt %t/before.mlir --aicf-return-gradients -o %t/got.mlir
// RUN: aicf-opt %t/after.mlir -o %t/expected.mlir
// RUN: diff %t/got.mlir %t/expected.mlir

// The example of the pass's page.

//--- before.mlir
func.func @step(%W: tensor<4xf32> {aicf.role = "param", aicf.name = "W"},
                %g: tensor<4xf32> {aicf.role = "input", aicf.name = "g"},
                %lr: tensor<f32> {aicf.role = "hyper", aicf.name = "lr"})
    -> (tensor<4xf32> {aicf.updates = "W"})
    attributes {aicf.outputs = ["grad_norm"]} {
  %W2, %m = aicf.sgd_step %W, %g, %lr
      : tensor<4xf32>, tensor<4xf32>, tensor<f32>
  return %W2 : tensor<4xf32>
}

//--- after.mlir
func.func @step(%W: tensor<4xf32> {aicf.role = "param", aicf.name = "W"},
                %g: tensor<4xf32> {aicf.role = "input", aicf.name = "g"},
                %lr: tensor<f32> {aicf.role = "hyper", aicf.name = "lr"})
    -> (tensor<4xf32> {aicf.updates = "W"},
        tensor<f32> {aicf.name = "grad_norm"}) {
  %W2, %m = aicf.sgd_step %W, %g, %lr
      : tensor<4xf32>, tensor<4xf32>, tensor<f32>
  %norm = aicf.global_norm %g : tensor<4xf32>
  return %W2, %norm : tensor<4xf32>, tensor<f32>
}
