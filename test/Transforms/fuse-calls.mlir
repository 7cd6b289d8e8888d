// RUN: aicf-opt %s --aicf-set-target=target=cuda --aicf-rt-fuse-calls --split-input-file | FileCheck %s
// RUN: aicf-opt %s --aicf-set-target=target=cuda --aicf-rt-fuse-calls --split-input-file | aicf-opt --split-input-file -o /dev/null
// RUN: aicf-opt %s --aicf-rt-fuse-calls --split-input-file | FileCheck %s --check-prefix=CPU

// Tests that nothing is fused where the target has no kernel for it.
// CPU-NOT: aicf_rt.call {

// Tests gemm + bias + relu, and that labels stay.
// CHECK-LABEL: func.func @forward
// CHECK-NEXT: %[[Y:.*]] = aicf_rt.call {
// CHECK-NEXT: t0 = gemm(%{{.*}}, %[[W:.*]]) {transB = true}
// CHECK-NEXT: t1 = bias_add(t0, %[[B:.*]])
// CHECK-NEXT: t2 = relu(t1)
// CHECK-NEXT: yield t2
// CHECK-NEXT: } vids [3, 3, 4] : (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8xf32>) -> tensor<8x8xf32>
// CHECK-NEXT: aicf_rt.call {
// CHECK-NEXT: t0 = gemm(%[[Y]], %[[W]]) {transB = true}
// CHECK-NEXT: t1 = bias_add(t0, %[[B]])
// CHECK-NEXT: yield t1
// CHECK-NEXT: } vids [6, 6]
// CHECK-NEXT: return
func.func @forward(%x: tensor<8x8xf32> {aicf.role = "input", aicf.name = "x"},
                   %w: tensor<8x8xf32> {aicf.role = "param", aicf.name = "w"},
                   %b: tensor<8xf32> {aicf.role = "param", aicf.name = "b"})
    -> (tensor<8x8xf32> {aicf.name = "y"}) {
  %0 = aicf_rt.call gemm(%x, %w) {transB = true} vids [3] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = aicf_rt.call bias_add(%0, %b) vids [3] : (tensor<8x8xf32>, tensor<8xf32>) -> tensor<8x8xf32>
  %2 = aicf_rt.call relu(%1) vids [4] : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %3 = aicf_rt.call gemm(%2, %w) {transB = true} vids [6] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %4 = aicf_rt.call bias_add(%3, %b) vids [6] : (tensor<8x8xf32>, tensor<8xf32>) -> tensor<8x8xf32>
  return %4 : tensor<8x8xf32>
}

// -----

// Tests the backward pass of a small layer, and loss with gradient.
// CHECK-LABEL: func.func @backward
// CHECK-NEXT: %[[L:.*]], %[[DP:.*]] = aicf_rt.call {
// CHECK-NEXT: t0 = mse_loss(%[[P:.*]], %[[T:.*]])
// CHECK-NEXT: t1 = mse_grad(%[[P]], %[[T]]) {scale = 5.000000e-01}
// CHECK-NEXT: yield t0, t1
// CHECK-NEXT: }
// CHECK-NEXT: %[[W:.*]], %[[S:.*]] = aicf_rt.call {
// CHECK-NEXT: t0 = gemm(%[[DP]], %[[H:.*]]) {transA = true}
// CHECK-NEXT: t1 = reduce_sum(%[[DP]])
// CHECK-NEXT: yield t0, t1
// CHECK-NEXT: }
// CHECK-NEXT: %[[D:.*]] = aicf_rt.call {
// CHECK-NEXT: t0 = gemm(%[[DP]], %{{.*}})
// CHECK-NEXT: t1 = relu_bwd(t0, %[[H]])
// CHECK-NEXT: yield t1
// CHECK-NEXT: }
// CHECK-NEXT: return %[[L]], %[[D]], %[[W]], %[[S]]
func.func @backward(%p: tensor<8x8xf32> {aicf.role = "input", aicf.name = "p"},
                    %t: tensor<8x8xf32> {aicf.role = "input", aicf.name = "t"},
                    %h: tensor<8x8xf32> {aicf.role = "input", aicf.name = "h"},
                    %w: tensor<8x8xf32> {aicf.role = "param", aicf.name = "w"})
    -> (tensor<f32> {aicf.name = "loss"}, tensor<8x8xf32> {aicf.name = "dx"},
        tensor<8x8xf32> {aicf.name = "dw"}, tensor<8xf32> {aicf.name = "db"}) {
  %l = aicf_rt.call mse_loss(%p, %t) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<f32>
  %d = aicf_rt.call mse_grad(%p, %t) {scale = 0.5} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %dw = aicf_rt.call gemm(%d, %h) {transA = true} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %db = aicf_rt.call reduce_sum(%d) : (tensor<8x8xf32>) -> tensor<8xf32>
  %g = aicf_rt.call gemm(%d, %w) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %dx = aicf_rt.call relu_bwd(%g, %h) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %l, %dx, %dw, %db : tensor<f32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8xf32>
}

