// A forward function in the dialect of examples/embed; loss, roles and optimizer
// are AICF's.
func.func @train_step(
    %x: tensor<16x8xf32> {aicf.role = "input", aicf.name = "x"},
    %target: tensor<16x4xf32> {aicf.role = "input", aicf.name = "target"},
    %W0: tensor<32x8xf32> {aicf.role = "param", aicf.name = "fc0.weight", aicf.init = "uniform_fan_in"},
    %b0: tensor<32xf32> {aicf.role = "param", aicf.name = "fc0.bias", aicf.init = "zeros"},
    %W1: tensor<4x32xf32> {aicf.role = "param", aicf.name = "fc1.weight", aicf.init = "uniform_fan_in"},
    %b1: tensor<4xf32> {aicf.role = "param", aicf.name = "fc1.bias", aicf.init = "zeros"})
    -> (tensor<f32> {aicf.name = "loss", aicf.minimize})
    attributes {aicf.optimizer = #aicf.adamw<lr = "lr", weight_decay = 0.0>} {
  %h = mlp.layer %x, %W0, %b0 relu : (tensor<16x8xf32>, tensor<32x8xf32>, tensor<32xf32>) -> tensor<16x32xf32>
  %y = mlp.layer %h, %W1, %b1 : (tensor<16x32xf32>, tensor<4x32xf32>, tensor<4xf32>) -> tensor<16x4xf32>
  %loss = aicf.mse_loss %y, %target : tensor<16x4xf32>, tensor<16x4xf32>
  return %loss : tensor<f32>
}
