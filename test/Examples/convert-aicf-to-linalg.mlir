// RUN: split-file %s %t
// RUN: aicf-opt %t/before.mlir --convert-aicf-to-linalg -o %t/got.mlir
// RUN: aicf-opt %t/after.mlir -o %t/expected.mlir
// RUN: diff %t/got.mlir %t/expected.mlir

// The example of the pass's page.

//--- before.mlir
func.func @f(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %y = aicf.relu %x : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

//--- after.mlir
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @f(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %y = linalg.generic {indexing_maps = [#id, #id],
                       iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %zero = arith.constant 0.0 : f32
    %isNegative = arith.cmpf olt, %in, %zero : f32
    %r = arith.select %isNegative, %zero, %in : f32
    linalg.yield %r : f32
  } -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}
