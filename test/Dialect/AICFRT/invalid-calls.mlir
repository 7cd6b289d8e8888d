// RUN: aicf-opt %s --split-input-file --verify-diagnostics

// Tests that the shared rules (kernels/<family>/Rules.cpp) are diagnostics with both values.

func.func @gemm_c1(%a: tensor<4xf32>) {
  // expected-error @+1 {{C1: operand 0 (a) is 4xf32 of rank 1, expected rank 2}}
  %0 = aicf_rt.call gemm(%a, %a) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @gemm_c2(%a: tensor<4x4xf32>, %b: tensor<4x4xf64>) {
  // expected-error @+1 {{C2: operand 1 (b) has element type f64, expected f32}}
  %0 = aicf_rt.call gemm(%a, %b) : (tensor<4x4xf32>, tensor<4x4xf64>) -> tensor<4x4xf32>
  return
}

// -----

func.func @gemm_c3(%a: tensor<4x3xf32>, %b: tensor<2x5xf32>) {
  // expected-error @+1 {{C3: K is 3 in operand 0 (a), 4x3xf32, but 2 in operand 1 (b), 2x5xf32}}
  %0 = aicf_rt.call gemm(%a, %b) : (tensor<4x3xf32>, tensor<2x5xf32>) -> tensor<4x5xf32>
  return
}

// -----

func.func @gemm_c4(%a: tensor<4x3xf32>, %b: tensor<3x5xf32>) {
  // expected-error @+1 {{C4: result 0 (c) is 5x4xf32, expected 4x5xf32}}
  %0 = aicf_rt.call gemm(%a, %b) : (tensor<4x3xf32>, tensor<3x5xf32>) -> tensor<5x4xf32>
  return
}

// -----

func.func @bias_add_c2(%y: tensor<4x2xf32>, %b: tensor<2xf32>) {
  // expected-error @+1 {{C2: axis is 2, expected -1 or a dimension of y}}
  %0 = aicf_rt.call bias_add(%y, %b) {axis = 2} : (tensor<4x2xf32>, tensor<2xf32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @bias_add_c3(%y: tensor<4x2xf32>, %b: tensor<2xf32>) {
  // expected-error @+1 {{C3: operand 1 (b) is 2xf32, expected 4xf32}}
  %0 = aicf_rt.call bias_add(%y, %b) {axis = 0} : (tensor<4x2xf32>, tensor<2xf32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @relu_c1(%x: tensor<4xf32>) {
  // expected-error @+1 {{result 0 (y) is 5xf32, expected 4xf32}}
  %0 = aicf_rt.call relu(%x) : (tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @reduce_sum_c3(%x: tensor<4x2xf32>) {
  // expected-error @+1 {{C3: result 0 (y) is 4xf32, expected 2xf32}}
  %0 = aicf_rt.call reduce_sum(%x) : (tensor<4x2xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @counts(%x: tensor<4xf32>) {
  // expected-error @+1 {{add got 1 operands, expected 2}}
  %0 = aicf_rt.call add(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @no_operands() {
  // expected-error @+1 {{all_finite got 0 operands, expected 1 or more}}
  %0 = aicf_rt.call all_finite() : () -> tensor<i32>
  return
}

// -----

// Tests that a rule names the primitive of a call of several.
func.func @inner(%x: tensor<4x4xf32>, %b: tensor<3xf32>) {
  // expected-error @+1 {{bias_add: C3: operand 1 (b) is 3xf32, expected 4xf32}}
  %0 = aicf_rt.call {
    t0 = gemm(%x, %x)
    t1 = bias_add(t0, %b)
    yield t1
  } : (tensor<4x4xf32>, tensor<3xf32>) -> tensor<4x4xf32>
  return
}
