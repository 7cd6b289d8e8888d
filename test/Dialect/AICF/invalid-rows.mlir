// RUN: aicf-opt %s --split-input-file --verify-diagnostics

func.func @gather_rows_c1(%data: tensor<f32>, %index: tensor<2xi32>) {
  // expected-error @+1 {{C1: operand 0 (data) is f32 of rank 0, expected rank 1 or more}}
  %0 = aicf.gather_rows %data, %index : tensor<f32>, tensor<2xi32>
  return
}

// -----

func.func @gather_rows_c2(%data: tensor<4x2xf32>, %index: tensor<i32>) {
  // expected-error @+1 {{C2: operand 1 (index) is i32 of rank 0, expected rank 1}}
  %0 = aicf.gather_rows %data, %index : tensor<4x2xf32>, tensor<i32>
  return
}

// -----

func.func @shuffle_c1(%step: tensor<2xi64>) {
  // expected-error @+1 {{C1: operand 0 (step) is 2xi64 of rank 1, expected rank 0}}
  %0 = aicf.shuffle %step {size = 8 : i64, batch = 2 : i64} : tensor<2xi64>
  return
}

// -----

func.func @shuffle_c2(%step: tensor<i64>) {
  // expected-error @+1 {{size is 0, expected a number in [1, 2^31)}}
  %0 = aicf.shuffle %step {size = 0 : i64, batch = 2 : i64} : tensor<i64>
  return
}

// -----

func.func @shuffle_c3(%step: tensor<i64>) {
  // expected-error @+1 {{C3: batch is -1, expected a number in [1, 2^31)}}
  %0 = aicf.shuffle %step {size = 8 : i64, batch = -1 : i64} : tensor<i64>
  return
}

// -----

func.func @record_c1(%h: tensor<4x3xf32>, %v: tensor<2xf32>, %s: tensor<i64>) {
  // expected-error @+1 {{C1: operand 1 (value) is 2xf32, expected 3xf32}}
  %0 = aicf.record %h, %v, %s : tensor<4x3xf32>, tensor<2xf32>, tensor<i64>
  return
}

// -----

func.func @record_c2(%h: tensor<4x3xf32>, %v: tensor<3xf64>, %s: tensor<i64>) {
  // expected-error @+1 {{C2: operand 1 (value) has element type f64, expected f32}}
  %0 = aicf.record %h, %v, %s : tensor<4x3xf32>, tensor<3xf64>, tensor<i64>
  return
}

// -----

func.func @record_c3(%h: tensor<4xf32>, %v: tensor<f32>, %s: tensor<1xi64>) {
  // expected-error @+1 {{C3: operand 2 (step) is 1xi64 of rank 1, expected rank 0}}
  %0 = aicf.record %h, %v, %s : tensor<4xf32>, tensor<f32>, tensor<1xi64>
  return
}
