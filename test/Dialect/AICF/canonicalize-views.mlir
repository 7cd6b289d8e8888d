// RUN: aicf-opt %s --canonicalize | FileCheck %s

// Tests that a view of a view of one kind is one view, and that a view which changes
// nothing is its operand.

// CHECK-LABEL: func.func @reshapes
// CHECK-SAME:    %[[X:.*]]: tensor<2x3x4xf32>
func.func @reshapes(%x: tensor<2x3x4xf32>) -> (tensor<24xf32>, tensor<2x3x4xf32>) {
  // CHECK-NEXT: %[[Y:.*]] = aicf.reshape %[[X]] to [24]
  %0 = aicf.reshape %x to [6, 4] : tensor<2x3x4xf32>
  %1 = aicf.reshape %0 to [24] : tensor<6x4xf32>
  %2 = aicf.reshape %0 to [2, 3, 4] : tensor<6x4xf32>
  // CHECK-NEXT: return %[[Y]], %[[X]]
  return %1, %2 : tensor<24xf32>, tensor<2x3x4xf32>
}

// CHECK-LABEL: func.func @transposes
// CHECK-SAME:    %[[X:.*]]: tensor<2x3x4xf32>
func.func @transposes(%x: tensor<2x3x4xf32>) -> (tensor<3x4x2xf32>, tensor<2x3x4xf32>) {
  // CHECK-NEXT: %[[Y:.*]] = aicf.transpose %[[X]] [1, 2, 0]
  %0 = aicf.transpose %x [2, 0, 1] : tensor<2x3x4xf32>
  %1 = aicf.transpose %0 [2, 1, 0] : tensor<4x2x3xf32>
  %2 = aicf.transpose %1 [0, 1, 2] : tensor<3x2x4xf32>
  %3 = aicf.transpose %2 [0, 2, 1] : tensor<3x2x4xf32>
  %4 = aicf.transpose %0 [1, 2, 0] : tensor<4x2x3xf32>
  // CHECK-NEXT: return %[[Y]], %[[X]]
  return %3, %4 : tensor<3x4x2xf32>, tensor<2x3x4xf32>
}

// CHECK-LABEL: func.func @broadcasts
// CHECK-SAME:    %[[X:.*]]: tensor<3xf32>
func.func @broadcasts(%x: tensor<3xf32>) -> (tensor<5x2x3xf32>, tensor<3xf32>) {
  // CHECK-NEXT: %[[Y:.*]] = aicf.broadcast %[[X]] to [5, 2, 3]
  %0 = aicf.broadcast %x to [2, 3] : tensor<3xf32>
  %1 = aicf.broadcast %0 to [5, 2, 3] : tensor<2x3xf32>
  %2 = aicf.broadcast %x to [3] : tensor<3xf32>
  // CHECK-NEXT: return %[[Y]], %[[X]]
  return %1, %2 : tensor<5x2x3xf32>, tensor<3xf32>
}
