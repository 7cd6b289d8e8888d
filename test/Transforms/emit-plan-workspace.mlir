// RUN: aicf-opt %s --lower-to-backend=target=cuda | FileCheck %s

// Tests that calls that make use of scratch memory share one buffer, as large
// as the largest wants, each with its own bytes of it, and that others have none.
// CHECK: %[[S:.*]] = aicf_rt.alloc workspace bytes(33554432) offset({{[0-9]+}})
// CHECK: aicf_rt.call gemm({{.*}}) {{.*}}workspace(%[[S]]) {{.*}}launch<kernel = "gemm_bf16_lt_v0", workspace = 33554432>
// CHECK: aicf_rt.call softmax(
// CHECK-NOT: workspace
// CHECK-SAME: launch<kernel = "softmax_bf16_v0">
// CHECK: aicf_rt.call reduce_sum({{.*}}) {{.*}}workspace(%[[S]]) {{.*}}launch<kernel = "reduce_sum_bf16_v0", workspace = 262144>
func.func @predict(%x: tensor<512x512xbf16> {aicf.role = "input", aicf.name = "x"},
                   %w: tensor<512x512xbf16> {aicf.role = "param", aicf.name = "w"})
    -> (tensor<512xbf16> {aicf.name = "y"}) {
  %0 = aicf.linear %x, %w : tensor<512x512xbf16>, tensor<512x512xbf16>
  %1 = aicf.softmax %0 : tensor<512x512xbf16>
  %2 = aicf.reduce_sum %1 over [0] : tensor<512x512xbf16>
  return %2 : tensor<512xbf16>
}
