// RUN: aicf-opt %s --split-input-file --verify-diagnostics

// Tests the rules of ops that compute a learning rate from the step.
func.func @step_decay_c1(%s: tensor<1xi64>) {
  // expected-error @+1 {{C1: operand 0 (step)}}
  %r = aicf.step_decay %s {start = 0.1, factor = 0.5, every = 10 : i64} : tensor<1xi64>
  return
}

// -----

func.func @step_decay_c2(%s: tensor<i64>) {
  // expected-error @+1 {{C3: dtype is 'i32', expected f16, bf16, f32 or f64}}
  %r = aicf.step_decay %s {start = 0.1, factor = 0.5, every = 10 : i64, dtype = i32} : tensor<i64>
  return
}

// -----

func.func @factor(%s: tensor<i64>) {
  // expected-error @+1 {{factor is 2, expected a number in (0, 1]}}
  %r = aicf.step_decay %s {start = 0.1, factor = 2.0, every = 10 : i64} : tensor<i64>
  return
}

// -----

func.func @polynomial_decay_c1(%s: tensor<1xi64>) {
  // expected-error @+1 {{C1: operand 0 (step)}}
  %r = aicf.polynomial_decay %s {start = 0.1, end = 0.0, steps = 9 : i64, power = 2.0} : tensor<1xi64>
  return
}

// -----

func.func @polynomial_decay_c2(%s: tensor<i64>) {
  // expected-error @+1 {{C3: dtype is 'i64', expected f16, bf16, f32 or f64}}
  %r = aicf.polynomial_decay %s {start = 0.1, end = 0.0, steps = 9 : i64, power = 2.0, dtype = i64} : tensor<i64>
  return
}

// -----

func.func @power(%s: tensor<i64>) {
  // expected-error @+1 {{power is -1, expected a finite number >= 0}}
  %r = aicf.polynomial_decay %s {start = 0.1, end = 0.0, steps = 9 : i64, power = -1.0} : tensor<i64>
  return
}

// -----

func.func @rate_table_c1(%s: tensor<i64>, %t: tensor<3x2xf32>) {
  // expected-error @+1 {{C1: operand 1 (table)}}
  %r = aicf.rate_table %s, %t : tensor<i64>, tensor<3x2xf32>
  return
}

// -----

func.func @wide(%s: tensor<i64>, %t: tensor<3xf16>) {
  // expected-error @+1 {{C1: operand 1 (table)}}
  %r = aicf.rate_table %s, %t : tensor<i64>, tensor<3xf16>
  return
}
