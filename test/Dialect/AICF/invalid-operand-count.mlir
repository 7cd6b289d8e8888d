// RUN: aicf-opt %s --split-input-file --verify-diagnostics

// Tests that operands are counted before types are inferred of them: a parser that read
// those that are missing would crash.

func.func @too_few(%x: tensor<4xf32>) {
  // expected-error @+1 {{'aicf.add' op expected 2 operands, but found 1}}
  %y = aicf.add %x : tensor<4xf32>
  return
}

// -----

func.func @too_many(%x: tensor<4xf32>) {
  // expected-error @+1 {{'aicf.relu' op expected 1 operand, but found 2}}
  %y = aicf.relu %x, %x : tensor<4xf32>, tensor<4xf32>
  return
}

// -----

func.func @too_few_of_a_composite(%x: tensor<4x4xf32>) {
  // expected-error @+1 {{'aicf.matmul' op expected 2 operands, but found 1}}
  %y = aicf.matmul %x : tensor<4x4xf32>
  return
}

// -----

func.func @too_few_of_a_backward_op(%x: tensor<4x4xf32>) {
  // expected-error @+1 {{'aicf.linear_bwd' op expected 3 operands, but found 2}}
  %y:3 = aicf.linear_bwd %x, %x : tensor<4x4xf32>, tensor<4x4xf32>
  return
}

// -----

func.func @too_few_of_lookups(%x: tensor<4x4xf32>) {
  // expected-error @+1 {{'aicf.gather_rows' op expected 2 operands, but found 1}}
  %y = aicf.gather_rows %x : tensor<4x4xf32>
  return
}

// -----

func.func @generic_form(%x: tensor<4xf32>) {
  // expected-error @+1 {{'aicf.add' op expected 2 operands, but found 1}}
  %y = "aicf.add"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// The parser refuses the element, and asks the encoding all the same.
// expected-error @+1 {{invalid tensor element type}}
func.func @strided(%x: tensor<4x6xtensor<2xtensor<2xf32>>, #aicf_rt.strided<[6, 1]>>) { return }

// -----

// expected-error @+1 {{invalid tensor element type}}
func.func @padded(%x: tensor<4x6xtensor<2xtensor<2xf32>>, #aicf_rt.padded>) { return }
