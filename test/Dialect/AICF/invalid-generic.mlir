// RUN: aicf-opt %s --split-input-file --verify-diagnostics

// Tests that the generic form of a composite, whose types are written and not inferred,
// is refused once, by its own constraint.

func.func @linear(%x: tensor<4x3xf32>, %w: tensor<2x4xf32>) {
  // expected-error @+1 {{'aicf.linear' op C2: W is 'tensor<2x4xf32>', expected shape [2, 3]}}
  %r = "aicf.linear"(%x, %w) : (tensor<4x3xf32>, tensor<2x4xf32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @linear_bwd(%d: tensor<4x5xf32>, %x: tensor<4x3xf32>, %w: tensor<2x3xf32>) {
  // expected-error @+1 {{'aicf.linear_bwd' op C2: dy is 'tensor<4x5xf32>', expected shape [4, 2]}}
  %r:3 = "aicf.linear_bwd"(%d, %x, %w) : (tensor<4x5xf32>, tensor<4x3xf32>, tensor<2x3xf32>) -> (tensor<4x3xf32>, tensor<2x3xf32>, tensor<2xf32>)
  return
}

// -----

func.func @constant() {
  // expected-error @+1 {{'aicf.constant' op C1: value is of type 'tensor<2xi8>'}}
  %r = "aicf.constant"() {value = dense<[1, 2]> : tensor<2xi8>} : () -> tensor<2xi32>
  return
}

// -----

func.func @iota() {
  // expected-error @+1 {{'aicf.iota' op C2: axis is 1, expected a dimension of [3]}}
  %r = "aicf.iota"() {shape = array<i64: 3>, axis = 1} : () -> tensor<3xi32>
  return
}

// -----

func.func @reshape(%x: tensor<4xf32>) {
  // expected-error @+1 {{'aicf.reshape' op C1: shape is [3] with 3 elements}}
  %r = "aicf.reshape"(%x) {shape = array<i64: 3>} : (tensor<4xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @transpose(%x: tensor<4x3xf32>) {
  // expected-error @+1 {{'aicf.transpose' op C1: permutation is [1, 1]}}
  %r = "aicf.transpose"(%x) {permutation = array<i64: 1, 1>} : (tensor<4x3xf32>) -> tensor<3x3xf32>
  return
}

// -----

func.func @slice(%x: tensor<4xf32>) {
  // expected-error @+1 {{'aicf.slice' op C2: dimension 0 goes from 0 to 5}}
  %r = "aicf.slice"(%x) {begin = array<i64: 0>, end = array<i64: 5>} : (tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @broadcast(%x: tensor<4xf32>) {
  // expected-error @+1 {{'aicf.broadcast' op C2: x is 'tensor<4xf32>', which does not broadcast to [3]}}
  %r = "aicf.broadcast"(%x) {shape = array<i64: 3>} : (tensor<4xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @concat() {
  // expected-error @+1 {{'aicf.concat' op got 0 operands, expected 1 or more}}
  %r = "aicf.concat"() {axis = 0} : () -> tensor<3xf32>
  return
}

// -----

func.func @unranked(%x: tensor<*xf32>) {
  // expected-error @+1 {{'aicf.add' op operand #0 must be a ranked tensor, but got 'tensor<*xf32>'}}
  %0 = aicf.add %x, %x : tensor<*xf32>, tensor<*xf32>
  return
}

// -----

func.func @unranked_by_hand(%x: tensor<2x3xf32>, %y: tensor<*xf32>) {
  // expected-error @+1 {{'aicf.linear_bwd' op operand #1 must be a ranked tensor, but got 'tensor<*xf32>'}}
  %0:3 = aicf.linear_bwd %x, %y, %x : tensor<2x3xf32>, tensor<*xf32>, tensor<2x3xf32>
  return
}

// -----

func.func @extremum_bwd(%dy: tensor<4xf32>, %i: tensor<3xi32>) {
  // expected-error @+1 {{'aicf.extremum_bwd' op C2: dy and index are 'tensor<4xf32>' and 'tensor<3xi32>', expected}}
  %r = "aicf.extremum_bwd"(%dy, %i) {axes = array<i64: 1>, shape = array<i64: 4, 3>} : (tensor<4xf32>, tensor<3xi32>) -> tensor<4x3xf32>
  return
}
