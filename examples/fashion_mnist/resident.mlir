// A classifier on Fashion-MNIST for the GPU: 784 -> 1024 -> 1024 -> 10, ReLU,
// cross-entropy, AdamW. The 60,000 images live on the device; each step gathers a
// shuffled batch of them. The learning rate is for 10 epochs of 234 steps.
func.func @train_step(
    %images: tensor<60000x784xf32> {aicf.role = "input", aicf.name = "images"},
    %classes: tensor<60000xi32> {aicf.role = "input", aicf.name = "classes"},
    %batch: tensor<i64> {aicf.role = "state", aicf.name = "batch"},
    %W0: tensor<1024x784xf32> {aicf.role = "param", aicf.name = "fc0.weight", aicf.init = "uniform_fan_in"},
    %b0: tensor<1024xf32> {aicf.role = "param", aicf.name = "fc0.bias", aicf.init = "zeros"},
    %W1: tensor<1024x1024xf32> {aicf.role = "param", aicf.name = "fc1.weight", aicf.init = "uniform_fan_in"},
    %b1: tensor<1024xf32> {aicf.role = "param", aicf.name = "fc1.bias", aicf.init = "zeros"},
    %W2: tensor<10x1024xf32> {aicf.role = "param", aicf.name = "fc2.weight", aicf.init = "uniform_fan_in"},
    %b2: tensor<10xf32> {aicf.role = "param", aicf.name = "fc2.bias", aicf.init = "zeros"})
    -> (tensor<f32> {aicf.name = "loss", aicf.minimize},
        tensor<i64> {aicf.updates = "batch"})
    attributes {aicf.optimizer = #aicf.adamw<lr = #aicf.warmup_cosine<peak = 0.002, warmup = 100, steps = 2340>,
                                         weight_decay = 0.05>} {
  %rows = aicf.shuffle %batch {size = 60000 : i64, batch = 256 : i64} : tensor<i64>
  %x = aicf.gather_rows %images, %rows : tensor<60000x784xf32>, tensor<256xi32>
  %labels = aicf.gather_rows %classes, %rows : tensor<60000xi32>, tensor<256xi32>
  %next = aicf.step_inc %batch : tensor<i64>
  %y0 = aicf.linear %x, %W0, %b0 : tensor<256x784xf32>, tensor<1024x784xf32>, tensor<1024xf32>
  %h0 = aicf.relu %y0 : tensor<256x1024xf32>
  %y1 = aicf.linear %h0, %W1, %b1 : tensor<256x1024xf32>, tensor<1024x1024xf32>, tensor<1024xf32>
  %h1 = aicf.relu %y1 : tensor<256x1024xf32>
  %scores = aicf.linear %h1, %W2, %b2 : tensor<256x1024xf32>, tensor<10x1024xf32>, tensor<10xf32>
  %loss = aicf.softmax_cross_entropy %scores, %labels : tensor<256x10xf32>, tensor<256xi32>
  return %loss, %next : tensor<f32>, tensor<i64>
}
func.func @evaluate(
    %x: tensor<1000x784xf32> {aicf.role = "input", aicf.name = "x"},
    %labels: tensor<1000xi32> {aicf.role = "input", aicf.name = "labels"},
    %W0: tensor<1024x784xf32> {aicf.role = "param", aicf.name = "fc0.weight", aicf.init = "uniform_fan_in"},
    %b0: tensor<1024xf32> {aicf.role = "param", aicf.name = "fc0.bias", aicf.init = "zeros"},
    %W1: tensor<1024x1024xf32> {aicf.role = "param", aicf.name = "fc1.weight", aicf.init = "uniform_fan_in"},
    %b1: tensor<1024xf32> {aicf.role = "param", aicf.name = "fc1.bias", aicf.init = "zeros"},
    %W2: tensor<10x1024xf32> {aicf.role = "param", aicf.name = "fc2.weight", aicf.init = "uniform_fan_in"},
    %b2: tensor<10xf32> {aicf.role = "param", aicf.name = "fc2.bias", aicf.init = "zeros"})
    -> (tensor<i32> {aicf.name = "correct"}) {
  %y0 = aicf.linear %x, %W0, %b0 : tensor<1000x784xf32>, tensor<1024x784xf32>, tensor<1024xf32>
  %h0 = aicf.relu %y0 : tensor<1000x1024xf32>
  %y1 = aicf.linear %h0, %W1, %b1 : tensor<1000x1024xf32>, tensor<1024x1024xf32>, tensor<1024xf32>
  %h1 = aicf.relu %y1 : tensor<1000x1024xf32>
  %scores = aicf.linear %h1, %W2, %b2 : tensor<1000x1024xf32>, tensor<10x1024xf32>, tensor<10xf32>
  %best = aicf.argmax %scores : tensor<1000x10xf32>
  %correct = aicf.count_equal %best, %labels : tensor<1000xi32>, tensor<1000xi32>
  return %correct : tensor<i32>
}
