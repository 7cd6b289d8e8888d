// RUN: aicf-opt %s --split-input-file --aicf-rt-place-parts | FileCheck %s

// Tests that heads are written as columns of what packs them: those of attention's
// gradient, and products of heads that a copy turns.

// CHECK-LABEL: @packed
func.func @packed(%x: tensor<2x5x3x4xf32> {aicf.role = "input", aicf.name = "x"},
                  %lse: tensor<2x3x5xf32> {aicf.role = "input", aicf.name = "lse"})
    -> (tensor<2x5x36xf32> {aicf.name = "y"}) {
  // CHECK: %[[DQ:.*]], %[[DK:.*]], %[[DV:.*]] = aicf_rt.call attention_bwd({{.*}} -> (tensor<2x5x3x4xf32, #aicf_rt.strided<[180, 36, 4, 1]>>, tensor<2x5x3x4xf32, #aicf_rt.strided<[180, 36, 4, 1]>>, tensor<2x5x3x4xf32, #aicf_rt.strided<[180, 36, 4, 1]>>)
  %g:3 = aicf_rt.call attention_bwd(%x, %x, %x, %x, %x, %lse) {scale = 0.5} : (tensor<2x5x3x4xf32>, tensor<2x5x3x4xf32>, tensor<2x5x3x4xf32>, tensor<2x5x3x4xf32>, tensor<2x5x3x4xf32>, tensor<2x3x5xf32>) -> (tensor<2x5x3x4xf32>, tensor<2x5x3x4xf32>, tensor<2x5x3x4xf32>)
  %q = aicf_rt.view %g#0[0] : tensor<2x5x3x4xf32> to tensor<2x5x12xf32>
  %k = aicf_rt.view %g#1[0] : tensor<2x5x3x4xf32> to tensor<2x5x12xf32>
  %v = aicf_rt.view %g#2[0] : tensor<2x5x3x4xf32> to tensor<2x5x12xf32>
  // CHECK-NOT: copy
  // CHECK: aicf_rt.join %[[DQ]][0], %[[DK]][12], %[[DV]][24]
  %c = aicf_rt.call concat(%q, %k, %v) {axis = 2} : (tensor<2x5x12xf32>, tensor<2x5x12xf32>, tensor<2x5x12xf32>) -> tensor<2x5x36xf32>
  return %c : tensor<2x5x36xf32>
}

// -----

// The copy is placed first, and then what it reads.
// CHECK-LABEL: @turned
func.func @turned(%p: tensor<2x3x5x5xf32> {aicf.role = "input", aicf.name = "p"},
                  %v: tensor<2x3x5x4xf32> {aicf.role = "input", aicf.name = "v"},
                  %x: tensor<2x5x6xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<2x5x18xf32> {aicf.name = "y"}) {
  // CHECK: %[[O:.*]] = aicf_rt.call batched_gemm({{.*}} -> tensor<2x3x5x4xf32, #aicf_rt.strided<[90, 4, 18, 1]>>
  %o = aicf_rt.call batched_gemm(%p, %v) : (tensor<2x3x5x5xf32>, tensor<2x3x5x4xf32>) -> tensor<2x3x5x4xf32>
  %t = aicf_rt.view %o[0] : tensor<2x3x5x4xf32> to tensor<2x5x3x4xf32, #aicf_rt.strided<[60, 4, 20, 1]>>
  %d = aicf_rt.call copy(%t) : (tensor<2x5x3x4xf32, #aicf_rt.strided<[60, 4, 20, 1]>>) -> tensor<2x5x3x4xf32>
  %u = aicf_rt.view %d[0] : tensor<2x5x3x4xf32> to tensor<2x5x12xf32>
  // CHECK: %[[X:.*]] = aicf_rt.call copy(%arg2)
  // CHECK-NOT: copy
  // CHECK: aicf_rt.join %[[O]][0], %[[X]][12]
  %c = aicf_rt.call concat(%u, %x) {axis = 2} : (tensor<2x5x12xf32>, tensor<2x5x6xf32>) -> tensor<2x5x18xf32>
  return %c : tensor<2x5x18xf32>
}

// -----

// Rows that another call reads as they are stay: the concat copies them.
// CHECK-LABEL: @read
func.func @read(%p: tensor<2x3x5x5xf32> {aicf.role = "input", aicf.name = "p"},
                %v: tensor<2x3x5x4xf32> {aicf.role = "input", aicf.name = "v"},
                %x: tensor<2x5x6xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<2x5x18xf32> {aicf.name = "y"}, tensor<2x5x12xf32> {aicf.name = "z"}) {
  // CHECK: %[[O:.*]] = aicf_rt.call batched_gemm({{.*}} -> tensor<2x3x5x4xf32, #aicf_rt.strided<[60, 4, 12, 1]>>
  %o = aicf_rt.call batched_gemm(%p, %v) : (tensor<2x3x5x5xf32>, tensor<2x3x5x4xf32>) -> tensor<2x3x5x4xf32>
  %t = aicf_rt.view %o[0] : tensor<2x3x5x4xf32> to tensor<2x5x3x4xf32, #aicf_rt.strided<[60, 4, 20, 1]>>
  %d = aicf_rt.call copy(%t) : (tensor<2x5x3x4xf32, #aicf_rt.strided<[60, 4, 20, 1]>>) -> tensor<2x5x3x4xf32>
  %u = aicf_rt.view %d[0] : tensor<2x5x3x4xf32> to tensor<2x5x12xf32>
  // CHECK: aicf_rt.join %[[O]][0]
  // CHECK: aicf_rt.call concat(
  %c = aicf_rt.call concat(%u, %x) {axis = 2} : (tensor<2x5x12xf32>, tensor<2x5x6xf32>) -> tensor<2x5x18xf32>
  // CHECK: aicf_rt.call exp(
  %z = aicf_rt.call exp(%u) : (tensor<2x5x12xf32>) -> tensor<2x5x12xf32>
  return %c, %z : tensor<2x5x18xf32>, tensor<2x5x12xf32>
}
