// RUN: aicf-opt %s --canonicalize --cse --canonicalize | FileCheck %s

// Tests that relu of relu folds, and a cast to the same type.
// CHECK-LABEL: func.func @folds
// CHECK-SAME:    %[[X:.*]]: tensor<4xf32>
func.func @folds(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[R:.*]] = aicf.relu %[[X]]
  %0 = aicf.relu %x : tensor<4xf32>
  %1 = aicf.relu %0 : tensor<4xf32>
  %2 = aicf.cast %x to f32 : tensor<4xf32>
  // CHECK-NEXT: return %[[R]], %[[X]]
  return %1, %2 : tensor<4xf32>, tensor<4xf32>
}

// Tests that save and copy never fold.
// CHECK-LABEL: func.func @keeps
func.func @keeps(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: aicf.copy
  // CHECK-NEXT: aicf.save
  // CHECK-NEXT: return
  %0 = aicf.copy %x : tensor<4xf32>
  %1 = aicf.save %0 : tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// Tests that a lossy chain of casts stays.
// CHECK-LABEL: func.func @lossy
func.func @lossy(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-COUNT-2: aicf.cast
  %0 = aicf.cast %x to bf16 : tensor<4xf32>
  %1 = aicf.cast %0 to f32 : tensor<4xbf16>
  return %1 : tensor<4xf32>
}

// Tests that unused ops go and equal ones merge.
// CHECK-LABEL: func.func @dead
func.func @dead(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[R:.*]] = aicf.relu
  // CHECK-NEXT: aicf.add %[[R]], %[[R]]
  // CHECK-NEXT: return
  %0 = aicf.relu %x : tensor<4xf32>
  %1 = aicf.relu %x : tensor<4xf32>
  %2 = aicf.add %x, %x : tensor<4xf32>, tensor<4xf32>
  %3 = aicf.add %0, %1 : tensor<4xf32>, tensor<4xf32>
  return %3 : tensor<4xf32>
}
