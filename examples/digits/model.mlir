// A classifier on the 8x8 digits: 64 -> 64 -> 10, ReLU, cross-entropy, AdamW. The
// forward function alone: gradients, updates and states are the compiler's
// (--aicf-autodiff, --aicf-append-optimizer). @evaluate shares the parameters by name.
func.func @train_step(
    %x: tensor<32x64xf32> {aicf.role = "input", aicf.name = "x"},
    %labels: tensor<32xi32> {aicf.role = "input", aicf.name = "labels"},
    %W0: tensor<64x64xf32> {aicf.role = "param", aicf.name = "fc0.weight", aicf.init = "uniform_fan_in"},
    %b0: tensor<64xf32> {aicf.role = "param", aicf.name = "fc0.bias", aicf.init = "zeros"},
    %W1: tensor<10x64xf32> {aicf.role = "param", aicf.name = "fc1.weight", aicf.init = "uniform_fan_in"},
    %b1: tensor<10xf32> {aicf.role = "param", aicf.name = "fc1.bias", aicf.init = "zeros"})
    -> (tensor<f32> {aicf.name = "loss", aicf.minimize})
    attributes {aicf.optimizer = #aicf.adamw<lr = "lr", weight_decay = 0.0>} {
  %y0 = aicf.linear %x, %W0, %b0 : tensor<32x64xf32>, tensor<64x64xf32>, tensor<64xf32>
  %h0 = aicf.relu %y0 : tensor<32x64xf32>
  %scores = aicf.linear %h0, %W1, %b1 : tensor<32x64xf32>, tensor<10x64xf32>, tensor<10xf32>
  %loss = aicf.softmax_cross_entropy %scores, %labels : tensor<32x10xf32>, tensor<32xi32>
  return %loss : tensor<f32>
}
func.func @evaluate(
    %x: tensor<99x64xf32> {aicf.role = "input", aicf.name = "x"},
    %labels: tensor<99xi32> {aicf.role = "input", aicf.name = "labels"},
    %W0: tensor<64x64xf32> {aicf.role = "param", aicf.name = "fc0.weight", aicf.init = "uniform_fan_in"},
    %b0: tensor<64xf32> {aicf.role = "param", aicf.name = "fc0.bias", aicf.init = "zeros"},
    %W1: tensor<10x64xf32> {aicf.role = "param", aicf.name = "fc1.weight", aicf.init = "uniform_fan_in"},
    %b1: tensor<10xf32> {aicf.role = "param", aicf.name = "fc1.bias", aicf.init = "zeros"})
    -> (tensor<i32> {aicf.name = "correct"}) {
  %y0 = aicf.linear %x, %W0, %b0 : tensor<99x64xf32>, tensor<64x64xf32>, tensor<64xf32>
  %h0 = aicf.relu %y0 : tensor<99x64xf32>
  %scores = aicf.linear %h0, %W1, %b1 : tensor<99x64xf32>, tensor<10x64xf32>, tensor<10xf32>
  %best = aicf.argmax %scores : tensor<99x10xf32>
  %correct = aicf.count_equal %best, %labels : tensor<99xi32>, tensor<99xi32>
  return %correct : tensor<i32>
}
