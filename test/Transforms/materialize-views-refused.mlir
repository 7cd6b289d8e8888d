// RUN: aicf-opt %s --aicf-rt-materialize-views --split-input-file --verify-diagnostics | FileCheck %s

// Tests that the pass runs on primitives only.
func.func @early(%x: tensor<4x6xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<24xf32> {aicf.name = "a"}) {
  %t = aicf_rt.view %x[0] : tensor<4x6xf32> to tensor<24xf32>
  // expected-error @+1 {{is not an aicf_rt.call: run --aicf-lower-to-rt first}}
  %a = aicf.relu %t : tensor<24xf32>
  return %a : tensor<24xf32>
}

// -----

// Tests that functions that are not entries are left alone.
// CHECK-LABEL: func.func private @other
// CHECK-NEXT: %[[T:.*]] = aicf_rt.view
// CHECK-NEXT: aicf_rt.call relu(%[[T]])
func.func private @other(%x: tensor<4x6xf32>) -> tensor<6x4xf32> {
  %t = aicf_rt.view %x[0] : tensor<4x6xf32> to tensor<6x4xf32, #aicf_rt.strided<[1, 6]>>
  %a = aicf_rt.call relu(%t) : (tensor<6x4xf32, #aicf_rt.strided<[1, 6]>>) -> tensor<6x4xf32>
  return %a : tensor<6x4xf32>
}

// -----

// Tests that what is made of a view is not taken for a copy of it.
// CHECK-LABEL: @readers
// CHECK: %[[D:.*]] = aicf_rt.call copy(
// CHECK: %[[A:.*]] = aicf_rt.call relu(%[[D]])
// CHECK: %[[B:.*]] = aicf_rt.call tanh(%[[D]])
// CHECK: aicf_rt.call add(%[[A]], %[[B]])
func.func @readers(%x: tensor<4x6xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<6x4xf32> {aicf.name = "c"}) {
  %t = aicf_rt.view %x[0] : tensor<4x6xf32> to tensor<6x4xf32, #aicf_rt.strided<[1, 6]>>
  %a = aicf_rt.call relu(%t) : (tensor<6x4xf32, #aicf_rt.strided<[1, 6]>>) -> tensor<6x4xf32>
  %b = aicf_rt.call tanh(%t) : (tensor<6x4xf32, #aicf_rt.strided<[1, 6]>>) -> tensor<6x4xf32>
  %c = aicf_rt.call add(%a, %b) : (tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<6x4xf32>
  return %c : tensor<6x4xf32>
}
