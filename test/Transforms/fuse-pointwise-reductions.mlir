// Tests graphs with reductions inside: which calls become one.

// RUN: aicf-opt %s --aicf-set-target=target=cuda --aicf-rt-fuse-pointwise --split-input-file | FileCheck %s
// RUN: aicf-opt %s --aicf-rt-fuse-pointwise --split-input-file | FileCheck %s --check-prefix=CPU

// A norm over rows. What is left is repeated along them, and is a result of its own.
// CHECK-LABEL: func.func @rms_norm
// CHECK: %[[RSTD:.*]], %[[Y:.*]] = aicf_rt.call {
// CHECK-NEXT: t0 = square(%{{.*}})
// CHECK-NEXT: t1 = reduce_mean(t0) {axis = 1}
// CHECK-NEXT: t2 = add_scalar(t1) {value = 1.000000e-01}
// CHECK-NEXT: t3 = rsqrt(t2)
// CHECK-NEXT: t4 = expand(t3) {axis = 1}
// CHECK-NEXT: t5 = mul(%{{.*}}, t4)
// CHECK-NEXT: yield t3, t5
// CHECK-NEXT: } vids [1, 2, 3, 4, 4, 5] : (tensor<256x512xf32>) -> (tensor<256xf32>, tensor<256x512xf32>)
// CHECK-NEXT: return %[[Y]], %[[RSTD]]
// CPU-LABEL: func.func @rms_norm
// CPU: t3 = rsqrt(t2)
// CPU-NEXT: t4 = expand(t3) {axis = 1}
func.func @rms_norm(%x: tensor<256x512xf32> {aicf.role = "input", aicf.name = "x", aicf.vid = 0 : i64})
    -> (tensor<256x512xf32> {aicf.name = "y"}, tensor<256xf32> {aicf.name = "rstd"}) {
  %s = aicf_rt.call square(%x) vids [1] : (tensor<256x512xf32>) -> tensor<256x512xf32>
  %m = aicf_rt.call reduce_mean(%s) {axis = 1} vids [2] : (tensor<256x512xf32>) -> tensor<256xf32>
  %a = aicf_rt.call add_scalar(%m) {value = 0.1} vids [3] : (tensor<256xf32>) -> tensor<256xf32>
  %r = aicf_rt.call rsqrt(%a) vids [4] : (tensor<256xf32>) -> tensor<256xf32>
  %v = aicf_rt.view %r[0] : tensor<256xf32> to tensor<256x512xf32, #aicf_rt.strided<[1, 0]>>
  %y = aicf_rt.call mul(%x, %v) vids [5] : (tensor<256x512xf32>, tensor<256x512xf32, #aicf_rt.strided<[1, 0]>>) -> tensor<256x512xf32>
  return %y, %r : tensor<256x512xf32>, tensor<256xf32>
}

// -----

// Over columns, in two phases. The mean is read twice and computed once. A bias_add of
// what is inside is an add of what is repeated.
// A CPU goes over whole rows only.
// CPU-LABEL: func.func @centred
// CPU: aicf_rt.call reduce_mean(
// CHECK-LABEL: func.func @centred
// CHECK: %[[Y:.*]] = aicf_rt.call {
// CHECK-NEXT: t0 = reduce_mean(%{{.*}})
// CHECK-NEXT: t1 = neg(t0)
// CHECK-NEXT: t2 = expand(t1)
// CHECK-NEXT: t3 = add(%{{.*}}, t2)
// CHECK-NEXT: t4 = expand(t0)
// CHECK-NEXT: t5 = sub(%{{.*}}, t4)
// CHECK-NEXT: t6 = square(t5)
// CHECK-NEXT: t7 = reduce_sum(t6)
// CHECK-NEXT: t8 = expand(t7)
// CHECK-NEXT: t9 = div(t3, t8)
// CHECK-NEXT: yield t9
// CHECK-NEXT: } : (tensor<64x4096xf32>) -> tensor<64x4096xf32>
// CHECK-NEXT: return %[[Y]]
func.func @centred(%x: tensor<64x4096xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<64x4096xf32> {aicf.name = "y"}) {
  %m = aicf_rt.call reduce_mean(%x) : (tensor<64x4096xf32>) -> tensor<4096xf32>
  %w = aicf_rt.view %m[0] : tensor<4096xf32> to tensor<64x4096xf32, #aicf_rt.strided<[0, 1]>>
  %c = aicf_rt.call sub(%x, %w) : (tensor<64x4096xf32>, tensor<64x4096xf32, #aicf_rt.strided<[0, 1]>>) -> tensor<64x4096xf32>
  %q = aicf_rt.call square(%c) : (tensor<64x4096xf32>) -> tensor<64x4096xf32>
  %s = aicf_rt.call reduce_sum(%q) : (tensor<64x4096xf32>) -> tensor<4096xf32>
  %again = aicf_rt.call reduce_mean(%x) : (tensor<64x4096xf32>) -> tensor<4096xf32>
  %n = aicf_rt.call neg(%again) : (tensor<4096xf32>) -> tensor<4096xf32>
  %b = aicf_rt.call bias_add(%x, %n) : (tensor<64x4096xf32>, tensor<4096xf32>) -> tensor<64x4096xf32>
  %z = aicf_rt.view %s[0] : tensor<4096xf32> to tensor<64x4096xf32, #aicf_rt.strided<[0, 1]>>
  %y = aicf_rt.call div(%b, %z) : (tensor<64x4096xf32>, tensor<64x4096xf32, #aicf_rt.strided<[0, 1]>>) -> tensor<64x4096xf32>
  return %y : tensor<64x4096xf32>
}

// -----

// The call for both stands where the first one was: a cumsum reads its result.
// CHECK-LABEL: func.func @moves_up
// CHECK: %[[T:.*]], %[[Y:.*]] = aicf_rt.call {
// CHECK-NEXT: t0 = tanh(%{{.*}})
// CHECK-NEXT: t1 = reduce_sum(t0) {axis = 1}
// CHECK-NEXT: t2 = expand(t1) {axis = 1}
// CHECK-NEXT: t3 = sub(t0, t2)
// CHECK-NEXT: yield t0, t3
// CHECK: aicf_rt.call cumsum(%[[T]])
func.func @moves_up(%x: tensor<256x512xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<256x512xf32> {aicf.name = "p"}, tensor<256x512xf32> {aicf.name = "y"}) {
  %t = aicf_rt.call tanh(%x) : (tensor<256x512xf32>) -> tensor<256x512xf32>
  %p = aicf_rt.call cumsum(%t) {axis = 1} : (tensor<256x512xf32>) -> tensor<256x512xf32>
  %s = aicf_rt.call reduce_sum(%t) {axis = 1} : (tensor<256x512xf32>) -> tensor<256xf32>
  %v = aicf_rt.view %s[0] : tensor<256xf32> to tensor<256x512xf32, #aicf_rt.strided<[1, 0]>>
  %y = aicf_rt.call sub(%t, %v) : (tensor<256x512xf32>, tensor<256x512xf32, #aicf_rt.strided<[1, 0]>>) -> tensor<256x512xf32>
  return %p, %y : tensor<256x512xf32>, tensor<256x512xf32>
}

// -----

// A softmax is defined by rows: it is part of a call with what is in front and behind.
// CHECK-LABEL: func.func @scaled_softmax
// CHECK: aicf_rt.call {
// CHECK-NEXT: t0 = scale(%{{.*}}) {factor = 1.250000e-01}
// CHECK-NEXT: t1 = softmax(t0)
// CHECK-NEXT: t2 = mul(t1, %{{.*}})
// CHECK-NEXT: yield t1, t2
// CPU-LABEL: func.func @scaled_softmax
// CPU: t1 = softmax(t0)
func.func @scaled_softmax(%x: tensor<256x512xf32> {aicf.role = "input", aicf.name = "x"},
                          %m: tensor<256x512xf32> {aicf.role = "input", aicf.name = "m"})
    -> (tensor<256x512xf32> {aicf.name = "p"}, tensor<256x512xf32> {aicf.name = "y"}) {
  %s = aicf_rt.call scale(%x) {factor = 0.125} : (tensor<256x512xf32>) -> tensor<256x512xf32>
  %p = aicf_rt.call softmax(%s) : (tensor<256x512xf32>) -> tensor<256x512xf32>
  %y = aicf_rt.call mul(%p, %m) : (tensor<256x512xf32>, tensor<256x512xf32>) -> tensor<256x512xf32>
  return %p, %y : tensor<256x512xf32>, tensor<256x512xf32>
}
