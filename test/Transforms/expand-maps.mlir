// RUN: aicf-opt %s -aicf-expand-maps -split-input-file -verify-diagnostics | FileCheck %s
// RUN: not aicf-opt %s -aicf-expand-maps -split-input-file

// The example of the pass. FileCheck sees what it becomes:
// CHECK-LABEL: func.func @example
// CHECK: aicf.sin
// CHECK: aicf.mul
func.func @example(%a: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %y = aicf.map %a : tensor<8xf32> -> tensor<8xf32> {
  ^bb0(%x: f32):
    %s = math.sin %x : f32
    %p = arith.mulf %s, %x : f32
    aicf.yield %p : f32
  }
  //
  %s = aicf.sin %a : tensor<8xf32>
  %z = aicf.mul %s, %a : tensor<8xf32>, tensor<8xf32>
  return %y, %z : tensor<8xf32>, tensor<8xf32>
}

// -----

// Several scalar ops that are one function of the dialect become that.
// CHECK-LABEL: func.func @functions
func.func @functions(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK: %[[S:.*]] = aicf.sigmoid %{{.*}} : tensor<4x8xf32>
  // CHECK: %[[P:.*]] = aicf.pow_scalar %{{.*}} {exponent = 1.500000e+00 : f64} : tensor<4x8xf32>
  // CHECK: %[[M:.*]] = aicf.mul %[[S]], %[[P]]
  // CHECK: return %[[M]]
  %y = aicf.map %a, %b : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x8xf32> {
  ^bb0(%x: f32, %z: f32):
    %one = arith.constant 1.0 : f32
    %p = arith.constant 1.5 : f32
    %n = arith.negf %x : f32
    %e = math.exp %n : f32
    %d = arith.addf %one, %e : f32
    %s = arith.divf %one, %d : f32
    %w = math.powf %z, %p : f32
    %m = arith.mulf %s, %w : f32
    aicf.yield %m : f32
  }
  return %y : tensor<4x8xf32>
}

// -----

// Conditions, integers, casts and numbers.
// CHECK-LABEL: func.func @choices
func.func @choices(%a: tensor<8xf32>, %n: tensor<8xi64>) -> tensor<8xf32> {
  // CHECK: %[[C:.*]] = aicf.greater_equal_scalar %arg1 {value = 2.000000e+00 : f64} : tensor<8xi64>
  // CHECK: %[[T:.*]] = aicf.add_scalar %arg1 {value = -3.000000e+00 : f64}
  // CHECK: %[[F:.*]] = aicf.cast %[[T]] to f32 : tensor<8xi64>
  // CHECK: %[[W:.*]] = aicf.where %[[C]], %[[F]], %arg0
  // CHECK: %[[R:.*]] = aicf.clamp %[[W]] {max = 6.000000e+00 : f64, min = 0xFFF0000000000000 : f64}
  // CHECK: aicf.masked_fill %[[R]], %[[C]] {value = 1.000000e+00 : f64}
  %y = aicf.map %a, %n : tensor<8xf32>, tensor<8xi64> -> tensor<8xf32> {
  ^bb0(%x: f32, %i: i64):
    %two = arith.constant 2 : i64
    %three = arith.constant 3 : i64
    %six = arith.constant 6.0 : f32
    %one = arith.constant 1.0 : f32
    %c = arith.cmpi sge, %i, %two : i64
    %t = arith.subi %i, %three : i64
    %f = arith.sitofp %t : i64 to f32
    %w = arith.select %c, %f, %x : f32
    %r = arith.minimumf %w, %six : f32
    %m = arith.select %c, %one, %r : f32
    aicf.yield %m : f32
  }
  return %y : tensor<8xf32>
}

// -----

// A constant alone is repeated; what is said of the map is said of its ops.
// CHECK-LABEL: func.func @constant
func.func @constant(%a: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK: %[[B:.*]] = aicf.fill_like %arg0 {aicf.recompute, value = 2.000000e+00 : f64}
  // CHECK: aicf.pow %[[B]], %arg0 {aicf.recompute}
  %y = aicf.map %a {aicf.recompute} : tensor<8xf32> -> tensor<8xf32> {
  ^bb0(%x: f32):
    %two = arith.constant 2.0 : f32
    %p = math.powf %two, %x : f32
    aicf.yield %p : f32
  }
  return %y : tensor<8xf32>
}

// -----

func.func @no_word(%a: tensor<8xf32>) -> tensor<8xf32> {
  %y = aicf.map %a : tensor<8xf32> -> tensor<8xf32> {
  ^bb0(%x: f32):
    // expected-error @+1 {{cannot be expressed in aicf: aicf has no op for 'math.atan'}}
    %p = math.atan %x : f32
    aicf.yield %p : f32
  }
  return %y : tensor<8xf32>
}

// -----

func.func @no_type(%a: tensor<8xf32>) -> tensor<8xf32> {
  %y = aicf.map %a : tensor<8xf32> -> tensor<8xf32> {
  ^bb0(%x: f32):
    // expected-error @+1 {{cannot be expressed in aicf: a type that aicf does not have}}
    %i = arith.fptosi %x : f32 to i8
    %p = arith.sitofp %i : i8 to f32
    aicf.yield %p : f32
  }
  return %y : tensor<8xf32>
}

// -----

func.func @signed_bool(%a: tensor<8xi1>) -> tensor<8xf32> {
  %y = aicf.map %a : tensor<8xi1> -> tensor<8xf32> {
  ^bb0(%x: i1):
    // expected-error @+1 {{cannot be expressed in aicf: 'arith.sitofp' of i1}}
    %p = arith.sitofp %x : i1 to f32
    aicf.yield %p : f32
  }
  return %y : tensor<8xf32>
}

// -----

func.func @to_bool(%a: tensor<8xi32>) -> tensor<8xi1> {
  %y = aicf.map %a : tensor<8xi32> -> tensor<8xi1> {
  ^bb0(%x: i32):
    // expected-error @+1 {{cannot be expressed in aicf: 'arith.trunci' to i1}}
    %p = arith.trunci %x : i32 to i1
    aicf.yield %p : i1
  }
  return %y : tensor<8xi1>
}
