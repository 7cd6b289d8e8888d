// RUN: aicf-opt %s -aicf-expand-maps -split-input-file -verify-diagnostics | FileCheck %s

// Numbers in a map: a field keeps what it can hold, and every op has a derivative.

// A quotient stays one, because a factor of 1/41 would round twice.
// CHECK-LABEL: func.func @quotients
// CHECK-DAG: %[[D:.*]] = aicf.div_scalar %arg0 {value = 4.100000e+01 : f64}
// CHECK-DAG: %[[C:.*]] = aicf.fill_like %arg0 {value = 3.000000e+00 : f64}
// CHECK: aicf.div %[[C]], %[[D]]
func.func @quotients(%a: tensor<8xf64>) -> tensor<8xf64> {
  %y = aicf.map %a : tensor<8xf64> -> tensor<8xf64> {
  ^bb0(%x: f64):
    %n = arith.constant 41.0 : f64
    %three = arith.constant 3.0 : f64
    %d = arith.divf %x, %n : f64
    %r = arith.divf %three, %d : f64
    aicf.yield %r : f64
  }
  return %y : tensor<8xf64>
}

// -----

// What looks like the gradient of a tanh stays a product, which autodiff derives.
// CHECK-LABEL: func.func @derivable
// CHECK: aicf.mul
// CHECK-NOT: aicf.tanh_bwd
// CHECK: return
func.func @derivable(%x: tensor<8xf32>, %z: tensor<8xf32>) -> tensor<8xf32> {
  %y = aicf.map %x, %z : tensor<8xf32>, tensor<8xf32> -> tensor<8xf32> {
  ^bb0(%a: f32, %b: f32):
    %one = arith.constant 1.0 : f32
    %s = arith.mulf %b, %b : f32
    %n = arith.subf %one, %s : f32
    %p = arith.mulf %a, %n : f32
    aicf.yield %p : f32
  }
  return %y : tensor<8xf32>
}

// -----

// A number that no field of a scale has stays a tensor; so do numbers nearly 1.
// CHECK-LABEL: func.func @refused_numbers
// CHECK-DAG: %[[N:.*]] = aicf.fill_like %arg0 {value = 1.000000005 : f64}
// CHECK-DAG: %[[I:.*]] = aicf.constant dense<0x7FF0000000000000> : tensor<f64>
// CHECK-DAG: %[[B:.*]] = aicf.broadcast %[[I]] to [8]
// CHECK: %[[M:.*]] = aicf.mul %arg0, %[[B]]
// CHECK: aicf.div %[[N]], %[[M]]
// CHECK-NOT: aicf.reciprocal
// CHECK: return
func.func @refused_numbers(%a: tensor<8xf64>) -> tensor<8xf64> {
  %y = aicf.map %a : tensor<8xf64> -> tensor<8xf64> {
  ^bb0(%x: f64):
    %inf = arith.constant 0x7FF0000000000000 : f64
    %nearly = arith.constant 1.000000005 : f64
    %m = arith.mulf %x, %inf : f64
    %r = arith.divf %nearly, %m : f64
    aicf.yield %r : f64
  }
  return %y : tensor<8xf64>
}

// -----

// The field of a 16-bit op keeps the number that was meant.
// CHECK-LABEL: func.func @exact
// CHECK: aicf.scale %arg0 {factor = 1.000000e-08 : f64} : tensor<8xf16>
func.func @exact(%a: tensor<8xf16>) -> tensor<8xf16> {
  %y = aicf.map %a : tensor<8xf16> -> tensor<8xf16> {
  ^bb0(%x: f16):
    %n = arith.constant {aicf.exact = 1.0e-8 : f64} 0.0 : f16
    %m = arith.mulf %x, %n : f16
    aicf.yield %m : f16
  }
  return %y : tensor<8xf16>
}

// -----

// To an integer: what is beyond it is what aicf.cast says.
// CHECK-LABEL: func.func @integers
// CHECK: aicf.cast %arg0 to i32 : tensor<8xf32>
func.func @integers(%a: tensor<8xf32>) -> tensor<8xi32> {
  %y = aicf.map %a : tensor<8xf32> -> tensor<8xi32> {
  ^bb0(%x: f32):
    %i = arith.fptosi %x : f32 to i32
    aicf.yield %i : i32
  }
  return %y : tensor<8xi32>
}

// -----

func.func @not_a_number(%a: tensor<8xf16>) -> tensor<8xf16> {
  %y = aicf.map %a : tensor<8xf16> -> tensor<8xf16> {
  ^bb0(%x: f16):
    // expected-error @+1 {{'aicf.exact' must be an f64, got 1.000000e+00 : f32}}
    %n = arith.constant {aicf.exact = 1.0 : f32} 1.0 : f16
    %m = arith.mulf %x, %n : f16
    aicf.yield %m : f16
  }
  return %y : tensor<8xf16>
}

// -----

// What is said of a map is said of its ops, not of those before it.
// CHECK-LABEL: func.func @marked
func.func @marked(%a: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK: %[[R:.*]] = aicf.relu %arg0 : tensor<8xf32>
  // CHECK: aicf.mul %[[R]], %[[R]] {aicf.recompute}
  %r = aicf.relu %a : tensor<8xf32>
  %y = aicf.map %r {aicf.recompute} : tensor<8xf32> -> tensor<8xf32> {
  ^bb0(%x: f32):
    %m = arith.mulf %x, %x : f32
    aicf.yield %m : f32
  }
  return %y : tensor<8xf32>
}

// -----

// CHECK-LABEL: func.func @rounded
// CHECK: aicf.cast %arg0 to bf16 : tensor<8xf32>
func.func @rounded(%a: tensor<8xf32>) -> tensor<8xbf16> {
  %y = aicf.map %a : tensor<8xf32> -> tensor<8xbf16> {
  ^bb0(%x: f32):
    %t = arith.truncf %x : f32 to bf16
    aicf.yield %t : bf16
  }
  return %y : tensor<8xbf16>
}
