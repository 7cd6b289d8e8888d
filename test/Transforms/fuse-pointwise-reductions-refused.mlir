// Tests reductions that stay apart from what reads them, and what a remark says of it.

// RUN: aicf-opt %s --aicf-rt-fuse-pointwise --split-input-file | FileCheck %s
// RUN: aicf-opt %s --aicf-rt-fuse-pointwise --remarks-filter-missed=aicf --split-input-file --verify-diagnostics -o /dev/null

// Sums of rows, repeated as a row.
// CHECK-LABEL: func.func @turned
// CHECK: aicf_rt.call reduce_sum(
// CHECK: aicf_rt.call mul(
func.func @turned(%x: tensor<64x64xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<64x64xf32> {aicf.name = "y"}) attributes {aicf.target = #aicf.target<cuda>} {
  %s = aicf_rt.call reduce_sum(%x) {axis = 1} : (tensor<64x64xf32>) -> tensor<64xf32>
  %v = aicf_rt.view %s[0] : tensor<64xf32> to tensor<64x64xf32, #aicf_rt.strided<[0, 1]>>
  // expected-remark @+1 {{'mul' is not fused to 'reduce_sum', whose result it reads: primitive 1 (expand): its result y must be a result of the call: nothing else gives its type}}
  %y = aicf_rt.call mul(%x, %v) : (tensor<64x64xf32>, tensor<64x64xf32, #aicf_rt.strided<[0, 1]>>) -> tensor<64x64xf32>
  return %y : tensor<64x64xf32>
}

// -----

// Two rows: the kernel would leave most of the card alone.
// CHECK-LABEL: func.func @two_rows
// CHECK: aicf_rt.call reduce_sum(
// CHECK: aicf_rt.call mul(
func.func @two_rows(%x: tensor<2x1048576xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<2x1048576xf32> {aicf.name = "y"}) attributes {aicf.target = #aicf.target<cuda>} {
  %s = aicf_rt.call reduce_sum(%x) {axis = 1} : (tensor<2x1048576xf32>) -> tensor<2xf32>
  %v = aicf_rt.view %s[0] : tensor<2xf32> to tensor<2x1048576xf32, #aicf_rt.strided<[1, 0]>>
  // expected-remark @+1 {{'mul' is not fused to 'reduce_sum', whose result it reads: the target has no kernel for them in one call; reduction_graph_v0: it does not pay: not (groupsPay(GraphView(call), costs))}}
  %y = aicf_rt.call mul(%x, %v) : (tensor<2x1048576xf32>, tensor<2x1048576xf32, #aicf_rt.strided<[1, 0]>>) -> tensor<2x1048576xf32>
  return %y : tensor<2x1048576xf32>
}

// -----

// What is repeated has not been reduced.
// CHECK-LABEL: func.func @nothing_reduced
// CHECK: aicf_rt.call exp(
// CHECK: aicf_rt.call mul(
func.func @nothing_reduced(%x: tensor<64x512xf32> {aicf.role = "input", aicf.name = "x"},
                           %b: tensor<64xf32> {aicf.role = "input", aicf.name = "b"})
    -> (tensor<64x512xf32> {aicf.name = "y"}) attributes {aicf.target = #aicf.target<cuda>} {
  %e = aicf_rt.call exp(%b) : (tensor<64xf32>) -> tensor<64xf32>
  %v = aicf_rt.view %e[0] : tensor<64xf32> to tensor<64x512xf32, #aicf_rt.strided<[1, 0]>>
  // expected-remark @+1 {{'mul' is not fused to 'exp', whose result it reads: one call would have too many primitives, operands or results, would repeat what is not reduced, or would read what it repeats in another way, too}}
  %y = aicf_rt.call mul(%x, %v) : (tensor<64x512xf32>, tensor<64x512xf32, #aicf_rt.strided<[1, 0]>>) -> tensor<64x512xf32>
  return %y : tensor<64x512xf32>
}

// -----

// One call reduces over one dimension.
// CHECK-LABEL: func.func @both_dimensions
// CHECK: aicf_rt.call {
// CHECK-NEXT: reduce_sum
// CHECK: aicf_rt.call {
// CHECK-NEXT: reduce_sum
func.func @both_dimensions(%x: tensor<512x512xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<512x512xf32> {aicf.name = "y"}) attributes {aicf.target = #aicf.target<cuda>} {
  %s = aicf_rt.call reduce_sum(%x) {axis = 1} : (tensor<512x512xf32>) -> tensor<512xf32>
  %v = aicf_rt.view %s[0] : tensor<512xf32> to tensor<512x512xf32, #aicf_rt.strided<[1, 0]>>
  %c = aicf_rt.call sub(%x, %v) : (tensor<512x512xf32>, tensor<512x512xf32, #aicf_rt.strided<[1, 0]>>) -> tensor<512x512xf32>
  // expected-remark @+2 {{'reduce_sum' is not fused to 'reduce_sum, expand, sub', whose result it reads: the target has no kernel for them in one call}}
  // expected-remark @+1 {{'reduce_sum, expand, div' is not fused to 'reduce_sum, expand, sub', whose result it reads: the target has no kernel for them in one call; reduction_graph_v0: not (hasGroups(GraphView(call)))}}
  %t = aicf_rt.call reduce_sum(%c) : (tensor<512x512xf32>) -> tensor<512xf32>
  %w = aicf_rt.view %t[0] : tensor<512xf32> to tensor<512x512xf32, #aicf_rt.strided<[0, 1]>>
  %y = aicf_rt.call div(%c, %w) : (tensor<512x512xf32>, tensor<512x512xf32, #aicf_rt.strided<[0, 1]>>) -> tensor<512x512xf32>
  return %y : tensor<512x512xf32>
}

// -----

// The second one reads every second sum.
// CHECK-LABEL: func.func @other_elements
// CHECK: aicf_rt.call reduce_sum(
// CHECK: aicf_rt.call mul(
func.func @other_elements(%x: tensor<128x512xf32> {aicf.role = "input", aicf.name = "x"},
                          %z: tensor<64x512xf32> {aicf.role = "input", aicf.name = "z"})
    -> (tensor<64x512xf32> {aicf.name = "y"}) attributes {aicf.target = #aicf.target<cuda>} {
  %s = aicf_rt.call reduce_sum(%x) {axis = 1} : (tensor<128x512xf32>) -> tensor<128xf32>
  %v = aicf_rt.view %s[0] : tensor<128xf32> to tensor<64x512xf32, #aicf_rt.strided<[2, 0]>>
  %y = aicf_rt.call mul(%z, %v) : (tensor<64x512xf32>, tensor<64x512xf32, #aicf_rt.strided<[2, 0]>>) -> tensor<64x512xf32>
  return %y : tensor<64x512xf32>
}

// -----

// Each sum is repeated 128 times, not as often as it has summands. Without a whole tensor
// beside it, nothing inside would say so.
// CHECK-LABEL: func.func @other_length
// CHECK: aicf_rt.call reduce_sum(
// CHECK: aicf_rt.call reduce_sum(
func.func @other_length(%x: tensor<256x512xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<256xf32> {aicf.name = "y"}) attributes {aicf.target = #aicf.target<cuda>} {
  %s = aicf_rt.call reduce_sum(%x) {axis = 1} : (tensor<256x512xf32>) -> tensor<256xf32>
  %v = aicf_rt.view %s[0] : tensor<256xf32> to tensor<256x128xf32, #aicf_rt.strided<[1, 0]>>
  // expected-remark @+1 {{'reduce_sum' is not fused to 'reduce_sum', whose result it reads: what is repeated would be as long as what is reduced}}
  %y = aicf_rt.call reduce_sum(%v) {axis = 1} : (tensor<256x128xf32, #aicf_rt.strided<[1, 0]>>) -> tensor<256xf32>
  return %y : tensor<256xf32>
}
