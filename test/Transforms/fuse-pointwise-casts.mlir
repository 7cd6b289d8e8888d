// Tests casts inside a call, which say their type, and dropout, whose counter is repeated.

// RUN: aicf-opt %s --aicf-rt-fuse-pointwise --split-input-file | FileCheck %s
// RUN: aicf-opt %s --aicf-set-target=target=cuda --aicf-rt-fuse-pointwise --split-input-file | FileCheck %s
// RUN: aicf-opt %s --aicf-rt-fuse-pointwise --remarks-filter-missed=aicf --split-input-file --verify-diagnostics -o /dev/null

// The result of the last one has its type from the call.
// CHECK-LABEL: func.func @there_and_back
// CHECK: aicf_rt.call {
// CHECK-NEXT: t0 = to_f32(%{{.*}})
// CHECK-NEXT: t1 = tanh(t0)
// CHECK-NEXT: t2 = cast(t1)
// CHECK-NEXT: yield t2
// CHECK-NEXT: } : (tensor<4x8xbf16>) -> tensor<4x8xbf16>
func.func @there_and_back(%x: tensor<4x8xbf16> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4x8xbf16> {aicf.name = "y"}) {
  %w = aicf_rt.call cast(%x) : (tensor<4x8xbf16>) -> tensor<4x8xf32>
  %t = aicf_rt.call tanh(%w) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %y = aicf_rt.call cast(%t) : (tensor<4x8xf32>) -> tensor<4x8xbf16>
  return %y : tensor<4x8xbf16>
}

// -----

