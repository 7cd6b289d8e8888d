// RUN: aicf-opt %s --aicf-rematerialize --split-input-file --verify-diagnostics
// RUN: not aicf-opt %s --aicf-rematerialize=rate=-1 --split-input-file 2>&1 | FileCheck %s --check-prefix=RATE
// RUN: not aicf-opt %s --aicf-rematerialize=rate=nan --split-input-file 2>&1 | FileCheck %s --check-prefix=NAN
// RATE: error: rate is -1.000000e+00, expected a number >= 0
// NAN: error: rate is nan, expected a number >= 0

func.func @entry(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4xf32> {aicf.name = "y"}) {
  return %x : tensor<4xf32>
}

// -----

func.func private @impure(tensor<f32>) -> tensor<f32>
func.func @again(%W: tensor<f32> {aicf.role = "param", aicf.name = "W"})
    -> (tensor<f32> {aicf.name = "y"}) {
  // expected-error @+1 {{'func.call' op has 'aicf.recompute', but is not pure}}
  %l = func.call @impure(%W) {aicf.recompute} : (tensor<f32>) -> tensor<f32>
  return %l : tensor<f32>
}

// -----

// expected-error @+1 {{entry @blocks must have one block that ends in func.return, got 2 blocks}}
func.func @blocks(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4xf32> {aicf.name = "y"}) {
  cf.br ^next
^next:
  return %x : tensor<4xf32>
}
