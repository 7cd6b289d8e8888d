// RUN: aicf-opt %s --convert-linalg-to-aicf --verify-diagnostics | FileCheck %s

// Tests that sums of products become products of matrices between views, however many
// loops are rows, columns, batches or summed, and in whatever order they stand.

#id = affine_map<(i, j) -> (i, j)>

// CHECK-LABEL: func.func @gradient_of_a_layer
// CHECK-SAME: %[[X:.*]]: tensor<3x5x8xf32>, %[[G:.*]]: tensor<3x5x4xf32>
// CHECK-DAG: %[[GR:.*]] = aicf.reshape %[[G]] to [15, 4]
// CHECK-DAG: %[[XR:.*]] = aicf.reshape %[[X]] to [15, 8]
// CHECK: aicf.matmul %[[GR]], %[[XR]] {transA = true}
// CHECK-NOT: broadcast
func.func @gradient_of_a_layer(%x: tensor<3x5x8xf32>, %g: tensor<3x5x4xf32>) -> tensor<4x8xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x8xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  %y = linalg.contract indexing_maps = [affine_map<(n, k, b, s) -> (b, s, n)>,
      affine_map<(n, k, b, s) -> (b, s, k)>, affine_map<(n, k, b, s) -> (n, k)>]
      ins(%g, %x : tensor<3x5x4xf32>, tensor<3x5x8xf32>) outs(%f : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// Tests that a batch in the middle is moved to the front.
// CHECK-LABEL: func.func @heads
// CHECK: %[[Q:.*]] = aicf.transpose %{{.*}} [0, 2, 1, 3]
// CHECK: %[[K:.*]] = aicf.transpose %{{.*}} [0, 2, 1, 3]
// CHECK: aicf.matmul %[[Q]], %[[K]] {transB = true} : tensor<2x3x5x4xf32>, tensor<2x3x6x4xf32>
func.func @heads(%q: tensor<2x5x3x4xf32>, %k: tensor<2x6x3x4xf32>) -> tensor<2x3x5x6xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x3x5x6xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<2x3x5x6xf32>) -> tensor<2x3x5x6xf32>
  %y = linalg.contract indexing_maps = [affine_map<(b, h, q, k, d) -> (b, q, h, d)>,
      affine_map<(b, h, q, k, d) -> (b, k, h, d)>, affine_map<(b, h, q, k, d) -> (b, h, q, k)>]
      ins(%q, %k : tensor<2x5x3x4xf32>, tensor<2x6x3x4xf32>)
      outs(%f : tensor<2x3x5x6xf32>) -> tensor<2x3x5x6xf32>
  return %y : tensor<2x3x5x6xf32>
}

// Tests tiles of matrices: rows, columns and what is summed are two loops each.
// CHECK-LABEL: func.func @tiles
// CHECK: %[[Y:.*]] = aicf.linear %{{.*}} : tensor<2x4x15xf32>, tensor<24x15xf32>
// CHECK: %[[S:.*]] = aicf.reshape %[[Y]] to [2, 4, 3, 8]
// CHECK: aicf.transpose %[[S]] [0, 2, 1, 3]
func.func @tiles(%a: tensor<2x5x4x3xf32>, %b: tensor<3x5x8x3xf32>) -> tensor<2x3x4x8xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x3x4x8xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<2x3x4x8xf32>) -> tensor<2x3x4x8xf32>
  %y = linalg.mmt4d ins(%a, %b : tensor<2x5x4x3xf32>, tensor<3x5x8x3xf32>)
      outs(%f : tensor<2x3x4x8xf32>) -> tensor<2x3x4x8xf32>
  return %y : tensor<2x3x4x8xf32>
}

// Tests a result whose columns stand in front.
// CHECK-LABEL: func.func @turned
// CHECK-SAME: %[[A:.*]]: tensor<4x8xf32>, %[[B:.*]]: tensor<3x8xf32>
// CHECK: aicf.linear %[[B]], %[[A]] : tensor<3x8xf32>, tensor<4x8xf32>
func.func @turned(%a: tensor<4x8xf32>, %b: tensor<3x8xf32>) -> tensor<3x4xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x4xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<3x4xf32>) -> tensor<3x4xf32>
  %y = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>,
      affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (n, m)>]
      ins(%a, %b : tensor<4x8xf32>, tensor<3x8xf32>) outs(%f : tensor<3x4xf32>) -> tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}

// Tests that a sum that is the same in each column is computed for one of them.
// CHECK-LABEL: func.func @constant_factor
// CHECK: aicf.scale %{{.*}} : tensor<300x1x200xf32>
// CHECK: %[[S:.*]] = aicf.reduce_sum %{{.*}} over [2] : tensor<300x1x200xf32>
// CHECK: aicf.broadcast %[[S]] to [300, 400]
func.func @constant_factor(%x: tensor<300x200xf32>) -> tensor<300x400xf32> {
  %c = arith.constant dense<1.5> : tensor<200x400xf32>
  %z = arith.constant dense<0.0> : tensor<300x400xf32>
  %y = linalg.matmul ins(%x, %c : tensor<300x200xf32>, tensor<200x400xf32>)
      outs(%z : tensor<300x400xf32>) -> tensor<300x400xf32>
  return %y : tensor<300x400xf32>
}

// Tests the remark where all pairs are computed before they are reduced, which is not a
// product of matrices: squared distances.
// CHECK-LABEL: func.func @pairs
// CHECK: aicf.reduce_sum %{{.*}} over [2] : tensor<300x300x2xf32>
func.func @pairs(%x: tensor<300x2xf32>) -> tensor<300x300xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<300x300xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<300x300xf32>) -> tensor<300x300xf32>
  // expected-remark @+1 {{computes 180000 elements from 1200 of its operands and reduces them}}
  %y = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>,
      affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %x : tensor<300x2xf32>, tensor<300x2xf32>) outs(%f : tensor<300x300xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %d = arith.subf %a, %b : f32
    %q = arith.mulf %d, %d : f32
    %s = arith.addf %o, %q : f32
    linalg.yield %s : f32
  } -> tensor<300x300xf32>
  return %y : tensor<300x300xf32>
}
