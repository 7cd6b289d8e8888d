// RUN: aicf-opt %s --split-input-file --verify-diagnostics

// Tests that wrong operands of a product are reported at it: each operand may be what
// has no matrices.

func.func @unranked_a(%a: tensor<*xf32>, %b: tensor<3x4xf32>) {
  // expected-error @+1 {{'aicf.matmul' op operand #0 must be tensor of f16, bf16, f32 or f64 with static, non-zero dimensions}}
  %c = aicf.matmul %a, %b : tensor<*xf32>, tensor<3x4xf32>
  return
}

// -----

func.func @unranked_b(%a: tensor<2x3xf32>, %b: tensor<*xf32>) {
  // expected-error @+1 {{'aicf.matmul' op operand #1 must be tensor of f16, bf16, f32 or f64 with static, non-zero dimensions}}
  %c = aicf.matmul %a, %b : tensor<2x3xf32>, tensor<*xf32>
  return
}

// -----

func.func @vector_a(%a: tensor<3xi8>, %b: tensor<3x4xf32>) {
  // expected-error @+1 {{'aicf.matmul' op operand #0 must be tensor of f16, bf16, f32 or f64}}
  %c = aicf.matmul %a, %b : tensor<3xi8>, tensor<3x4xf32>
  return
}

// -----

func.func @vector_b(%a: tensor<2x3xi8>, %b: tensor<3xi8>) {
  // expected-error @+1 {{'aicf.matmul' op operand #0 must be tensor of f16, bf16, f32 or f64}}
  %c = aicf.matmul %a, %b : tensor<2x3xi8>, tensor<3xi8>
  return
}

// -----

func.func @batches(%a: tensor<2x2x3xi8>, %b: tensor<3x3x4xi8>) {
  // expected-error @+1 {{'aicf.matmul' op operand #0 must be tensor of f16, bf16, f32 or f64}}
  %c = aicf.matmul %a, %b : tensor<2x2x3xi8>, tensor<3x3x4xi8>
  return
}

// -----

func.func @used(%a: tensor<2x3xf32>, %b: tensor<4x3xf32>) -> tensor<2x4xf32> {
  // expected-error @+1 {{'aicf.matmul' op C3: K is 3 in a, 'tensor<2x3xf32>', but 4 in b, 'tensor<4x3xf32>'}}
  %c = aicf.matmul %a, %b : tensor<2x3xf32>, tensor<4x3xf32>
  return %c : tensor<2x4xf32>
}
