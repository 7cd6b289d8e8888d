// RUN: aicf-opt %s --lower-to-backend=target=cuda | FileCheck %s

// Tests that calls that make use of scratch memory name one tensor for it, as
// large as the largest wants, and that others name none.
// CHECK: aicf_rt.tensor 3 "" "temp"
// CHECK: aicf_rt.tensor 4 "" "workspace" "temp"[{{[0-9]+}}] vid(-1) : tensor<8388608xi32>
// CHECK: aicf_rt.call "gemm" "gemm_bf16_lt_v0" {{.*}} {workspace = 4 : i64}
// CHECK: aicf_rt.call "relu" "relu_bf16_vec8_v0"
// CHECK-NOT: workspace
// CHECK: aicf_rt.call "reduce_sum" "reduce_sum_bf16_v0" {{.*}} {workspace = 4 : i64}
func.func @predict(%x: tensor<512x512xbf16> {aicf.role = "input", aicf.name = "x"},
                   %w: tensor<512x512xbf16> {aicf.role = "param", aicf.name = "w"})
    -> (tensor<512xbf16> {aicf.name = "y"}) {
  %0 = aicf.linear %x, %w : tensor<512x512xbf16>, tensor<512x512xbf16>
  %1 = aicf.relu %0 : tensor<512x512xbf16>
  %2 = aicf.reduce_sum %1 : tensor<512x512xbf16>
  return %2 : tensor<512xbf16>
}
