// RUN: split-file %s %t
// RUN: aicf-opt %t/before.mlir --aicf-keep-values=mode=grad -o %t/got.mlir
// RUN: aicf-opt %t/after.mlir -o %t/expected.mlir
// RUN: diff %t/got.mlir %t/expected.mlir

// The example of the pass's page.

//--- before.mlir
func.func @step(%x: tensor<4xf32> {aicf.name = "x", aicf.role = "input", aicf.vid = 0 : i64},
                %p: tensor<4xf32> {aicf.name = "W", aicf.role = "param", aicf.vid = 2 : i64},
                %lr: tensor<f32> {aicf.name = "lr", aicf.role = "hyper", aicf.vid = 3 : i64})
    -> (tensor<4xf32> {aicf.updates = "W"})
    attributes {aicf.nodes = 2 : i64, aicf.values = 6 : i64} {
  %g = aicf.relu %x {aicf.vids = array<i64: 1>} : tensor<4xf32>
  %p2, %m2 = aicf.sgd_step %p, %g, %lr {aicf.vids = array<i64: 4, 5>}
      : tensor<4xf32>, tensor<4xf32>, tensor<f32>
  return %p2 : tensor<4xf32>
}

//--- after.mlir
func.func @step(%x: tensor<4xf32> {aicf.name = "x", aicf.role = "input", aicf.vid = 0 : i64},
                %p: tensor<4xf32> {aicf.name = "W", aicf.role = "param", aicf.vid = 2 : i64},
                %lr: tensor<f32> {aicf.name = "lr", aicf.role = "hyper", aicf.vid = 3 : i64})
    -> (tensor<4xf32> {aicf.updates = "W"},
        tensor<4xf32> {aicf.name = "grad:W"})
    attributes {aicf.nodes = 2 : i64, aicf.values = 6 : i64} {
  %g = aicf.relu %x {aicf.vids = array<i64: 1>} : tensor<4xf32>
  %p2, %m2 = aicf.sgd_step %p, %g, %lr {aicf.vids = array<i64: 4, 5>}
      : tensor<4xf32>, tensor<4xf32>, tensor<f32>
  return %p2, %g : tensor<4xf32>, tensor<4xf32>
}
