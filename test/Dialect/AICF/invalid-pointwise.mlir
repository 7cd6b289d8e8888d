// RUN: aicf-opt %s --split-input-file --verify-diagnostics

// Tests what pointwise ops and the learning rate refuse, at the op.

func.func @mul_types(%a: tensor<4xf32>, %b: tensor<4xf16>) {
  // expected-error @+1 {{operand 1 (b)}}
  %c = aicf.mul %a, %b : tensor<4xf32>, tensor<4xf16>
  return
}

// -----

func.func @sub_shapes(%a: tensor<4xf32>, %b: tensor<f32>) {
  // expected-error @+1 {{operand 1 (b)}}
  %c = aicf.sub %a, %b : tensor<4xf32>, tensor<f32>
  return
}

// -----

func.func @scale(%a: tensor<4xf32>) {
  // expected-error @+1 {{factor is inf, expected a finite number}}
  %c = aicf.scale %a {factor = 0x7FF0000000000000 : f64} : tensor<4xf32>
  return
}

// -----

func.func @scale_without(%a: tensor<4xf32>) {
  // expected-error @+1 {{requires attribute 'factor'}}
  %c = aicf.scale %a : tensor<4xf32>
  return
}

// -----

func.func @integers(%a: tensor<4xi32>) {
  // expected-error @+1 {{operand 0 (x) has element type i32, expected f16, bf16, f32 or f64}}
  %c = aicf.tanh %a : tensor<4xi32>
  return
}

// -----

func.func @learning_rate_c1(%s: tensor<1xi64>) {
  // expected-error @+1 {{C1: operand 0 (step)}}
  %r = aicf.learning_rate %s {start = 0.0, peak = 0.1, end = 0.0, warmup = 0 : i64, steps = 0 : i64} : tensor<1xi64>
  return
}

// -----

func.func @learning_rate_c2(%s: tensor<i64>) {
  // expected-error @+1 {{C2: steps is 3, expected 0 or more than warmup}}
  %r = aicf.learning_rate %s {start = 0.0, peak = 0.1, end = 0.0, warmup = 3 : i64, steps = 3 : i64} : tensor<i64>
  return
}

// -----

func.func @learning_rate_c3(%s: tensor<i64>) {
  // expected-error @+1 {{C3: dtype is 'i32', expected f16, bf16, f32 or f64}}
  %r = aicf.learning_rate %s {start = 0.0, peak = 0.1, end = 0.0, warmup = 0 : i64, steps = 0 : i64, dtype = i32} : tensor<i64>
  return
}
