// RUN: aicf-opt %s --aicf-propagate-reshapes --split-input-file | FileCheck %s

// Tests ops of views alone, which are computed as their readers read them.

// A product of repeated tensors, in patches.
// CHECK-LABEL: @patches
// CHECK-DAG: %[[A:.*]] = aicf.transpose %{{.*}} [0, 2, 1, 3] : tensor<2x2x2x16xf32>
// CHECK-DAG: %[[B:.*]] = aicf.transpose %{{.*}} [0, 2, 1, 3] : tensor<2x2x2x16xf32>
// CHECK: %[[M:.*]] = aicf.mul %[[A]], %[[B]] : tensor<2x2x2x16xf32>
// CHECK-NEXT: aicf.relu_bwd %[[M]], %arg2
func.func @patches(%d: tensor<4x1xf32> {aicf.role = "input", aicf.name = "d"},
                   %w: tensor<32xf32> {aicf.role = "input", aicf.name = "w"},
                   %y: tensor<2x2x2x16xf32> {aicf.role = "input", aicf.name = "y"})
    -> (tensor<2x2x2x16xf32> {aicf.name = "z"}) {
  %a = aicf.broadcast %d to [4, 32] : tensor<4x1xf32>
  %b = aicf.broadcast %w to [4, 32] : tensor<32xf32>
  %m = aicf.mul %a, %b : tensor<4x32xf32>, tensor<4x32xf32>
  %r = aicf.reshape %m to [2, 2, 2, 16] : tensor<4x32xf32>
  %t = aicf.transpose %r [0, 2, 1, 3] : tensor<2x2x2x16xf32>
  %z = aicf.relu_bwd %t, %y : tensor<2x2x2x16xf32>, tensor<2x2x2x16xf32>
  return %z : tensor<2x2x2x16xf32>
}

// -----

// The same in another shape.
// CHECK-LABEL: @shape
// CHECK: %[[M:.*]] = aicf.mul %{{.*}} : tensor<2x2x32xf32>, tensor<2x2x32xf32>
// CHECK-NEXT: aicf.relu_bwd %[[M]], %arg2
func.func @shape(%d: tensor<4x1xf32> {aicf.role = "input", aicf.name = "d"},
                 %w: tensor<32xf32> {aicf.role = "input", aicf.name = "w"},
                 %y: tensor<2x2x32xf32> {aicf.role = "input", aicf.name = "y"})
    -> (tensor<2x2x32xf32> {aicf.name = "z"}) {
  %a = aicf.broadcast %d to [4, 32] : tensor<4x1xf32>
  %b = aicf.broadcast %w to [4, 32] : tensor<32xf32>
  %m = aicf.mul %a, %b : tensor<4x32xf32>, tensor<4x32xf32>
  %r = aicf.reshape %m to [2, 2, 32] : tensor<4x32xf32>
  %z = aicf.relu_bwd %r, %y : tensor<2x2x32xf32>, tensor<2x2x32xf32>
  return %z : tensor<2x2x32xf32>
}

// -----

// A tensor of its own: the op may be part of the call that makes it.
// CHECK-LABEL: @tensor
// CHECK: aicf.mul %arg0, %{{.*}} : tensor<4x32xf32>
func.func @tensor(%x: tensor<4x32xf32> {aicf.role = "input", aicf.name = "x"},
                  %w: tensor<32xf32> {aicf.role = "input", aicf.name = "w"},
                  %y: tensor<2x2x32xf32> {aicf.role = "input", aicf.name = "y"})
    -> (tensor<2x2x32xf32> {aicf.name = "z"}) {
  %b = aicf.broadcast %w to [4, 32] : tensor<32xf32>
  %m = aicf.mul %x, %b : tensor<4x32xf32>, tensor<4x32xf32>
  %r = aicf.reshape %m to [2, 2, 32] : tensor<4x32xf32>
  %z = aicf.relu_bwd %r, %y : tensor<2x2x32xf32>, tensor<2x2x32xf32>
  return %z : tensor<2x2x32xf32>
}

// -----

// A reader that is not a pointwise op, and a second reader of the product.
// CHECK-LABEL: @readers
// CHECK-COUNT-2: aicf.mul %{{.*}} : tensor<4x32xf32>, tensor<4x32xf32>
func.func @readers(%d: tensor<4x1xf32> {aicf.role = "input", aicf.name = "d"},
                   %w: tensor<32xf32> {aicf.role = "input", aicf.name = "w"})
    -> (tensor<2x2x32xf32> {aicf.name = "y"}, tensor<4x32xf32> {aicf.name = "n"},
        tensor<2x2x32xf32> {aicf.name = "z"}) {
  %a = aicf.broadcast %d to [4, 32] : tensor<4x1xf32>
  %b = aicf.broadcast %w to [4, 32] : tensor<32xf32>
  %m = aicf.mul %a, %b : tensor<4x32xf32>, tensor<4x32xf32>
  %r = aicf.reshape %m to [2, 2, 32] : tensor<4x32xf32>
  %y = aicf.softmax %r : tensor<2x2x32xf32>
  %n = aicf.mul %b, %a : tensor<4x32xf32>, tensor<4x32xf32>
  %s = aicf.reshape %n to [2, 2, 32] : tensor<4x32xf32>
  %z = aicf.exp %s : tensor<2x2x32xf32>
  return %y, %n, %z : tensor<2x2x32xf32>, tensor<4x32xf32>, tensor<2x2x32xf32>
}
