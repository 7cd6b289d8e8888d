// RUN: aicf-opt %s --split-input-file --verify-diagnostics

// Tests the constraints: the ids are those of the op descriptions.

func.func @loss_scale_update_c1(%s: tensor<1xf32>, %k: tensor<i32>) {
  // expected-error @+1 {{C1: operand 0 (scale) is 1xf32 of rank 1, expected rank 0}}
  %r:2 = aicf.loss_scale_update %s, %k, %k : tensor<1xf32>, tensor<i32>, tensor<i32>
  return
}

// -----

func.func @loss_scale_update_c2(%s: tensor<f32>, %k: tensor<i32>) {
  // expected-error @+1 {{growth_factor is 0.5, expected a finite number >= 1}}
  %r:2 = aicf.loss_scale_update %s, %k, %k {growth_factor = 0.5} : tensor<f32>, tensor<i32>, tensor<i32>
  return
}

// -----

func.func @loss_scale_update_c2_backoff(%s: tensor<f32>, %k: tensor<i32>) {
  // expected-error @+1 {{backoff_factor is 2, expected a number in (0, 1]}}
  %r:2 = aicf.loss_scale_update %s, %k, %k {backoff_factor = 2.0} : tensor<f32>, tensor<i32>, tensor<i32>
  return
}

// -----

func.func @step_inc_c1(%s: tensor<1xi64>) {
  // expected-error @+1 {{C1: operand 0 (step) is 1xi64 of rank 1, expected rank 0}}
  %r = aicf.step_inc %s : tensor<1xi64>
  return
}

// -----

func.func @step_inc_c2(%s: tensor<i64>, %o: tensor<2xi32>) {
  // expected-error @+1 {{C1: operand 1 (ok) is 2xi32 of rank 1, expected rank 0}}
  %r = aicf.step_inc %s, %o : tensor<i64>, tensor<2xi32>
  return
}

// -----

func.func @bias_corr_c1(%s: tensor<1xi64>) {
  // expected-error @+1 {{C1: operand 0 (step) is 1xi64 of rank 1, expected rank 0}}
  %r = aicf.bias_corr %s : tensor<1xi64>
  return
}

// -----

func.func @bias_corr_c2(%s: tensor<i64>) {
  // expected-error @+1 {{beta1 is 1, expected a number in [0, 1)}}
  %r = aicf.bias_corr %s {beta1 = 1.0} : tensor<i64>
  return
}

// -----

func.func @bias_corr_c3(%s: tensor<i64>) {
  // expected-error @+1 {{C3: dtype is 'i32', expected f16, bf16, f32 or f64}}
  %r = aicf.bias_corr %s {dtype = i32} : tensor<i64>
  return
}

// -----

func.func @adam_step_c1(%p: tensor<3xf32>, %g: tensor<4xf32>, %bc: tensor<2xf32>, %lr: tensor<f32>) {
  // expected-error @+1 {{C1: operand 1 (g) is 4xf32, expected 3xf32}}
  %r:3 = aicf.adam_step %p, %g, %p, %p, %bc, %lr : tensor<3xf32>, tensor<4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2xf32>, tensor<f32>
  return
}

// -----

func.func @adam_step_c2(%p: tensor<3xf32>, %bc: tensor<3xf32>, %lr: tensor<f32>) {
  // expected-error @+1 {{C2: operand 4 (bc) is 3xf32, expected 2xf32}}
  %r:3 = aicf.adam_step %p, %p, %p, %p, %bc, %lr : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<f32>
  return
}

// -----

func.func @adam_step_c2_lr(%p: tensor<3xf32>, %bc: tensor<2xf32>, %lr: tensor<f64>) {
  // expected-error @+1 {{C2: operand 5 (lr) has element type f64, expected f32}}
  %r:3 = aicf.adam_step %p, %p, %p, %p, %bc, %lr : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2xf32>, tensor<f64>
  return
}

// -----

func.func @adam_step_c3(%p: tensor<3xf32>, %bc: tensor<2xf32>, %lr: tensor<f32>, %ok: tensor<1xi32>) {
  // expected-error @+1 {{C3: operand 7 (ok) is 1xi32 of rank 1, expected rank 0}}
  %r:3 = aicf.adam_step %p, %p, %p, %p, %bc, %lr ok %ok : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2xf32>, tensor<f32> ok tensor<1xi32>
  return
}

// -----

func.func @adam_step_c4(%p: tensor<3xf32>, %bc: tensor<2xf32>, %lr: tensor<f32>) {
  // expected-error @+1 {{eps is -1, expected a finite number >= 0}}
  %r:3 = aicf.adam_step %p, %p, %p, %p, %bc, %lr {eps = -1.0} : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2xf32>, tensor<f32>
  return
}

// -----

func.func @sgd_step_c1(%p: tensor<3xf32>, %m: tensor<4xf32>, %lr: tensor<f32>) {
  // expected-error @+1 {{C1: operand 3 (m) is 4xf32, expected 3xf32}}
  %r:2 = aicf.sgd_step %p, %p, %lr momentum %m : tensor<3xf32>, tensor<3xf32>, tensor<f32> momentum tensor<4xf32>
  return
}

// -----

func.func @sgd_step_c2(%p: tensor<3xf32>) {
  // expected-error @+1 {{C2: operand 2 (lr) is 3xf32, expected f32}}
  %r:2 = aicf.sgd_step %p, %p, %p : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
  return
}

// -----

func.func @sgd_step_c3(%p: tensor<3xf32>, %lr: tensor<f32>, %ok: tensor<1xi32>) {
  // expected-error @+1 {{C3: operand 5 (ok) is 1xi32 of rank 1, expected rank 0}}
  %r:2 = aicf.sgd_step %p, %p, %lr ok %ok : tensor<3xf32>, tensor<3xf32>, tensor<f32> ok tensor<1xi32>
  return
}

// -----

func.func @sgd_step_c4(%p: tensor<3xf32>, %lr: tensor<f32>) {
  // expected-error @+1 {{C4: momentum is 0.9, expected 0 without m}}
  %r:2 = aicf.sgd_step %p, %p, %lr {momentum = 0.9} : tensor<3xf32>, tensor<3xf32>, tensor<f32>
  return
}

// -----

func.func @sgd_step_c4_nesterov(%p: tensor<3xf32>, %lr: tensor<f32>) {
  // expected-error @+1 {{C4: nesterov is 1, expected 0 without m}}
  %r:2 = aicf.sgd_step %p, %p, %lr {nesterov = true} : tensor<3xf32>, tensor<3xf32>, tensor<f32>
  return
}
