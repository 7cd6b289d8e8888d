// RUN: aicf-opt %s --aicf-propagate-reshapes --split-input-file | FileCheck %s
// RUN: aicf-opt %s --aicf-propagate-reshapes --remarks-filter=aicf --split-input-file -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// Tests that reshapes which would copy move past pointwise ops.

// Patches become an image again, and another operand takes the shape of the patches.
// REMARK: Function=behind | behind=1, in_front=0
// CHECK-LABEL: @behind
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<2x2x2x16xf32>{{.*}}, %[[B:[a-z0-9]+]]: tensor<4x32xf32>
// CHECK-NEXT: %[[T:.*]] = aicf.transpose %[[X]] [0, 2, 1, 3]
// CHECK-NEXT: %[[R:.*]] = aicf.reshape %[[B]] to [2, 2, 2, 16]
// CHECK-NEXT: %[[S:.*]] = aicf.add %[[T]], %[[R]] : tensor<2x2x2x16xf32>
// CHECK-NEXT: %[[Y:.*]] = aicf.reshape %[[S]] to [4, 32]
// CHECK-NEXT: aicf.softmax %[[Y]]
func.func @behind(%x: tensor<2x2x2x16xf32> {aicf.role = "input", aicf.name = "x"},
                  %b: tensor<4x32xf32> {aicf.role = "input", aicf.name = "b"})
    -> (tensor<4x32xf32> {aicf.name = "y"}) {
  %t = aicf.transpose %x [0, 2, 1, 3] : tensor<2x2x2x16xf32>
  %r = aicf.reshape %t to [4, 32] : tensor<2x2x2x16xf32>
  %s = aicf.add %r, %b : tensor<4x32xf32>, tensor<4x32xf32>
  %y = aicf.softmax %s : tensor<4x32xf32>
  return %y : tensor<4x32xf32>
}

// -----

// Both operands are patches; a comparison keeps its type.
// CHECK-LABEL: @both
// CHECK: %[[A:.*]] = aicf.transpose
// CHECK: %[[B:.*]] = aicf.transpose
// CHECK: %[[C:.*]] = aicf.less %[[A]], %[[B]] : tensor<2x2x2x16xf32>
// CHECK: aicf.reshape %[[C]] to [4, 32] : tensor<2x2x2x16xi1>
func.func @both(%x: tensor<2x2x2x16xf32> {aicf.role = "input", aicf.name = "x"},
                %b: tensor<2x2x2x16xf32> {aicf.role = "input", aicf.name = "b"})
    -> (tensor<4x32xi1> {aicf.name = "y"}) {
  %t = aicf.transpose %x [0, 2, 1, 3] : tensor<2x2x2x16xf32>
  %r = aicf.reshape %t to [4, 32] : tensor<2x2x2x16xf32>
  %u = aicf.transpose %b [0, 2, 1, 3] : tensor<2x2x2x16xf32>
  %v = aicf.reshape %u to [4, 32] : tensor<2x2x2x16xf32>
  %s = aicf.less %r, %v : tensor<4x32xf32>, tensor<4x32xf32>
  %y = aicf.logical_not %s : tensor<4x32xi1>
  return %y : tensor<4x32xi1>
}

// -----

// An image becomes patches: its op reads the image so.
// REMARK: Function=in_front | behind=0, in_front=1
// CHECK-LABEL: @in_front
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4x32xf32>{{.*}}, %[[D:[a-z0-9]+]]: tensor<4x32xf32>
// CHECK-DAG: %[[A:.*]] = aicf.reshape %[[D]] to [2, 2, 2, 16]
// CHECK-DAG: %[[B:.*]] = aicf.reshape %[[X]] to [2, 2, 2, 16]
// CHECK-DAG: %[[TA:.*]] = aicf.transpose %[[A]] [0, 2, 1, 3]
// CHECK-DAG: %[[TB:.*]] = aicf.transpose %[[B]] [0, 2, 1, 3]
// CHECK: %[[R:.*]] = aicf.relu_bwd %[[TA]], %[[TB]] : tensor<2x2x2x16xf32>
// CHECK-NEXT: %[[Y:.*]] = aicf.reshape %[[R]] to [4, 32]
// CHECK-NEXT: aicf.softmax %[[Y]]
func.func @in_front(%x: tensor<4x32xf32> {aicf.role = "input", aicf.name = "x"},
                    %d: tensor<4x32xf32> {aicf.role = "input", aicf.name = "d"})
    -> (tensor<4x32xf32> {aicf.name = "y"}) {
  %r = aicf.relu_bwd %d, %x : tensor<4x32xf32>, tensor<4x32xf32>
  %s = aicf.reshape %r to [2, 2, 2, 16] : tensor<4x32xf32>
  %t = aicf.transpose %s [0, 2, 1, 3] : tensor<2x2x2x16xf32>
  %p = aicf.reshape %t to [4, 32] : tensor<2x2x2x16xf32>
  %y = aicf.softmax %p : tensor<4x32xf32>
  return %y : tensor<4x32xf32>
}

// -----

// The op reads the reshaped tensor twice.
// CHECK-LABEL: @square
// CHECK: %[[T:.*]] = aicf.transpose
// CHECK-NEXT: aicf.mul %[[T]], %[[T]] : tensor<2x2x2x16xf32>
func.func @square(%x: tensor<2x2x2x16xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4x32xf32> {aicf.name = "y"}) {
  %t = aicf.transpose %x [0, 2, 1, 3] : tensor<2x2x2x16xf32>
  %r = aicf.reshape %t to [4, 32] : tensor<2x2x2x16xf32> // %t is transposed
  %y = aicf.mul %r, %r : tensor<4x32xf32>, tensor<4x32xf32>
  %z = aicf.softmax %y : tensor<4x32xf32>
  return %z : tensor<4x32xf32>
}

// -----

// What that becomes stays as it is.
// CHECK-LABEL: @moved
// CHECK: aicf.mul %{{.*}} : tensor<2x2x2x16xf32>
// CHECK-NEXT: aicf.reshape %{{.*}} to [4, 32]
func.func @moved(%x: tensor<2x2x2x16xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4x32xf32> {aicf.name = "y"}) {
  %t = aicf.transpose %x [0, 2, 1, 3] : tensor<2x2x2x16xf32>
  %z = aicf.mul %t, %t : tensor<2x2x2x16xf32>, tensor<2x2x2x16xf32>
  %y = aicf.reshape %z to [4, 32] : tensor<2x2x2x16xf32>
  %q = aicf.softmax %y : tensor<4x32xf32>
  return %q : tensor<4x32xf32>
}
