// RUN: aicf-opt %s --aicf-verify-entries --split-input-file --verify-diagnostics

func.func @part(%x: tensor<5xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<5xf32> {aicf.name = "z"}) attributes {aicf.part_of = "f"} {
  return %x : tensor<5xf32>
}
// expected-error @+1 {{"x" is 'tensor<4xf32>', and in another part of the entry 'tensor<5xf32>'}}
func.func @f(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4xf32> {aicf.name = "y"}) {
  return %x : tensor<4xf32>
}

// -----

// expected-error @+1 {{'aicf.part_of' names @f, which is not an entry behind this one}}
func.func @behind(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
    attributes {aicf.part_of = "f"} {
  return
}

// -----

func.func @twice(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4xf32> {aicf.name = "y"}) attributes {aicf.part_of = "f"} {
  return %x : tensor<4xf32>
}
// expected-error @+1 {{"y" is an output of two parts of an entry}}
func.func @f(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4xf32> {aicf.name = "y"}) {
  return %x : tensor<4xf32>
}

// -----

func.func @in(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "y"})
    -> (tensor<4xf32> {aicf.name = "z"}) attributes {aicf.part_of = "f"} {
  return %x : tensor<4xf32>
}
// expected-error @+1 {{"y" is an input of one part of the entry, and an output of another one}}
func.func @f(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4xf32> {aicf.name = "y"}) {
  return %x : tensor<4xf32>
}

// -----

func.func @part(%x: tensor<f32> {aicf.role = "state", aicf.name = "x"})
    attributes {aicf.part_of = "f"} {
  return
}
// expected-error @+1 {{'aicf.accumulate' on an entry in parts: an optimizer wants the whole step in one}}
func.func @f(%x: tensor<f32> {aicf.role = "state", aicf.name = "x"})
    attributes {aicf.accumulate = 2 : i64} {
  return
}

// -----

// expected-error @+1 {{'aicf.repeat' must be an i64 from 1 to 2147483647 beside 'aicf.part_of', got 5 : i64}}
func.func private @alone() attributes {aicf.repeat = 5 : i64}

// -----

// expected-error @+1 {{'aicf.repeat' must be an i64 from 1 to 2147483647 beside 'aicf.part_of', got 0 : i64}}
func.func private @never() attributes {aicf.part_of = "f", aicf.repeat = 0 : i64}

// -----

// expected-error @+1 {{'aicf.part_of' must be a non-empty string, got ""}}
func.func private @of_none() attributes {aicf.part_of = ""}
