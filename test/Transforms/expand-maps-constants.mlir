// RUN: aicf-opt %s -aicf-expand-maps -split-input-file | FileCheck %s

// Numbers that an op has as a field or reads in a tensor, on either side.

// CHECK-LABEL: func.func @sides
// CHECK-DAG: %[[S:.*]] = aicf.scale %arg0 {factor = -1.000000e+00 : f64}
// CHECK-DAG: %[[D:.*]] = aicf.add_scalar %[[S]] {value = 1.000000e+01 : f64}
// CHECK-DAG: %[[N:.*]] = aicf.clamp %[[D]] {max = 5.000000e+00 : f64, min = 0xFFF0000000000000 : f64}
// CHECK-DAG: %[[L:.*]] = aicf.clamp %[[N]] {max = 0x7FF0000000000000 : f64, min = 3.000000e+00 : f64}
// CHECK-DAG: %[[M:.*]] = aicf.clamp %[[L]] {max = 0x7FF0000000000000 : f64, min = 4.000000e+00 : f64}
// CHECK-DAG: %[[P:.*]] = aicf.scale %[[M]] {factor = 2.500000e+00 : f64}
// CHECK: aicf.add_scalar %[[P]] {value = -6.000000e+00 : f64}
func.func @sides(%a: tensor<8xf32>) -> tensor<8xf32> {
  %y = aicf.map %a : tensor<8xf32> -> tensor<8xf32> {
  ^bb0(%x: f32):
    %c10 = arith.constant 10.0 : f32
    %c3 = arith.constant 3.0 : f32
    %c4 = arith.constant 4.0 : f32
    %c5 = arith.constant 5.0 : f32
    %c6 = arith.constant 6.0 : f32
    %factor = arith.constant 2.5 : f32
    %d = arith.subf %c10, %x : f32
    %n = arith.minimumf %c5, %d : f32
    %l = arith.maximumf %n, %c3 : f32
    %m = arith.maximumf %c4, %l : f32
    %p = arith.mulf %factor, %m : f32
    %r = arith.subf %p, %c6 : f32
    aicf.yield %r : f32
  }
  return %y : tensor<8xf32>
}

// -----

// No field has an infinite number, and nothing is made in vain.
// CHECK-LABEL: func.func @infinite
// CHECK-NOT: aicf.scale
// CHECK-DAG: %[[D:.*]] = aicf.sub %{{.*}}, %arg0
// CHECK-DAG: %[[M:.*]] = aicf.minimum %{{.*}}, %[[D]]
// CHECK-DAG: %[[L:.*]] = aicf.maximum %[[M]], %{{.*}}
// CHECK: return %[[L]]
func.func @infinite(%a: tensor<8xf32>) -> tensor<8xf32> {
  %y = aicf.map %a : tensor<8xf32> -> tensor<8xf32> {
  ^bb0(%x: f32):
    %inf = arith.constant 0x7F800000 : f32
    %d = arith.subf %inf, %x : f32
    %m = arith.minimumf %inf, %d : f32
    %l = arith.maximumf %m, %inf : f32
    aicf.yield %l : f32
  }
  return %y : tensor<8xf32>
}

// -----

// A number before it was rounded, which no field has either.
// CHECK-LABEL: func.func @rounded_to_infinity
// CHECK: %[[C:.*]] = aicf.constant dense<0x7C00> : tensor<f16>
// CHECK: %[[B:.*]] = aicf.broadcast %[[C]] to [8]
// CHECK: aicf.mul %arg0, %[[B]]
func.func @rounded_to_infinity(%a: tensor<8xf16>) -> tensor<8xf16> {
  %y = aicf.map %a : tensor<8xf16> -> tensor<8xf16> {
  ^bb0(%x: f16):
    %n = arith.constant {aicf.exact = 1.0e308} 0x7C00 : f16
    %m = arith.mulf %x, %n : f16
    aicf.yield %m : f16
  }
  return %y : tensor<8xf16>
}

// -----

// What is filled has the type of the number, not of another operand.
// CHECK-LABEL: func.func @types
// CHECK-DAG: %[[I:.*]] = aicf.cast %arg0 to f32
// CHECK-DAG: %[[F:.*]] = aicf.fill_like %arg1 {value = 2.000000e+00 : f64} : tensor<8xf32>
// CHECK-DAG: %[[P:.*]] = aicf.pow %[[F]], %[[I]]
// CHECK: aicf.mul %[[P]], %arg1
func.func @types(%a: tensor<8xi64>, %b: tensor<8xf32>) -> tensor<8xf32> {
  %y = aicf.map %a, %b : tensor<8xi64>, tensor<8xf32> -> tensor<8xf32> {
  ^bb0(%i: i64, %x: f32):
    %two = arith.constant 2.0 : f32
    %f = arith.sitofp %i : i64 to f32
    %p = math.powf %two, %f : f32
    %m = arith.mulf %p, %x : f32
    aicf.yield %m : f32
  }
  return %y : tensor<8xf32>
}

// -----

// Without an operand of its type the number is a constant that is repeated; one
// without dimensions is not repeated.
// CHECK-LABEL: func.func @repeated
// CHECK: %[[C:.*]] = aicf.constant dense<3> : tensor<i64>
// CHECK: aicf.broadcast %[[C]] to [8]
// CHECK: %[[D:.*]] = aicf.constant dense<3> : tensor<i64>
// CHECK: return %{{.*}}, %[[D]]
func.func @repeated(%a: tensor<8xf32>, %b: tensor<f32>) -> (tensor<8xi64>, tensor<i64>) {
  %y = aicf.map %a : tensor<8xf32> -> tensor<8xi64> {
  ^bb0(%x: f32):
    %three = arith.constant 3 : i64
    aicf.yield %three : i64
  }
  %z = aicf.map %b : tensor<f32> -> tensor<i64> {
  ^bb0(%x: f32):
    %three = arith.constant 3 : i64
    aicf.yield %three : i64
  }
  return %y, %z : tensor<8xi64>, tensor<i64>
}

// -----

// CHECK-LABEL: func.func @fma
// CHECK: %[[M:.*]] = aicf.mul %arg0, %arg1
// CHECK: aicf.add %[[M]], %arg2
func.func @fma(%a: tensor<8xf32>, %b: tensor<8xf32>, %c: tensor<8xf32>) -> tensor<8xf32> {
  %y = aicf.map %a, %b, %c : tensor<8xf32>, tensor<8xf32>, tensor<8xf32> -> tensor<8xf32> {
  ^bb0(%x: f32, %z: f32, %w: f32):
    %m = math.fma %x, %z, %w : f32
    aicf.yield %m : f32
  }
  return %y : tensor<8xf32>
}
