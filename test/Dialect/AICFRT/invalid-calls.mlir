// RUN: aicf-opt %s --split-input-file --verify-diagnostics

// Tests that the shared rules (OpRules.cpp) are diagnostics with both values.

func.func @gemm_c1(%a: tensor<4xf32>) {
  // expected-error @+1 {{gemm: C1: operand 0 (a) is 4xf32 of rank 1, expected rank 2}}
  %0 = aicf_rt.gemm %a, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @gemm_c2(%a: tensor<4x4xf32>, %b: tensor<4x4xf64>) {
  // expected-error @+1 {{gemm: C2: operand 1 (b) has element type f64, expected f32}}
  %0 = aicf_rt.gemm %a, %b : (tensor<4x4xf32>, tensor<4x4xf64>) -> tensor<4x4xf32>
  return
}

// -----

func.func @gemm_c3(%a: tensor<4x3xf32>, %b: tensor<2x5xf32>) {
  // expected-error @+1 {{gemm: C3: K is 3 in operand 0 (a, 4x3xf32) but 2 in operand 1 (b, 2x5xf32)}}
  %0 = aicf_rt.gemm %a, %b : (tensor<4x3xf32>, tensor<2x5xf32>) -> tensor<4x5xf32>
  return
}

// -----

func.func @gemm_c4(%a: tensor<4x3xf32>, %b: tensor<3x5xf32>) {
  // expected-error @+1 {{gemm: C4: result 0 (c) is 5x4xf32, expected the shape of 4x5xf32}}
  %0 = aicf_rt.gemm %a, %b : (tensor<4x3xf32>, tensor<3x5xf32>) -> tensor<5x4xf32>
  return
}

// -----

func.func @bias_add_c2(%y: tensor<4x2xf32>, %b: tensor<2xf32>) {
  // expected-error @+1 {{bias_add: C2: axis is 2}}
  %0 = aicf_rt.bias_add %y, %b {axis = 2 : i64} : (tensor<4x2xf32>, tensor<2xf32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @bias_add_c3(%y: tensor<4x2xf32>, %b: tensor<2xf32>) {
  // expected-error @+1 {{bias_add: C3: operand 1 (b) is 2xf32, expected the shape of 4xf32}}
  %0 = aicf_rt.bias_add %y, %b {axis = 0 : i64} : (tensor<4x2xf32>, tensor<2xf32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @relu_c1(%x: tensor<4xf32>) {
  // expected-error @+1 {{relu: C1: result 0 (y) is 5xf32, expected the shape of 4xf32}}
  %0 = aicf_rt.relu %x : (tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @reduce_sum_c3(%x: tensor<4x2xf32>) {
  // expected-error @+1 {{reduce_sum: C3: result 0 (y) is 4xf32, expected the shape of 2xf32}}
  %0 = aicf_rt.reduce_sum %x : (tensor<4x2xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @counts(%x: tensor<4xf32>) {
  // expected-error @+1 {{add: got 1 operands, expected 2}}
  %0 = aicf_rt.add %x : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @no_operands() {
  // expected-error @+1 {{mse_grad: got 0 operands, expected 2 to 3}}
  %0 = aicf_rt.mse_grad  : () -> tensor<4xf32>
  return
}
