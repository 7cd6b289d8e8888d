// RUN: split-file %s %t
// RUN: aicf-opt %t/before.mlir --aicf-outline-repeats -o %t/got.mlir
// RUN: aicf-opt %t/after.mlir -o %t/expected.mlir
// RUN: diff %t/got.mlir %t/expected.mlir

// The example of the pass's page.

//--- before.mlir
func.func @f(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4xf32> {aicf.name = "y"}) {
  %y = aicf.repeat 9 %x : tensor<4xf32> -> tensor<4xf32> {
  ^bb0(%i: tensor<i64>, %h: tensor<4xf32>):
    %t = aicf.tanh %h : tensor<4xf32>
    aicf.next %t : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

//--- after.mlir
func.func @f.part0(%x: tensor<4xf32> {aicf.name = "x", aicf.role = "input"},
                   %s: tensor<4xf32> {aicf.name = "f.repeat0.0", aicf.role = "state",
                                      aicf.scratch})
    -> (tensor<4xf32> {aicf.updates = "f.repeat0.0"}) attributes {aicf.part_of = "f"} {
  return %x : tensor<4xf32>
}
func.func @f.part1(%h: tensor<4xf32> {aicf.name = "f.repeat0.0", aicf.role = "state",
                                      aicf.scratch})
    -> (tensor<4xf32> {aicf.updates = "f.repeat0.0"})
    attributes {aicf.part_of = "f", aicf.repeat = 9 : i64} {
  %t = aicf.tanh %h : tensor<4xf32>
  return %t : tensor<4xf32>
}
func.func @f(%x: tensor<4xf32> {aicf.name = "x", aicf.role = "input"},
             %s: tensor<4xf32> {aicf.name = "f.repeat0.0", aicf.role = "state", aicf.scratch})
    -> (tensor<4xf32> {aicf.name = "y"}) {
  return %s : tensor<4xf32>
}
