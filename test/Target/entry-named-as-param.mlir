// RUN: not aicf-compile %s -o %t.plan 2>&1 | FileCheck %s
// Tests that what only MLIR's verifier sees is refused at the end: an entry and
// a param are symbols of one plan.
// CHECK: entry-named-as-param.mlir:[[#]]:1: error: redefinition of symbol named 'w'
func.func @w(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"},
             %w: tensor<4xf32> {aicf.role = "param", aicf.name = "w"})
    -> (tensor<4xf32> {aicf.name = "y"}) {
  %y = aicf.add %x, %w : tensor<4xf32>, tensor<4xf32>
  return %y : tensor<4xf32>
}
