// RUN: aicf-opt %s --aicf-set-target=target=cuda --aicf-rt-fuse-pointwise --split-input-file | FileCheck %s
// RUN: aicf-opt %s --aicf-rt-fuse-pointwise --split-input-file | FileCheck %s --check-prefix=CPU
// RUN: aicf-opt %s --aicf-set-target=target=cuda --aicf-rt-fuse-pointwise --remarks-filter-missed=aicf --split-input-file --verify-diagnostics -o /dev/null

// Tests a sum of little, which something else reads, too.
// CPU-LABEL: func.func @small
// CPU: aicf_rt.call exp(
// CPU: aicf_rt.call reduce_sum(
// CHECK-LABEL: func.func @small
// CHECK: aicf_rt.call exp(
// CHECK: aicf_rt.call reduce_sum(
func.func @small(%x: tensor<64x8xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<64x8xf32> {aicf.name = "e"}, tensor<8xf32> {aicf.name = "s"}) {
  %e = aicf_rt.call exp(%x) : (tensor<64x8xf32>) -> tensor<64x8xf32>
  // expected-remark @+1 {{sums of few bytes are faster apart from what others read}}
  %s = aicf_rt.call reduce_sum(%e) : (tensor<64x8xf32>) -> tensor<8xf32>
  return %e, %s : tensor<64x8xf32>, tensor<8xf32>
}

// -----

// What does not fit into a CPU's second cache is little for a GPU.
// CPU-LABEL: func.func @middle
// CPU: t0 = exp(
// CPU-NEXT: t1 = reduce_sum(t0)
// CHECK-LABEL: func.func @middle
// CHECK: aicf_rt.call exp(
func.func @middle(%x: tensor<65536x8xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<65536x8xf32> {aicf.name = "e"}, tensor<8xf32> {aicf.name = "s"}) {
  %e = aicf_rt.call exp(%x) : (tensor<65536x8xf32>) -> tensor<65536x8xf32>
  // expected-remark @+1 {{sums of few bytes are faster apart from what others read}}
  %s = aicf_rt.call reduce_sum(%e) : (tensor<65536x8xf32>) -> tensor<8xf32>
  return %e, %s : tensor<65536x8xf32>, tensor<8xf32>
}
