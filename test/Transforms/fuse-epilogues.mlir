// RUN: aicf-opt %s --aicf-rt-fuse-epilogues=target=cuda --split-input-file | FileCheck %s
// RUN: aicf-opt %s --aicf-rt-fuse-epilogues=target=cuda --split-input-file | aicf-opt --split-input-file -o /dev/null
// RUN: aicf-opt %s --aicf-rt-fuse-epilogues --split-input-file | FileCheck %s --check-prefix=CPU
// RUN: not aicf-opt %s --aicf-rt-fuse-epilogues=target=tpu --split-input-file 2>&1 | FileCheck %s --check-prefix=TARGET
// TARGET: --target option: Cannot find option named 'tpu'!

// Tests that nothing is fused where the target has no kernel for it.
// CPU-NOT: aicf_rt.{{gemm_bias|gemm_relu_bwd|gemm_reduce|relu_bwd_reduce|mse_loss_grad}}

// Tests gemm + bias + relu, and the labels of the last value.
// CHECK-LABEL: func.func @forward
// CHECK-NEXT: %[[Y:.*]] = aicf_rt.gemm_bias %{{.*}}, %{{.*}}, %{{.*}} {relu = true, transB = true, vids = array<i64: 4>}
// CHECK-NEXT: aicf_rt.gemm_bias %[[Y]], {{.*}} {transB = true, vids = array<i64: 6>}
// CHECK-NEXT: return
func.func @forward(%x: tensor<8x8xf32> {aicf.role = "input", aicf.name = "x"},
                   %w: tensor<8x8xf32> {aicf.role = "param", aicf.name = "w"},
                   %b: tensor<8xf32> {aicf.role = "param", aicf.name = "b"})
    -> (tensor<8x8xf32> {aicf.name = "y"}) {
  %0 = aicf_rt.gemm %x, %w {transB = true, vids = array<i64: 3>} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = aicf_rt.bias_add %0, %b {vids = array<i64: 3>} : (tensor<8x8xf32>, tensor<8xf32>) -> tensor<8x8xf32>
  %2 = aicf_rt.relu %1 {vids = array<i64: 4>} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %3 = aicf_rt.gemm %2, %w {transB = true, vids = array<i64: 6>} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %4 = aicf_rt.bias_add %3, %b {vids = array<i64: 6>} : (tensor<8x8xf32>, tensor<8xf32>) -> tensor<8x8xf32>
  return %4 : tensor<8x8xf32>
}

// -----

// Tests the backward pass of a small layer, and loss with gradient.
// CHECK-LABEL: func.func @backward
// CHECK-NEXT: %[[L:.*]], %[[DP:.*]] = aicf_rt.mse_loss_grad %{{.*}}, %{{.*}} {scale = 5.000000e-01 : f64}
// CHECK-NEXT: %[[W:.*]], %[[S:.*]] = aicf_rt.gemm_reduce %[[DP]], %{{.*}} {transA = true}
// CHECK-NEXT: %[[D:.*]] = aicf_rt.gemm_relu_bwd %[[DP]], %{{.*}}, %{{.*}}
// CHECK-NEXT: return %[[L]], %[[D]], %[[W]], %[[S]]
func.func @backward(%p: tensor<8x8xf32> {aicf.role = "input", aicf.name = "p"},
                    %t: tensor<8x8xf32> {aicf.role = "input", aicf.name = "t"},
                    %h: tensor<8x8xf32> {aicf.role = "input", aicf.name = "h"},
                    %w: tensor<8x8xf32> {aicf.role = "param", aicf.name = "w"})
    -> (tensor<f32> {aicf.name = "loss"}, tensor<8x8xf32> {aicf.name = "dx"},
        tensor<8x8xf32> {aicf.name = "dw"}, tensor<8xf32> {aicf.name = "db"}) {
  %l = aicf_rt.mse_loss %p, %t : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<f32>
  %d = aicf_rt.mse_grad %p, %t {scale = 0.5 : f64} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %dw = aicf_rt.gemm %d, %h {transA = true} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %db = aicf_rt.reduce_sum %d : (tensor<8x8xf32>) -> tensor<8xf32>
  %g = aicf_rt.gemm %d, %w : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %dx = aicf_rt.relu_bwd %g, %h : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %l, %dx, %dw, %db : tensor<f32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8xf32>
}

// -----

// Tests that a large product, which the library runs, keeps relu_bwd apart, and
// that relu_bwd then takes the sum.
// CHECK-LABEL: func.func @large
// CHECK-NEXT: %[[G:.*]] = aicf_rt.gemm
// CHECK-NEXT: aicf_rt.relu_bwd_reduce %[[G]]
func.func @large(%d: tensor<2048x2048xbf16> {aicf.role = "input", aicf.name = "d"},
                 %h: tensor<2048x2048xbf16> {aicf.role = "input", aicf.name = "h"})
    -> (tensor<2048x2048xbf16> {aicf.name = "dx"}, tensor<2048xbf16> {aicf.name = "db"}) {
  %g = aicf_rt.gemm %d, %h : (tensor<2048x2048xbf16>, tensor<2048x2048xbf16>) -> tensor<2048x2048xbf16>
  %dx = aicf_rt.relu_bwd %g, %h : (tensor<2048x2048xbf16>, tensor<2048x2048xbf16>) -> tensor<2048x2048xbf16>
  %db = aicf_rt.reduce_sum %dx : (tensor<2048x2048xbf16>) -> tensor<2048xbf16>
  return %dx, %db : tensor<2048x2048xbf16>, tensor<2048xbf16>
}

// -----

// Tests operands that are made before both of what is fused.
// CHECK-LABEL: func.func @made_before
// CHECK: %[[H:.*]] = aicf_rt.relu
// CHECK: aicf_rt.gemm_reduce %{{.*}}, %[[H]]
func.func @made_before(%d: tensor<8x8xf32> {aicf.role = "input", aicf.name = "d"},
                       %x: tensor<8x8xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<8x8xf32> {aicf.name = "w"}, tensor<8xf32> {aicf.name = "s"}) {
  %h = aicf_rt.relu %x : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %s = aicf_rt.reduce_sum %d : (tensor<8x8xf32>) -> tensor<8xf32>
  %w = aicf_rt.gemm %d, %h {transA = true} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %w, %s : tensor<8x8xf32>, tensor<8xf32>
}
