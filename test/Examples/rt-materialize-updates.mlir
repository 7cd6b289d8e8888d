// RUN: split-file %s %t
// RUN: aicf-opt %t/before.mlir --aicf-rt-materialize-updates -o %t/got.mlir
// RUN: aicf-opt %t/after.mlir -o %t/expected.mlir
// RUN: diff %t/got.mlir %t/expected.mlir

// The example of the pass's page.

//--- before.mlir
func.func @swap(%a: tensor<4xf32> {aicf.role = "state", aicf.name = "a"},
                %b: tensor<4xf32> {aicf.role = "state", aicf.name = "b"})
    -> (tensor<4xf32> {aicf.updates = "a"}, tensor<4xf32> {aicf.updates = "b"}) {
  return %b, %a : tensor<4xf32>, tensor<4xf32>
}

//--- after.mlir
func.func @swap(%a: tensor<4xf32> {aicf.name = "a", aicf.role = "state"},
                %b: tensor<4xf32> {aicf.name = "b", aicf.role = "state"})
    -> (tensor<4xf32> {aicf.updates = "a"},
        tensor<4xf32> {aicf.updates = "b"}) {
  %old_b = aicf_rt.call copy(%b) protective
      : (tensor<4xf32>) -> tensor<4xf32>
  %old_a = aicf_rt.call copy(%a) protective
      : (tensor<4xf32>) -> tensor<4xf32>
  %new_a = aicf_rt.call copy(%old_b) protective
      : (tensor<4xf32>) -> tensor<4xf32>
  %new_b = aicf_rt.call copy(%old_a) protective
      : (tensor<4xf32>) -> tensor<4xf32>
  return %new_a, %new_b : tensor<4xf32>, tensor<4xf32>
}
