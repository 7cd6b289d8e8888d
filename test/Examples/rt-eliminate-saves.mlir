// RUN: split-file %s %t
// RUN: aicf-opt %t/before.mlir --aicf-rt-eliminate-saves -o %t/got.mlir
// RUN: aicf-opt %t/after.mlir -o %t/expected.mlir
// RUN: diff %t/got.mlir %t/expected.mlir

// The example of the pass's page.

//--- before.mlir
func.func @f(%dy: tensor<4xf32> {aicf.name = "dy", aicf.role = "input"},
             %h: tensor<4xf32> {aicf.name = "h", aicf.role = "input"})
    -> (tensor<4xf32> {aicf.name = "dx"}) {
  %s = aicf_rt.call copy_saved(%h) : (tensor<4xf32>) -> tensor<4xf32>
  %dx = aicf_rt.call relu_bwd(%dy, %s) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %dx : tensor<4xf32>
}

//--- after.mlir
func.func @f(%dy: tensor<4xf32> {aicf.name = "dy", aicf.role = "input"},
             %h: tensor<4xf32> {aicf.name = "h", aicf.role = "input"})
    -> (tensor<4xf32> {aicf.name = "dx"}) {
  %dx = aicf_rt.call relu_bwd(%dy, %h) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %dx : tensor<4xf32>
}
