// RUN: split-file %s %t
// RUN: aicf-opt %t/before.mlir --aicf-autodiff -o %t/got.mlir
// RUN: aicf-opt %t/after.mlir -o %t/expected.mlir
// RUN: diff %t/got.mlir %t/expected.mlir

// The example of the pass's page.

//--- before.mlir
func.func @step(%x: tensor<4x8xf32> {aicf.role = "input", aicf.name = "x"},
                %t: tensor<4x2xf32> {aicf.role = "input", aicf.name = "t"},
                %W: tensor<2x8xf32> {aicf.role = "param", aicf.name = "W"})
    -> (tensor<f32> {aicf.name = "loss", aicf.minimize}) {
  %y = aicf.linear %x, %W : tensor<4x8xf32>, tensor<2x8xf32>
  %loss = aicf.mse_loss %y, %t : tensor<4x2xf32>, tensor<4x2xf32>
  return %loss : tensor<f32>
}

//--- after.mlir
func.func @step(%x: tensor<4x8xf32> {aicf.name = "x", aicf.role = "input"},
                %t: tensor<4x2xf32> {aicf.name = "t", aicf.role = "input"},
                %W: tensor<2x8xf32> {aicf.name = "W", aicf.role = "param"})
    -> (tensor<f32> {aicf.name = "loss"},
        tensor<2x8xf32> {aicf.grad = "W", aicf.name = "grad:W"}) {
  %y = aicf.linear %x, %W : tensor<4x8xf32>, tensor<2x8xf32>
  %kept = aicf.save %y : tensor<4x2xf32>
  %loss = aicf.mse_loss %y, %t : tensor<4x2xf32>, tensor<4x2xf32>
  %dy = aicf.mse_grad %kept, %t : tensor<4x2xf32>, tensor<4x2xf32>
  %dx, %dW, %db = aicf.linear_bwd %dy, %x, %W
      : tensor<4x2xf32>, tensor<4x8xf32>, tensor<2x8xf32>
  return %loss, %dW : tensor<f32>, tensor<2x8xf32>
}
