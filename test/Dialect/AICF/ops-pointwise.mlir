// RUN: aicf-opt %s | aicf-opt | FileCheck %s

// CHECK-LABEL: func.func @functions
func.func @functions(%x: tensor<2x3xf32>, %n: tensor<4xi64>, %h: tensor<3xbf16>) {
  // CHECK: aicf.exp %{{.*}} : tensor<2x3xf32>
  %0 = aicf.exp %x : tensor<2x3xf32>
  // CHECK: aicf.exp_bwd %{{.*}}, %{{.*}} : tensor<2x3xf32>, tensor<2x3xf32>
  %1 = aicf.exp_bwd %x, %0 : tensor<2x3xf32>, tensor<2x3xf32>
  // CHECK: aicf.pow_scalar %{{.*}} {exponent = 1.500000e+00 : f64}
  %2 = aicf.pow_scalar %x {exponent = 1.5} : tensor<2x3xf32>
  // CHECK: aicf.clamp %{{.*}} {max = 0x7FF0000000000000 : f64, min = -2.000000e+00 : f64} : tensor<4xi64>
  %3 = aicf.clamp %n {min = -2.0, max = 0x7FF0000000000000 : f64} : tensor<4xi64>
  // CHECK: aicf.add_scalar %{{.*}} {value = 3.000000e+00 : f64} : tensor<4xi64>
  %4 = aicf.add_scalar %n {value = 3.0} : tensor<4xi64>
  // CHECK: aicf.elu %{{.*}} : tensor<3xbf16>
  %5 = aicf.elu %h : tensor<3xbf16>
  // CHECK: aicf.softplus %{{.*}} {beta = 2.000000e+00 : f64} : tensor<3xbf16>
  %6 = aicf.softplus %h {beta = 2.0} : tensor<3xbf16>
  // CHECK: aicf.mul %{{.*}}, %{{.*}} : tensor<4xi64>, tensor<4xi64>
  %7 = aicf.mul %n, %4 : tensor<4xi64>, tensor<4xi64>
  // CHECK: aicf.div
  %8 = aicf.div %x, %0 : tensor<2x3xf32>, tensor<2x3xf32>
  return
}

// CHECK-LABEL: func.func @choices
func.func @choices(%x: tensor<2x3xf32>, %n: tensor<4xi32>, %m: tensor<4xi1>) {
  // CHECK: %[[LESS:.*]] = aicf.less %{{.*}}, %{{.*}} : tensor<2x3xf32>, tensor<2x3xf32>
  %0 = aicf.less %x, %x : tensor<2x3xf32>, tensor<2x3xf32>
  // CHECK: %[[BIG:.*]] = aicf.greater_scalar %{{.*}} {value = 1.000000e+00 : f64} : tensor<4xi32>
  %1 = aicf.greater_scalar %n {value = 1.0} : tensor<4xi32>
  // CHECK: aicf.logical_or %[[BIG]], %{{.*}} : tensor<4xi1>, tensor<4xi1>
  %2 = aicf.logical_or %1, %m : tensor<4xi1>, tensor<4xi1>
  // CHECK: aicf.logical_not %{{.*}} : tensor<4xi1>
  %3 = aicf.logical_not %2 : tensor<4xi1>
  // CHECK: aicf.equal %{{.*}}, %{{.*}} : tensor<4xi1>, tensor<4xi1>
  %4 = aicf.equal %m, %3 : tensor<4xi1>, tensor<4xi1>
  // CHECK: aicf.where %[[LESS]], %{{.*}}, %{{.*}} : tensor<2x3xi1>, tensor<2x3xf32>, tensor<2x3xf32>
  %5 = aicf.where %0, %x, %x : tensor<2x3xi1>, tensor<2x3xf32>, tensor<2x3xf32>
  // CHECK: aicf.masked_fill %{{.*}}, %[[LESS]] {value = 0xFFF0000000000000 : f64}
  %6 = aicf.masked_fill %x, %0 {value = 0xFFF0000000000000 : f64} : tensor<2x3xf32>, tensor<2x3xi1>
  // CHECK: aicf.cast %{{.*}} to f32 : tensor<4xi1>
  %7 = aicf.cast %m to f32 : tensor<4xi1>
  // CHECK: aicf.cast %{{.*}} to i64 : tensor<2x3xf32>
  %8 = aicf.cast %x to i64 : tensor<2x3xf32>
  return
}

// CHECK-LABEL: func.func @map
func.func @map(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>) {
  // CHECK: aicf.map %{{.*}}, %{{.*}} : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x8xf32> {
  // CHECK-NEXT: ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32):
  // CHECK: aicf.yield %{{.*}} : f32
  %y = aicf.map %a, %b : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x8xf32> {
  ^bb0(%x: f32, %z: f32):
    %s = math.sin %x : f32
    %p = arith.mulf %s, %z : f32
    aicf.yield %p : f32
  }
  return
}
