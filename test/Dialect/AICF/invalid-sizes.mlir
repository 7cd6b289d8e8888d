// RUN: aicf-opt %s --split-input-file --verify-diagnostics

// Tests that sizes end where those of a plan do, and that a dimension that is not there
// is refused and not read.

func.func @pad(%x: tensor<4xf32>) {
  // expected-error @+1 {{'aicf.pad' op C4: size is 2147483648, expected a number in [1, 2^31)}}
  %r = aicf.pad %x {axis = 0, size = 2147483648} : tensor<4xf32>
  return
}

// -----

func.func @pad_before(%x: tensor<4xf32>) {
  // expected-error @+1 {{C1: axis is -1099511627776, expected a dimension of x}}
  %r = aicf.pad %x {axis = -1099511627776, size = 8} : tensor<4xf32>
  return
}

// -----

func.func @pad_behind(%x: tensor<4xf32>) {
  // expected-error @+1 {{C1: axis is 1099511627776, expected a dimension of x}}
  %r = aicf.pad %x {axis = 1099511627776, size = 8} : tensor<4xf32>
  return
}

// -----

func.func @concat_before(%x: tensor<4xf32>) {
  // expected-error @+1 {{C1: axis is -1099511627776}}
  %r = aicf.concat %x, %x {axis = -1099511627776} : tensor<4xf32>, tensor<4xf32>
  return
}

// -----

func.func @concat_behind(%x: tensor<4xf32>) {
  // expected-error @+1 {{C1: axis is 1099511627776}}
  %r = aicf.concat %x, %x {axis = 1099511627776} : tensor<4xf32>, tensor<4xf32>
  return
}

// -----

func.func @shuffle(%n: tensor<i64>) {
  // expected-error @+1 {{'aicf.shuffle' op C3: batch is 2147483648, expected a number in [1, 2^31)}}
  %r = aicf.shuffle %n {size = 4, batch = 2147483648} : tensor<i64>
  return
}

// -----

func.func @uniform(%n: tensor<i64>) {
  // expected-error @+1 {{C3: shape is [2147483648], expected up to 8 numbers in [1, 2^31)}}
  %r = aicf.uniform %n to [2147483648] {seed = 0} : tensor<i64>
  return
}

// -----

func.func @uniform_rank(%n: tensor<i64>) {
  // expected-error @+1 {{C3: shape is [1, 1, 1, 1, 1, 1, 1, 1, 1], expected up to 8 numbers}}
  %r = aicf.uniform %n to [1, 1, 1, 1, 1, 1, 1, 1, 1] {seed = 0} : tensor<i64>
  return
}

// -----

func.func @top_k(%x: tensor<f32>) {
  // expected-error @+1 {{'aicf.top_k' op C1: operand 0 (x) is f32 of rank 0, expected rank 1 or more}}
  %r = aicf.top_k %x {k = 2} : tensor<f32>
  return
}

// -----

func.func @embedding(%t: tensor<f32>, %i: tensor<3xi32>) {
  // expected-error @+1 {{'aicf.embedding' op C1: operand 0 (table) is f32 of rank 0, expected rank 2}}
  %r = aicf.embedding %t, %i : tensor<f32>, tensor<3xi32>
  return
}

// -----

func.func @embedding_bwd(%d: tensor<f32>, %i: tensor<3xi32>) {
  // expected-error @+1 {{'aicf.embedding_bwd' op C1: operand 0 (dy) is f32}}
  %r = aicf.embedding_bwd %d, %i {rows = 5} : tensor<f32>, tensor<3xi32>
  return
}

// -----

// Tests that a tensor that no plan holds is refused outside of entries, too.
func.func @rank(%x: tensor<1x1x1x1x1x1x1x1x1xf32>) {
  // expected-error @+1 {{operand 0 is 'tensor<1x1x1x1x1x1x1x1x1xf32>' of rank 9, the limit is 8}}
  %r = aicf.relu %x : tensor<1x1x1x1x1x1x1x1x1xf32>
  return
}

// -----

func.func @result_rank(%x: tensor<1xf32>) {
  // expected-error @+1 {{result 0 is 'tensor<1x1x1x1x1x1x1x1x1xf32>' of rank 9, the limit is 8}}
  %r = "aicf.relu"(%x) : (tensor<1xf32>) -> tensor<1x1x1x1x1x1x1x1x1xf32>
  return
}

// -----

func.func @dynamic(%a: tensor<?xf32>, %b: tensor<4xf32>) {
  // expected-error @+1 {{give every dimension a number}}
  %r = aicf.add %a, %b : tensor<?xf32>, tensor<4xf32>
  return
}

// -----

// Tests that the type of a count does not follow that of a wrong operand, for its reader.
func.func @count(%a: tensor<?xi32>) -> tensor<i32> {
  // expected-error @+1 {{give every dimension a number}}
  %r = aicf.count_equal %a, %a : tensor<?xi32>, tensor<?xi32>
  return %r : tensor<i32>
}
