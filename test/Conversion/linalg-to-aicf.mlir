// RUN: aicf-opt %s --convert-linalg-to-aicf | FileCheck %s --implicit-check-not=linalg.

// What comes back computes the same: test/python/test_linalg.py.

#map_x = affine_map<(b, s, n, k) -> (b, s, k)>
#map_w = affine_map<(b, s, n, k) -> (n, k)>
#map_y = affine_map<(b, s, n, k) -> (b, s, n)>
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#column = affine_map<(i, j) -> (j)>
#none = affine_map<(i, j) -> ()>

// A layer as frontends write it: its bias goes into linear.
// CHECK-LABEL: func.func @layer
// CHECK-SAME: (%[[X:.*]]: tensor<4x8xf32>, %[[W:.*]]: tensor<3x8xf32>, %[[B:.*]]: tensor<3xf32>)
// CHECK-NEXT: %[[Y:.*]] = aicf.linear %[[X]], %[[W]], %[[B]] :
// CHECK-NEXT: %[[Z:.*]] = aicf.relu %[[Y]]
// CHECK-NEXT: return %[[Z]]
func.func @layer(%x: tensor<4x8xf32>, %W: tensor<3x8xf32>, %b: tensor<3xf32>) -> tensor<4x3xf32> {
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<8x3xf32>
  %wt = linalg.transpose ins(%W : tensor<3x8xf32>) outs(%e0 : tensor<8x3xf32>) permutation = [1, 0]
  %e = tensor.empty() : tensor<4x3xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%e : tensor<4x3xf32>) -> tensor<4x3xf32>
  %y = linalg.matmul ins(%x, %wt : tensor<4x8xf32>, tensor<8x3xf32>) outs(%zeros : tensor<4x3xf32>) -> tensor<4x3xf32>
  %r = linalg.broadcast ins(%b : tensor<3xf32>) outs(%e : tensor<4x3xf32>) dimensions = [0]
  %s = linalg.add ins(%y, %r : tensor<4x3xf32>, tensor<4x3xf32>) outs(%e : tensor<4x3xf32>) -> tensor<4x3xf32>
  %z = linalg.max ins(%s, %zeros : tensor<4x3xf32>, tensor<4x3xf32>) outs(%e : tensor<4x3xf32>) -> tensor<4x3xf32>
  return %z : tensor<4x3xf32>
}

// CHECK-LABEL: func.func @products
// CHECK-DAG: aicf.matmul %{{.*}} : tensor<4x8xf32>, tensor<8x3xf32>
// CHECK-DAG: aicf.matmul %{{.*}} {transA = true} : tensor<4x8xf32>, tensor<4x3xf32>
// CHECK-DAG: aicf.linear %{{.*}} : tensor<2x5x8xf32>, tensor<3x8xf32>
func.func @products(%x: tensor<4x8xf32>, %w: tensor<8x3xf32>, %rows: tensor<2x5x8xf32>,
                    %v: tensor<3x8xf32>, %z: tensor<4x3xf32>, %g: tensor<8x3xf32>, %y: tensor<2x5x3xf32>)
    -> (tensor<4x3xf32>, tensor<8x3xf32>, tensor<2x5x3xf32>) {
  %zero = arith.constant dense<0.0> : tensor<4x3xf32>
  %zeros = arith.constant dense<0.0> : tensor<2x5x3xf32>
  %a = linalg.matmul ins(%x, %w : tensor<4x8xf32>, tensor<8x3xf32>) outs(%zero : tensor<4x3xf32>) -> tensor<4x3xf32>
  %b = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%x, %z : tensor<4x8xf32>, tensor<4x3xf32>) outs(%g : tensor<8x3xf32>) -> tensor<8x3xf32>
  %c = linalg.generic {indexing_maps = [#map_x, #map_w, #map_y], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%rows, %v : tensor<2x5x8xf32>, tensor<3x8xf32>) outs(%zeros : tensor<2x5x3xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %m = arith.mulf %p, %q : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<2x5x3xf32>
  return %a, %b, %c : tensor<4x3xf32>, tensor<8x3xf32>, tensor<2x5x3xf32>
}

// One body: a gelu in PyTorch's words, a gate, a broadcast row, a number.
// CHECK-LABEL: func.func @body
// CHECK-DAG: %[[G:.*]] = aicf.gelu %{{.*}} : tensor<4x3xf32>
// CHECK-DAG: %[[C:.*]] = aicf.reshape %{{.*}} to [4, 1] : tensor<4xf32>
// CHECK-DAG: %[[R:.*]] = aicf.broadcast %[[C]] to [4, 3] : tensor<4x1xf32>
// CHECK-DAG: %[[S:.*]] = aicf.sigmoid %[[R]]
// CHECK: %[[M:.*]] = aicf.mul %{{.*}}, %{{.*}}
// CHECK: aicf.div_scalar %[[M]] {value = 4.000000e+00 : f64}
func.func @body(%x: tensor<4x3xf32>, %r: tensor<4xf32>) -> tensor<4x3xf32> {
  %half = arith.constant 0.5 : f32
  %root = arith.constant 1.41421356 : f32
  %one = arith.constant 1.0 : f32
  %four = arith.constant 4.0 : f32
  %e = tensor.empty() : tensor<4x3xf32>
  %y = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %r : tensor<4x3xf32>, tensor<4xf32>) outs(%e : tensor<4x3xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %u = arith.divf %a, %root : f32
    %f = math.erf %u : f32
    %c = arith.addf %one, %f : f32
    %h = arith.mulf %half, %a : f32
    %gelu = arith.mulf %h, %c : f32
    %n = arith.negf %b : f32
    %ex = math.exp %n : f32
    %d = arith.addf %ex, %one : f32
    %gate = arith.divf %one, %d : f32
    %m = arith.mulf %gelu, %gate : f32
    %q = arith.divf %m, %four : f32
    linalg.yield %q : f32
  } -> tensor<4x3xf32>
  return %y : tensor<4x3xf32>
}

