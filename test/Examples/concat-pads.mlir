// RUN: split-file %s %t
// RUN: aicf-opt %t/before.mlir --aicf-concat-pads -o %t/got.mlir
// RUN: aicf-opt %t/after.mlir -o %t/expected.mlir
// RUN: diff %t/got.mlir %t/expected.mlir

// The example of the pass's page.

//--- before.mlir
func.func @step(%a: tensor<2x4xf32> {aicf.role = "input", aicf.name = "a"},
                %b: tensor<4x4xf32> {aicf.role = "input", aicf.name = "b"})
    -> (tensor<6x4xf32> {aicf.name = "dx"}) {
  %dq = aicf.pad %a {axis = 0 : i64, size = 6 : i64} : tensor<2x4xf32>
  %dk = aicf.pad %b {axis = 0 : i64, begin = 2 : i64, size = 6 : i64} : tensor<4x4xf32>
  %dx = aicf.add %dq, %dk : tensor<6x4xf32>, tensor<6x4xf32>
  return %dx : tensor<6x4xf32>
}

//--- after.mlir
func.func @step(%a: tensor<2x4xf32> {aicf.role = "input", aicf.name = "a"},
                %b: tensor<4x4xf32> {aicf.role = "input", aicf.name = "b"})
    -> (tensor<6x4xf32> {aicf.name = "dx"}) {
  %dx = aicf.concat %a, %b {axis = 0 : i64} : tensor<2x4xf32>, tensor<4x4xf32>
  return %dx : tensor<6x4xf32>
}
