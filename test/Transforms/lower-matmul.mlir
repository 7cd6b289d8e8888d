// RUN: aicf-opt %s --aicf-lower-to-rt --split-input-file | FileCheck %s

// Tests which products are one gemm, and which matrices are read as transposed ones.

// A column that lies together is not a row.
// CHECK-LABEL: @dense_column(
// CHECK-NEXT: aicf_rt.call gemm(%arg0, %arg1) : (tensor<3x4xf32>, tensor<4x1xf32>)
// CHECK-NEXT: return
func.func @dense_column(%x: tensor<3x4xf32> {aicf.role = "input", aicf.name = "x"},
    %b: tensor<4x1xf32> {aicf.role = "input", aicf.name = "b"})
    -> (tensor<3x1xf32> {aicf.name = "y"}) {
  %y = aicf.matmul %x, %b : tensor<3x4xf32>, tensor<4x1xf32>
  return %y : tensor<3x1xf32>
}

// -----

// CHECK-LABEL: @every_other(
// CHECK-NEXT: %[[V:.*]] = aicf_rt.view %arg0[0] : tensor<2x3x8xf32> to tensor<2x3x4xf32, #aicf_rt.strided<[24, 8, 2]>>
// CHECK-NEXT: aicf_rt.call batched_gemm(%[[V]], %arg1) :
// CHECK-NEXT: return
func.func @every_other(%x: tensor<2x3x8xf32> {aicf.role = "input", aicf.name = "x"},
    %b: tensor<2x4x5xf32> {aicf.role = "input", aicf.name = "b"})
    -> (tensor<2x3x5xf32> {aicf.name = "y"}) {
  %s = aicf.slice %x from [0, 0, 0] to [2, 3, 8] step [1, 1, 2] : tensor<2x3x8xf32>
  %y = aicf.matmul %s, %b : tensor<2x3x4xf32>, tensor<2x4x5xf32>
  return %y : tensor<2x3x5xf32>
}

// -----

// The column is a row of what was turned.
// CHECK-LABEL: @one_column(
// CHECK-NEXT: %[[V:.*]] = aicf_rt.view %arg0[8] : tensor<2x6x4xf32> to tensor<2x1x4xf32, #aicf_rt.strided<[24, 0, 1]>>
// CHECK-NEXT: aicf_rt.call batched_gemm(%arg1, %[[V]]) {transB = true}
// CHECK-NEXT: return
func.func @one_column(%x: tensor<2x6x4xf32> {aicf.role = "input", aicf.name = "x"},
    %b: tensor<2x3x4xf32> {aicf.role = "input", aicf.name = "b"})
    -> (tensor<2x3x1xf32> {aicf.name = "y"}) {
  %t = aicf.transpose %x [0, 2, 1] : tensor<2x6x4xf32>
  %s = aicf.slice %t from [0, 0, 2] to [2, 4, 3] : tensor<2x4x6xf32>
  %y = aicf.matmul %b, %s : tensor<2x3x4xf32>, tensor<2x4x1xf32>
  return %y : tensor<2x3x1xf32>
}

// -----

// Matrices by matrices, and many by one that has all their rows.
// CHECK-LABEL: @batches(
// CHECK-NEXT: aicf_rt.call batched_gemm(%arg0, %arg1) :
// CHECK-NEXT: return
func.func @batches(%x: tensor<2x3x4xf32> {aicf.role = "input", aicf.name = "x"},
    %b: tensor<2x4x5xf32> {aicf.role = "input", aicf.name = "b"})
    -> (tensor<2x3x5xf32> {aicf.name = "y"}) {
  %y = aicf.matmul %x, %b : tensor<2x3x4xf32>, tensor<2x4x5xf32>
  return %y : tensor<2x3x5xf32>
}

// -----