// CHECK-LABEL: func.func @error_functions
// CHECK: %[[E:.*]] = aicf.erf %{{.*}} : tensor<4x3xf32>
// CHECK: aicf.erfc %[[E]] : tensor<4x3xf32>
func.func @error_functions(%x: tensor<4x3xf32>) -> tensor<4x3xf32> {
  %e = tensor.empty() : tensor<4x3xf32>
  %y = linalg.erf ins(%x : tensor<4x3xf32>) outs(%e : tensor<4x3xf32>) -> tensor<4x3xf32>
  %z = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%y : tensor<4x3xf32>) outs(%e : tensor<4x3xf32>) {
  ^bb0(%a: f32, %o: f32):
    %f = math.erfc %a : f32
    linalg.yield %f : f32
  } -> tensor<4x3xf32>
  return %z : tensor<4x3xf32>
}

// The mean of squares: a sum over all loops of a body.
// CHECK-LABEL: func.func @loss
// CHECK: %[[D:.*]] = aicf.sub
// CHECK: %[[Q:.*]] = aicf.mul %[[D]], %[[D]]
// CHECK: %[[S:.*]] = aicf.reduce_sum %[[Q]] over [0, 1]
// CHECK: aicf.scale %[[S]]
func.func @loss(%x: tensor<4x2xf32>, %t: tensor<4x2xf32>) -> tensor<f32> {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %s = linalg.generic {indexing_maps = [#id, #id, #none], iterator_types = ["reduction", "reduction"]}
      ins(%x, %t : tensor<4x2xf32>, tensor<4x2xf32>) outs(%zero : tensor<f32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %d = arith.subf %a, %b : f32
    %q = arith.mulf %d, %d : f32
    %n = arith.addf %o, %q : f32
    linalg.yield %n : f32
  } -> tensor<f32>
  %eighth = arith.constant dense<0.125> : tensor<f32>
  %e = tensor.empty() : tensor<f32>
  %l = linalg.mul ins(%s, %eighth : tensor<f32>, tensor<f32>) outs(%e : tensor<f32>) -> tensor<f32>
  return %l : tensor<f32>
}

// 16-bit factors that are summed in f32.
// CHECK-LABEL: func.func @wide_sum
// CHECK-DAG: %[[X:.*]] = aicf.cast %{{.*}} to f32 : tensor<8x4xbf16>
// CHECK-DAG: %[[W:.*]] = aicf.cast %{{.*}} to f32 : tensor<8x3xbf16>
// CHECK: aicf.matmul %[[X]], %[[W]] {transA = true} : tensor<8x4xf32>, tensor<8x3xf32>
func.func @wide_sum(%xt: tensor<8x4xbf16>, %w: tensor<8x3xbf16>) -> tensor<4x3xf32> {
  %zero = arith.constant dense<0.0> : tensor<4x3xf32>
  %e = tensor.empty() : tensor<4x8xbf16>
  %x = linalg.transpose ins(%xt : tensor<8x4xbf16>) outs(%e : tensor<4x8xbf16>) permutation = [1, 0]
  %y = linalg.matmul ins(%x, %w : tensor<4x8xbf16>, tensor<8x3xbf16>) outs(%zero : tensor<4x3xf32>) -> tensor<4x3xf32>
  return %y : tensor<4x3xf32>
}

// CHECK-LABEL: func.func @softmax
// CHECK-NEXT: aicf.softmax
func.func @softmax(%x: tensor<4x3xf32>) -> tensor<4x3xf32> {
  %e = tensor.empty() : tensor<4x3xf32>
  %y = linalg.softmax dimension(1) ins(%x : tensor<4x3xf32>) outs(%e : tensor<4x3xf32>) -> tensor<4x3xf32>
  return %y : tensor<4x3xf32>
}
