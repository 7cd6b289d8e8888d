// Tests which elementwise calls become one, and in which order their primitives stand.

// RUN: aicf-opt %s --aicf-rt-fuse-pointwise --split-input-file | FileCheck %s
// RUN: aicf-opt %s --aicf-set-target=target=cuda --aicf-rt-fuse-pointwise --split-input-file | FileCheck %s
// RUN: aicf-opt %s --aicf-rt-fuse-pointwise --remarks-filter-passed=aicf --split-input-file --verify-diagnostics -o /dev/null

// The sigmoid exists inside only.
// CHECK-LABEL: func.func @swish
// CHECK: %[[Y:.*]] = aicf_rt.call {
// CHECK-NEXT: t0 = sigmoid(%[[X:.*]])
// CHECK-NEXT: t1 = mul(%[[X]], t0)
// CHECK-NEXT: yield t1
// CHECK-NEXT: } : (tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: return %[[Y]]
func.func @swish(%x: tensor<4x8xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4x8xf32> {aicf.name = "y"}) {
  // expected-remark @+1 {{sigmoid, mul in one call}}
  %s = aicf_rt.call sigmoid(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %y = aicf_rt.call mul(%x, %s)
      : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

// What somebody else reads is a result, too.
// CHECK-LABEL: func.func @kept
// CHECK: %[[S:.*]], %{{.*}} = aicf_rt.call {
// CHECK-NEXT: t0 = add(
// CHECK-NEXT: t1 = tanh(t0)
// CHECK-NEXT: yield t0, t1
// CHECK: aicf_rt.call cumsum(%[[S]])
func.func @kept(%x: tensor<4x8xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4x8xf32> {aicf.name = "y"}, tensor<4x8xf32> {aicf.name = "p"}) {
  // expected-remark @+1 {{add, tanh in one call}}
  %s = aicf_rt.call add(%x, %x) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %y = aicf_rt.call tanh(%s) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %p = aicf_rt.call cumsum(%s) {axis = 1} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %y, %p : tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// The order is that of a walk from the result: the operands of mul, and their
// labels, follow it.
// CHECK-LABEL: func.func @order
// CHECK: aicf_rt.call {
// CHECK-NEXT: t0 = relu(%[[B:.*]])
// CHECK-NEXT: t1 = tanh(%[[A:.*]])
// CHECK-NEXT: t2 = mul(t0, t1)
// CHECK-NEXT: yield t2
// CHECK-NEXT: } vids [4, 3, 5]
func.func @order(%a: tensor<4xf32> {aicf.role = "input", aicf.name = "a", aicf.vid = 1 : i64},
                 %b: tensor<4xf32> {aicf.role = "input", aicf.name = "b", aicf.vid = 2 : i64})
    -> (tensor<4xf32> {aicf.name = "y"}) {
  // expected-remark @+1 {{relu, tanh, mul in one call}}
  %t = aicf_rt.call tanh(%a) vids [3] : (tensor<4xf32>) -> tensor<4xf32>
  %r = aicf_rt.call relu(%b) vids [4] : (tensor<4xf32>) -> tensor<4xf32>
  %y = aicf_rt.call mul(%r, %t) vids [5]
      : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// The operand that spreads over rows is a view. The copy of the view whose rows
// lie together is part of the call.
// CHECK-LABEL: func.func @views
// CHECK: aicf_rt.call {
// CHECK-NEXT: t0 = copy(%{{.*}})
// CHECK-NEXT: t1 = relu(t0)
// CHECK-NEXT: t2 = mul(t1, %{{.*}})
// CHECK-NEXT: yield t2
func.func @views(%x: tensor<4x16xf32> {aicf.role = "input", aicf.name = "x"},
                 %g: tensor<8xf32> {aicf.role = "param", aicf.name = "g"})
    -> (tensor<4x8xf32> {aicf.name = "y"}) {
  %half = aicf_rt.view %x[8] : tensor<4x16xf32> to tensor<4x8xf32, #aicf_rt.strided<[16, 1]>>
  %row = aicf_rt.view %g[0] : tensor<8xf32> to tensor<4x8xf32, #aicf_rt.strided<[0, 1]>>
  // expected-remark @+1 {{copy, relu, mul in one call}}
  %c = aicf_rt.call copy(%half) : (tensor<4x8xf32, #aicf_rt.strided<[16, 1]>>) -> tensor<4x8xf32>
  %r = aicf_rt.call relu(%c) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %y = aicf_rt.call mul(%r, %row)
      : (tensor<4x8xf32>, tensor<4x8xf32, #aicf_rt.strided<[0, 1]>>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

// Two calls that read the same tensor read it once. A single element that spreads
// over all of a tensor costs nothing to read twice.
// CHECK-LABEL: func.func @siblings
// CHECK: aicf_rt.call {
// CHECK-NEXT: t0 = tanh(%[[X:.*]])
// CHECK-NEXT: t1 = mul(%[[X]], %[[S:.*]])
// CHECK-NEXT: yield t0, t1
// CHECK: aicf_rt.call mul(%{{.*}}, %[[S]])
func.func @siblings(%x: tensor<8xf32> {aicf.role = "input", aicf.name = "x"},
                    %z: tensor<8xf32> {aicf.role = "input", aicf.name = "z"},
                    %s: tensor<f32> {aicf.role = "hyper", aicf.name = "s"})
    -> (tensor<8xf32> {aicf.name = "t"}, tensor<8xf32> {aicf.name = "y"},
        tensor<8xf32> {aicf.name = "w"}) {
  %e = aicf_rt.view %s[0] : tensor<f32> to tensor<8xf32, #aicf_rt.strided<[0]>>
  // expected-remark @+1 {{tanh, mul in one call}}
  %t = aicf_rt.call tanh(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %y = aicf_rt.call mul(%x, %e) : (tensor<8xf32>, tensor<8xf32, #aicf_rt.strided<[0]>>) -> tensor<8xf32>
  %w = aicf_rt.call mul(%z, %e) : (tensor<8xf32>, tensor<8xf32, #aicf_rt.strided<[0]>>) -> tensor<8xf32>
  return %t, %y, %w : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// -----

// A bias is repeated over the other axes. It may not be another operand, too.
// CHECK-LABEL: func.func @bias
// CHECK: aicf_rt.call {
// CHECK-NEXT: t0 = bias_add(%{{.*}}, %[[B:.*]]) {axis = 0}
// CHECK-NEXT: t1 = tanh(t0)
// CHECK: aicf_rt.call bias_add(%[[B]], %[[B]])
func.func @bias(%x: tensor<4x8xf32> {aicf.role = "input", aicf.name = "x"},
                %b: tensor<4xf32> {aicf.role = "param", aicf.name = "b"})
    -> (tensor<4x8xf32> {aicf.name = "y"}, tensor<4xf32> {aicf.name = "z"}) {
  // expected-remark @+1 {{bias_add, tanh in one call}}
  %s = aicf_rt.call bias_add(%x, %b) {axis = 0} : (tensor<4x8xf32>, tensor<4xf32>) -> tensor<4x8xf32>
  %y = aicf_rt.call tanh(%s) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %d = aicf_rt.call bias_add(%b, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %z = aicf_rt.call relu(%d) : (tensor<4xf32>) -> tensor<4xf32>
  return %y, %z : tensor<4x8xf32>, tensor<4xf32>
}

// -----

// A call of several primitives grows.
// CHECK-LABEL: func.func @grows
// CHECK: t1 = mul(%{{.*}}, t0)
// CHECK-NEXT: t2 = relu(t1)
// CHECK-NEXT: yield t2
func.func @grows(%x: tensor<4x8xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4x8xf32> {aicf.name = "y"}) {
  // expected-remark @+1 {{sigmoid, mul, relu in one call}}
  %y = aicf_rt.call {
    t0 = sigmoid(%x)
    t1 = mul(%x, t0)
    yield t1
  } : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %r = aicf_rt.call relu(%y) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}