// CHECK-LABEL: @rows(
// CHECK-NEXT: aicf_rt.call gemm(%arg0, %arg1) :
// CHECK-NEXT: return
func.func @rows(%x: tensor<2x3x4xf32> {aicf.role = "input", aicf.name = "x"},
    %b: tensor<4x5xf32> {aicf.role = "input", aicf.name = "b"})
    -> (tensor<2x3x5xf32> {aicf.name = "y"}) {
  %y = aicf.matmul %x, %b : tensor<2x3x4xf32>, tensor<4x5xf32>
  return %y : tensor<2x3x5xf32>
}

// -----

// CHECK-LABEL: @rows_transposed(
// CHECK-NEXT: %[[V:.*]] = aicf_rt.view %arg1[0] : tensor<4x5xf32> to tensor<2x4x5xf32, #aicf_rt.strided<[0, 5, 1]>>
// CHECK-NEXT: aicf_rt.call batched_gemm(%arg0, %[[V]]) {transA = true}
// CHECK-NEXT: return
func.func @rows_transposed(%x: tensor<2x4x3xf32> {aicf.role = "input", aicf.name = "x"},
    %b: tensor<4x5xf32> {aicf.role = "input", aicf.name = "b"})
    -> (tensor<2x3x5xf32> {aicf.name = "y"}) {
  %y = aicf.matmul %x, %b {transA = true} : tensor<2x4x3xf32>, tensor<4x5xf32>
  return %y : tensor<2x3x5xf32>
}

// -----

// CHECK-LABEL: @no_rows(
// CHECK-NEXT: %[[V:.*]] = aicf_rt.view %arg0[0]
// CHECK-NEXT: %[[W:.*]] = aicf_rt.view %arg1[0]
// CHECK-NEXT: aicf_rt.call batched_gemm(%[[V]], %[[W]]) :
// CHECK-NEXT: return
func.func @no_rows(%x: tensor<2x6x4xf32> {aicf.role = "input", aicf.name = "x"},
    %b: tensor<4x5xf32> {aicf.role = "input", aicf.name = "b"})
    -> (tensor<2x3x5xf32> {aicf.name = "y"}) {
  %s = aicf.slice %x from [0, 0, 0] to [2, 3, 4] : tensor<2x6x4xf32>
  %y = aicf.matmul %s, %b : tensor<2x3x4xf32>, tensor<4x5xf32>
  return %y : tensor<2x3x5xf32>
}

// -----

// The backward op of a linear one: in the other layout, and of the bias alone.
// CHECK-LABEL: @bwd(
// CHECK-NEXT: aicf_rt.call gemm(%arg1, %arg0) {transA = true} : {{.*}} -> tensor<4x3xf32>
// CHECK-NEXT: return
func.func @bwd(%dy: tensor<2x3xf32> {aicf.role = "input", aicf.name = "dy"},
               %x: tensor<2x4xf32> {aicf.role = "input", aicf.name = "x"},
               %w: tensor<4x3xf32> {aicf.role = "param", aicf.name = "w"})
    -> (tensor<4x3xf32> {aicf.name = "dw"}) {
  %dx, %dw, %db = aicf.linear_bwd %dy, %x, %w {transW = false} : tensor<2x3xf32>, tensor<2x4xf32>, tensor<4x3xf32>
  return %dw : tensor<4x3xf32>
}

// -----

// CHECK-LABEL: @bias(
// CHECK-NEXT: aicf_rt.call reduce_sum(%arg0)
// CHECK-NEXT: return
func.func @bias(%dy: tensor<2x3xf32> {aicf.role = "input", aicf.name = "dy"},
                %x: tensor<2x4xf32> {aicf.role = "input", aicf.name = "x"},
                %w: tensor<3x4xf32> {aicf.role = "param", aicf.name = "w"})
    -> (tensor<3xf32> {aicf.name = "db"}) {
  %dx, %dw, %db = aicf.linear_bwd %dy, %x, %w : tensor<2x3xf32>, tensor<2x4xf32>, tensor<3x4xf32>
  return %db : tensor<3xf32>
}
