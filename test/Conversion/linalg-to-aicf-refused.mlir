// RUN: aicf-opt %s --convert-linalg-to-aicf --verify-diagnostics | FileCheck %s

// What has no word stays, with a remark.

#id = affine_map<(i) -> (i)>
#row = affine_map<(i, j) -> (i)>
#both = affine_map<(i, j) -> (i, j)>
#turned = affine_map<(i, j) -> (j, i)>

// CHECK-LABEL: func.func @unknown_function
// CHECK: math.atan
func.func @unknown_function(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  // expected-remark @+1 {{stays in linalg: aicf has no op for 'math.atan'}}
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %f = math.atan %a : f32
    linalg.yield %f : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// CHECK-LABEL: func.func @dynamic
// CHECK: linalg.add
func.func @dynamic(%x: tensor<?xf32>, %e: tensor<?xf32>) -> tensor<?xf32> {
  // expected-remark @+1 {{stays in linalg: an operand of a type that aicf does not have}}
  %y = linalg.add ins(%x, %x : tensor<?xf32>, tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  return %y : tensor<?xf32>
}

// CHECK-LABEL: func.func @integers
// CHECK: linalg.add
func.func @integers(%x: tensor<4xi8>, %e: tensor<4xi8>) -> tensor<4xi8> {
  // expected-remark @+1 {{stays in linalg: an operand of a type that aicf does not have}}
  %y = linalg.add ins(%x, %x : tensor<4xi8>, tensor<4xi8>) outs(%e : tensor<4xi8>) -> tensor<4xi8>
  return %y : tensor<4xi8>
}

// CHECK-LABEL: func.func @turned_result
func.func @turned_result(%x: tensor<4x3xf32>, %e: tensor<3x4xf32>) -> tensor<3x4xf32> {
  // expected-remark @+1 {{stays in linalg: a result whose dimensions are not its loops in order}}
  %y = linalg.generic {indexing_maps = [#both, #turned], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x3xf32>) outs(%e : tensor<3x4xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}

// CHECK-LABEL: func.func @largest
func.func @largest(%x: tensor<4x3xf32>, %e: tensor<4xf32>) -> tensor<4xf32> {
  // expected-remark @+1 {{stays in linalg: a reduction that does not start from infinity}}
  %y = linalg.reduce ins(%x : tensor<4x3xf32>) outs(%e : tensor<4xf32>) dimensions = [1]
    (%a: f32, %o: f32) {
      %m = arith.maximumf %a, %o : f32
      linalg.yield %m : f32
    }
  return %y : tensor<4xf32>
}

// CHECK-LABEL: func.func @several
func.func @several(%x: tensor<4xf32>, %e: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // expected-remark @+1 {{stays in linalg: it has several results, expected one}}
  %y:2 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<4xf32>) outs(%e, %e : tensor<4xf32>, tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32, %p: f32):
    linalg.yield %a, %a : f32, f32
  } -> (tensor<4xf32>, tensor<4xf32>)
  return %y#0, %y#1 : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @captured
func.func @captured(%x: tensor<4xf32>, %s: f32) -> tensor<4xf32> {
  // expected-remark @+1 {{stays in linalg: its body reads a scalar from outside}}
  %y = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]}
      outs(%x : tensor<4xf32>) {
  ^bb0(%o: f32):
    %m = arith.mulf %o, %s : f32
    linalg.yield %m : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// CHECK-LABEL: func.func @number
// CHECK: aicf.broadcast
func.func @number(%e: tensor<4xf32>) -> tensor<4xf32> {
  %y = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%e : tensor<4xf32>) {
  ^bb0(%o: f32):
    %c = arith.constant 1.0 : f32
    linalg.yield %c : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// CHECK-LABEL: func.func @columns
func.func @columns(%x: tensor<4x3xf32>, %e: tensor<4x3xf32>) -> tensor<4x3xf32> {
  // expected-remark @+1 {{stays in linalg: it is over dimension 0 of 'tensor<4x3xf32>', expected the last dimension}}
  %y = linalg.softmax dimension(0) ins(%x : tensor<4x3xf32>) outs(%e : tensor<4x3xf32>) -> tensor<4x3xf32>
  return %y : tensor<4x3xf32>
}
