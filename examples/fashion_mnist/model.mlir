// A classifier on Fashion-MNIST: 784 -> 256 -> 10, ReLU, cross-entropy, AdamW. The
// forward function alone: gradients, updates and states are the compiler's
// (--aicf-autodiff, --aicf-append-optimizer). @evaluate shares the parameters by name.
// The learning rate is for 10 epochs of 468 steps.
func.func @train_step(
    %x: tensor<128x784xf32> {aicf.role = "input", aicf.name = "x"},
    %labels: tensor<128xi32> {aicf.role = "input", aicf.name = "labels"},
    %W0: tensor<256x784xf32> {aicf.role = "param", aicf.name = "fc0.weight", aicf.init = "uniform_fan_in"},
    %b0: tensor<256xf32> {aicf.role = "param", aicf.name = "fc0.bias", aicf.init = "zeros"},
    %W1: tensor<10x256xf32> {aicf.role = "param", aicf.name = "fc1.weight", aicf.init = "uniform_fan_in"},
    %b1: tensor<10xf32> {aicf.role = "param", aicf.name = "fc1.bias", aicf.init = "zeros"})
    -> (tensor<f32> {aicf.name = "loss", aicf.minimize})
    attributes {aicf.optimizer = #aicf.adamw<lr = #aicf.warmup_cosine<peak = 0.003, warmup = 200, steps = 4680>,
                                         weight_decay = 0.05>} {
  %y0 = aicf.linear %x, %W0, %b0 : tensor<128x784xf32>, tensor<256x784xf32>, tensor<256xf32>
  %h0 = aicf.relu %y0 : tensor<128x256xf32>
  %scores = aicf.linear %h0, %W1, %b1 : tensor<128x256xf32>, tensor<10x256xf32>, tensor<10xf32>
  %loss = aicf.softmax_cross_entropy %scores, %labels : tensor<128x10xf32>, tensor<128xi32>
  return %loss : tensor<f32>
}
func.func @evaluate(
    %x: tensor<1000x784xf32> {aicf.role = "input", aicf.name = "x"},
    %labels: tensor<1000xi32> {aicf.role = "input", aicf.name = "labels"},
    %W0: tensor<256x784xf32> {aicf.role = "param", aicf.name = "fc0.weight", aicf.init = "uniform_fan_in"},
    %b0: tensor<256xf32> {aicf.role = "param", aicf.name = "fc0.bias", aicf.init = "zeros"},
    %W1: tensor<10x256xf32> {aicf.role = "param", aicf.name = "fc1.weight", aicf.init = "uniform_fan_in"},
    %b1: tensor<10xf32> {aicf.role = "param", aicf.name = "fc1.bias", aicf.init = "zeros"})
    -> (tensor<i32> {aicf.name = "correct"}) {
  %y0 = aicf.linear %x, %W0, %b0 : tensor<1000x784xf32>, tensor<256x784xf32>, tensor<256xf32>
  %h0 = aicf.relu %y0 : tensor<1000x256xf32>
  %scores = aicf.linear %h0, %W1, %b1 : tensor<1000x256xf32>, tensor<10x256xf32>, tensor<10xf32>
  %best = aicf.argmax %scores : tensor<1000x10xf32>
  %correct = aicf.count_equal %best, %labels : tensor<1000xi32>, tensor<1000xi32>
  return %correct : tensor<i32>
}
