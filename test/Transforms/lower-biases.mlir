// RUN: aicf-opt %s --aicf-lower-to-rt --split-input-file | FileCheck %s

// Tests which additions of what repeats are a bias: a vector whose elements lie
// together, along one dimension, of another tensor.

// CHECK-LABEL: @middle
// CHECK: aicf_rt.call bias_add(%{{.*}}, %{{.*}}) {axis = 1} : (tensor<2x3x4xf32>, tensor<3xf32>)
func.func @middle(%y: tensor<2x3x4xf32> {aicf.role = "input", aicf.name = "y"},
                  %b: tensor<3x1xf32> {aicf.role = "param", aicf.name = "b"})
    -> (tensor<2x3x4xf32> {aicf.name = "z"}) {
  %w = aicf.broadcast %b to [2, 3, 4] : tensor<3x1xf32>
  %z = aicf.add %y, %w : tensor<2x3x4xf32>, tensor<2x3x4xf32>
  return %z : tensor<2x3x4xf32>
}

// -----

// CHECK-LABEL: @column
// CHECK-NOT: bias_add
func.func @column(%y: tensor<5x4xf32> {aicf.role = "input", aicf.name = "y"},
                  %b: tensor<4x6xf32> {aicf.role = "param", aicf.name = "b"})
    -> (tensor<5x4xf32> {aicf.name = "z"}) {
  %c = aicf.slice %b from [0, 2] to [4, 3] : tensor<4x6xf32>
  %v = aicf.reshape %c to [4] : tensor<4x1xf32>
  %w = aicf.broadcast %v to [5, 4] : tensor<4xf32>
  %z = aicf.add %y, %w : tensor<5x4xf32>, tensor<5x4xf32>
  return %z : tensor<5x4xf32>
}

// -----

// CHECK-LABEL: @matrix
// CHECK-NOT: bias_add
func.func @matrix(%y: tensor<2x3x4xf32> {aicf.role = "input", aicf.name = "y"},
                  %b: tensor<3x4xf32> {aicf.role = "param", aicf.name = "b"})
    -> (tensor<2x3x4xf32> {aicf.name = "z"}) {
  %w = aicf.broadcast %b to [2, 3, 4] : tensor<3x4xf32>
  %z = aicf.add %y, %w : tensor<2x3x4xf32>, tensor<2x3x4xf32>
  return %z : tensor<2x3x4xf32>
}

// -----

// CHECK-LABEL: @number
// CHECK-NOT: bias_add
func.func @number(%y: tensor<3x4xf32> {aicf.role = "input", aicf.name = "y"},
                  %b: tensor<f32> {aicf.role = "param", aicf.name = "b"})
    -> (tensor<3x4xf32> {aicf.name = "z"}) {
  %w = aicf.broadcast %b to [3, 4] : tensor<f32>
  %z = aicf.add %y, %w : tensor<3x4xf32>, tensor<3x4xf32>
  return %z : tensor<3x4xf32>
}

// -----

// A row of the sum itself is not a bias of it.
// CHECK-LABEL: @own_row
// CHECK-NOT: bias_add
func.func @own_row(%y: tensor<3x4xf32> {aicf.role = "input", aicf.name = "y"})
    -> (tensor<3x4xf32> {aicf.name = "z"}) {
  %r = aicf.slice %y from [1, 0] to [2, 4] : tensor<3x4xf32>
  %w = aicf.broadcast %r to [3, 4] : tensor<1x4xf32>
  %z = aicf.add %y, %w : tensor<3x4xf32>, tensor<3x4xf32>
  return %z : tensor<3x4xf32>
}

// -----

// Integers have no biases.
// CHECK-LABEL: @integers
// CHECK-NOT: bias_add
func.func @integers(%y: tensor<3x4xi64> {aicf.role = "input", aicf.name = "y"},
                    %b: tensor<4xi64> {aicf.role = "input", aicf.name = "b"})
    -> (tensor<3x4xi64> {aicf.name = "z"}) {
  %w = aicf.broadcast %b to [3, 4] : tensor<4xi64>
  %z = aicf.add %y, %w : tensor<3x4xi64>, tensor<3x4xi64>
  return %z : tensor<3x4xi64>
}
