// RUN: aicf-opt %s | aicf-opt | FileCheck %s

// Tests that views, parts and reductions print what they parse, and infer their
// results' types.

// CHECK-LABEL: @views
func.func @views(%x: tensor<2x3x4xf32>, %m: tensor<4x1xi64>, %s: tensor<f16>) {
  // CHECK: %[[R:.*]] = aicf.reshape %{{.*}} to [6, 4] : tensor<2x3x4xf32>
  %r = aicf.reshape %x to [6, 4] : tensor<2x3x4xf32>
  // CHECK: aicf.transpose %[[R]] [1, 0] : tensor<6x4xf32>
  %t = aicf.transpose %r [1, 0] : tensor<6x4xf32>
  // CHECK: aicf.transpose %{{.*}} [2, 0, 1] : tensor<2x3x4xf32>
  %u = aicf.transpose %x [2, 0, 1] : tensor<2x3x4xf32>
  // CHECK: %[[S:.*]] = aicf.slice %{{.*}} from [0, 1, 0] to [2, 2, 4] step [1, 1, 3] : tensor<2x3x4xf32>
  %c = aicf.slice %x from [0, 1, 0] to [2, 2, 4] step [1, 1, 3] : tensor<2x3x4xf32>
  // CHECK: aicf.reshape %[[S]] to [4] : tensor<2x1x2xf32>
  %d = aicf.reshape %c to [4] : tensor<2x1x2xf32>
  // CHECK: aicf.slice %{{.*}} from [1, 0] to [2, 1] : tensor<4x1xi64>
  %e = aicf.slice %m from [1, 0] to [2, 1] : tensor<4x1xi64>
  // CHECK: aicf.broadcast %{{.*}} to [2, 4, 5] : tensor<4x1xi64>
  %b = aicf.broadcast %m to [2, 4, 5] : tensor<4x1xi64>
  // CHECK: aicf.broadcast %{{.*}} to [3] : tensor<f16>
  %f = aicf.broadcast %s to [3] : tensor<f16>
  return
}

// CHECK-LABEL: @parts
func.func @parts(%x: tensor<2x3xf32>, %y: tensor<2x1xf32>) {
  // CHECK: %[[C:.*]] = aicf.concat %{{.*}}, %{{.*}}, %{{.*}} {axis = 1 : i64} : tensor<2x3xf32>, tensor<2x1xf32>, tensor<2x3xf32>
  %c = aicf.concat %x, %y, %x {axis = 1} : tensor<2x3xf32>, tensor<2x1xf32>, tensor<2x3xf32>
  // CHECK: aicf.pad %[[C]] {axis = 0 : i64, begin = 1 : i64, size = 5 : i64, step = 3 : i64} : tensor<2x7xf32>
  %p = aicf.pad %c {axis = 0, begin = 1, step = 3, size = 5} : tensor<2x7xf32>
  %q = aicf.relu %p : tensor<5x7xf32>
  return
}

// CHECK-LABEL: @reductions
func.func @reductions(%x: tensor<2x3x4xbf16>) {
  // CHECK: aicf.reduce_sum %{{.*}} over [0, 2] : tensor<2x3x4xbf16>
  %a = aicf.reduce_sum %x over [0, 2] : tensor<2x3x4xbf16>
  %ra = aicf.relu %a : tensor<3xbf16>
  // CHECK: aicf.reduce_mean %{{.*}} over [1, 2] {keepdim = true} : tensor<2x3x4xbf16>
  %b = aicf.reduce_mean %x over [1, 2] {keepdim = true} : tensor<2x3x4xbf16>
  %rb = aicf.relu %b : tensor<2x1x1xbf16>
  // CHECK: %[[Y:.*]], %[[I:.*]] = aicf.reduce_max %{{.*}} over [0, 1, 2] : tensor<2x3x4xbf16>
  %y, %i = aicf.reduce_max %x over [0, 1, 2] : tensor<2x3x4xbf16>
  // CHECK: aicf.extremum_bwd %[[Y]], %[[I]] over [0, 1, 2] to [2, 3, 4] : tensor<bf16>, tensor<i32>
  %d = aicf.extremum_bwd %y, %i over [0, 1, 2] to [2, 3, 4] : tensor<bf16>, tensor<i32>
  %rd = aicf.relu %d : tensor<2x3x4xbf16>
  // CHECK: aicf.reduce_min %{{.*}} over [] : tensor<2x3x4xbf16>
  %z, %j = aicf.reduce_min %x over [] : tensor<2x3x4xbf16>
  %rz = aicf.relu %z : tensor<2x3x4xbf16>
  return
}

// CHECK-LABEL: @products
func.func @products(%a: tensor<5x1x2x3xf32>, %b: tensor<4x3x6xf32>, %w: tensor<3x7xf32>, %v: tensor<7xf32>) {
  // CHECK: aicf.matmul %{{.*}}, %{{.*}} : tensor<5x1x2x3xf32>, tensor<4x3x6xf32>
  %c = aicf.matmul %a, %b : tensor<5x1x2x3xf32>, tensor<4x3x6xf32>
  %rc = aicf.relu %c : tensor<5x4x2x6xf32>
  // CHECK: aicf.matmul %{{.*}}, %{{.*}} {transA = true, transB = true} : tensor<4x3x6xf32>, tensor<5x1x2x3xf32>
  %d = aicf.matmul %b, %a {transA = true, transB = true} : tensor<4x3x6xf32>, tensor<5x1x2x3xf32>
  %rd = aicf.relu %d : tensor<5x4x6x2xf32>
  // CHECK: aicf.linear %{{.*}} {transW = false} : tensor<5x1x2x3xf32>, tensor<3x7xf32>, tensor<7xf32>
  %e = aicf.linear %a, %w, %v {transW = false} : tensor<5x1x2x3xf32>, tensor<3x7xf32>, tensor<7xf32>
  %re = aicf.relu %e : tensor<5x1x2x7xf32>
  // CHECK: aicf.linear_bwd %{{.*}} {transW = false}
  %g:3 = aicf.linear_bwd %e, %a, %w {transW = false} : tensor<5x1x2x7xf32>, tensor<5x1x2x3xf32>, tensor<3x7xf32>
  %rg = aicf.relu %g#2 : tensor<7xf32>
  return
}
