// RUN: split-file %s %t
// RUN: aicf-opt %t/before.mlir --aicf-mixed-precision -o %t/got.mlir
// RUN: aicf-opt %t/after.mlir -o %t/expected.mlir
// RUN: diff %t/got.mlir %t/expected.mlir

// The example of the pass's page.

//--- before.mlir
func.func @predict(%x: tensor<4x8xf32> {aicf.role = "input", aicf.name = "x"},
                   %W: tensor<2x8xf32> {aicf.role = "param", aicf.name = "W"})
    -> (tensor<4x2xf32> {aicf.name = "y"}) {
  %y = aicf.linear %x, %W : tensor<4x8xf32>, tensor<2x8xf32>
  return %y : tensor<4x2xf32>
}

//--- after.mlir
func.func @predict(%x: tensor<4x8xf32> {aicf.name = "x", aicf.role = "input"},
                   %W: tensor<2x8xf32> {aicf.name = "W", aicf.role = "param"},
                   %W16: tensor<2x8xbf16> {aicf.derived_from = "W", aicf.name = "W.bf16", aicf.role = "state"})
    -> (tensor<4x2xf32> {aicf.name = "y"}) {
  %x16 = aicf.cast %x to bf16 : tensor<4x8xf32>
  %y16 = aicf.linear %x16, %W16 : tensor<4x8xbf16>, tensor<2x8xbf16>
  %y = aicf.cast %y16 to f32 : tensor<4x2xbf16>
  return %y : tensor<4x2xf32>
}
