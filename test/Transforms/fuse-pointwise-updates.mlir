// Tests the place of a call that reads a state: in front of what updates it, which may then
// write into it.

// RUN: aicf-opt %s --aicf-rt-fuse-pointwise --split-input-file | FileCheck %s
// RUN: aicf-opt %s --aicf-rt-fuse-pointwise --remarks-filter-missed=aicf --split-input-file --verify-diagnostics -o /dev/null

// CHECK-LABEL: func.func @counter
// CHECK: aicf_rt.call {
// CHECK-NEXT: dropout(
// CHECK-NEXT: add(
// CHECK: aicf_rt.call step_inc(
func.func @counter(%x: tensor<4x8xf32> {aicf.role = "input", aicf.name = "x"},
                   %step: tensor<i64> {aicf.role = "state", aicf.name = "step"})
    -> (tensor<4x8xf32> {aicf.name = "y"}, tensor<i64> {aicf.updates = "step"})
    attributes {aicf.target = #aicf.target<cuda>} {
  %d = aicf_rt.call dropout(%x, %step) {p = 0.5, seed = 1} : (tensor<4x8xf32>, tensor<i64>) -> tensor<4x8xf32>
  %n = aicf_rt.call step_inc(%step) : (tensor<i64>) -> tensor<i64>
  %y = aicf_rt.call add(%d, %x) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %y, %n : tensor<4x8xf32>, tensor<i64>
}

// -----

// The reader needs the new state, too.
// CHECK-LABEL: func.func @both
// CHECK: aicf_rt.call tanh(
// CHECK: aicf_rt.call add(
func.func @both(%s: tensor<4x8xf32> {aicf.role = "state", aicf.name = "s"})
    -> (tensor<4x8xf32> {aicf.name = "y"}, tensor<4x8xf32> {aicf.updates = "s"})
    attributes {aicf.target = #aicf.target<cuda>} {
  %t = aicf_rt.call tanh(%s) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %n = aicf_rt.call cumsum(%s) {axis = 1} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // expected-remark @+1 {{'add' is not fused to 'tanh', whose result it reads: something between them updates what the first reads}}
  %y = aicf_rt.call add(%t, %n) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %y, %n : tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// A result that updates no state changes nothing.
// CHECK-LABEL: func.func @output
// CHECK: aicf_rt.call step_inc(
// CHECK: aicf_rt.call {
// CHECK-NEXT: dropout(
func.func @output(%x: tensor<4x8xf32> {aicf.role = "input", aicf.name = "x"},
                  %step: tensor<i64> {aicf.role = "state", aicf.name = "step"})
    -> (tensor<4x8xf32> {aicf.name = "y"}, tensor<i64> {aicf.name = "n"})
    attributes {aicf.target = #aicf.target<cuda>} {
  %d = aicf_rt.call dropout(%x, %step) {p = 0.5, seed = 1} : (tensor<4x8xf32>, tensor<i64>) -> tensor<4x8xf32>
  %n = aicf_rt.call step_inc(%step) : (tensor<i64>) -> tensor<i64>
  %y = aicf_rt.call add(%d, %x) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %y, %n : tensor<4x8xf32>, tensor<i64>
}

// -----

// A recurrent cell whose state is multiplied: its update may write there if it is a call of
// its own.
// CHECK-LABEL: func.func @cell
// CHECK: aicf_rt.call {
// CHECK-NEXT: gemm(
// CHECK-NEXT: add(
// CHECK: aicf_rt.call tanh(
func.func @cell(%x: tensor<64x64xf32> {aicf.role = "input", aicf.name = "x"},
                %w: tensor<64x64xf32> {aicf.role = "param", aicf.name = "w"},
                %h: tensor<64x64xf32> {aicf.role = "state", aicf.name = "h"})
    -> (tensor<64x64xf32> {aicf.updates = "h"}) attributes {aicf.target = #aicf.target<cuda>} {
  %c = aicf_rt.call gemm(%h, %w) {transA = 0, transB = 0} : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %a = aicf_rt.call add(%c, %x) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  // expected-remark @+1 {{the second one updates what the first one multiplies}}
  %n = aicf_rt.call tanh(%a) : (tensor<64x64xf32>) -> tensor<64x64xf32>
  return %n : tensor<64x64xf32>
}
