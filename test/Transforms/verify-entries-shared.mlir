// RUN: aicf-opt %s --aicf-verify-entries --split-input-file --verify-diagnostics

// Tests that entries agree about what they share.

func.func @a(%w: tensor<4xf32> {aicf.role = "param", aicf.name = "w"}) {
  return
}
// expected-error @+1 {{entries disagree about "w": 'tensor<5xf32>' in @b, 'tensor<4xf32>' in @a}}
func.func @b(%w: tensor<5xf32> {aicf.role = "param", aicf.name = "w"}) {
  return
}

// -----

func.func @a(%w: tensor<4xf32> {aicf.role = "param", aicf.name = "w"}) {
  return
}
// expected-error @+1 {{entries disagree about "w": state in @b, param in @a}}
func.func @b(%w: tensor<4xf32> {aicf.role = "state", aicf.name = "w"}) {
  return
}

// -----

func.func @a(%w: tensor<4xf32> {aicf.role = "param", aicf.name = "w"}) {
  return
}
// expected-error @+1 {{entries disagree about "w": "ones" in @b, no aicf.init in @a}}
func.func @b(%w: tensor<4xf32> {aicf.role = "param", aicf.name = "w", aicf.init = "ones"}) {
  return
}

// -----

// expected-error @+1 {{argument 0 ("w") is an input here but a param in @b}}
func.func @a(%w: tensor<4xf32> {aicf.role = "input", aicf.name = "w"}) {
  return
}
func.func @b(%w: tensor<4xf32> {aicf.role = "param", aicf.name = "w"}) {
  return
}

// -----

// expected-error @+1 {{result 0 is named "w" like a param of @b}}
func.func @a(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"}) -> (tensor<4xf32> {aicf.name = "w"}) {
  return %x : tensor<4xf32>
}
func.func @b(%w: tensor<4xf32> {aicf.role = "param", aicf.name = "w"}) {
  return
}

// -----

// Tests that functions that are not entries are left alone.
func.func private @p(%x: tensor<?xf32>) -> tensor<?xf32>
func.func @q(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = func.call @p(%x) : (tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

func.func private @no_entry(%x: tensor<?xf32> {aicf.name = "x"})

// -----

func.func @a(%c: tensor<f32> {aicf.role = "constant", aicf.name = "c", aicf.data = dense<1.0> : tensor<f32>}) {
  return
}
// expected-error @+1 {{entries disagree about "c": some elements in @b, other elements in @a}}
func.func @b(%c: tensor<f32> {aicf.role = "constant", aicf.name = "c", aicf.data = dense<2.0> : tensor<f32>}) {
  return
}

// -----

// Tests a state that is derived from two.
func.func @f(%w: tensor<4xf32> {aicf.role = "param", aicf.name = "w"},
             %c: tensor<4xbf16> {aicf.role = "state", aicf.name = "c", aicf.derived_from = "w"}) {
  return
}
// expected-error @+1 {{entries disagree about "c": derived from "v" in @g, derived from "w" in @f}}
func.func @g(%v: tensor<4xf32> {aicf.role = "param", aicf.name = "v"},
             %c: tensor<4xbf16> {aicf.role = "state", aicf.name = "c", aicf.derived_from = "v"}) {
  return
}
