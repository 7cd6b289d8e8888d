// RUN: aicf-opt %s --aicf-concat-pads --split-input-file -o %t
// RUN: aicf-opt %s --split-input-file -o %t.before
// RUN: diff %t.before %t

// Tests which sums stay as they are.

// One padded tensor.
func.func @one(%a: tensor<2xf32> {aicf.role = "input", aicf.name = "a"},
               %x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4xf32> {aicf.name = "y"}) {
  %pa = aicf.pad %a {axis = 0 : i64, size = 4 : i64} : tensor<2xf32>
  %y = aicf.add %pa, %x : tensor<4xf32>, tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// One along each dimension.
func.func @cross(%a: tensor<2x4xf32> {aicf.role = "input", aicf.name = "a"},
                 %b: tensor<4x2xf32> {aicf.role = "input", aicf.name = "b"})
    -> (tensor<4x4xf32> {aicf.name = "y"}) {
  %pa = aicf.pad %a {axis = 0 : i64, size = 4 : i64} : tensor<2x4xf32>
  %pb = aicf.pad %b {axis = 1 : i64, begin = 2 : i64, size = 4 : i64} : tensor<4x2xf32>
  %y = aicf.add %pa, %pb : tensor<4x4xf32>, tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}

// -----

// Zeros between the elements.
func.func @step(%a: tensor<2xf32> {aicf.role = "input", aicf.name = "a"},
                %b: tensor<2xf32> {aicf.role = "input", aicf.name = "b"})
    -> (tensor<4xf32> {aicf.name = "y"}) {
  %pa = aicf.pad %a {axis = 0 : i64, size = 4 : i64, step = 2 : i64} : tensor<2xf32>
  %pb = aicf.pad %b {axis = 0 : i64, begin = 1 : i64, size = 4 : i64, step = 2 : i64} : tensor<2xf32>
  %y = aicf.add %pa, %pb : tensor<4xf32>, tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// A padded tensor that somebody else reads has to be there anyway.
func.func @read(%a: tensor<2xf32> {aicf.role = "input", aicf.name = "a"},
                %b: tensor<2xf32> {aicf.role = "input", aicf.name = "b"})
    -> (tensor<4xf32> {aicf.name = "y"}, tensor<4xf32> {aicf.name = "z"}) {
  %pa = aicf.pad %a {axis = 0 : i64, size = 4 : i64} : tensor<2xf32>
  %pb = aicf.pad %b {axis = 0 : i64, begin = 2 : i64, size = 4 : i64} : tensor<2xf32>
  %y = aicf.add %pa, %pb : tensor<4xf32>, tensor<4xf32>
  return %y, %pb : tensor<4xf32>, tensor<4xf32>
}

// -----

// A partial sum that is read is not taken apart.
func.func @partial(%a: tensor<2xf32> {aicf.role = "input", aicf.name = "a"},
                   %b: tensor<2xf32> {aicf.role = "input", aicf.name = "b"},
                   %x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4xf32> {aicf.name = "y"}, tensor<4xf32> {aicf.name = "z"}) {
  %pa = aicf.pad %a {axis = 0 : i64, size = 4 : i64} : tensor<2xf32>
  %s = aicf.add %pa, %x : tensor<4xf32>, tensor<4xf32>
  %pb = aicf.pad %b {axis = 0 : i64, begin = 2 : i64, size = 4 : i64} : tensor<2xf32>
  %y = aicf.add %s, %pb : tensor<4xf32>, tensor<4xf32>
  return %y, %s : tensor<4xf32>, tensor<4xf32>
}

// -----

// A function that is not an entry.
func.func private @helper(%a: tensor<2xf32>, %b: tensor<2xf32>) -> tensor<4xf32> {
  %pa = aicf.pad %a {axis = 0 : i64, size = 4 : i64} : tensor<2xf32>
  %pb = aicf.pad %b {axis = 0 : i64, begin = 2 : i64, size = 4 : i64} : tensor<2xf32>
  %y = aicf.add %pa, %pb : tensor<4xf32>, tensor<4xf32>
  return %y : tensor<4xf32>
}
