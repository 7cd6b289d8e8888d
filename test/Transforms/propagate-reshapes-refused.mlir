// RUN: aicf-opt %s --aicf-propagate-reshapes --split-input-file | FileCheck %s

// Tests which reshapes stay where they are.

// Strides say where the elements are.
// CHECK-LABEL: @no_copy
// CHECK: %[[R:.*]] = aicf.reshape
// CHECK: aicf.mul %[[R]]
func.func @no_copy(%x: tensor<2x4x16xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4x2x4x4xf32> {aicf.name = "y"}) {
  %t = aicf.transpose %x [1, 0, 2] : tensor<2x4x16xf32>
  %r = aicf.reshape %t to [4, 2, 4, 4] : tensor<4x2x16xf32>
  %s = aicf.mul %r, %r : tensor<4x2x4x4xf32>, tensor<4x2x4x4xf32>
  %y = aicf.softmax %s : tensor<4x2x4x4xf32>
  return %y : tensor<4x2x4x4xf32>
}

// -----

// The copy is made anyway.
// CHECK-LABEL: @two_readers
// CHECK: %[[R:.*]] = aicf.reshape
// CHECK: aicf.mul %[[R]]
func.func @two_readers(%x: tensor<2x2x2x16xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4x32xf32> {aicf.name = "y"}, tensor<4x32xf32> {aicf.name = "z"}) {
  %t = aicf.transpose %x [0, 2, 1, 3] : tensor<2x2x2x16xf32>
  %r = aicf.reshape %t to [4, 32] : tensor<2x2x2x16xf32>
  %s = aicf.mul %r, %r : tensor<4x32xf32>, tensor<4x32xf32>
  %y = aicf.softmax %s : tensor<4x32xf32>
  %z = aicf.softmax %r : tensor<4x32xf32>
  return %y, %z : tensor<4x32xf32>, tensor<4x32xf32>
}

// -----

// What is returned has storage of its own shape.
// CHECK-LABEL: @returned
// CHECK: aicf.mul %{{.*}} : tensor<4x32xf32>
func.func @returned(%x: tensor<2x2x2x16xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4x32xf32> {aicf.name = "y"}) {
  %t = aicf.transpose %x [0, 2, 1, 3] : tensor<2x2x2x16xf32>
  %r = aicf.reshape %t to [4, 32] : tensor<2x2x2x16xf32>
  %y = aicf.mul %r, %r : tensor<4x32xf32>, tensor<4x32xf32>
  return %y : tensor<4x32xf32>
}

// -----

// The rows are short, or their elements do not lie together.
// CHECK-LABEL: @short_rows
// CHECK: aicf.mul %{{.*}} : tensor<4x16xf32>
// CHECK: aicf.mul %{{.*}} : tensor<32x4xf32>
func.func @short_rows(%x: tensor<2x2x2x8xf32> {aicf.role = "input", aicf.name = "x"},
                      %w: tensor<2x2x32xf32> {aicf.role = "input", aicf.name = "w"})
    -> (tensor<4x16xf32> {aicf.name = "y"}, tensor<32x4xf32> {aicf.name = "z"}) {
  %t = aicf.transpose %x [0, 2, 1, 3] : tensor<2x2x2x8xf32>
  %r = aicf.reshape %t to [4, 16] : tensor<2x2x2x8xf32>
  %s = aicf.mul %r, %r : tensor<4x16xf32>, tensor<4x16xf32>
  %y = aicf.softmax %s : tensor<4x16xf32>
  %u = aicf.transpose %w [2, 1, 0] : tensor<2x2x32xf32>
  %v = aicf.reshape %u to [32, 4] : tensor<32x2x2xf32>
  %q = aicf.mul %v, %v : tensor<32x4xf32>, tensor<32x4xf32>
  %z = aicf.softmax %q : tensor<32x4xf32>
  return %y, %z : tensor<4x16xf32>, tensor<32x4xf32>
}

