// RUN: aicf-opt %s --split-input-file --verify-diagnostics

// Tests that each number of a view is looked at, in the short form and in the generic
// one, which infers nothing.

func.func @begin(%x: tensor<4x3xf32>) {
  // expected-error @+1 {{C1: begin, end and step have 1, 2 and 2 numbers}}
  %y = aicf.slice %x from [0] to [4, 3] step [1, 1] : tensor<4x3xf32>
  return
}

// -----

func.func @end(%x: tensor<4x3xf32>) {
  // expected-error @+1 {{C1: begin, end and step have 2, 1 and 2 numbers}}
  %y = aicf.slice %x from [0, 0] to [4] : tensor<4x3xf32>
  return
}

// -----

func.func @step(%x: tensor<4x3xf32>) {
  // expected-error @+1 {{C1: begin, end and step have 2, 2 and 1 numbers}}
  %y = aicf.slice %x from [0, 0] to [4, 3] step [1] : tensor<4x3xf32>
  return
}

// -----

func.func @long_step(%x: tensor<4xf32>) {
  // expected-error @+1 {{C2: dimension 0 goes from 0 to 4 in steps of 2147483648}}
  %y = aicf.slice %x from [0] to [4] step [2147483648] : tensor<4xf32>
  return
}

// -----

func.func @long_dimension(%x: tensor<1xf32>) {
  // expected-error @+1 {{C1: shape is [2147483648], expected up to 8 numbers in [1, 2^31)}}
  %y = aicf.broadcast %x to [2147483648] : tensor<1xf32>
  return
}

// -----

func.func @gradient_shape(%x: tensor<4xf32>, %i: tensor<4xi32>) {
  // expected-error @+1 {{'aicf.extremum_bwd' op C1: shape is [4, 0]}}
  %z = aicf.extremum_bwd %x, %i over [1] to [4, 0] : tensor<4xf32>, tensor<4xi32>
  return
}

// -----

func.func @gradient_index(%x: tensor<4xf32>, %i: tensor<3xi32>) {
  // expected-error @+1 {{C2: dy and index are 'tensor<4xf32>' and 'tensor<3xi32>'}}
  %z = aicf.extremum_bwd %x, %i over [1] to [4, 3] : tensor<4xf32>, tensor<3xi32>
  return
}

// -----

// Tests that a kept dimension is one of the two forms.
func.func @kept(%x: tensor<4x1xf32>, %i: tensor<4x1xi32>) {
  %z = aicf.extremum_bwd %x, %i over [1] to [4, 3] : tensor<4x1xf32>, tensor<4x1xi32>
  %r = aicf.reshape %z to [12] : tensor<4x3xf32>
  return
}
