// RUN: split-file %s %t
// RUN: aicf-opt %t/padded.mlir --aicf-rt-eliminate-saves | FileCheck %s
// RUN: not aicf-opt %t/strided.mlir --aicf-rt-eliminate-saves 2>&1 | FileCheck %s --check-prefix=STRIDED
// RUN: not aicf-opt %t/index.mlir --aicf-rt-eliminate-saves 2>&1 | FileCheck %s --check-prefix=INDEX

// Tests which arguments an entry of calls may have.

//--- padded.mlir
// A state that the executor owns.
// CHECK: relu(%{{.*}}) : (tensor<5x3xbf16, #aicf_rt.padded>)
func.func @step(%s: tensor<5x3xbf16, #aicf_rt.padded>
                    {aicf.role = "state", aicf.name = "s"})
    -> (tensor<5x3xbf16> {aicf.name = "y"}) {
  %y = aicf_rt.call relu(%s) : (tensor<5x3xbf16, #aicf_rt.padded>) -> tensor<5x3xbf16>
  return %y : tensor<5x3xbf16>
}

//--- strided.mlir
// STRIDED: error: argument 0 is 'tensor<5x3xbf16, #aicf_rt.strided<[1, 5]>>', expected a ranked tensor of f16, bf16, f32, f64, i32, i64 or i1 without encoding
func.func @step(%s: tensor<5x3xbf16, #aicf_rt.strided<[1, 5]>>
                    {aicf.role = "state", aicf.name = "s"})
    -> (tensor<5x3xbf16> {aicf.name = "y"}) {
  %y = aicf_rt.call copy(%s) : (tensor<5x3xbf16, #aicf_rt.strided<[1, 5]>>) -> tensor<5x3xbf16>
  return %y : tensor<5x3xbf16>
}

//--- index.mlir
// INDEX: error: argument 1 is 'index', expected a ranked tensor
func.func @step(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"},
                %i: index {aicf.role = "input", aicf.name = "i"})
    -> (tensor<4xf32> {aicf.name = "y"}) {
  %y = aicf_rt.call relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
