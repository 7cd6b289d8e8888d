// RUN: aicf-opt %s --aicf-autodiff --split-input-file | FileCheck %s

// Tests the derivative of embedding_bwd: rows that were not added get 0.

// CHECK-LABEL: func.func @added
// CHECK-SAME: %[[X:[^:]*]]: tensor<4x2xf32>
// CHECK-SAME: %[[I:[^:]*]]: tensor<4xi64>
// CHECK: aicf.embedding_bwd %[[X]], %[[I]]
// CHECK: %[[BELOW:.*]] = aicf.less_scalar %[[I]] {value = 0.0
// CHECK: %[[ABOVE:.*]] = aicf.greater_equal_scalar %[[I]] {value = 3.0
// CHECK: %[[LEFT:.*]] = aicf.logical_or %[[BELOW]], %[[ABOVE]]
// CHECK: %[[COLUMN:.*]] = aicf.reshape %[[LEFT]]
// CHECK: %[[MASK:.*]] = aicf.broadcast %[[COLUMN]]
// CHECK: %[[ROWS:.*]] = aicf.embedding %{{.*}}, %[[I]]
// CHECK: %[[DX:.*]] = aicf.masked_fill %[[ROWS]], %[[MASK]]
// CHECK: return %{{.*}}, %[[DX]]
func.func @added(%x: tensor<4x2xf32> {aicf.role = "param", aicf.name = "x"},
                 %i: tensor<4xi64> {aicf.role = "input", aicf.name = "i"})
    -> (tensor<f32> {aicf.name = "loss", aicf.minimize}) {
  %t = aicf.embedding_bwd %x, %i {rows = 3 : i64} : tensor<4x2xf32>, tensor<4xi64>
  %l = aicf.reduce_mean %t over [0, 1] : tensor<3x2xf32>
  return %l : tensor<f32>
}

// -----

// Row `padding` is not a sum.
// CHECK-LABEL: func.func @padding
// CHECK-SAME: tensor<4x2xf32> {{.*}}, %[[I:[^:]*]]: tensor<4xi32>
// CHECK: %[[OUT:.*]] = aicf.logical_or
// CHECK: %[[PADDING:.*]] = aicf.equal_scalar %[[I]] {value = 1.0
// CHECK: aicf.logical_or %[[OUT]], %[[PADDING]]
// CHECK: aicf.masked_fill
func.func @padding(%x: tensor<4x2xf32> {aicf.role = "param", aicf.name = "x"},
                   %i: tensor<4xi32> {aicf.role = "input", aicf.name = "i"})
    -> (tensor<f32> {aicf.name = "loss", aicf.minimize}) {
  %t = aicf.embedding_bwd %x, %i {rows = 3 : i64, padding = 1 : i64}
      : tensor<4x2xf32>, tensor<4xi32>
  %l = aicf.reduce_mean %t over [0, 1] : tensor<3x2xf32>
  return %l : tensor<f32>
}
