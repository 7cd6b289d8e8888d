// RUN: aicf-opt %s --convert-linalg-to-aicf --verify-diagnostics | FileCheck %s

// Numbers, factors and maps that look like what aicf has, and are not.

#id = affine_map<(i) -> (i)>
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
#mm = affine_map<(m, k) -> (m, m)>
#rows = affine_map<(m, k) -> (m, k)>

// CHECK-LABEL: func.func @captured_factor
// CHECK-NOT: aicf.
func.func @captured_factor(%x: tensor<4x8xf32>, %w: tensor<8x3xf32>, %s: f32, %o: tensor<4x3xf32>) -> tensor<4x3xf32> {
  // expected-remark @+1 {{stays in linalg: its body reads a scalar from outside}}
  %y = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<4x8xf32>, tensor<8x3xf32>) outs(%o : tensor<4x3xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %s : f32
    %t = arith.addf %c, %m : f32
    linalg.yield %t : f32
  } -> tensor<4x3xf32>
  return %y : tensor<4x3xf32>
}

// CHECK-LABEL: func.func @diagonal
// CHECK-NOT: aicf.
func.func @diagonal(%x: tensor<4x8xf32>, %o: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // expected-remark @+1 {{stays in linalg: a result whose dimensions are not its loops in order}}
  %y = linalg.generic {indexing_maps = [#rows, #rows, #mm], iterator_types = ["parallel", "reduction"]}
      ins(%x, %x : tensor<4x8xf32>, tensor<4x8xf32>) outs(%o : tensor<4x4xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %t = arith.addf %c, %m : f32
    linalg.yield %t : f32
  } -> tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}

// Of a transpose that moves nothing.
// CHECK-LABEL: func.func @same_order
// CHECK-NEXT: aicf.matmul %arg0, %arg1 : tensor<4x8xf32>, tensor<8x8xf32>
func.func @same_order(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> tensor<4x8xf32> {
  %zero = arith.constant dense<0.0> : tensor<4x8xf32>
  %e = tensor.empty() : tensor<8x8xf32>
  %t = linalg.transpose ins(%w : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) permutation = [0, 1]
  %y = linalg.matmul ins(%x, %t : tensor<4x8xf32>, tensor<8x8xf32>) outs(%zero : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @infinite
// CHECK: aicf.sub
// CHECK: aicf.mul
func.func @infinite(%x: tensor<4xf32>, %e: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %inf = arith.constant dense<0x7F800000> : tensor<4xf32>
  %y = linalg.sub ins(%x, %inf : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %z = linalg.mul ins(%x, %inf : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %y, %z : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @starts_at_nan
// CHECK: linalg.reduce
func.func @starts_at_nan(%x: tensor<4xf32>) -> tensor<f32> {
  %nan = arith.constant dense<0x7FC00000> : tensor<f32>
  // expected-remark @+1 {{stays in linalg: a number that is not finite}}
  %y = linalg.reduce ins(%x : tensor<4xf32>) outs(%nan : tensor<f32>) dimensions = [0]
    (%a: f32, %o: f32) {
      %s = arith.addf %a, %o : f32
      linalg.yield %s : f32
    }
  return %y : tensor<f32>
}

// CHECK-LABEL: func.func @casts
func.func @casts(%x: tensor<4xf32>, %e: tensor<4xf16>, %f: tensor<4xf32>) -> (tensor<4xf16>, tensor<4xf32>) {
  // expected-remark @+1 {{stays in linalg: a rounding mode other than to nearest even}}
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%e : tensor<4xf16>) {
  ^bb0(%a: f32, %o: f16):
    %t = arith.truncf %a toward_zero : f32 to f16
    linalg.yield %t : f16
  } -> tensor<4xf16>
  // expected-remark @+1 {{stays in linalg: a type that aicf does not have}}
  %z = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%f : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.truncf %a : f32 to f8E4M3FN
    %u = arith.extf %t : f8E4M3FN to f32
    linalg.yield %u : f32
  } -> tensor<4xf32>
  return %y, %z : tensor<4xf16>, tensor<4xf32>
}

// Nearly a sigmoid.
// CHECK-LABEL: func.func @nearly
// CHECK-NOT: aicf.sigmoid
// CHECK: aicf.exp
// CHECK-NOT: aicf.sigmoid
// CHECK: return
func.func @nearly(%x: tensor<4xbf16>, %e: tensor<4xbf16>) -> tensor<4xbf16> {
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<4xbf16>) outs(%e : tensor<4xbf16>) {
  ^bb0(%a: bf16, %o: bf16):
    %c = arith.constant 1.0234375 : bf16
    %one = arith.constant 1.0 : bf16
    %n = arith.negf %a : bf16
    %x1 = math.exp %n : bf16
    %d = arith.addf %x1, %c : bf16
    %t = arith.divf %one, %d : bf16
    linalg.yield %t : bf16
  } -> tensor<4xbf16>
  return %y : tensor<4xbf16>
}

// The derivative of a tanh. No derivative is known of it, so that a function which is
// still to be derived keeps the product.
// CHECK-LABEL: func.func @derived
// CHECK: aicf.mul
// CHECK-NOT: aicf.tanh_bwd
// CHECK-LABEL: func.func @plain
// CHECK: aicf.tanh_bwd
func.func @derived(%x: tensor<4xf32> {aicf.role = "param", aicf.name = "x"}, %z: tensor<4xf32> {aicf.role = "param", aicf.name = "z"})
    -> (tensor<f32> {aicf.name = "loss", aicf.minimize}) {
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%x, %z : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %one = arith.constant 1.0 : f32
    %s = arith.mulf %b, %b : f32
    %n = arith.subf %one, %s : f32
    %p = arith.mulf %a, %n : f32
    linalg.yield %p : f32
  } -> tensor<4xf32>
  %l = aicf.mean %y : tensor<4xf32>
  return %l : tensor<f32>
}

func.func @plain(%x: tensor<4xf32>, %z: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%x, %z : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %one = arith.constant 1.0 : f32
    %s = arith.mulf %b, %b : f32
    %n = arith.subf %one, %s : f32
    %p = arith.mulf %a, %n : f32
    linalg.yield %p : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}
