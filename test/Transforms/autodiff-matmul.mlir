// RUN: aicf-opt %s --aicf-autodiff --split-input-file | FileCheck %s

// Tests the gradients of a product: each operand that needs one gets it by one
// product, and no other operand does.

// Where one matrix was multiplied with all rows, the sum is part of the product.
// CHECK-LABEL: @one_matrix
// CHECK: %[[DC:.*]] = aicf.broadcast %{{.*}} to [2, 3, 5]
// CHECK-NEXT: %[[X:.*]] = aicf.reshape %{{.*}} to [6, 4] : tensor<2x3x4xf32>
// CHECK-NEXT: %[[ROWS:.*]] = aicf.reshape %[[DC]] to [6, 5] : tensor<2x3x5xf32>
// CHECK-NEXT: %[[DW:.*]] = aicf.matmul %[[X]], %[[ROWS]] {transA = true}
// CHECK-NEXT: return %{{.*}}, %[[DW]]
func.func @one_matrix(%x: tensor<2x3x4xf32> {aicf.role = "input", aicf.name = "x"},
                      %w: tensor<4x5xf32> {aicf.role = "param", aicf.name = "w"})
    -> (tensor<f32> {aicf.name = "loss", aicf.minimize}) {
  %c = aicf.matmul %x, %w : tensor<2x3x4xf32>, tensor<4x5xf32>
  %l = aicf.mean %c : tensor<2x3x5xf32>
  return %l : tensor<f32>
}

// -----

// Rows that are columns of several matrices do not lie in one.
// CHECK-LABEL: @columns
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<2x4x3xf32>
// CHECK: %[[DC:.*]] = aicf.broadcast %{{.*}} to [2, 3, 5]
// CHECK-NEXT: %[[P:.*]] = aicf.matmul %[[X]], %[[DC]] : tensor<2x4x3xf32>
// CHECK-NEXT: %[[DW:.*]] = aicf.reduce_sum %[[P]] over [0] : tensor<2x4x5xf32>
// CHECK-NEXT: return %{{.*}}, %[[DW]]
func.func @columns(%x: tensor<2x4x3xf32> {aicf.role = "input", aicf.name = "x"},
                   %w: tensor<4x5xf32> {aicf.role = "param", aicf.name = "w"})
    -> (tensor<f32> {aicf.name = "loss", aicf.minimize}) {
  %c = aicf.matmul %x, %w {transA = true} : tensor<2x4x3xf32>, tensor<4x5xf32>
  %l = aicf.mean %c : tensor<2x3x5xf32>
  return %l : tensor<f32>
}

// -----

// CHECK-LABEL: @transposed_b
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<3x4xf32>
// CHECK: %[[DC:.*]] = aicf.broadcast %{{.*}} to [3, 5]
// CHECK-NEXT: %[[DW:.*]] = aicf.matmul %[[DC]], %[[X]] {transA = true}
// CHECK-NEXT: return %{{.*}}, %[[DW]]
func.func @transposed_b(%x: tensor<3x4xf32> {aicf.role = "input", aicf.name = "x"},
                        %w: tensor<5x4xf32> {aicf.role = "param", aicf.name = "w"})
    -> (tensor<f32> {aicf.name = "loss", aicf.minimize}) {
  %c = aicf.matmul %x, %w {transB = true} : tensor<3x4xf32>, tensor<5x4xf32>
  %l = aicf.mean %c : tensor<3x5xf32>
  return %l : tensor<f32>
}

// -----

// CHECK-LABEL: @transposed_a
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<4x5xf32>
// CHECK: %[[DC:.*]] = aicf.broadcast %{{.*}} to [3, 5]
// CHECK-NEXT: %[[DW:.*]] = aicf.matmul %[[X]], %[[DC]] {transB = true}
// CHECK-NEXT: return %{{.*}}, %[[DW]]
func.func @transposed_a(%w: tensor<4x3xf32> {aicf.role = "param", aicf.name = "w"},
                        %x: tensor<4x5xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<f32> {aicf.name = "loss", aicf.minimize}) {
  %c = aicf.matmul %w, %x {transA = true} : tensor<4x3xf32>, tensor<4x5xf32>
  %l = aicf.mean %c : tensor<3x5xf32>
  return %l : tensor<f32>
}

