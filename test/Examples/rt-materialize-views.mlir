// RUN: split-file %s %t
// RUN: aicf-opt %t/before.mlir --aicf-rt-materialize-views -o %t/got.mlir
// RUN: aicf-opt %t/after.mlir -o %t/expected.mlir
// RUN: diff %t/got.mlir %t/expected.mlir

// The example of the pass's page.

//--- before.mlir
func.func @f(%x: tensor<4x8xf32> {aicf.name = "x", aicf.role = "input"})
    -> (tensor<8x4xf32> {aicf.name = "y"}) {
  %t = aicf_rt.view %x[0] : tensor<4x8xf32> to tensor<8x4xf32, #aicf_rt.strided<[1, 8]>>
  %y = aicf_rt.call relu(%t) : (tensor<8x4xf32, #aicf_rt.strided<[1, 8]>>) -> tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}

//--- after.mlir
func.func @f(%x: tensor<4x8xf32> {aicf.name = "x", aicf.role = "input"})
    -> (tensor<8x4xf32> {aicf.name = "y"}) {
  %t = aicf_rt.view %x[0] : tensor<4x8xf32> to tensor<8x4xf32, #aicf_rt.strided<[1, 8]>>
  %d = aicf_rt.call copy(%t) : (tensor<8x4xf32, #aicf_rt.strided<[1, 8]>>) -> tensor<8x4xf32>
  %y = aicf_rt.call relu(%d) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}
