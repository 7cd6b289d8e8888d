// RUN: split-file %s %t
// RUN: aicf-opt %t/before.mlir --aicf-rematerialize -o %t/got.mlir
// RUN: aicf-opt %t/after.mlir -o %t/expected.mlir
// RUN: diff %t/got.mlir %t/expected.mlir

// The example of the pass's page.

//--- before.mlir
func.func @step(%x: tensor<64x64xf32> {aicf.role = "input", aicf.name = "x"},
                %dy: tensor<64x64xf32> {aicf.role = "input", aicf.name = "dy"})
    -> (tensor<64x64xf32> {aicf.name = "y"}, tensor<64x64xf32> {aicf.name = "dx"}) {
  %h = aicf.gelu %x {aicf.recompute} : tensor<64x64xf32>
  %y = aicf.exp %h : tensor<64x64xf32>
  %kept = aicf.save %h : tensor<64x64xf32>
  %dx = aicf.mul %dy, %kept : tensor<64x64xf32>, tensor<64x64xf32>
  return %y, %dx : tensor<64x64xf32>, tensor<64x64xf32>
}

//--- after.mlir
func.func @step(%x: tensor<64x64xf32> {aicf.name = "x", aicf.role = "input"},
                %dy: tensor<64x64xf32> {aicf.name = "dy", aicf.role = "input"})
    -> (tensor<64x64xf32> {aicf.name = "y"}, tensor<64x64xf32> {aicf.name = "dx"}) {
  %h = aicf.gelu %x : tensor<64x64xf32>
  %y = aicf.exp %h : tensor<64x64xf32>
  %again = aicf.gelu %x : tensor<64x64xf32>
  %dx = aicf.mul %dy, %again : tensor<64x64xf32>, tensor<64x64xf32>
  return %y, %dx : tensor<64x64xf32>, tensor<64x64xf32>
}
