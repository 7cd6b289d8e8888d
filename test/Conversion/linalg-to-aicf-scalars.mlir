// RUN: aicf-opt %s --convert-linalg-to-aicf --verify-diagnostics | FileCheck %s

// Scalars of a body that no operand of the op is.

#id = affine_map<(i) -> (i)>
#first = affine_map<(i) -> (0)>

// One that is computed outside.
// CHECK-LABEL: func.func @outside
// CHECK: linalg.generic
func.func @outside(%x: tensor<4xf32>, %t: tensor<f32>, %e: tensor<4xf32>) -> tensor<4xf32> {
  %s = tensor.extract %t[] : tensor<f32>
  // expected-remark @+1 {{stays in linalg: its body reads a scalar from outside}}
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %m = arith.mulf %a, %s : f32
    linalg.yield %m : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// A number in a body whose operand has no shape to fill.
// CHECK-LABEL: func.func @no_shape
// CHECK: %[[C:.*]] = aicf.constant dense<2.000000e+00> : tensor<f32>
// CHECK: aicf.broadcast %[[C]] to [4]
func.func @no_shape(%x: tensor<1xf32>, %e: tensor<4xf32>) -> tensor<4xf32> {
  %y = linalg.generic {indexing_maps = [#first, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<1xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %c = arith.constant 2.0 : f32
    linalg.yield %c : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// A constant of different numbers that are not aicf's.
// CHECK-LABEL: func.func @narrow
// CHECK: linalg.add
func.func @narrow(%x: tensor<2xi8>, %e: tensor<2xi8>) -> tensor<2xi8> {
  %c = arith.constant dense<[1, 2]> : tensor<2xi8>
  // expected-remark @+1 {{stays in linalg: an operand of a type that aicf does not have}}
  %y = linalg.add ins(%x, %c : tensor<2xi8>, tensor<2xi8>) outs(%e : tensor<2xi8>) -> tensor<2xi8>
  return %y : tensor<2xi8>
}
