// RUN: aicf-opt %s --split-input-file --verify-diagnostics

// Tests the constraints: the ids are those of the op descriptions.

func.func @linear_c2(%x: tensor<4x3xf32>, %w: tensor<2x4xf32>) {
  // expected-error @+1 {{C2: W is 'tensor<2x4xf32>', expected shape [2, 3]}}
  %r = aicf.linear %x, %w : tensor<4x3xf32>, tensor<2x4xf32>
  return
}

// -----

func.func @linear_c4_bias(%x: tensor<4x3xf32>, %w: tensor<2x3xf32>, %b: tensor<2xf64>) {
  // expected-error @+1 {{C4: b has element type 'f64', expected 'f32'}}
  %r = aicf.linear %x, %w, %b : tensor<4x3xf32>, tensor<2x3xf32>, tensor<2xf64>
  return
}

// -----

func.func @linear_bwd_c1(%d: tensor<4x2xf32>, %x: tensor<3xf32>, %w: tensor<2x3xf32>) {
  // expected-error @+1 {{C1: x is 'tensor<3xf32>' of rank 1, expected rank 2 or more}}
  %r:3 = aicf.linear_bwd %d, %x, %w : tensor<4x2xf32>, tensor<3xf32>, tensor<2x3xf32>
  return
}

// -----

func.func @linear_bwd_c2(%d: tensor<4x3xf32>, %x: tensor<4x3xf32>, %w: tensor<2x3xf32>) {
  // expected-error @+1 {{C2: dy is 'tensor<4x3xf32>', expected shape [4, 2]}}
  %r:3 = aicf.linear_bwd %d, %x, %w : tensor<4x3xf32>, tensor<4x3xf32>, tensor<2x3xf32>
  return
}

// -----

func.func @cast_c2(%x: tensor<4xf32>) {
  // expected-error @+1 {{C2: dtype is 'i8', expected f16, bf16, f32, f64, i32, i64 or i1}}
  %r = aicf.cast %x to i8 : tensor<4xf32>
  return
}

// -----

func.func @add_c1(%a: tensor<4xf32>, %b: tensor<5xf32>) {
  // expected-error @+1 {{operand 1 (b) is 5xf32, expected 4xf32}}
  %r = aicf.add %a, %b : tensor<4xf32>, tensor<5xf32>
  return
}

// -----

func.func @relu_bwd_c1(%a: tensor<4xf32>, %b: tensor<4xf64>) {
  // expected-error @+1 {{operand 1 (saved) has element type f64, expected f32}}
  %r = aicf.relu_bwd %a, %b : tensor<4xf32>, tensor<4xf64>
  return
}

// -----

func.func @relu_int(%a: tensor<4xi32>) {
  // expected-error @+1 {{operand 0 (x) has element type i32, expected f16, bf16, f32 or f64}}
  %r = aicf.relu %a : tensor<4xi32>
  return
}

// -----

func.func @relu_zero(%a: tensor<0x4xf32>) {
  // expected-error @+1 {{static, non-zero dimensions}}
  %r = aicf.relu %a : tensor<0x4xf32>
  return
}

// -----

func.func @relu_dynamic(%a: tensor<?x4xf32>) {
  // expected-error @+1 {{give every dimension a number}}
  %r = aicf.relu %a : tensor<?x4xf32>
  return
}

// -----

func.func @matmul_c1(%x: tensor<4x3xf32>, %y: tensor<3xf32>) {
  // expected-error @+1 {{'aicf.matmul' op C1: an operand is 'tensor<3xf32>' of rank 1, expected rank 2 or more}}
  %r = aicf.matmul %x, %y : tensor<4x3xf32>, tensor<3xf32>
  return
}

// -----

func.func @matmul_c2(%x: tensor<4x3xf32>, %y: tensor<3x4xf64>) {
  // expected-error @+1 {{'aicf.matmul' op C2: a is 'tensor<4x3xf32>', but b is 'tensor<3x4xf64>', expected one element type}}
  %r = aicf.matmul %x, %y : tensor<4x3xf32>, tensor<3x4xf64>
  return
}

// -----

func.func @matmul_c4(%x: tensor<2x4x3xf32>, %y: tensor<3x3x4xf32>) {
  // expected-error @+1 {{'aicf.matmul' op C4: the batch dimensions of a, 'tensor<2x4x3xf32>', and b, 'tensor<3x3x4xf32>', do not broadcast}}
  %r = aicf.matmul %x, %y : tensor<2x4x3xf32>, tensor<3x3x4xf32>
  return
}

// -----

func.func @matmul_c3(%x: tensor<4x3xf32>) {
  // expected-error @+1 {{C3: K is 3 in a, 'tensor<4x3xf32>', but 4 in b, 'tensor<4x3xf32>'}}
  %r = aicf.matmul %x, %x : tensor<4x3xf32>, tensor<4x3xf32>
  return
}
