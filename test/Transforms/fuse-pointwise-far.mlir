// Tests how far apart elementwise calls may stand: the operands of the first one stay
// in memory until the second one.

// RUN: aicf-opt %s --aicf-rt-fuse-pointwise --split-input-file | FileCheck %s
// RUN: aicf-opt %s --aicf-rt-fuse-pointwise --remarks-filter-missed=aicf --split-input-file --verify-diagnostics -o /dev/null

// Two operands would stay in memory over nine calls for one result.
// CHECK-LABEL: func.func @far
// CHECK: aicf_rt.call add(
// CHECK: aicf_rt.call cumsum(
func.func @far(%x: tensor<4x8xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4x8xf32> {aicf.name = "y"}) {
  %a = aicf_rt.call cumsum(%x) {axis = 1} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %b = aicf_rt.call cumsum(%a) {axis = 1} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %s = aicf_rt.call add(%a, %b) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %0 = aicf_rt.call cumsum(%x) {axis = 1} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = aicf_rt.call cumsum(%0) {axis = 1} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = aicf_rt.call cumsum(%1) {axis = 1} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %3 = aicf_rt.call cumsum(%2) {axis = 1} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %4 = aicf_rt.call cumsum(%3) {axis = 1} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %5 = aicf_rt.call cumsum(%4) {axis = 1} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %6 = aicf_rt.call cumsum(%5) {axis = 1} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %7 = aicf_rt.call cumsum(%6) {axis = 1} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %8 = aicf_rt.call cumsum(%7) {axis = 1} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // expected-remark @+1 {{'mul' is not fused to 'add', whose result it reads: the operands of the first would stay in memory for longer}}
  %y = aicf_rt.call mul(%s, %8) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

// The operands are there in any case.
// CHECK-LABEL: func.func @alive
// CHECK: aicf_rt.call {
// CHECK-NEXT: t0 = add(
// CHECK-NEXT: t1 = mul(t0, %{{.*}})
func.func @alive(%x: tensor<4x8xf32> {aicf.role = "input", aicf.name = "x"},
                 %z: tensor<4x8xf32> {aicf.role = "input", aicf.name = "z"})
    -> (tensor<4x8xf32> {aicf.name = "y"}) {
  %s = aicf_rt.call add(%x, %z) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %0 = aicf_rt.call cumsum(%x) {axis = 1} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = aicf_rt.call cumsum(%0) {axis = 1} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = aicf_rt.call cumsum(%1) {axis = 1} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %3 = aicf_rt.call cumsum(%2) {axis = 1} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %4 = aicf_rt.call cumsum(%3) {axis = 1} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %5 = aicf_rt.call cumsum(%4) {axis = 1} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %6 = aicf_rt.call cumsum(%5) {axis = 1} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %7 = aicf_rt.call cumsum(%6) {axis = 1} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %8 = aicf_rt.call cumsum(%7) {axis = 1} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %y = aicf_rt.call mul(%s, %8) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

// One operand stays in memory for one result that goes.
// CHECK-LABEL: func.func @even
// CHECK: aicf_rt.call {
// CHECK-NEXT: t0 = tanh(
func.func @even(%x: tensor<4x8xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4x8xf32> {aicf.name = "y"}) {
  %a = aicf_rt.call cumsum(%x) {axis = 1} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %s = aicf_rt.call tanh(%a) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %0 = aicf_rt.call cumsum(%x) {axis = 1} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = aicf_rt.call cumsum(%0) {axis = 1} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = aicf_rt.call cumsum(%1) {axis = 1} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %3 = aicf_rt.call cumsum(%2) {axis = 1} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %4 = aicf_rt.call cumsum(%3) {axis = 1} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %5 = aicf_rt.call cumsum(%4) {axis = 1} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %6 = aicf_rt.call cumsum(%5) {axis = 1} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %7 = aicf_rt.call cumsum(%6) {axis = 1} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %8 = aicf_rt.call cumsum(%7) {axis = 1} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %y = aicf_rt.call mul(%s, %8) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

// Eight calls are near.
// CHECK-LABEL: func.func @near
// CHECK: aicf_rt.call {
// CHECK-NEXT: t0 = add(
func.func @near(%x: tensor<4x8xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4x8xf32> {aicf.name = "y"}) {
  %a = aicf_rt.call cumsum(%x) {axis = 1} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %b = aicf_rt.call cumsum(%a) {axis = 1} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %s = aicf_rt.call add(%a, %b) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %0 = aicf_rt.call cumsum(%x) {axis = 1} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = aicf_rt.call cumsum(%0) {axis = 1} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = aicf_rt.call cumsum(%1) {axis = 1} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %3 = aicf_rt.call cumsum(%2) {axis = 1} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %4 = aicf_rt.call cumsum(%3) {axis = 1} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %5 = aicf_rt.call cumsum(%4) {axis = 1} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %6 = aicf_rt.call cumsum(%5) {axis = 1} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %7 = aicf_rt.call cumsum(%6) {axis = 1} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %y = aicf_rt.call mul(%s, %7) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}
