// A classifier on the 8x8 digits: 64 -> 64 -> 10, ReLU, MSE on one-hot targets,
// Adam. @train_step and @predict share their parameters by name.
// Written with: benchmarks/generate_step.py --batch 32 --widths 64,64,10
//               --predict-batch 99
func.func @train_step(
    %x: tensor<32x64xf32> {aicf.role = "input", aicf.name = "x"},
    %t: tensor<32x10xf32> {aicf.role = "input", aicf.name = "target"},
    %W0: tensor<64x64xf32> {aicf.role = "param", aicf.name = "fc0.weight", aicf.init = "uniform_fan_in"},
    %b0: tensor<64xf32> {aicf.role = "param", aicf.name = "fc0.bias", aicf.init = "zeros"},
    %W1: tensor<10x64xf32> {aicf.role = "param", aicf.name = "fc1.weight", aicf.init = "uniform_fan_in"},
    %b1: tensor<10xf32> {aicf.role = "param", aicf.name = "fc1.bias", aicf.init = "zeros"},
    %lr: tensor<f32> {aicf.role = "hyper", aicf.name = "lr"},
    %step: tensor<i64> {aicf.role = "state", aicf.name = "step"},
    %mW0: tensor<64x64xf32> {aicf.role = "state", aicf.name = "fc0.weight.exp_avg"},
    %vW0: tensor<64x64xf32> {aicf.role = "state", aicf.name = "fc0.weight.exp_avg_sq"},
    %mb0: tensor<64xf32> {aicf.role = "state", aicf.name = "fc0.bias.exp_avg"},
    %vb0: tensor<64xf32> {aicf.role = "state", aicf.name = "fc0.bias.exp_avg_sq"},
    %mW1: tensor<10x64xf32> {aicf.role = "state", aicf.name = "fc1.weight.exp_avg"},
    %vW1: tensor<10x64xf32> {aicf.role = "state", aicf.name = "fc1.weight.exp_avg_sq"},
    %mb1: tensor<10xf32> {aicf.role = "state", aicf.name = "fc1.bias.exp_avg"},
    %vb1: tensor<10xf32> {aicf.role = "state", aicf.name = "fc1.bias.exp_avg_sq"})
    -> (tensor<f32> {aicf.name = "loss"},
        tensor<i64> {aicf.updates = "step"},
        tensor<64x64xf32> {aicf.updates = "fc0.weight.exp_avg"},
        tensor<64x64xf32> {aicf.updates = "fc0.weight.exp_avg_sq"},
        tensor<64x64xf32> {aicf.updates = "fc0.weight"},
        tensor<64xf32> {aicf.updates = "fc0.bias.exp_avg"},
        tensor<64xf32> {aicf.updates = "fc0.bias.exp_avg_sq"},
        tensor<64xf32> {aicf.updates = "fc0.bias"},
        tensor<10x64xf32> {aicf.updates = "fc1.weight.exp_avg"},
        tensor<10x64xf32> {aicf.updates = "fc1.weight.exp_avg_sq"},
        tensor<10x64xf32> {aicf.updates = "fc1.weight"},
        tensor<10xf32> {aicf.updates = "fc1.bias.exp_avg"},
        tensor<10xf32> {aicf.updates = "fc1.bias.exp_avg_sq"},
        tensor<10xf32> {aicf.updates = "fc1.bias"}) {
  %y0 = aicf.linear %x, %W0, %b0 : tensor<32x64xf32>, tensor<64x64xf32>, tensor<64xf32>
  %h0 = aicf.relu %y0 : tensor<32x64xf32>
  %s0 = aicf.save %h0 : tensor<32x64xf32>
  %y1 = aicf.linear %h0, %W1, %b1 : tensor<32x64xf32>, tensor<10x64xf32>, tensor<10xf32>
  %loss = aicf.mse_loss %y1, %t : tensor<32x10xf32>, tensor<32x10xf32>
  %dy1 = aicf.mse_grad %y1, %t : tensor<32x10xf32>, tensor<32x10xf32>
  %dx1, %dW1, %db1 = aicf.linear_bwd %dy1, %h0, %W1 : tensor<32x10xf32>, tensor<32x64xf32>, tensor<10x64xf32>
  %dy0 = aicf.relu_bwd %dx1, %s0 : tensor<32x64xf32>, tensor<32x64xf32>
  %dx0, %dW0, %db0 = aicf.linear_bwd %dy0, %x, %W0 : tensor<32x64xf32>, tensor<32x64xf32>, tensor<64x64xf32>
  %t1 = aicf.step_inc %step : tensor<i64>
  %bc = aicf.bias_corr %t1 : tensor<i64>
  %nW0, %nmW0, %nvW0 = aicf.adam_step %W0, %dW0, %mW0, %vW0, %bc, %lr : tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<2xf32>, tensor<f32>
  %nb0, %nmb0, %nvb0 = aicf.adam_step %b0, %db0, %mb0, %vb0, %bc, %lr : tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<2xf32>, tensor<f32>
  %nW1, %nmW1, %nvW1 = aicf.adam_step %W1, %dW1, %mW1, %vW1, %bc, %lr : tensor<10x64xf32>, tensor<10x64xf32>, tensor<10x64xf32>, tensor<10x64xf32>, tensor<2xf32>, tensor<f32>
  %nb1, %nmb1, %nvb1 = aicf.adam_step %b1, %db1, %mb1, %vb1, %bc, %lr : tensor<10xf32>, tensor<10xf32>, tensor<10xf32>, tensor<10xf32>, tensor<2xf32>, tensor<f32>
  return %loss, %t1, %nmW0, %nvW0, %nW0, %nmb0, %nvb0, %nb0, %nmW1, %nvW1, %nW1, %nmb1, %nvb1, %nb1 : tensor<f32>, tensor<i64>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<10x64xf32>, tensor<10x64xf32>, tensor<10x64xf32>, tensor<10xf32>, tensor<10xf32>, tensor<10xf32>
}
func.func @predict(
    %x: tensor<99x64xf32> {aicf.role = "input", aicf.name = "x"},
    %W0: tensor<64x64xf32> {aicf.role = "param", aicf.name = "fc0.weight", aicf.init = "uniform_fan_in"},
    %b0: tensor<64xf32> {aicf.role = "param", aicf.name = "fc0.bias", aicf.init = "zeros"},
    %W1: tensor<10x64xf32> {aicf.role = "param", aicf.name = "fc1.weight", aicf.init = "uniform_fan_in"},
    %b1: tensor<10xf32> {aicf.role = "param", aicf.name = "fc1.bias", aicf.init = "zeros"})
    -> (tensor<99x10xf32> {aicf.name = "scores"}) {
  %y0 = aicf.linear %x, %W0, %b0 : tensor<99x64xf32>, tensor<64x64xf32>, tensor<64xf32>
  %h0 = aicf.relu %y0 : tensor<99x64xf32>
  %y1 = aicf.linear %h0, %W1, %b1 : tensor<99x64xf32>, tensor<10x64xf32>, tensor<10xf32>
  return %y1 : tensor<99x10xf32>
}
