// RUN: split-file %s %t
// RUN: aicf-opt %t/before.mlir --aicf-rt-select-kernels -o %t/got.mlir
// RUN: aicf-opt %t/after.mlir -o %t/expected.mlir
// RUN: diff %t/got.mlir %t/expected.mlir

// The example of the pass's page.

//--- before.mlir
func.func @f(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4xf32> {aicf.name = "y"}) {
  %y = aicf_rt.call relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

//--- after.mlir
func.func @f(%x: tensor<4xf32> {aicf.name = "x", aicf.role = "input"})
    -> (tensor<4xf32> {aicf.name = "y"}) {
  %y = aicf_rt.call relu(%x) launch<kernel = "relu_f32_v0"> : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
