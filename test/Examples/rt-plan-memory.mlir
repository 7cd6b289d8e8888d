// RUN: split-file %s %t
// RUN: aicf-opt %t/before.mlir --aicf-rt-plan-memory -o %t/got.mlir
// RUN: aicf-opt %t/after.mlir -o %t/expected.mlir
// RUN: diff %t/got.mlir %t/expected.mlir

// The example of the pass's page.

//--- before.mlir
func.func @f(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4xf32> {aicf.name = "y"}) {
  %h = aicf_rt.relu %x {kid = "relu_f32_v0"} : (tensor<4xf32>) -> tensor<4xf32>
  %y = aicf_rt.relu %h {kid = "relu_f32_v0"} : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

//--- after.mlir
func.func @f(%x: tensor<4xf32> {aicf.name = "x", aicf.role = "input", aicf_rt.offset = 0 : i64})
    -> (tensor<4xf32> {aicf.name = "y", aicf_rt.offset = 256 : i64})
    attributes {aicf_rt.io_bytes = 512 : i64, aicf_rt.persistent_bytes = 0 : i64, aicf_rt.temp_bound = 256 : i64, aicf_rt.temp_bytes = 256 : i64, aicf_rt.workspaces = array<i64>} {
  %h = aicf_rt.relu %x {kid = "relu_f32_v0", slots = array<i64: 0>}
      : (tensor<4xf32>) -> tensor<4xf32>
  %y = aicf_rt.relu %h {kid = "relu_f32_v0", slots = array<i64: -1>}
      : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
