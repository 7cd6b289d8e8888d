// RUN: aicf-opt %s -split-input-file -verify-diagnostics

// Tests what attention refuses.

func.func @rank(%q: tensor<4x8xf32>) {
  // expected-error@+1 {{'aicf.attention' op C1: operand 0 (q)}}
  %y, %lse = aicf.attention %q, %q, %q : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
  return
}

// -----

func.func @heads(%q: tensor<1x4x4x8xf32>, %k: tensor<1x4x3x8xf32>) {
  // expected-error@+1 {{'aicf.attention' op C2: operand 1 (k) has 3 heads, expected a divisor of the 4 of q}}
  %y, %lse = aicf.attention %q, %k, %k
      : tensor<1x4x4x8xf32>, tensor<1x4x3x8xf32>, tensor<1x4x3x8xf32>
  return
}

// -----

func.func @mask(%q: tensor<1x4x4x8xf32>, %mask: tensor<1x2x4x4xf32>) {
  // expected-error@+1 {{'aicf.attention' op C4: operand 3 (mask) is 1x2x4x4xf32, expected 4 in dimension 1, as the scores, or 1}}
  %y, %lse = aicf.attention %q, %q, %q mask %mask
      : tensor<1x4x4x8xf32>, tensor<1x4x4x8xf32>, tensor<1x4x4x8xf32>
        mask tensor<1x2x4x4xf32>
  return
}

// -----

func.func @mask_of_integers(%q: tensor<1x4x4x8xf32>, %mask: tensor<1x1x4x4xi32>) {
  // expected-error@+1 {{'aicf.attention' op C4: operand 3 (mask) has element type i32, expected f32}}
  %y, %lse = aicf.attention %q, %q, %q mask %mask
      : tensor<1x4x4x8xf32>, tensor<1x4x4x8xf32>, tensor<1x4x4x8xf32>
        mask tensor<1x1x4x4xi32>
  return
}

// -----

func.func @segments(%q: tensor<1x4x4x8xf32>, %k: tensor<1x5x4x8xf32>,
                    %segments: tensor<1x4xi32>) {
  // expected-error@+1 {{'aicf.attention' op C5: operand 1 (k) is 1x5x4x8xf32, expected 4 in dimension 1, as q, where segments are given}}
  %y, %lse = aicf.attention %q, %k, %k segments %segments
      : tensor<1x4x4x8xf32>, tensor<1x5x4x8xf32>, tensor<1x5x4x8xf32>
        segments tensor<1x4xi32>
  return
}

// -----

func.func @dropout(%q: tensor<1x4x4x8xf32>) {
  // expected-error@+1 {{'aicf.attention' op C6: p is 0.5 without step, which is the count that weights are dropped by}}
  %y, %lse = aicf.attention %q, %q, %q {p = 0.5}
      : tensor<1x4x4x8xf32>, tensor<1x4x4x8xf32>, tensor<1x4x4x8xf32>
  return
}

// -----

func.func @window(%q: tensor<1x4x4x8xf32>) {
  // expected-error@+1 {{'aicf.attention' op window_left is -2, expected a number in [-1, 2^31)}}
  %y, %lse = aicf.attention %q, %q, %q {window_left = -2}
      : tensor<1x4x4x8xf32>, tensor<1x4x4x8xf32>, tensor<1x4x4x8xf32>
  return
}

// -----

func.func @narrow_lse(%q: tensor<1x4x4x8xbf16>, %lse: tensor<1x4x4xbf16>) {
  // expected-error@+1 {{'aicf.attention_bwd' op operand 5 (lse) has element type bf16, expected f32 or f64}}
  %dq, %dk, %dv = aicf.attention_bwd %q, %q, %q, %q, %q, %lse
      : tensor<1x4x4x8xbf16>, tensor<1x4x4x8xbf16>, tensor<1x4x4x8xbf16>,
        tensor<1x4x4x8xbf16>, tensor<1x4x4x8xbf16>, tensor<1x4x4xbf16>
  return
}

// -----

func.func @mask_of_flags(%q: tensor<1x4x4x8xf32>, %lse: tensor<1x4x4xf32>,
                         %mask: tensor<1x1x1x4xi1>) {
  // expected-error@+1 {{'aicf.attention_mask_bwd' op operand 6 (mask) has element type i1, expected f16, bf16, f32 or f64}}
  %dmask = aicf.attention_mask_bwd %q, %q, %q, %q, %q, %lse, %mask
      : tensor<1x4x4x8xf32>, tensor<1x4x4x8xf32>, tensor<1x4x4x8xf32>,
        tensor<1x4x4x8xf32>, tensor<1x4x4x8xf32>, tensor<1x4x4xf32>, tensor<1x1x1x4xi1>
  return
}
