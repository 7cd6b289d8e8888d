// RUN: aicf-opt %s --split-input-file --verify-diagnostics

// Tests what ops over rows, losses, metrics and dropout refuse, at the op.

func.func @softmax_scalar(%x: tensor<f32>) {
  // expected-error @+1 {{C1: operand 0 (x) is f32 of rank 0, expected rank 1 or more}}
  %y = aicf.softmax %x : tensor<f32>
  return
}

// -----

func.func @softmax_bwd_types(%x: tensor<4xf32>, %y: tensor<4xf16>) {
  // expected-error @+1 {{operand 1 (y)}}
  %d = aicf.softmax_bwd %x, %y : tensor<4xf32>, tensor<4xf16>
  return
}

// -----

func.func @argmax_scalar(%x: tensor<f32>) {
  // expected-error @+1 {{C1: operand 0 (x) is f32 of rank 0, expected rank 1 or more}}
  %y = aicf.argmax %x : tensor<f32>
  return
}

// -----

func.func @argmax_integers(%x: tensor<4xi32>) {
  // expected-error @+1 {{operand 0 (x) has element type i32, expected f16, bf16, f32 or f64}}
  %y = aicf.argmax %x : tensor<4xi32>
  return
}

// -----

func.func @count_shapes(%a: tensor<4xi32>, %b: tensor<2x2xi32>) {
  // expected-error @+1 {{operand 1 (b)}}
  %n = aicf.count_equal %a, %b : tensor<4xi32>, tensor<2x2xi32>
  return
}

// -----

func.func @dropout_all(%x: tensor<4xf32>, %step: tensor<i64>) {
  // expected-error @+1 {{p is 1, expected a number in [0, 1)}}
  %y = aicf.dropout %x, %step {p = 1.0, seed = 0} : tensor<4xf32>, tensor<i64>
  return
}

// -----

func.func @dropout_step(%x: tensor<4xf32>, %step: tensor<1xi64>) {
  // expected-error @+1 {{C1: operand 1 (step) is 1xi64 of rank 1, expected rank 0}}
  %y = aicf.dropout %x, %step {p = 0.5, seed = 0} : tensor<4xf32>, tensor<1xi64>
  return
}

// -----

func.func @bce_target(%x: tensor<4xf32>, %t: tensor<2xf32>) {
  // expected-error @+1 {{'aicf.bce_with_logits' op C1}}
  %y = aicf.bce_with_logits %x, %t : tensor<4xf32>, tensor<2xf32>
  return
}

// -----

func.func @l1_scale(%x: tensor<4xf32>, %s: tensor<f64>) {
  // expected-error @+1 {{'aicf.l1_grad' op C2}}
  %y = aicf.l1_grad %x, %x, %s : tensor<4xf32>, tensor<4xf32>, tensor<f64>
  return
}

// -----

func.func @reduce_sum_order(%x: tensor<4x2xf32>) {
  // expected-error @+1 {{'aicf.reduce_sum' op C1: axes are [1, 0], expected different dimensions of x, [4, 2], in order}}
  %y = aicf.reduce_sum %x over [1, 0] : tensor<4x2xf32>
  return
}

// -----

func.func @broadcast_c1(%x: tensor<4xf32>) {
  // expected-error @+1 {{'aicf.broadcast' op C1: shape is [4, 0], expected up to 8 numbers in [1, 2^31)}}
  %y = aicf.broadcast %x to [4, 0] : tensor<4xf32>
  return
}

// -----

func.func @broadcast_rank(%x: tensor<4xf32>) {
  // expected-error @+1 {{'aicf.broadcast' op C1: shape is [], expected at least as many dimensions as x, 'tensor<4xf32>'}}
  %y = aicf.broadcast %x to [] : tensor<4xf32>
  return
}

// -----

func.func @broadcast_c2(%x: tensor<4xf32>) {
  // expected-error @+1 {{'aicf.broadcast' op C2: x is 'tensor<4xf32>', which does not broadcast to [4, 3]}}
  %y = aicf.broadcast %x to [4, 3] : tensor<4xf32>
  return
}

// -----

func.func @norm_types(%x: tensor<4xf32>, %y: tensor<4xf16>) {
  // expected-error @+1 {{'aicf.global_norm' op C1: operand 1 (grad) has element type f16, expected f32}}
  %n = aicf.global_norm %x, %y : tensor<4xf32>, tensor<4xf16>
  return
}

// -----

func.func @clip_shape(%x: tensor<1xf32>) {
  // expected-error @+1 {{'aicf.clip_factor' op C1: operand 0 (norm) is 1xf32 of rank 1, expected rank 0}}
  %n = aicf.clip_factor %x {max_norm = 1.0} : tensor<1xf32>
  return
}

// -----

func.func @lion(%p: tensor<3xf32>, %m: tensor<3xf64>, %lr: tensor<f32>) {
  // expected-error @+1 {{'aicf.lion_step' op C1: operand 2 (m)}}
  %l:2 = aicf.lion_step %p, %p, %m, %lr : tensor<3xf32>, tensor<3xf32>, tensor<3xf64>, tensor<f32>
  return
}

// -----

func.func @dropout_seed(%x: tensor<4xf32>, %step: tensor<i64>) {
  // expected-error @+1 {{requires attribute 'seed'}}
  %y = aicf.dropout %x, %step {p = 0.5} : tensor<4xf32>, tensor<i64>
  return
}
