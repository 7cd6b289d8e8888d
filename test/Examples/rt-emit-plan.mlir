// RUN: split-file %s %t
// RUN: aicf-opt %t/before.mlir --aicf-rt-emit-plan -o %t/got.mlir
// RUN: aicf-opt %t/after.mlir -o %t/expected.mlir
// RUN: diff %t/got.mlir %t/expected.mlir

// The example of the pass's page.

//--- before.mlir
func.func @predict(%x: tensor<4xf32> {aicf.name = "x", aicf.role = "input", aicf.vid = 0 : i64, aicf_rt.offset = 0 : i64})
    -> (tensor<4xf32> {aicf.name = "y", aicf_rt.offset = 256 : i64})
    attributes {aicf.nodes = 1 : i64, aicf.values = 2 : i64, aicf_rt.io_bytes = 512 : i64, aicf_rt.persistent_bytes = 0 : i64, aicf_rt.target = "cpu", aicf_rt.temp_bound = 0 : i64, aicf_rt.temp_bytes = 0 : i64, aicf_rt.workspaces = array<i64>} {
  %y = aicf_rt.relu %x {kid = "relu_f32_v0", slots = array<i64: -1>, vids = array<i64: 1>}
      : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

//--- after.mlir
aicf_rt.plan "cpu" persistent(0) {
  aicf_rt.entry "predict" io(512) temp(0) bound(0) values(2) nodes(1) {
    aicf_rt.tensor 0 "x" "input" "io"[0] vid(0) : tensor<4xf32>
    aicf_rt.tensor 1 "y" "output" "io"[256] vid(1) : tensor<4xf32>
    aicf_rt.call "relu" "relu_f32_v0" ins [0] outs [1] vids [0] -> [1] schema(0) attrs []
  }
}
