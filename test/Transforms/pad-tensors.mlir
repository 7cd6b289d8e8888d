// RUN: aicf-opt %s --aicf-set-target=target=cuda --aicf-rt-pad-tensors --split-input-file | FileCheck %s
// RUN: aicf-opt %s --aicf-rt-pad-tensors --split-input-file | FileCheck %s --check-prefix=CPU
// CPU-NOT: #aicf_rt.padded>

// Tests a product that the library runs: its operand is padded, the output is
// not.
// CHECK-LABEL: func.func @product
func.func @product(%x: tensor<1000x777xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<1000x1000xf32> {aicf.name = "y"}) {
  // CHECK: %[[W:.*]] = aicf_rt.call cast(%arg0) : (tensor<1000x777xf32>) -> tensor<1000x777xbf16, #aicf_rt.padded>
  // CHECK: aicf_rt.call gemm(%[[W]], %[[W]]) {transB = true}
  // CHECK-SAME: (tensor<1000x777xbf16, #aicf_rt.padded>, tensor<1000x777xbf16, #aicf_rt.padded>) -> tensor<1000x1000xf32>
  %w = aicf_rt.call cast(%x) : (tensor<1000x777xf32>) -> tensor<1000x777xbf16>
  %y = aicf_rt.call gemm(%w, %w) {transB = true}
      : (tensor<1000x777xbf16>, tensor<1000x777xbf16>) -> tensor<1000x1000xf32>
  return %y : tensor<1000x1000xf32>
}

// -----

// Tests a chain: a state derived from a param, bias and relu in 16 bits, the
// sums; and an output at its end, whose product takes padded operands only.
// CHECK-LABEL: func.func @chain
// CHECK-SAME: %arg1: tensor<555x777xf32>
// CHECK-SAME: %arg2: tensor<555x777xbf16, #aicf_rt.padded>
// CHECK-SAME: -> (tensor<555x777xbf16, #aicf_rt.padded> {aicf.updates = "w16"}
func.func @chain(%x: tensor<1000x777xf32> {aicf.role = "input", aicf.name = "x"},
                 %w: tensor<555x777xf32> {aicf.role = "param", aicf.name = "w"},
                 %w16: tensor<555x777xbf16> {aicf.role = "state", aicf.name = "w16", aicf.derived_from = "w"},
                 %b: tensor<555xf32> {aicf.role = "input", aicf.name = "b"})
    -> (tensor<555x777xbf16> {aicf.updates = "w16"}, tensor<1000x777xbf16> {aicf.name = "z"},
        tensor<555xf32> {aicf.name = "sums"}) {
  %x16 = aicf_rt.call cast(%x) : (tensor<1000x777xf32>) -> tensor<1000x777xbf16>
  // CHECK: cast(%arg3) : (tensor<555xf32>) -> tensor<555xbf16, #aicf_rt.padded>
  %b16 = aicf_rt.call cast(%b) : (tensor<555xf32>) -> tensor<555xbf16>
  // CHECK: gemm({{.*}}) {{.*}} -> tensor<1000x555xbf16, #aicf_rt.padded>
  %p = aicf_rt.call gemm(%x16, %w16) {transB = true} : (tensor<1000x777xbf16>, tensor<555x777xbf16>) -> tensor<1000x555xbf16>
  // CHECK: bias_add({{.*}}) {{.*}} -> tensor<1000x555xbf16, #aicf_rt.padded>
  %q = aicf_rt.call bias_add(%p, %b16) : (tensor<1000x555xbf16>, tensor<555xbf16>) -> tensor<1000x555xbf16>
  // CHECK: relu({{.*}}) {{.*}} -> tensor<1000x555xbf16, #aicf_rt.padded>
  %r = aicf_rt.call relu(%q) : (tensor<1000x555xbf16>) -> tensor<1000x555xbf16>
  // CHECK: reduce_sum({{.*}}) {{.*}} -> tensor<555xbf16, #aicf_rt.padded>
  %s = aicf_rt.call reduce_sum(%r) : (tensor<1000x555xbf16>) -> tensor<555xbf16>
  // CHECK: cast({{.*}}) : (tensor<555xbf16, #aicf_rt.padded>) -> tensor<555xf32>
  %s32 = aicf_rt.call cast(%s) : (tensor<555xbf16>) -> tensor<555xf32>
  // CHECK: gemm({{.*}}) : (tensor<1000x555xbf16, #aicf_rt.padded>, tensor<555x777xbf16, #aicf_rt.padded>) -> tensor<1000x777xbf16>
  %z = aicf_rt.call gemm(%r, %w16) : (tensor<1000x555xbf16>, tensor<555x777xbf16>) -> tensor<1000x777xbf16>
  // CHECK: cast(%arg1) : (tensor<555x777xf32>) -> tensor<555x777xbf16, #aicf_rt.padded>
  %new = aicf_rt.call cast(%w) : (tensor<555x777xf32>) -> tensor<555x777xbf16>
  return %new, %z, %s32 : tensor<555x777xbf16>, tensor<1000x777xbf16>, tensor<555xf32>
}