// -----

// A dimension of 1 that was broadcast gets the sum. Both operands need a gradient.
// CHECK-LABEL: @broadcast
// CHECK-SAME: %[[W:[a-z0-9]*]]: tensor<1x2x3xf32> {{.*}}, %[[V:[a-z0-9]*]]: tensor<4x3x5xf32>
// CHECK: %[[DC:.*]] = aicf.broadcast %{{.*}} to [4, 2, 5]
// CHECK-NEXT: %[[P:.*]] = aicf.matmul %[[DC]], %[[V]] {transB = true}
// CHECK-NEXT: %[[SUM:.*]] = aicf.reduce_sum %[[P]] over [0] : tensor<4x2x3xf32>
// CHECK-NEXT: %[[DW:.*]] = aicf.reshape %[[SUM]] to [1, 2, 3]
// CHECK-NEXT: %[[DV:.*]] = aicf.matmul %[[W]], %[[DC]] {transA = true}
// CHECK-NEXT: return %{{.*}}, %[[DW]], %[[DV]]
func.func @broadcast(%w: tensor<1x2x3xf32> {aicf.role = "param", aicf.name = "w"},
                     %v: tensor<4x3x5xf32> {aicf.role = "param", aicf.name = "v"})
    -> (tensor<f32> {aicf.name = "loss", aicf.minimize}) {
  %c = aicf.matmul %w, %v : tensor<1x2x3xf32>, tensor<4x3x5xf32>
  %l = aicf.mean %c : tensor<4x2x5xf32>
  return %l : tensor<f32>
}

// -----

// CHECK-LABEL: @absent
// CHECK: %[[P:.*]] = aicf.matmul %{{.*}}, %{{.*}} {transB = true} : tensor<4x2x5xf32>
// CHECK-NEXT: %[[DW:.*]] = aicf.reduce_sum %[[P]] over [0] : tensor<4x2x3xf32>
// CHECK-NEXT: return %{{.*}}, %[[DW]]
func.func @absent(%w: tensor<2x3xf32> {aicf.role = "param", aicf.name = "w"},
                  %x: tensor<4x3x5xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<f32> {aicf.name = "loss", aicf.minimize}) {
  %c = aicf.matmul %w, %x : tensor<2x3xf32>, tensor<4x3x5xf32>
  %l = aicf.mean %c : tensor<4x2x5xf32>
  return %l : tensor<f32>
}

// -----

// A dimension of 1 that stayed 1 has nothing to add up.
// CHECK-LABEL: @one_each
// CHECK: %[[DW:.*]] = aicf.matmul %{{.*}}, %{{.*}} {transB = true} : tensor<1x1x5xf32>
// CHECK-NEXT: return %{{.*}}, %[[DW]]
func.func @one_each(%w: tensor<1x1x3xf32> {aicf.role = "param", aicf.name = "w"},
                    %x: tensor<1x3x5xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<f32> {aicf.name = "loss", aicf.minimize}) {
  %c = aicf.matmul %w, %x : tensor<1x1x3xf32>, tensor<1x3x5xf32>
  %l = aicf.mean %c : tensor<1x1x5xf32>
  return %l : tensor<f32>
}

// -----

// The rows of all matrices are more than a dimension may have.
// CHECK-LABEL: @many_rows
// CHECK: %[[P:.*]] = aicf.matmul %{{.*}}, %{{.*}} {transA = true}
// CHECK-NEXT: %[[DW:.*]] = aicf.reduce_sum %[[P]] over [0] : tensor<2x4x5xf32>
// CHECK-NEXT: return %{{.*}}, %[[DW]]
func.func @many_rows(%x: tensor<2x2147483647x4xf32> {aicf.role = "input", aicf.name = "x"},
                     %w: tensor<4x5xf32> {aicf.role = "param", aicf.name = "w"})
    -> (tensor<f32> {aicf.name = "loss", aicf.minimize}) {
  %c = aicf.matmul %x, %w : tensor<2x2147483647x4xf32>, tensor<4x5xf32>
  %l = aicf.mean %c : tensor<2x2147483647x5xf32>
  return %l : tensor<f32>
}
