// RUN: aicf-opt %s --split-input-file --verify-diagnostics

// Tests that an operand of linear is refused once, by the first constraint that it
// violates: none is asked what another one must ensure.

func.func @linear_c1_x(%x: tensor<4xf32>, %w: tensor<2x3xf32>) {
  // expected-error @+1 {{C1: x is 'tensor<4xf32>' of rank 1, expected rank 2 or more}}
  %r = aicf.linear %x, %w : tensor<4xf32>, tensor<2x3xf32>
  return
}

// -----

func.func @linear_c1_weight(%x: tensor<4x3xf32>, %w: tensor<3xf32>) {
  // expected-error @+1 {{C1: W is 'tensor<3xf32>' of rank 1, expected rank 2}}
  %r = aicf.linear %x, %w : tensor<4x3xf32>, tensor<3xf32>
  return
}

// -----

func.func @linear_c3(%x: tensor<4x3xf32>, %w: tensor<2x3xf32>, %b: tensor<3xf64>) {
  // expected-error @+1 {{C3: b is 'tensor<3xf64>', expected shape [2]}}
  %r = aicf.linear %x, %w, %b : tensor<4x3xf32>, tensor<2x3xf32>, tensor<3xf64>
  return
}

// -----

func.func @linear_c4(%x: tensor<4x3xf32>, %w: tensor<2x3xf16>, %b: tensor<2xf16>) {
  // expected-error @+1 {{C4: W has element type 'f16', expected 'f32'}}
  %r = aicf.linear %x, %w, %b : tensor<4x3xf32>, tensor<2x3xf16>, tensor<2xf16>
  return
}

// -----

func.func @linear_bwd_c1_weight(%d: tensor<4x2xf32>, %x: tensor<4x3xf32>, %w: tensor<2x3x1xf32>) {
  // expected-error @+1 {{C1: W is 'tensor<2x3x1xf32>' of rank 3, expected rank 2}}
  %r:3 = aicf.linear_bwd %d, %x, %w : tensor<4x2xf32>, tensor<4x3xf32>, tensor<2x3x1xf32>
  return
}

// -----

func.func @linear_bwd_c2_weight(%d: tensor<4x2xf64>, %x: tensor<4x3xf32>, %w: tensor<2x4xf32>) {
  // expected-error @+1 {{C2: W is 'tensor<2x4xf32>', expected shape [2, 3]}}
  %r:3 = aicf.linear_bwd %d, %x, %w : tensor<4x2xf64>, tensor<4x3xf32>, tensor<2x4xf32>
  return
}

// -----

func.func @linear_bwd_c3(%d: tensor<4x2xf64>, %x: tensor<4x3xf32>, %w: tensor<2x3xf64>) {
  // expected-error @+1 {{C3: dy has element type 'f64', expected 'f32'}}
  %r:3 = aicf.linear_bwd %d, %x, %w : tensor<4x2xf64>, tensor<4x3xf32>, tensor<2x3xf64>
  return
}

// -----

func.func @linear_bwd_c3_weight(%d: tensor<4x2xf32>, %x: tensor<4x3xf32>, %w: tensor<2x3xf64>) {
  // expected-error @+1 {{C3: W has element type 'f64', expected 'f32'}}
  %r:3 = aicf.linear_bwd %d, %x, %w : tensor<4x2xf32>, tensor<4x3xf32>, tensor<2x3xf64>
  return
}

// -----

func.func @straight_through_c1(%t: tensor<4xf32>, %u: tensor<5xf32>) {
  // expected-error @+1 {{'way' is 'tensor<5xf32>', expected the type of 'value', which is 'tensor<4xf32>' (C1)}}
  %y = aicf.straight_through %t, %u : tensor<4xf32>, tensor<5xf32>
  return
}

// -----

func.func @straight_through_of_integers(%t: tensor<4xi32>) {
  // expected-error @+1 {{'aicf.straight_through' op operand #0 must be}}
  %y = aicf.straight_through %t, %t : tensor<4xi32>, tensor<4xi32>
  return
}

// -----

func.func @gradient_c1(%y: tensor<4xf32>, %x: tensor<4xf32>) {
  // expected-error @+1 {{C1: y is 'tensor<4xf32>', expected shape []}}
  %dx = aicf.gradient %y, %x : tensor<4xf32>, tensor<4xf32>
  return
}

// -----

func.func @gradient_of_integers(%y: tensor<f32>, %x: tensor<4xi32>) {
  // expected-error @+1 {{'aicf.gradient' op operand #1 must be}}
  %dx = aicf.gradient %y, %x : tensor<f32>, tensor<4xi32>
  return
}
