// RUN: split-file %s %t
// RUN: aicf-opt %t/before.mlir --aicf-rt-emit-plan -o %t/got.mlir
// RUN: aicf-opt %t/after.mlir -o %t/expected.mlir
// RUN: diff %t/got.mlir %t/expected.mlir

// The example of the pass's page.

//--- before.mlir
func.func @predict(%x: tensor<4xf32> {aicf.name = "x", aicf.role = "input", aicf.vid = 0 : i64})
    -> (tensor<4xf32> {aicf.name = "y"})
    attributes {aicf.nodes = 1 : i64, aicf.values = 2 : i64, aicf.target = #aicf.target<cpu>} {
  %y = aicf_rt.call relu(%x) vids [1] launch<kernel = "relu_f32_v0">
      : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

//--- after.mlir
aicf_rt.plan cpu persistent(-1) {
  aicf_rt.entry @predict io(-1) temp(-1) bound(-1) values(2) nodes(1) {
    %x_buffer = aicf_rt.alloc input "x" bytes(16) offset(-1)
    %x = aicf_rt.value %x_buffer[0] vid(0) : <4xf32>
    %y_buffer = aicf_rt.alloc output "y" bytes(16) offset(-1)
    %y = aicf_rt.value %y_buffer[0] vid(1) : <4xf32>
    aicf_rt.call relu(%x) outs(%y) in_vids [0] vids [1] launch<kernel = "relu_f32_v0">
        : (!aicf_rt.value<4xf32>) -> !aicf_rt.value<4xf32>
  }
}