// -----

// Tests that a large product, which the library runs, keeps relu_bwd apart, and
// that relu_bwd then takes the sum.
// CHECK-LABEL: func.func @large
// CHECK-NEXT: %[[G:.*]] = aicf_rt.call gemm(
// CHECK-NEXT: aicf_rt.call {
// CHECK-NEXT: t0 = relu_bwd(%[[G]], %{{.*}})
// CHECK-NEXT: t1 = reduce_sum(t0)
// CHECK-NEXT: yield t0, t1
func.func @large(%d: tensor<2048x2048xbf16> {aicf.role = "input", aicf.name = "d"},
                 %h: tensor<2048x2048xbf16> {aicf.role = "input", aicf.name = "h"})
    -> (tensor<2048x2048xbf16> {aicf.name = "dx"}, tensor<2048xbf16> {aicf.name = "db"}) {
  %g = aicf_rt.call gemm(%d, %h) : (tensor<2048x2048xbf16>, tensor<2048x2048xbf16>) -> tensor<2048x2048xbf16>
  %dx = aicf_rt.call relu_bwd(%g, %h) : (tensor<2048x2048xbf16>, tensor<2048x2048xbf16>) -> tensor<2048x2048xbf16>
  %db = aicf_rt.call reduce_sum(%dx) : (tensor<2048x2048xbf16>) -> tensor<2048xbf16>
  return %dx, %db : tensor<2048x2048xbf16>, tensor<2048xbf16>
}

// -----

// Tests operands that are made before both of what is fused.
// CHECK-LABEL: func.func @made_before
// CHECK: %[[H:.*]] = aicf_rt.call relu(
// CHECK: t0 = gemm(%{{.*}}, %[[H]]) {transA = true}
// CHECK-NEXT: t1 = reduce_sum(
func.func @made_before(%d: tensor<8x8xf32> {aicf.role = "input", aicf.name = "d"},
                       %x: tensor<8x8xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<8x8xf32> {aicf.name = "w"}, tensor<8xf32> {aicf.name = "s"}) {
  %h = aicf_rt.call relu(%x) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %s = aicf_rt.call reduce_sum(%d) : (tensor<8x8xf32>) -> tensor<8xf32>
  %w = aicf_rt.call gemm(%d, %h) {transA = true} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %w, %s : tensor<8x8xf32>, tensor<8xf32>
}

// -----

// Tests a gradient that is read before its sum: the two stand where the first of
// them stood, for the gradient is given away.
// CHECK-LABEL: func.func @read_before_sum
// CHECK-NEXT: %[[DX:.*]], %{{.*}} = aicf_rt.call {
// CHECK-NEXT: t0 = relu_bwd(
// CHECK-NEXT: t1 = reduce_sum(t0)
// CHECK: aicf_rt.call add(%[[DX]],
func.func @read_before_sum(%d: tensor<8x8xf32> {aicf.role = "input", aicf.name = "d"},
                           %h: tensor<8x8xf32> {aicf.role = "input", aicf.name = "h"})
    -> (tensor<8x8xf32> {aicf.name = "a"}, tensor<8xf32> {aicf.name = "s"}) {
  %g = aicf_rt.call relu_bwd(%d, %h) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %a = aicf_rt.call add(%g, %h) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %s = aicf_rt.call reduce_sum(%g) : (tensor<8x8xf32>) -> tensor<8xf32>
  return %a, %s : tensor<8x8xf32>, tensor<8xf32>
}
