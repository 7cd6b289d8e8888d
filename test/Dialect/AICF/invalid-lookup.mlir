// RUN: aicf-opt %s -split-input-file -verify-diagnostics

func.func @embedding_c3(%t: tensor<5x2xf32>, %i: tensor<3xi32>) {
  // expected-error @+1 {{C3: padding is 5, expected -1 or a row of the table, below 5}}
  %0 = aicf.embedding %t, %i {padding = 5 : i64} : tensor<5x2xf32>, tensor<3xi32>
  return
}

// -----

func.func @embedding_negative(%t: tensor<5x2xf32>, %i: tensor<3xi32>) {
  // expected-error @+1 {{C3: padding is -2, expected -1 or a row of the table, below 5}}
  %0 = aicf.embedding %t, %i {padding = -2 : i64} : tensor<5x2xf32>, tensor<3xi32>
  return
}

// -----

func.func @embedding_rank(%t: tensor<5xf32>, %i: tensor<3xi32>) {
  // expected-error @+1 {{C1: operand 0 (table) is 5xf32 of rank 1, expected rank 2}}
  %0 = aicf.embedding %t, %i : tensor<5xf32>, tensor<3xi32>
  return
}

// -----

func.func @embedding_floats(%t: tensor<5x2xf32>, %i: tensor<3xf32>) {
  // expected-error @+1 {{operand 1 (index) has element type f32, expected i32 or i64}}
  %0 = aicf.embedding %t, %i : tensor<5x2xf32>, tensor<3xf32>
  return
}

// -----

func.func @pick_shape(%x: tensor<5x2xf32>, %i: tensor<2xi32>) {
  // expected-error @+1 {{C2: operand 1 (index) is 2xi32, expected 5xi32}}
  %0 = aicf.pick %x, %i : tensor<5x2xf32>, tensor<2xi32>
  return
}

// -----

func.func @cumsum_axis(%x: tensor<5x2xf32>) {
  // expected-error @+1 {{C1: axis is 2, expected a dimension of x}}
  %0 = aicf.cumsum %x {axis = 2 : i64} : tensor<5x2xf32>
  return
}

// -----

func.func @uniform_c3(%step: tensor<i64>) {
  // expected-error @+1 {{'aicf.uniform' op C3: shape is [3, 0], expected up to 8 numbers in [1, 2^31)}}
  %0 = aicf.uniform %step to [3, 0] {seed = 0 : i64} : tensor<i64>
  return
}

// -----

func.func @normal_c2(%step: tensor<i64>) {
  // expected-error @+1 {{'aicf.normal' op C2: dtype is 'i32', expected f16, bf16, f32 or f64}}
  %0 = aicf.normal %step to [3] {seed = 0 : i64, dtype = i32} : tensor<i64>
  return
}

// -----

func.func @random_step(%step: tensor<2xi64>) {
  // expected-error @+1 {{C1: operand 0 (step) is 2xi64 of rank 1, expected rank 0}}
  %0 = aicf.normal %step to [3] {seed = 0 : i64} : tensor<2xi64>
  return
}

// -----

func.func @adam_l2_step_c4(%p: tensor<4xf32>, %lr: tensor<f32>, %t: tensor<i64>) {
  %bc = aicf.bias_corr %t {beta1 = 0.8} : tensor<i64>
  // expected-error @+1 {{C4: beta1 and beta2 are 9.000000e-01 : f64 and 0.99899999999999999 : f64, but its bias_corr has 8.000000e-01 : f64 and 0.99899999999999999 : f64}}
  %a:3 = aicf.adam_l2_step %p, %p, %p, %p, %bc, %lr
      : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<2xf32>, tensor<f32>
  return
}

// -----

func.func @adam_group_step_c4(%p: tensor<4xf32>, %g: tensor<5xf32>, %h: tensor<5xf32>,
                              %t: tensor<i64>) {
  %bc = aicf.group_bias_corr %t, %h : tensor<i64>, tensor<5xf32>
  // expected-error @+1 {{C4: group is another value than the group of its group_bias_corr, expected the same}}
  %a:3 = aicf.adam_group_step %p, %p, %p, %p, %bc, %g
      : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<2xf32>, tensor<5xf32>
  return
}

// -----

func.func @group_bias_corr_c3(%g: tensor<5xf32>, %t: tensor<i64>) {
  // expected-error @+1 {{'aicf.group_bias_corr' op C3: dtype is 'i32', expected f16, bf16, f32 or f64}}
  %bc = aicf.group_bias_corr %t, %g {dtype = i32} : tensor<i64>, tensor<5xf32>
  return
}

// -----

func.func @no_size(%x: tensor<4xf32>, %i: tensor<4xi32>) {
  // expected-error @+1 {{'aicf.pick_bwd' op requires attribute 'size'}}
  %0 = aicf.pick_bwd %x, %i : tensor<4xf32>, tensor<4xi32>
  return
}

// -----

func.func @no_k(%x: tensor<4xf32>) {
  // expected-error @+1 {{'aicf.top_k' op requires attribute 'k'}}
  %0 = aicf.top_k %x : tensor<4xf32>
  return
}

// -----

func.func @too_many(%x: tensor<2x4xf32>) {
  // expected-error @+1 {{C2: k is 5, expected at most 4}}
  %0 = aicf.top_k %x {k = 5 : i64} : tensor<2x4xf32>
  return
}
