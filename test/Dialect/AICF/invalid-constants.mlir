// RUN: aicf-opt %s --split-input-file --verify-diagnostics

// Tests that a plan is not asked to hold what it cannot.

func.func @constant_c1() {
  // expected-error @+1 {{'aicf.constant' op C1: value is of type 'tensor<2xi8>', expected dense elements of f16, bf16, f32, f64, i32, i64 or i1}}
  %a = aicf.constant dense<[1, 2]> : tensor<2xi8>
  return
}

// -----

func.func @constant_sparse() {
  // expected-error @+1 {{C1: value is of type 'tensor<4xf32>', expected dense elements}}
  %a = aicf.constant sparse<[[0]], [1.0]> : tensor<4xf32>
  return
}

// -----

func.func @constant_empty() {
  // expected-error @+1 {{C1: value is of type 'tensor<0xf32>', expected dense elements}}
  %a = aicf.constant dense<> : tensor<0xf32>
  return
}

// -----

func.func @iota_c1() {
  // expected-error @+1 {{'aicf.iota' op C1: shape is [0], expected up to 8 numbers in [1, 2^31)}}
  %a = aicf.iota [0] {axis = 0}
  return
}

// -----

func.func @iota_c2() {
  // expected-error @+1 {{'aicf.iota' op C2: axis is 2, expected a dimension of [2, 3] whose numbers take up to 1048576 bytes}}
  %a = aicf.iota [2, 3] {axis = 2}
  return
}

// -----

func.func @iota_negative() {
  // expected-error @+1 {{C2: axis is -1, expected a dimension of [2, 3]}}
  %a = aicf.iota [2, 3] {axis = -1}
  return
}

// -----

func.func @iota_large() {
  // expected-error @+1 {{C2: axis is 0, expected a dimension of [262145] whose numbers take up to 1048576 bytes}}
  %a = aicf.iota [262145] {axis = 0}
  return
}

// -----

func.func @iota_c3() {
  // expected-error @+1 {{'aicf.iota' op C3: dtype is 'f16', expected one that holds 2049}}
  %a = aicf.iota [2050] {axis = 0, dtype = f16}
  return
}

// -----

func.func @iota_bits() {
  // expected-error @+1 {{C3: dtype is 'i1', expected one that holds 2}}
  %a = aicf.iota [3] {axis = 0, dtype = i1}
  return
}

// -----

func.func @iota_type() {
  // expected-error @+1 {{C3: dtype is 'i8', expected f16, bf16, f32, f64, i32, i64 or i1}}
  %a = aicf.iota [3] {axis = 0, dtype = i8}
  return
}

// -----

// expected-error @+1 {{'aicf.data' must be dense elements of 'tensor<2xf32>', of up to 1048576 bytes}}
func.func @data_type(%c: tensor<2xf32> {aicf.role = "constant", aicf.name = "c", aicf.data = dense<1.0> : tensor<3xf32>}) {
  return
}

// -----

// expected-error @+1 {{'aicf.data' must be dense elements of 'tensor<262145xf32>'}}
func.func @data_size(%c: tensor<262145xf32> {aicf.role = "constant", aicf.name = "c", aicf.data = dense<1.0> : tensor<262145xf32>}) {
  return
}

// -----

// expected-error @+1 {{'aicf.data' must be dense elements of 'tensor<2xf32>'}}
func.func @data_text(%c: tensor<2xf32> {aicf.role = "constant", aicf.name = "c", aicf.data = "1, 2"}) {
  return
}

// -----

// expected-error @+1 {{'aicf.data' must be dense elements of 'tensor<2xi8>'}}
func.func @data_element(%c: tensor<2xi8> {aicf.role = "constant", aicf.name = "c", aicf.data = dense<1> : tensor<2xi8>}) {
  return
}
