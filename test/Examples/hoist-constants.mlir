// RUN: split-file %s %t
// RUN: aicf-opt %t/before.mlir --aicf-hoist-constants -o %t/got.mlir
// RUN: sed -E 's/(constant:2xf32:)[0-9a-f]+/\1HASH/' %t/got.mlir > %t/named.mlir
// RUN: aicf-opt %t/after.mlir -o %t/expected.mlir
// RUN: diff %t/named.mlir %t/expected.mlir

// The example of the pass's page.

//--- before.mlir
func.func @f(%x: tensor<2xf32> {aicf.name = "x", aicf.role = "input"})
    -> (tensor<2xf32> {aicf.name = "y"}) {
  %c = aicf.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %y = aicf.add %x, %c : tensor<2xf32>, tensor<2xf32>
  return %y : tensor<2xf32>
}

//--- after.mlir
func.func @f(%x: tensor<2xf32> {aicf.name = "x", aicf.role = "input"},
             %c: tensor<2xf32> {aicf.data = dense<[1.0, 2.0]> : tensor<2xf32>,
                                aicf.name = "constant:2xf32:HASH",
                                aicf.role = "constant"})
    -> (tensor<2xf32> {aicf.name = "y"}) {
  %y = aicf.add %x, %c : tensor<2xf32>, tensor<2xf32>
  return %y : tensor<2xf32>
}
