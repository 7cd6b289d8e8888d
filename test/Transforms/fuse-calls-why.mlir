// RUN: aicf-opt %s --aicf-rt-fuse-calls --split-input-file | FileCheck %s
// RUN: aicf-opt %s --aicf-rt-fuse-calls --remarks-filter-missed=aicf --split-input-file --verify-diagnostics -o /dev/null

// Tests a product that is the mask, too: they would not match without the reader
// outside either, and nothing is said.
// CHECK-LABEL: func.func @mask_is_product
// CHECK-NOT: aicf_rt.call {
func.func @mask_is_product(%d: tensor<8x8xf32> {aicf.role = "input", aicf.name = "d"})
    -> (tensor<8x8xf32> {aicf.name = "c"}, tensor<8x8xf32> {aicf.name = "g"})
    attributes {aicf.target = #aicf.target<cuda>} {
  %c = aicf_rt.call gemm(%d, %d) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %g = aicf_rt.call relu_bwd(%c, %c) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %c, %g : tensor<8x8xf32>, tensor<8x8xf32>
}

// -----

// Tests a product of another type than its operands: inside of a call it would have
// theirs, and not the bias's.
// CHECK-LABEL: func.func @wider_product
// CHECK-NOT: aicf_rt.call {
func.func @wider_product(%x: tensor<8x8xf16> {aicf.role = "input", aicf.name = "x"},
                         %b: tensor<8xf32> {aicf.role = "input", aicf.name = "b"})
    -> (tensor<8x8xf32> {aicf.name = "y"}) attributes {aicf.target = #aicf.target<cuda>} {
  // expected-remark @+1 {{gemm is not fused to gemm_bias: a value inside of one call would have another type}}
  %0 = aicf_rt.call gemm(%x, %x) : (tensor<8x8xf16>, tensor<8x8xf16>) -> tensor<8x8xf32>
  %1 = aicf_rt.call bias_add(%0, %b) : (tensor<8x8xf32>, tensor<8xf32>) -> tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// -----

// Tests a sum that has no kernel with the product and stands too early for it, too:
// the kernel is what is missing.
// CHECK-LABEL: func.func @other_sum_before
// CHECK-NOT: aicf_rt.call {
func.func @other_sum_before(%d: tensor<8x8xf32> {aicf.role = "input", aicf.name = "d"},
                            %x: tensor<8x8xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<8x8xf32> {aicf.name = "w"}, tensor<8xf32> {aicf.name = "s"})
    attributes {aicf.target = #aicf.target<cuda>} {
  %s = aicf_rt.call reduce_sum(%d) {axis = 1} : (tensor<8x8xf32>) -> tensor<8xf32>
  %h = aicf_rt.call relu(%x) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  // expected-remark @+1 {{the target has no kernel for them in one call; gemm_reduce_f32_tile_v0: not (sumsOverK(c))}}
  %w = aicf_rt.call gemm(%d, %h) {transA = true} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %w, %s : tensor<8x8xf32>, tensor<8xf32>
}

// -----

// Tests that an update and the copy of what it writes stay apart: many of them go
// into one call later (--aicf-rt-batch-calls).
// CHECK-LABEL: func.func @update
// CHECK-NOT: aicf_rt.call {
func.func @update(%w: tensor<8xf32> {aicf.role = "param", aicf.name = "w"},
                  %g: tensor<8xf32> {aicf.role = "input", aicf.name = "g"},
                  %lr: tensor<f32> {aicf.role = "hyper", aicf.name = "lr"})
    -> (tensor<8xf32> {aicf.updates = "w"}, tensor<8xbf16> {aicf.name = "h"})
    attributes {aicf.target = #aicf.target<cuda>} {
  %0 = aicf_rt.call sgd_step(%w, %g, %lr) : (tensor<8xf32>, tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %1 = aicf_rt.call cast(%0) : (tensor<8xf32>) -> tensor<8xbf16>
  return %0, %1 : tensor<8xf32>, tensor<8xbf16>
}
