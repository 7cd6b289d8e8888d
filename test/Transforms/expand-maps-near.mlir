// RUN: aicf-opt %s -aicf-expand-maps -split-input-file | FileCheck %s

// Expressions that are a function but for the digits that people write, and those
// that only look like it.

// A selu with some digits, and one with a quotient for its factor.
// CHECK-LABEL: func.func @decimals
// CHECK: %[[Y:.*]] = aicf.selu %arg0 : tensor<8xbf16>
// CHECK: %[[Z:.*]] = aicf.selu %arg1 : tensor<8xf32>
// CHECK: return %[[Y]], %[[Z]]
func.func @decimals(%a: tensor<8xbf16>, %b: tensor<8xf32>) -> (tensor<8xbf16>, tensor<8xf32>) {
  %y = aicf.map %a : tensor<8xbf16> -> tensor<8xbf16> {
  ^bb0(%x: bf16):
    %zero = arith.constant 0.0 : bf16
    %lambda = arith.constant 1.0507 : bf16
    %alpha = arith.constant 1.7581 : bf16
    %c = arith.cmpf ogt, %x, %zero : bf16
    %l = arith.mulf %x, %lambda : bf16
    %e = math.expm1 %x : bf16
    %m = arith.mulf %e, %alpha : bf16
    %r = arith.select %c, %l, %m : bf16
    aicf.yield %r : bf16
  }
  %z = aicf.map %b : tensor<8xf32> -> tensor<8xf32> {
  ^bb0(%x: f32):
    %zero = arith.constant 0.0 : f32
    %inverse = arith.constant 0.95174555 : f32
    %alpha = arith.constant 1.75809934 : f32
    %c = arith.cmpf ogt, %x, %zero : f32
    %l = arith.divf %x, %inverse : f32
    %e = math.expm1 %x : f32
    %m = arith.mulf %e, %alpha : f32
    %r = arith.select %c, %l, %m : f32
    aicf.yield %r : f32
  }
  return %y, %z : tensor<8xbf16>, tensor<8xf32>
}

// -----

// Another factor; another divisor; one that is not a number.
// CHECK-LABEL: func.func @other_factors
// CHECK-NOT: aicf.selu
// CHECK: return
func.func @other_factors(%a: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %y = aicf.map %a : tensor<8xf32> -> tensor<8xf32> {
  ^bb0(%x: f32):
    %zero = arith.constant 0.0 : f32
    %lambda = arith.constant 1.0508 : f32
    %alpha = arith.constant 1.75809934 : f32
    %c = arith.cmpf ogt, %x, %zero : f32
    %l = arith.mulf %x, %lambda : f32
    %f = math.expm1 %x : f32
    %m = arith.mulf %f, %alpha : f32
    %r = arith.select %c, %l, %m : f32
    aicf.yield %r : f32
  }
  %z = aicf.map %a : tensor<8xf32> -> tensor<8xf32> {
  ^bb0(%x: f32):
    %zero = arith.constant 0.0 : f32
    %inverse = arith.constant 0.5 : f32
    %alpha = arith.constant 1.75809934 : f32
    %c = arith.cmpf ogt, %x, %zero : f32
    %l = arith.divf %x, %inverse : f32
    %f = math.expm1 %x : f32
    %m = arith.mulf %f, %alpha : f32
    %r = arith.select %c, %l, %m : f32
    aicf.yield %r : f32
  }
  %w = aicf.map %a : tensor<8xf32> -> tensor<8xf32> {
  ^bb0(%x: f32):
    %zero = arith.constant 0.0 : f32
    %alpha = arith.constant 1.75809934 : f32
    %c = arith.cmpf ogt, %x, %zero : f32
    %l = arith.divf %x, %x : f32
    %f = math.expm1 %x : f32
    %m = arith.mulf %f, %alpha : f32
    %r = arith.select %c, %l, %m : f32
    aicf.yield %r : f32
  }
  return %y, %z, %w : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// -----

// A field that the definition says several times is one number.
// CHECK-LABEL: func.func @fields
// CHECK: aicf.softplus %arg0 {beta = 2.000000e+00 : f64, threshold = 9.000000e+00 : f64}
// CHECK-NOT: aicf.softplus
// CHECK: return
func.func @fields(%a: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %y = aicf.map %a : tensor<8xf32> -> tensor<8xf32> {
  ^bb0(%x: f32):
    %zero = arith.constant 0.0 : f32
    %one = arith.constant 1.0 : f32
    %beta = arith.constant 2.0 : f32
    %most = arith.constant 9.0 : f32
    %b = arith.mulf %beta, %x : f32
    %c = arith.cmpf ogt, %b, %most : f32
    %m = arith.maximumf %b, %zero : f32
    %p = math.absf %b : f32
    %n = arith.negf %p : f32
    %e = math.exp %n : f32
    %l = math.log1p %e : f32
    %s = arith.addf %m, %l : f32
    %d = arith.divf %one, %beta : f32
    %q = arith.mulf %s, %d : f32
    %r = arith.select %c, %x, %q : f32
    aicf.yield %r : f32
  }
  %z = aicf.map %a : tensor<8xf32> -> tensor<8xf32> {
  ^bb0(%x: f32):
    %zero = arith.constant 0.0 : f32
    %one = arith.constant 1.0 : f32
    %beta = arith.constant 2.0 : f32
    %other = arith.constant 3.0 : f32
    %most = arith.constant 9.0 : f32
    %b = arith.mulf %beta, %x : f32
    %c = arith.cmpf ogt, %b, %most : f32
    %m = arith.maximumf %b, %zero : f32
    %p = math.absf %b : f32
    %n = arith.negf %p : f32
    %e = math.exp %n : f32
    %l = math.log1p %e : f32
    %s = arith.addf %m, %l : f32
    %d = arith.divf %one, %other : f32
    %q = arith.mulf %s, %d : f32
    %r = arith.select %c, %x, %q : f32
    aicf.yield %r : f32
  }
  return %y, %z : tensor<8xf32>, tensor<8xf32>
}

// -----

// The quotient by 1/97, which the factor of a definition of scale is while its
// field is open.
// CHECK-LABEL: func.func @quotient
// CHECK: aicf.div_scalar %arg0 {value = 0.010309278350515464 : f64}
func.func @quotient(%a: tensor<8xf64>) -> tensor<8xf64> {
  %y = aicf.map %a : tensor<8xf64> -> tensor<8xf64> {
  ^bb0(%x: f64):
    %c = arith.constant 0.010309278350515464 : f64
    %r = arith.divf %x, %c : f64
    aicf.yield %r : f64
  }
  return %y : tensor<8xf64>
}
