// RUN: aicf-opt %s --aicf-set-target=target=cuda --aicf-rt-fuse-calls --split-input-file | FileCheck %s
// RUN: aicf-opt %s --aicf-set-target=target=cuda --aicf-rt-fuse-calls --remarks-filter-missed=aicf --split-input-file --verify-diagnostics -o /dev/null
// RUN: sed -n 's,^// STEP: ,,p' %s | not aicf-opt --aicf-rt-fuse-calls 2>&1 | FileCheck %s --check-prefix=FORM

// Tests an entry that is not lowered.
// STEP: func.func @f(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
// STEP:     -> (tensor<4xf32> {aicf.name = "y"}) {
// STEP:   %y = aicf.relu %x : tensor<4xf32>
// STEP:   return %y : tensor<4xf32>
// STEP: }
// FORM: is not an aicf_rt.call: run --aicf-lower-to-rt first

// Tests a product that something else reads too.
// CHECK-LABEL: func.func @read_twice
// CHECK: aicf_rt.call gemm(%
// CHECK: aicf_rt.call bias_add(
func.func @read_twice(%x: tensor<8x8xf32> {aicf.role = "input", aicf.name = "x"},
                      %b: tensor<8xf32> {aicf.role = "param", aicf.name = "b"})
    -> (tensor<8x8xf32> {aicf.name = "y"}, tensor<8x8xf32> {aicf.name = "z"}) {
  // expected-remark @+1 {{gemm is not fused to gemm_bias: 'func.return' reads the result of 'gemm' too}}
  %0 = aicf_rt.call gemm(%x, %x) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = aicf_rt.call bias_add(%0, %b) : (tensor<8x8xf32>, tensor<8xf32>) -> tensor<8x8xf32>
  return %0, %1 : tensor<8x8xf32>, tensor<8x8xf32>
}

// -----

// Tests a sum before relu that is returned: bias is fused, relu is not.
// CHECK-LABEL: func.func @sum_returned
// CHECK: aicf_rt.call {
// CHECK: t1 = bias_add(
// CHECK-NEXT: yield t1
// CHECK: aicf_rt.call relu(
func.func @sum_returned(%x: tensor<8x8xf32> {aicf.role = "input", aicf.name = "x"},
                        %b: tensor<8xf32> {aicf.role = "param", aicf.name = "b"})
    -> (tensor<8x8xf32> {aicf.name = "y"}, tensor<8x8xf32> {aicf.name = "z"}) {
  %0 = aicf_rt.call gemm(%x, %x) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = aicf_rt.call bias_add(%0, %b) : (tensor<8x8xf32>, tensor<8xf32>) -> tensor<8x8xf32>
  %2 = aicf_rt.call relu(%1) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %1, %2 : tensor<8x8xf32>, tensor<8x8xf32>
}

// -----

// Tests a bias along the rows.
// CHECK-LABEL: func.func @other_axis
// CHECK: aicf_rt.call bias_add(%{{.*}}) {axis = 0}
func.func @other_axis(%x: tensor<8x8xf32> {aicf.role = "input", aicf.name = "x"},
                      %b: tensor<8xf32> {aicf.role = "param", aicf.name = "b"})
    -> (tensor<8x8xf32> {aicf.name = "y"}) {
  // expected-remark @+1 {{gemm is not fused to gemm_bias: the target has no kernel for them in one call}}
  %0 = aicf_rt.call gemm(%x, %x) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = aicf_rt.call bias_add(%0, %b) {axis = 0} : (tensor<8x8xf32>, tensor<8xf32>) -> tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// -----

// Tests a sum over the columns, and one that keeps its dimension.
// CHECK-LABEL: func.func @other_sums
// CHECK-NOT: aicf_rt.call {
func.func @other_sums(%d: tensor<8x8xf32> {aicf.role = "input", aicf.name = "d"},
                      %h: tensor<8x8xf32> {aicf.role = "input", aicf.name = "h"})
    -> (tensor<8x8xf32> {aicf.name = "w"}, tensor<8xf32> {aicf.name = "s"},
        tensor<1x8xf32> {aicf.name = "k"}) {
  // expected-remark @+1 {{gemm is not fused to gemm_reduce: the target has no kernel for them in one call}}
  %w = aicf_rt.call gemm(%d, %h) {transA = true} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %s = aicf_rt.call reduce_sum(%d) {axis = 1} : (tensor<8x8xf32>) -> tensor<8xf32>
  %k = aicf_rt.call reduce_sum(%d) : (tensor<8x8xf32>) -> tensor<1x8xf32>
  return %w, %s, %k : tensor<8x8xf32>, tensor<8xf32>, tensor<1x8xf32>
}

// -----

// Tests an input gradient, which needs no sum of its operand's rows here.
// CHECK-LABEL: func.func @not_transposed
// CHECK: aicf_rt.call gemm(%
// CHECK: aicf_rt.call reduce_sum(
func.func @not_transposed(%d: tensor<8x8xf32> {aicf.role = "input", aicf.name = "d"})
    -> (tensor<8x8xf32> {aicf.name = "w"}, tensor<8xf32> {aicf.name = "s"}) {
  // expected-remark @+1 {{gemm is not fused to gemm_reduce: the target has no kernel for them in one call}}
  %w = aicf_rt.call gemm(%d, %d) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %s = aicf_rt.call reduce_sum(%d) : (tensor<8x8xf32>) -> tensor<8xf32>
  return %w, %s : tensor<8x8xf32>, tensor<8xf32>
}
