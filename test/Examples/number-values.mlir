// RUN: split-file %s %t
// RUN: aicf-opt %t/before.mlir --aicf-number-values -o %t/got.mlir
// RUN: aicf-opt %t/after.mlir -o %t/expected.mlir
// RUN: diff %t/got.mlir %t/expected.mlir

// The example of the pass's page.

//--- before.mlir
func.func @f(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4xf32> {aicf.name = "y"}) {
  %y = aicf.relu %x : tensor<4xf32>
  return %y : tensor<4xf32>
}

//--- after.mlir
func.func @f(%x: tensor<4xf32> {aicf.name = "x", aicf.role = "input", aicf.vid = 0 : i64})
    -> (tensor<4xf32> {aicf.name = "y"})
    attributes {aicf.nodes = 1 : i64, aicf.values = 2 : i64} {
  %y = aicf.relu %x {aicf.vids = array<i64: 1>} : tensor<4xf32>
  return %y : tensor<4xf32>
}
