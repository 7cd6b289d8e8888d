// A classifier on Fashion-MNIST of residual blocks: x + dropout(down(gelu(up(norm(x))))).
// Two batches of 64 give the gradient of an update (@train_step.accumulate, then
// @train_step), which is clipped; the learning rate warms up, then falls along a cosine
// over 5 epochs of 468 updates. Masks are drawn by the count of batches, %drops.
func.func @train_step(
    %x: tensor<64x784xf32> {aicf.role = "input", aicf.name = "x"},
    %labels: tensor<64xi32> {aicf.role = "input", aicf.name = "labels"},
    %drops: tensor<i64> {aicf.role = "state", aicf.name = "drops"},
    %W: tensor<256x784xf32> {aicf.role = "param", aicf.name = "stem.weight", aicf.init = "uniform_fan_in"},
    %b: tensor<256xf32> {aicf.role = "param", aicf.name = "stem.bias", aicf.init = "zeros"},
    %g0: tensor<256xf32> {aicf.role = "param", aicf.name = "block0.norm.weight", aicf.init = "ones", aicf.weight_decay = 0.0},
    %s0: tensor<256xf32> {aicf.role = "param", aicf.name = "block0.norm.bias", aicf.init = "zeros", aicf.weight_decay = 0.0},
    %U0: tensor<512x256xf32> {aicf.role = "param", aicf.name = "block0.up.weight", aicf.init = "uniform_fan_in"},
    %u0: tensor<512xf32> {aicf.role = "param", aicf.name = "block0.up.bias", aicf.init = "zeros"},
    %D0: tensor<256x512xf32> {aicf.role = "param", aicf.name = "block0.down.weight", aicf.init = "uniform_fan_in"},
    %d0: tensor<256xf32> {aicf.role = "param", aicf.name = "block0.down.bias", aicf.init = "zeros"},
    %g1: tensor<256xf32> {aicf.role = "param", aicf.name = "block1.norm.weight", aicf.init = "ones", aicf.weight_decay = 0.0},
    %s1: tensor<256xf32> {aicf.role = "param", aicf.name = "block1.norm.bias", aicf.init = "zeros", aicf.weight_decay = 0.0},
    %U1: tensor<512x256xf32> {aicf.role = "param", aicf.name = "block1.up.weight", aicf.init = "uniform_fan_in"},
    %u1: tensor<512xf32> {aicf.role = "param", aicf.name = "block1.up.bias", aicf.init = "zeros"},
    %D1: tensor<256x512xf32> {aicf.role = "param", aicf.name = "block1.down.weight", aicf.init = "uniform_fan_in"},
    %d1: tensor<256xf32> {aicf.role = "param", aicf.name = "block1.down.bias", aicf.init = "zeros"},
    %H: tensor<10x256xf32> {aicf.role = "param", aicf.name = "head.weight", aicf.init = "uniform_fan_in"},
    %h: tensor<10xf32> {aicf.role = "param", aicf.name = "head.bias", aicf.init = "zeros"})
    -> (tensor<f32> {aicf.name = "loss", aicf.minimize},
        tensor<i64> {aicf.updates = "drops"})
    attributes {aicf.optimizer = #aicf.adamw<lr = #aicf.warmup_cosine<peak = 0.002, warmup = 200, steps = 2340>,
                                         weight_decay = 0.05, clip_norm = 1.0, accumulate = 2>} {
  %y = aicf.linear %x, %W, %b : tensor<64x784xf32>, tensor<256x784xf32>, tensor<256xf32>
  %x0 = aicf.relu %y : tensor<64x256xf32>
  %n0, %mean0, %rstd0 = aicf.layer_norm %x0, %g0, %s0 : tensor<64x256xf32>, tensor<256xf32>, tensor<256xf32>
  %v0 = aicf.linear %n0, %U0, %u0 : tensor<64x256xf32>, tensor<512x256xf32>, tensor<512xf32>
  %a0 = aicf.gelu %v0 {approximate = true} : tensor<64x512xf32>
  %w0 = aicf.linear %a0, %D0, %d0 : tensor<64x512xf32>, tensor<256x512xf32>, tensor<256xf32>
  %r0 = aicf.dropout %w0, %drops {p = 0.1, seed = 0} : tensor<64x256xf32>, tensor<i64>
  %x1 = aicf.add %x0, %r0 : tensor<64x256xf32>, tensor<64x256xf32>
  %n1, %mean1, %rstd1 = aicf.layer_norm %x1, %g1, %s1 : tensor<64x256xf32>, tensor<256xf32>, tensor<256xf32>
  %v1 = aicf.linear %n1, %U1, %u1 : tensor<64x256xf32>, tensor<512x256xf32>, tensor<512xf32>
  %a1 = aicf.gelu %v1 {approximate = true} : tensor<64x512xf32>
  %w1 = aicf.linear %a1, %D1, %d1 : tensor<64x512xf32>, tensor<256x512xf32>, tensor<256xf32>
  %r1 = aicf.dropout %w1, %drops {p = 0.1, seed = 1} : tensor<64x256xf32>, tensor<i64>
  %x2 = aicf.add %x1, %r1 : tensor<64x256xf32>, tensor<64x256xf32>
  %scores = aicf.linear %x2, %H, %h : tensor<64x256xf32>, tensor<10x256xf32>, tensor<10xf32>
  %loss = aicf.softmax_cross_entropy %scores, %labels {label_smoothing = 0.05} : tensor<64x10xf32>, tensor<64xi32>
  %next = aicf.step_inc %drops : tensor<i64>
  return %loss, %next : tensor<f32>, tensor<i64>
}
func.func @evaluate(
    %x: tensor<1000x784xf32> {aicf.role = "input", aicf.name = "x"},
    %labels: tensor<1000xi32> {aicf.role = "input", aicf.name = "labels"},
    %W: tensor<256x784xf32> {aicf.role = "param", aicf.name = "stem.weight", aicf.init = "uniform_fan_in"},
    %b: tensor<256xf32> {aicf.role = "param", aicf.name = "stem.bias", aicf.init = "zeros"},
    %g0: tensor<256xf32> {aicf.role = "param", aicf.name = "block0.norm.weight", aicf.init = "ones"},
    %s0: tensor<256xf32> {aicf.role = "param", aicf.name = "block0.norm.bias", aicf.init = "zeros"},
    %U0: tensor<512x256xf32> {aicf.role = "param", aicf.name = "block0.up.weight", aicf.init = "uniform_fan_in"},
    %u0: tensor<512xf32> {aicf.role = "param", aicf.name = "block0.up.bias", aicf.init = "zeros"},
    %D0: tensor<256x512xf32> {aicf.role = "param", aicf.name = "block0.down.weight", aicf.init = "uniform_fan_in"},
    %d0: tensor<256xf32> {aicf.role = "param", aicf.name = "block0.down.bias", aicf.init = "zeros"},
    %g1: tensor<256xf32> {aicf.role = "param", aicf.name = "block1.norm.weight", aicf.init = "ones"},
    %s1: tensor<256xf32> {aicf.role = "param", aicf.name = "block1.norm.bias", aicf.init = "zeros"},
    %U1: tensor<512x256xf32> {aicf.role = "param", aicf.name = "block1.up.weight", aicf.init = "uniform_fan_in"},
    %u1: tensor<512xf32> {aicf.role = "param", aicf.name = "block1.up.bias", aicf.init = "zeros"},
    %D1: tensor<256x512xf32> {aicf.role = "param", aicf.name = "block1.down.weight", aicf.init = "uniform_fan_in"},
    %d1: tensor<256xf32> {aicf.role = "param", aicf.name = "block1.down.bias", aicf.init = "zeros"},
    %H: tensor<10x256xf32> {aicf.role = "param", aicf.name = "head.weight", aicf.init = "uniform_fan_in"},
    %h: tensor<10xf32> {aicf.role = "param", aicf.name = "head.bias", aicf.init = "zeros"})
    -> (tensor<i32> {aicf.name = "correct"}) {
  %y = aicf.linear %x, %W, %b : tensor<1000x784xf32>, tensor<256x784xf32>, tensor<256xf32>
  %x0 = aicf.relu %y : tensor<1000x256xf32>
  %n0, %mean0, %rstd0 = aicf.layer_norm %x0, %g0, %s0 : tensor<1000x256xf32>, tensor<256xf32>, tensor<256xf32>
  %v0 = aicf.linear %n0, %U0, %u0 : tensor<1000x256xf32>, tensor<512x256xf32>, tensor<512xf32>
  %a0 = aicf.gelu %v0 {approximate = true} : tensor<1000x512xf32>
  %w0 = aicf.linear %a0, %D0, %d0 : tensor<1000x512xf32>, tensor<256x512xf32>, tensor<256xf32>
  %x1 = aicf.add %x0, %w0 : tensor<1000x256xf32>, tensor<1000x256xf32>
  %n1, %mean1, %rstd1 = aicf.layer_norm %x1, %g1, %s1 : tensor<1000x256xf32>, tensor<256xf32>, tensor<256xf32>
  %v1 = aicf.linear %n1, %U1, %u1 : tensor<1000x256xf32>, tensor<512x256xf32>, tensor<512xf32>
  %a1 = aicf.gelu %v1 {approximate = true} : tensor<1000x512xf32>
  %w1 = aicf.linear %a1, %D1, %d1 : tensor<1000x512xf32>, tensor<256x512xf32>, tensor<256xf32>
  %x2 = aicf.add %x1, %w1 : tensor<1000x256xf32>, tensor<1000x256xf32>
  %scores = aicf.linear %x2, %H, %h : tensor<1000x256xf32>, tensor<10x256xf32>, tensor<10xf32>
  %best = aicf.argmax %scores : tensor<1000x10xf32>
  %correct = aicf.count_equal %best, %labels : tensor<1000xi32>, tensor<1000xi32>
  return %correct : tensor<i32>
}
