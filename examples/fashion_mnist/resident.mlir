// A classifier on Fashion-MNIST for the GPU: 784 -> 1024 -> 1024 -> 10, ReLU, MSE on
// one-hot targets, Adam. The 60,000 images live on the device; each step gathers
// a shuffled batch of them.
// Written with: benchmarks/generate_step.py --batch 256 --widths 784,1024,1024,10
//               --resident 60000 --predict-batch 1000
func.func @train_step(
    %data: tensor<60000x784xf32> {aicf.role = "input", aicf.name = "images"},
    %labels: tensor<60000x10xf32> {aicf.role = "input", aicf.name = "targets"},
    %batch: tensor<i64> {aicf.role = "state", aicf.name = "batch"},
    %W0: tensor<1024x784xf32> {aicf.role = "param", aicf.name = "fc0.weight", aicf.init = "uniform_fan_in"},
    %b0: tensor<1024xf32> {aicf.role = "param", aicf.name = "fc0.bias", aicf.init = "zeros"},
    %W1: tensor<1024x1024xf32> {aicf.role = "param", aicf.name = "fc1.weight", aicf.init = "uniform_fan_in"},
    %b1: tensor<1024xf32> {aicf.role = "param", aicf.name = "fc1.bias", aicf.init = "zeros"},
    %W2: tensor<10x1024xf32> {aicf.role = "param", aicf.name = "fc2.weight", aicf.init = "uniform_fan_in"},
    %b2: tensor<10xf32> {aicf.role = "param", aicf.name = "fc2.bias", aicf.init = "zeros"},
    %lr: tensor<f32> {aicf.role = "hyper", aicf.name = "lr"},
    %step: tensor<i64> {aicf.role = "state", aicf.name = "step"},
    %mW0: tensor<1024x784xf32> {aicf.role = "state", aicf.name = "fc0.weight.exp_avg"},
    %vW0: tensor<1024x784xf32> {aicf.role = "state", aicf.name = "fc0.weight.exp_avg_sq"},
    %mb0: tensor<1024xf32> {aicf.role = "state", aicf.name = "fc0.bias.exp_avg"},
    %vb0: tensor<1024xf32> {aicf.role = "state", aicf.name = "fc0.bias.exp_avg_sq"},
    %mW1: tensor<1024x1024xf32> {aicf.role = "state", aicf.name = "fc1.weight.exp_avg"},
    %vW1: tensor<1024x1024xf32> {aicf.role = "state", aicf.name = "fc1.weight.exp_avg_sq"},
    %mb1: tensor<1024xf32> {aicf.role = "state", aicf.name = "fc1.bias.exp_avg"},
    %vb1: tensor<1024xf32> {aicf.role = "state", aicf.name = "fc1.bias.exp_avg_sq"},
    %mW2: tensor<10x1024xf32> {aicf.role = "state", aicf.name = "fc2.weight.exp_avg"},
    %vW2: tensor<10x1024xf32> {aicf.role = "state", aicf.name = "fc2.weight.exp_avg_sq"},
    %mb2: tensor<10xf32> {aicf.role = "state", aicf.name = "fc2.bias.exp_avg"},
    %vb2: tensor<10xf32> {aicf.role = "state", aicf.name = "fc2.bias.exp_avg_sq"})
    -> (tensor<f32> {aicf.name = "loss"},
        tensor<i64> {aicf.updates = "step"},
        tensor<1024x784xf32> {aicf.updates = "fc0.weight.exp_avg"},
        tensor<1024x784xf32> {aicf.updates = "fc0.weight.exp_avg_sq"},
        tensor<1024x784xf32> {aicf.updates = "fc0.weight"},
        tensor<1024xf32> {aicf.updates = "fc0.bias.exp_avg"},
        tensor<1024xf32> {aicf.updates = "fc0.bias.exp_avg_sq"},
        tensor<1024xf32> {aicf.updates = "fc0.bias"},
        tensor<1024x1024xf32> {aicf.updates = "fc1.weight.exp_avg"},
        tensor<1024x1024xf32> {aicf.updates = "fc1.weight.exp_avg_sq"},
        tensor<1024x1024xf32> {aicf.updates = "fc1.weight"},
        tensor<1024xf32> {aicf.updates = "fc1.bias.exp_avg"},
        tensor<1024xf32> {aicf.updates = "fc1.bias.exp_avg_sq"},
        tensor<1024xf32> {aicf.updates = "fc1.bias"},
        tensor<10x1024xf32> {aicf.updates = "fc2.weight.exp_avg"},
        tensor<10x1024xf32> {aicf.updates = "fc2.weight.exp_avg_sq"},
        tensor<10x1024xf32> {aicf.updates = "fc2.weight"},
        tensor<10xf32> {aicf.updates = "fc2.bias.exp_avg"},
        tensor<10xf32> {aicf.updates = "fc2.bias.exp_avg_sq"},
        tensor<10xf32> {aicf.updates = "fc2.bias"},
        tensor<i64> {aicf.updates = "batch"}) {
  %index = aicf.shuffle %batch {size = 60000 : i64, batch = 256 : i64} : tensor<i64>
  %x = aicf.gather_rows %data, %index : tensor<60000x784xf32>, tensor<256xi32>
  %t = aicf.gather_rows %labels, %index : tensor<60000x10xf32>, tensor<256xi32>
  %y0 = aicf.linear %x, %W0, %b0 : tensor<256x784xf32>, tensor<1024x784xf32>, tensor<1024xf32>
  %h0 = aicf.relu %y0 : tensor<256x1024xf32>
  %s0 = aicf.save %h0 : tensor<256x1024xf32>
  %y1 = aicf.linear %h0, %W1, %b1 : tensor<256x1024xf32>, tensor<1024x1024xf32>, tensor<1024xf32>
  %h1 = aicf.relu %y1 : tensor<256x1024xf32>
  %s1 = aicf.save %h1 : tensor<256x1024xf32>
  %y2 = aicf.linear %h1, %W2, %b2 : tensor<256x1024xf32>, tensor<10x1024xf32>, tensor<10xf32>
  %loss = aicf.mse_loss %y2, %t : tensor<256x10xf32>, tensor<256x10xf32>
  %dy2 = aicf.mse_grad %y2, %t : tensor<256x10xf32>, tensor<256x10xf32>
  %dx2, %dW2, %db2 = aicf.linear_bwd %dy2, %h1, %W2 : tensor<256x10xf32>, tensor<256x1024xf32>, tensor<10x1024xf32>
  %dy1 = aicf.relu_bwd %dx2, %s1 : tensor<256x1024xf32>, tensor<256x1024xf32>
  %dx1, %dW1, %db1 = aicf.linear_bwd %dy1, %h0, %W1 : tensor<256x1024xf32>, tensor<256x1024xf32>, tensor<1024x1024xf32>
  %dy0 = aicf.relu_bwd %dx1, %s0 : tensor<256x1024xf32>, tensor<256x1024xf32>
  %dx0, %dW0, %db0 = aicf.linear_bwd %dy0, %x, %W0 : tensor<256x1024xf32>, tensor<256x784xf32>, tensor<1024x784xf32>
  %t1 = aicf.step_inc %step : tensor<i64>
  %bc = aicf.bias_corr %t1 : tensor<i64>
  %nW0, %nmW0, %nvW0 = aicf.adam_step %W0, %dW0, %mW0, %vW0, %bc, %lr : tensor<1024x784xf32>, tensor<1024x784xf32>, tensor<1024x784xf32>, tensor<1024x784xf32>, tensor<2xf32>, tensor<f32>
  %nb0, %nmb0, %nvb0 = aicf.adam_step %b0, %db0, %mb0, %vb0, %bc, %lr : tensor<1024xf32>, tensor<1024xf32>, tensor<1024xf32>, tensor<1024xf32>, tensor<2xf32>, tensor<f32>
  %nW1, %nmW1, %nvW1 = aicf.adam_step %W1, %dW1, %mW1, %vW1, %bc, %lr : tensor<1024x1024xf32>, tensor<1024x1024xf32>, tensor<1024x1024xf32>, tensor<1024x1024xf32>, tensor<2xf32>, tensor<f32>
  %nb1, %nmb1, %nvb1 = aicf.adam_step %b1, %db1, %mb1, %vb1, %bc, %lr : tensor<1024xf32>, tensor<1024xf32>, tensor<1024xf32>, tensor<1024xf32>, tensor<2xf32>, tensor<f32>
  %nW2, %nmW2, %nvW2 = aicf.adam_step %W2, %dW2, %mW2, %vW2, %bc, %lr : tensor<10x1024xf32>, tensor<10x1024xf32>, tensor<10x1024xf32>, tensor<10x1024xf32>, tensor<2xf32>, tensor<f32>
  %nb2, %nmb2, %nvb2 = aicf.adam_step %b2, %db2, %mb2, %vb2, %bc, %lr : tensor<10xf32>, tensor<10xf32>, tensor<10xf32>, tensor<10xf32>, tensor<2xf32>, tensor<f32>
  %nbatch = aicf.step_inc %batch : tensor<i64>
  return %loss, %t1, %nmW0, %nvW0, %nW0, %nmb0, %nvb0, %nb0, %nmW1, %nvW1, %nW1, %nmb1, %nvb1, %nb1, %nmW2, %nvW2, %nW2, %nmb2, %nvb2, %nb2, %nbatch : tensor<f32>, tensor<i64>, tensor<1024x784xf32>, tensor<1024x784xf32>, tensor<1024x784xf32>, tensor<1024xf32>, tensor<1024xf32>, tensor<1024xf32>, tensor<1024x1024xf32>, tensor<1024x1024xf32>, tensor<1024x1024xf32>, tensor<1024xf32>, tensor<1024xf32>, tensor<1024xf32>, tensor<10x1024xf32>, tensor<10x1024xf32>, tensor<10x1024xf32>, tensor<10xf32>, tensor<10xf32>, tensor<10xf32>, tensor<i64>
}
func.func @predict(
    %x: tensor<1000x784xf32> {aicf.role = "input", aicf.name = "x"},
    %W0: tensor<1024x784xf32> {aicf.role = "param", aicf.name = "fc0.weight", aicf.init = "uniform_fan_in"},
    %b0: tensor<1024xf32> {aicf.role = "param", aicf.name = "fc0.bias", aicf.init = "zeros"},
    %W1: tensor<1024x1024xf32> {aicf.role = "param", aicf.name = "fc1.weight", aicf.init = "uniform_fan_in"},
    %b1: tensor<1024xf32> {aicf.role = "param", aicf.name = "fc1.bias", aicf.init = "zeros"},
    %W2: tensor<10x1024xf32> {aicf.role = "param", aicf.name = "fc2.weight", aicf.init = "uniform_fan_in"},
    %b2: tensor<10xf32> {aicf.role = "param", aicf.name = "fc2.bias", aicf.init = "zeros"})
    -> (tensor<1000x10xf32> {aicf.name = "scores"}) {
  %y0 = aicf.linear %x, %W0, %b0 : tensor<1000x784xf32>, tensor<1024x784xf32>, tensor<1024xf32>
  %h0 = aicf.relu %y0 : tensor<1000x1024xf32>
  %y1 = aicf.linear %h0, %W1, %b1 : tensor<1000x1024xf32>, tensor<1024x1024xf32>, tensor<1024xf32>
  %h1 = aicf.relu %y1 : tensor<1000x1024xf32>
  %y2 = aicf.linear %h1, %W2, %b2 : tensor<1000x1024xf32>, tensor<10x1024xf32>, tensor<10xf32>
  return %y2 : tensor<1000x10xf32>
}
