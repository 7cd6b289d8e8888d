// RUN: aicf-opt %s --split-input-file --verify-diagnostics

// Tests that a view of what is not there is refused where it is written.

func.func @reshape_c1(%x: tensor<4x3xf32>) {
  // expected-error @+1 {{'aicf.reshape' op C1: shape is [5, 2] with 10 elements, expected the 12 elements of x, 'tensor<4x3xf32>'}}
  %y = aicf.reshape %x to [5, 2] : tensor<4x3xf32>
  return
}

// -----

func.func @reshape_rank(%x: tensor<1xf32>) {
  // expected-error @+1 {{C1: shape is [1, 1, 1, 1, 1, 1, 1, 1, 1], expected up to 8 numbers in [1, 2^31)}}
  %y = aicf.reshape %x to [1, 1, 1, 1, 1, 1, 1, 1, 1] : tensor<1xf32>
  return
}

// -----

func.func @reshape_negative(%x: tensor<4xf32>) {
  // expected-error @+1 {{C1: shape is [-1, 4], expected up to 8 numbers}}
  %y = aicf.reshape %x to [-1, 4] : tensor<4xf32>
  return
}

// -----

func.func @transpose_c1(%x: tensor<4x3xf32>) {
  // expected-error @+1 {{'aicf.transpose' op C1: permutation is [0, 0], expected each dimension of 'tensor<4x3xf32>' once}}
  %y = aicf.transpose %x [0, 0] : tensor<4x3xf32>
  %z = aicf.relu %y : tensor<3x4xf32>
  return
}

// -----

func.func @transpose_rank(%x: tensor<4x3xf32>) {
  // expected-error @+1 {{C1: permutation is [1, 0, 2]}}
  %y = aicf.transpose %x [1, 0, 2] : tensor<4x3xf32>
  return
}

// -----

func.func @slice_c1(%x: tensor<4x3xf32>) {
  // expected-error @+1 {{'aicf.slice' op C1: begin, end and step have 1, 2 and 1 numbers, expected one for each dimension of 'tensor<4x3xf32>'}}
  %y = aicf.slice %x from [0] to [4, 3] : tensor<4x3xf32>
  return
}

// -----

func.func @slice_c2(%x: tensor<4xf32>) {
  // expected-error @+1 {{'aicf.slice' op C2: dimension 0 goes from 2 to 2 in steps of 1, expected 0 <= begin < end <= 4 and a step in [1, 2^31)}}
  %y = aicf.slice %x from [2] to [2] : tensor<4xf32>
  %z = aicf.relu %y : tensor<2xf32>
  return
}

// -----

func.func @slice_beyond(%x: tensor<4xf32>) {
  // expected-error @+1 {{C2: dimension 0 goes from 2 to 5 in steps of 1}}
  %y = aicf.slice %x from [2] to [5] : tensor<4xf32>
  return
}

// -----

func.func @slice_before(%x: tensor<4xf32>) {
  // expected-error @+1 {{C2: dimension 0 goes from -1 to 2}}
  %y = aicf.slice %x from [-1] to [2] : tensor<4xf32>
  return
}

// -----

func.func @slice_backwards(%x: tensor<4xf32>) {
  // expected-error @+1 {{C2: dimension 0 goes from 0 to 4 in steps of -1}}
  %y = aicf.slice %x from [0] to [4] step [-1] : tensor<4xf32>
  return
}

// -----

func.func @concat_shapes(%x: tensor<4x3xf32>, %y: tensor<3x3xf32>) {
  // expected-error @+1 {{'aicf.concat' op C3: operand 1 (part) is 3x3xf32, expected 4x3xf32}}
  %z = aicf.concat %x, %y {axis = 1} : tensor<4x3xf32>, tensor<3x3xf32>
  return
}

// -----

func.func @pad_c4(%x: tensor<4xf32>) {
  // expected-error @+1 {{'aicf.pad' op C4: size is 0, expected a number in [1, 2^31)}}
  %z = aicf.pad %x {axis = 0, size = 0} : tensor<4xf32>
  return
}

// -----

func.func @extremum_bwd_c2(%x: tensor<4xf32>, %i: tensor<4xi32>) {
  // expected-error @+1 {{'aicf.extremum_bwd' op C2: dy and index are 'tensor<4xf32>' and 'tensor<4xi32>', expected the shape of [4, 3] reduced over axes [0]}}
  %z = aicf.extremum_bwd %x, %i over [0] to [4, 3] : tensor<4xf32>, tensor<4xi32>
  return
}

// -----

func.func @extremum_bwd_c1(%x: tensor<4xf32>, %i: tensor<4xi32>) {
  // expected-error @+1 {{'aicf.extremum_bwd' op C1: axes are [2]}}
  %z = aicf.extremum_bwd %x, %i over [2] to [4, 3] : tensor<4xf32>, tensor<4xi32>
  return
}

// -----

func.func @reduce_max_c1(%x: tensor<4x3xf32>) {
  // expected-error @+1 {{'aicf.reduce_max' op C1: axes are [1, 1]}}
  %y, %i = aicf.reduce_max %x over [1, 1] : tensor<4x3xf32>
  return
}

// -----

func.func @reduce_min_c1(%x: tensor<4x3xf32>) {
  // expected-error @+1 {{'aicf.reduce_min' op C1: axes are [1, 0]}}
  %y, %i = aicf.reduce_min %x over [1, 0] : tensor<4x3xf32>
  return
}

// -----

func.func @reduce_mean_c1(%x: tensor<4x3xf32>) {
  // expected-error @+1 {{'aicf.reduce_mean' op C1: axes are [-1]}}
  %y = aicf.reduce_mean %x over [-1] : tensor<4x3xf32>
  return
}
