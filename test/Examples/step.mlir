// RUN: split-file %s %t
// RUN: aicf-opt %t/forward.mlir --lower-to-backend=require-inplace=true -o /dev/null
// RUN: aicf-opt %t/whole.mlir --aicf-phase-check | aicf-opt --lower-to-backend=require-inplace=true -o /dev/null

// The example of the dialect's page, and below the README's.

//--- whole.mlir
func.func @train_step(
    %x: tensor<64x32xf32> {aicf.role = "input", aicf.name = "x"},
    %t: tensor<64x8xf32>  {aicf.role = "input", aicf.name = "target"},
    %W: tensor<8x32xf32>  {aicf.role = "param", aicf.name = "W",
                           aicf.init = "uniform_fan_in"},
    %lr: tensor<f32>      {aicf.role = "hyper", aicf.name = "lr"})
    -> (tensor<f32>       {aicf.name = "loss"},
        tensor<8x32xf32>  {aicf.updates = "W"}) {
  %y = aicf.linear %x, %W : tensor<64x32xf32>, tensor<8x32xf32>
  %loss = aicf.mse_loss %y, %t : tensor<64x8xf32>, tensor<64x8xf32>
  %dy = aicf.mse_grad %y, %t : tensor<64x8xf32>, tensor<64x8xf32>
  %dx, %dW, %db = aicf.linear_bwd %dy, %x, %W
      : tensor<64x8xf32>, tensor<64x32xf32>, tensor<8x32xf32>
  %W2, %m2 = aicf.sgd_step %W, %dW, %lr
      : tensor<8x32xf32>, tensor<8x32xf32>, tensor<f32>
  return %loss, %W2 : tensor<f32>, tensor<8x32xf32>
}

//--- forward.mlir
func.func @train_step(
    %x: tensor<64x32xf32> {aicf.role = "input", aicf.name = "x"},
    %t: tensor<64x8xf32>  {aicf.role = "input", aicf.name = "target"},
    %W: tensor<8x32xf32>  {aicf.role = "param", aicf.name = "W",
                           aicf.init = "uniform_fan_in"})
    -> (tensor<f32>       {aicf.name = "loss", aicf.minimize})
    attributes {aicf.optimizer = #aicf.adamw<lr = "lr", weight_decay = 0.01>} {
  %y = aicf.linear %x, %W : tensor<64x32xf32>, tensor<8x32xf32>
  %loss = aicf.mse_loss %y, %t : tensor<64x8xf32>, tensor<64x8xf32>
  return %loss : tensor<f32>
}
