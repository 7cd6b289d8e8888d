// RUN: aicf-opt %s --aicf-lower-to-rt --split-input-file | FileCheck %s

// Tests that a product whose rows make up several matrices is one in batches, and copies nothing.

// CHECK-LABEL: @forward
func.func @forward(%x: tensor<2x4x8xf32> {aicf.role = "input", aicf.name = "x"},
                   %W: tensor<5x4xf32> {aicf.role = "param", aicf.name = "W"})
    -> (tensor<2x8x5xf32> {aicf.name = "y"}) {
  %t = aicf.transpose %x [0, 2, 1] : tensor<2x4x8xf32>
  // CHECK-DAG: %[[W:.*]] = aicf_rt.view %arg1[0] : tensor<5x4xf32> to tensor<2x5x4xf32, #aicf_rt.strided<[0, 4, 1]>>
  // CHECK: aicf_rt.call batched_gemm(%arg0, %[[W]]) {transA = true, transB = true}
  // CHECK-NOT: copy
  %y = aicf.linear %t, %W : tensor<2x8x4xf32>, tensor<5x4xf32>
  return %y : tensor<2x8x5xf32>
}

// -----

// Rows that lie as those of one matrix are one product.
// CHECK-LABEL: @rows
// CHECK-NOT: batched_gemm
// CHECK: aicf_rt.call gemm
func.func @rows(%x: tensor<2x8x6xf32> {aicf.role = "input", aicf.name = "x"},
                %W: tensor<5x4xf32> {aicf.role = "param", aicf.name = "W"})
    -> (tensor<2x8x5xf32> {aicf.name = "y"}) {
  %s = aicf.slice %x from [0, 0, 1] to [2, 8, 5] : tensor<2x8x6xf32>
  %y = aicf.linear %s, %W : tensor<2x8x4xf32>, tensor<5x4xf32>
  return %y : tensor<2x8x5xf32>
}

// -----

// The gradient of the weight is a product for each matrix, and their sum. That of x, which is
// read turned, is made turned.
// CHECK-LABEL: @backward
func.func @backward(%x: tensor<2x4x8xf32> {aicf.role = "input", aicf.name = "x"},
                    %W: tensor<5x4xf32> {aicf.role = "param", aicf.name = "W"},
                    %dy: tensor<2x8x5xf32> {aicf.role = "input", aicf.name = "dy"})
    -> (tensor<2x4x8xf32> {aicf.name = "dx"}, tensor<5x4xf32> {aicf.name = "dW"}) {
  %t = aicf.transpose %x [0, 2, 1] : tensor<2x4x8xf32>
  // CHECK: %[[DX:.*]] = aicf_rt.call batched_gemm(%{{.*}}, %arg2) {transA = true, transB = true} : {{.*}} -> tensor<2x4x8xf32>
  // CHECK: %[[P:.*]] = aicf_rt.call batched_gemm(%arg2, %arg0) {transA = true, transB = true} : {{.*}} -> tensor<2x5x4xf32>
  // CHECK: aicf_rt.call reduce_sum(%[[P]]) : (tensor<2x5x4xf32>) -> tensor<5x4xf32>
  %dt, %dW, %db = aicf.linear_bwd %dy, %t, %W : tensor<2x8x5xf32>, tensor<2x8x4xf32>, tensor<5x4xf32>
  // CHECK: return %[[DX]]
  %dx = aicf.transpose %dt [0, 2, 1] : tensor<2x8x4xf32>
  return %dx, %dW : tensor<2x4x8xf32>, tensor<5x4xf32>
}

// -----

// The products apart would have more than twice the elements of a copy of x.
// CHECK-LABEL: @many
// CHECK-NOT: batched_gemm
// CHECK: aicf_rt.call gemm
func.func @many(%x: tensor<9x4x2xf32> {aicf.role = "input", aicf.name = "x"},
                %W: tensor<5x4xf32> {aicf.role = "param", aicf.name = "W"},
                %dy: tensor<9x2x5xf32> {aicf.role = "input", aicf.name = "dy"})
    -> (tensor<5x4xf32> {aicf.name = "dW"}) {
  %t = aicf.transpose %x [0, 2, 1] : tensor<9x4x2xf32>
  %dt, %dW, %db = aicf.linear_bwd %dy, %t, %W : tensor<9x2x5xf32>, tensor<9x2x4xf32>, tensor<5x4xf32>
  return %dW : tensor<5x4xf32>
}

// -----

// Every second element of a row does not make a row.
// CHECK-LABEL: @apart
// CHECK-NOT: batched_gemm
// CHECK: aicf_rt.call gemm
func.func @apart(%x: tensor<2x8x8xf32> {aicf.role = "input", aicf.name = "x"},
                 %W: tensor<5x4xf32> {aicf.role = "param", aicf.name = "W"})
    -> (tensor<2x8x5xf32> {aicf.name = "y"}) {
  %s = aicf.slice %x from [0, 0, 0] to [2, 8, 8] step [1, 1, 2] : tensor<2x8x8xf32>
  %y = aicf.linear %s, %W : tensor<2x8x4xf32>, tensor<5x4xf32>
  return %y : tensor<2x8x5xf32>
}

// -----

// So is a product in batches that is read turned.
// CHECK-LABEL: @matmul
// CHECK: %[[C:.*]] = aicf_rt.call batched_gemm(%arg1, %arg0) {transA = true} : {{.*}} -> tensor<2x5x4xf32>
// CHECK-NEXT: return %[[C]]
func.func @matmul(%a: tensor<2x3x4xf32> {aicf.role = "input", aicf.name = "a"},
                  %b: tensor<2x3x5xf32> {aicf.role = "input", aicf.name = "b"})
    -> (tensor<2x5x4xf32> {aicf.name = "y"}) {
  %c = aicf.matmul %a, %b {transA = true} : tensor<2x3x4xf32>, tensor<2x3x5xf32>
  %y = aicf.transpose %c [0, 2, 1] : tensor<2x4x5xf32>
  return %y : tensor<2x5x4xf32>
}