// Casts of one value to different types are different, equal ones are one.
// CHECK-LABEL: func.func @of_one_value
// CHECK: aicf_rt.call {
// CHECK-NEXT: t0 = to_f16(%[[X:.*]])
// CHECK-NEXT: t1 = to_f32(t0)
// CHECK-NEXT: t2 = to_bf16(%[[X]])
// CHECK-NEXT: t3 = to_f32(t2)
// CHECK-NEXT: t4 = sub(t1, t3)
// CHECK-NEXT: t5 = mul(t4, t3)
// CHECK-NEXT: yield t5
func.func @of_one_value(%x: tensor<4x8xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4x8xf32> {aicf.name = "y"}) {
  %h = aicf_rt.call cast(%x) : (tensor<4x8xf32>) -> tensor<4x8xf16>
  %hw = aicf_rt.call cast(%h) : (tensor<4x8xf16>) -> tensor<4x8xf32>
  %b = aicf_rt.call cast(%x) : (tensor<4x8xf32>) -> tensor<4x8xbf16>
  %bw = aicf_rt.call cast(%b) : (tensor<4x8xbf16>) -> tensor<4x8xf32>
  %again = aicf_rt.call cast(%b) : (tensor<4x8xbf16>) -> tensor<4x8xf32>
  %d = aicf_rt.call sub(%hw, %bw) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %y = aicf_rt.call mul(%d, %again) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

// A cast that is a result is read inside, too.
// CHECK-LABEL: func.func @kept
// CHECK: aicf_rt.call {
// CHECK-NEXT: t0 = cast(%{{.*}})
// CHECK-NEXT: t1 = relu(t0)
// CHECK-NEXT: yield t0, t1
func.func @kept(%x: tensor<4x8xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4x8xbf16> {aicf.name = "c"}, tensor<4x8xbf16> {aicf.name = "y"}) {
  %c = aicf_rt.call cast(%x) : (tensor<4x8xf32>) -> tensor<4x8xbf16>
  %y = aicf_rt.call relu(%c) : (tensor<4x8xbf16>) -> tensor<4x8xbf16>
  return %c, %y : tensor<4x8xbf16>, tensor<4x8xbf16>
}

// -----

// No primitive says that it makes integers.
// CHECK-LABEL: func.func @integers
// CHECK: aicf_rt.call cast(
// CHECK: aicf_rt.call add(
func.func @integers(%x: tensor<4x8xf32> {aicf.role = "input", aicf.name = "x"},
                    %n: tensor<4x8xi32> {aicf.role = "input", aicf.name = "n"})
    -> (tensor<4x8xi32> {aicf.name = "y"}) {
  %c = aicf_rt.call cast(%x) : (tensor<4x8xf32>) -> tensor<4x8xi32>
  // expected-remark @+1 {{'add' is not fused to 'cast', whose result it reads: primitive 0 (cast): its result y must be a result of the call: nothing else gives its type}}
  %y = aicf_rt.call add(%c, %n) : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi32>
  return %y : tensor<4x8xi32>
}

// -----

// A cast to i64 is not one to i32, though both read the same.
// CHECK-LABEL: func.func @two_integers
// CHECK: aicf_rt.call {
// CHECK-NEXT: t0 = cast(%[[X:.*]])
// CHECK-NEXT: t1 = cast(%[[X]])
// CHECK-NEXT: yield t0, t1
// CHECK: aicf_rt.call cast(
func.func @two_integers(%x: tensor<4x8xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4x8xi32> {aicf.name = "n"}, tensor<4x8xf32> {aicf.name = "y"}) {
  %n = aicf_rt.call cast(%x) : (tensor<4x8xf32>) -> tensor<4x8xi32>
  %m = aicf_rt.call cast(%x) : (tensor<4x8xf32>) -> tensor<4x8xi64>
  // expected-remark @+1 {{nothing else gives its type}}
  %y = aicf_rt.call cast(%m) : (tensor<4x8xi64>) -> tensor<4x8xf32>
  return %n, %y : tensor<4x8xi32>, tensor<4x8xf32>
}

// -----

// Two masks of one counter.
// CHECK-LABEL: func.func @dropouts
// CHECK: aicf_rt.call {
// CHECK-NEXT: t0 = dropout(%{{.*}}, %[[STEP:.*]]) {p = 1.000000e-01, seed = 3}
// CHECK-NEXT: t1 = relu(t0)
// CHECK-NEXT: t2 = dropout(t1, %[[STEP]]) {p = 5.000000e-01, seed = 4}
// CHECK-NEXT: yield t2
func.func @dropouts(%x: tensor<4x8xf32> {aicf.role = "input", aicf.name = "x"},
                    %step: tensor<i64> {aicf.role = "input", aicf.name = "step"})
    -> (tensor<4x8xf32> {aicf.name = "y"}) {
  %d = aicf_rt.call dropout(%x, %step) {p = 0.1, seed = 3}
      : (tensor<4x8xf32>, tensor<i64>) -> tensor<4x8xf32>
  %r = aicf_rt.call relu(%d) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %y = aicf_rt.call dropout(%r, %step) {p = 0.5, seed = 4}
      : (tensor<4x8xf32>, tensor<i64>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

// The number of an element of what is left says nothing of the whole.
// CHECK-LABEL: func.func @left
// CHECK: aicf_rt.call dropout(
func.func @left(%x: tensor<512x512xf32> {aicf.role = "input", aicf.name = "x"},
                %step: tensor<i64> {aicf.role = "input", aicf.name = "step"})
    -> (tensor<512x512xf32> {aicf.name = "y"}) {
  %s = aicf_rt.call reduce_sum(%x) {axis = 1} : (tensor<512x512xf32>) -> tensor<512xf32>
  // expected-remark @+1 {{'dropout' is not fused to 'reduce_sum', whose result it reads: one call would have too many primitives, operands or results, would repeat what is not reduced, or would read what it repeats in another way, too}}
  %d = aicf_rt.call dropout(%s, %step) {p = 0.1, seed = 3}
      : (tensor<512xf32>, tensor<i64>) -> tensor<512xf32>
  %w = aicf_rt.view %d[0] : tensor<512xf32> to tensor<512x512xf32, #aicf_rt.strided<[1, 0]>>
  // expected-remark @+1 {{'mul' is not fused to 'dropout', whose result it reads}}
  %y = aicf_rt.call mul(%x, %w)
      : (tensor<512x512xf32>, tensor<512x512xf32, #aicf_rt.strided<[1, 0]>>) -> tensor<512x512xf32>
  return %y : tensor<512x512xf32>
}

// -----

// A counter that is computed inside is not repeated.
// CHECK-LABEL: func.func @counter
// CHECK: aicf_rt.call add(
// CHECK: aicf_rt.call dropout(
func.func @counter(%x: tensor<f32> {aicf.role = "input", aicf.name = "x"},
                   %step: tensor<i64> {aicf.role = "input", aicf.name = "step"})
    -> (tensor<f32> {aicf.name = "y"}) {
  %n = aicf_rt.call add(%step, %step) : (tensor<i64>, tensor<i64>) -> tensor<i64>
  // expected-remark @+1 {{'dropout' is not fused to 'add', whose result it reads}}
  %y = aicf_rt.call dropout(%x, %n) {p = 0.1, seed = 3}
      : (tensor<f32>, tensor<i64>) -> tensor<f32>
  return %y : tensor<f32>
}
