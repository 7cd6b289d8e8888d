// RUN: split-file %s %t
// RUN: aicf-opt %t/before.mlir --aicf-expand-history -o %t/got.mlir
// RUN: aicf-opt %t/after.mlir -o %t/expected.mlir
// RUN: diff %t/got.mlir %t/expected.mlir

// The example of the pass's page.

//--- before.mlir
func.func @step(%loss: tensor<f32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<f32> {aicf.name = "loss", aicf.history = 8}) {
  return %loss : tensor<f32>
}

//--- after.mlir
func.func @step(%loss: tensor<f32> {aicf.name = "x", aicf.role = "input"},
                %n: tensor<i64> {aicf.name = "step.history_step", aicf.role = "state"},
                %h: tensor<8xf32> {aicf.name = "loss.history", aicf.role = "state"})
    -> (tensor<f32> {aicf.name = "loss"},
        tensor<8xf32> {aicf.updates = "loss.history"},
        tensor<i64> {aicf.updates = "step.history_step"}) {
  %h2 = aicf.record %h, %loss, %n : tensor<8xf32>, tensor<f32>, tensor<i64>
  %n2 = aicf.step_inc %n : tensor<i64>
  return %loss, %h2, %n2 : tensor<f32>, tensor<8xf32>, tensor<i64>
}
