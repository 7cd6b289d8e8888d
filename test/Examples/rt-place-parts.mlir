// RUN: split-file %s %t
// RUN: aicf-opt %t/before.mlir --aicf-rt-place-parts -o %t/got.mlir
// RUN: aicf-opt %t/after.mlir -o %t/expected.mlir
// RUN: diff %t/got.mlir %t/expected.mlir

// The example of the pass's page.

//--- before.mlir
func.func @step(%x: tensor<4x8xf32> {aicf.role = "input", aicf.name = "x"},
                %w: tensor<8x8xf32> {aicf.role = "param", aicf.name = "w"})
    -> (tensor<4x16xf32> {aicf.name = "c"}) {
  %a = aicf_rt.call relu(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %b = aicf_rt.call gemm(%x, %w) : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %c = aicf_rt.call concat(%a, %b) {axis = 1}
      : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x16xf32>
  return %c : tensor<4x16xf32>
}

//--- after.mlir
func.func @step(%x: tensor<4x8xf32> {aicf.role = "input", aicf.name = "x"},
                %w: tensor<8x8xf32> {aicf.role = "param", aicf.name = "w"})
    -> (tensor<4x16xf32> {aicf.name = "c"}) {
  %a = aicf_rt.call relu(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32, #aicf_rt.strided<[16, 1]>>
  %b = aicf_rt.call gemm(%x, %w)
      : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32, #aicf_rt.strided<[16, 1]>>
  %c = aicf_rt.join %a[0], %b[8] : tensor<4x8xf32, #aicf_rt.strided<[16, 1]>>,
      tensor<4x8xf32, #aicf_rt.strided<[16, 1]>> to tensor<4x16xf32>
  return %c : tensor<4x16xf32>
}
