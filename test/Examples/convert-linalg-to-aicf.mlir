// RUN: split-file %s %t
// RUN: aicf-opt %t/before.mlir --convert-linalg-to-aicf -o %t/got.mlir
// RUN: aicf-opt %t/after.mlir -o %t/expected.mlir
// RUN: diff %t/got.mlir %t/expected.mlir

// The example of the pass's page.

//--- before.mlir
func.func @f(%x: tensor<4x8xf32>, %W: tensor<3x8xf32>) -> tensor<4x3xf32> {
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<8x3xf32>
  %e = tensor.empty() : tensor<4x3xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%e : tensor<4x3xf32>) -> tensor<4x3xf32>
  %wt = linalg.transpose ins(%W : tensor<3x8xf32>) outs(%e0 : tensor<8x3xf32>)
      permutation = [1, 0]
  %y = linalg.matmul ins(%x, %wt : tensor<4x8xf32>, tensor<8x3xf32>)
      outs(%zeros : tensor<4x3xf32>) -> tensor<4x3xf32>
  return %y : tensor<4x3xf32>
}

//--- after.mlir
func.func @f(%x: tensor<4x8xf32>, %W: tensor<3x8xf32>) -> tensor<4x3xf32> {
  %y = aicf.linear %x, %W : tensor<4x8xf32>, tensor<3x8xf32>
  return %y : tensor<4x3xf32>
}