// -----

// In the shape of the patches, elements of the other operand lie apart.
// CHECK-LABEL: @other_copy
// CHECK: aicf.add %{{.*}} : tensor<4x32xf32>
func.func @other_copy(%x: tensor<2x2x2x16xf32> {aicf.role = "input", aicf.name = "x"},
                      %b: tensor<32x4xf32> {aicf.role = "input", aicf.name = "b"})
    -> (tensor<4x32xf32> {aicf.name = "y"}) {
  %t = aicf.transpose %x [0, 2, 1, 3] : tensor<2x2x2x16xf32>
  %r = aicf.reshape %t to [4, 32] : tensor<2x2x2x16xf32>
  %c = aicf.transpose %b [1, 0] : tensor<32x4xf32>
  %s = aicf.add %r, %c : tensor<4x32xf32>, tensor<4x32xf32>
  %y = aicf.softmax %s : tensor<4x32xf32>
  return %y : tensor<4x32xf32>
}

// -----

// The op's result has another reader.
// CHECK-LABEL: @source_is_read
// CHECK: aicf.mul %{{.*}} : tensor<4x32xf32>
func.func @source_is_read(%x: tensor<4x32xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4x32xf32> {aicf.name = "y"}, tensor<4x32xf32> {aicf.name = "z"}) {
  %r = aicf.mul %x, %x : tensor<4x32xf32>, tensor<4x32xf32>
  %s = aicf.reshape %r to [2, 2, 2, 16] : tensor<4x32xf32>
  %t = aicf.transpose %s [0, 2, 1, 3] : tensor<2x2x2x16xf32>
  %p = aicf.reshape %t to [4, 32] : tensor<2x2x2x16xf32>
  %y = aicf.softmax %p : tensor<4x32xf32>
  %z = aicf.softmax %r : tensor<4x32xf32>
  return %y, %z : tensor<4x32xf32>, tensor<4x32xf32>
}

// -----

// No kernel of one operand reads a view.
// CHECK-LABEL: @one_operand
// CHECK: aicf.relu %{{.*}} : tensor<4x32xf32>
func.func @one_operand(%x: tensor<2x2x2x16xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4x32xf32> {aicf.name = "y"}) {
  %t = aicf.transpose %x [0, 2, 1, 3] : tensor<2x2x2x16xf32>
  %r = aicf.reshape %t to [4, 32] : tensor<2x2x2x16xf32>
  %s = aicf.relu %r : tensor<4x32xf32>
  %y = aicf.softmax %s : tensor<4x32xf32>
  return %y : tensor<4x32xf32>
}

// -----

// Nothing is left of what was tried: the third operand would be read element by element.
// CHECK-LABEL: @third_operand
// CHECK-COUNT-2: aicf.reshape
// CHECK-NOT: aicf.reshape
// CHECK: aicf.where %{{.*}} : tensor<4x128xi1>
func.func @third_operand(%m: tensor<4x128xi1> {aicf.role = "input", aicf.name = "m"},
                         %x: tensor<2x2x2x64xf32> {aicf.role = "input", aicf.name = "x"},
                         %b: tensor<2x64x2x2xf32> {aicf.role = "input", aicf.name = "b"})
    -> (tensor<4x128xf32> {aicf.name = "y"}) {
  %t = aicf.transpose %x [0, 2, 1, 3] : tensor<2x2x2x64xf32>
  %r = aicf.reshape %t to [4, 128] : tensor<2x2x2x64xf32>
  %u = aicf.transpose %b [0, 2, 3, 1] : tensor<2x64x2x2xf32>
  %v = aicf.reshape %u to [4, 128] : tensor<2x2x2x64xf32>
  %s = aicf.where %m, %r, %v : tensor<4x128xi1>, tensor<4x128xf32>, tensor<4x128xf32>
  %y = aicf.softmax %s : tensor<4x128xf32>
  return %y : tensor<4x128xf32>
}
