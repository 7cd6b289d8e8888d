// Tests which calls take the shape of what they read, and which stay as they are.

// RUN: aicf-opt %s --aicf-rt-fold-reshapes --split-input-file | FileCheck %s
// RUN: aicf-opt %s --aicf-set-target=target=cuda --aicf-rt-fold-reshapes --split-input-file | FileCheck %s
// RUN: sed -n 's,^// STEP: ,,p' %s | not aicf-opt --aicf-rt-fold-reshapes 2>&1 | FileCheck %s --check-prefix=FORM


// Tests an entry that is not lowered.
// STEP: func.func @f(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
// STEP:     -> (tensor<4xf32> {aicf.name = "y"}) {
// STEP:   %y = aicf.relu %x : tensor<4xf32>
// STEP:   return %y : tensor<4xf32>
// STEP: }
// FORM: is not an aicf_rt.call: run --aicf-lower-to-rt first

// All that stands in front of the last dimension is summed, in either shape.
// CHECK-LABEL: func.func @sum
// CHECK: %[[E:.*]] = aicf_rt.call exp(
// CHECK-NEXT: aicf_rt.call reduce_sum(%[[E]]) {axis = 1} : (tensor<4x8x2xf32>) -> tensor<2xf32>
func.func @sum(%x: tensor<4x8x2xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<2xf32> {aicf.name = "s"}) {
  %e = aicf_rt.call exp(%x) : (tensor<4x8x2xf32>) -> tensor<4x8x2xf32>
  %r = aicf_rt.view %e[0] : tensor<4x8x2xf32> to tensor<32x2xf32>
  %s = aicf_rt.call reduce_sum(%r) : (tensor<32x2xf32>) -> tensor<2xf32>
  return %s : tensor<2xf32>
}

// -----

// Tests a sum that has that shape.
// CHECK-LABEL: func.func @same
// CHECK: aicf_rt.call reduce_sum(%{{.*}}) {axis = 1} : (tensor<4x8x2xf32>) -> tensor<2xf32>
func.func @same(%x: tensor<4x8x2xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<2xf32> {aicf.name = "s"}) {
  %e = aicf_rt.call exp(%x) : (tensor<4x8x2xf32>) -> tensor<4x8x2xf32>
  %s = aicf_rt.call reduce_sum(%e) {axis = 1} : (tensor<4x8x2xf32>) -> tensor<2xf32>
  return %s : tensor<2xf32>
}

// -----

// The chain takes the shape of its first call. The bias repeats along the same
// dimension, and %p, which wants the second shape, gets a view.
// CHECK-LABEL: func.func @chain
// CHECK: %[[E:.*]] = aicf_rt.call exp(
// CHECK-NEXT: %[[B:.*]] = aicf_rt.call bias_add(%[[E]], %{{.*}}) {axis = 2} : (tensor<2x3x4x5xf32>, tensor<4xf32>)
// CHECK-NEXT: %[[R:.*]] = aicf_rt.call relu(%[[B]]) : (tensor<2x3x4x5xf32>)
// CHECK-NEXT: %[[V:.*]] = aicf_rt.view %[[R]][0] : tensor<2x3x4x5xf32> to tensor<6x4x5xf32>
// CHECK-NEXT: aicf_rt.call softmax(%[[V]])
func.func @chain(%x: tensor<2x3x4x5xf32> {aicf.role = "input", aicf.name = "x"},
                 %b: tensor<4xf32> {aicf.role = "param", aicf.name = "b"})
    -> (tensor<6x4x5xf32> {aicf.name = "p"}) {
  %e = aicf_rt.call exp(%x) : (tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
  %v = aicf_rt.view %e[0] : tensor<2x3x4x5xf32> to tensor<6x4x5xf32>
  %a = aicf_rt.call bias_add(%v, %b) {axis = 1 : i64}
      : (tensor<6x4x5xf32>, tensor<4xf32>) -> tensor<6x4x5xf32>
  %r = aicf_rt.call relu(%a) : (tensor<6x4x5xf32>) -> tensor<6x4x5xf32>
  %p = aicf_rt.call softmax(%r) : (tensor<6x4x5xf32>) -> tensor<6x4x5xf32>
  return %p : tensor<6x4x5xf32>
}

// -----

// The sums have the other shape, too; whoever reads them does not see it.
// CHECK-LABEL: func.func @shape_of_sums
// CHECK: %[[S:.*]] = aicf_rt.call reduce_sum(%{{.*}}) : (tensor<8x2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: %[[V:.*]] = aicf_rt.view %[[S]][0] : tensor<2x3xf32> to tensor<6xf32>
// CHECK-NEXT: aicf_rt.call relu(%[[V]])
func.func @shape_of_sums(%x: tensor<8x2x3xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<6xf32> {aicf.name = "y"}) {
  %e = aicf_rt.call exp(%x) : (tensor<8x2x3xf32>) -> tensor<8x2x3xf32>
  %v = aicf_rt.view %e[0] : tensor<8x2x3xf32> to tensor<8x6xf32>
  %s = aicf_rt.call reduce_sum(%v) : (tensor<8x6xf32>) -> tensor<6xf32>
  %y = aicf_rt.call relu(%s) : (tensor<6xf32>) -> tensor<6xf32>
  return %y : tensor<6xf32>
}

// -----

// Tests a result that is returned, and one that is a part of a concat.
// CHECK-LABEL: func.func @wanted_shape
// CHECK: aicf_rt.call relu(%{{.*}}) : (tensor<6xf32>) -> tensor<6xf32>
// CHECK: aicf_rt.call tanh(%{{.*}}) : (tensor<6xf32>) -> tensor<6xf32>
func.func @wanted_shape(%x: tensor<2x3xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<6xf32> {aicf.name = "y"}, tensor<12xf32> {aicf.name = "z"}) {
  %e = aicf_rt.call exp(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %v = aicf_rt.view %e[0] : tensor<2x3xf32> to tensor<6xf32>
  %y = aicf_rt.call relu(%v) : (tensor<6xf32>) -> tensor<6xf32>
  %t = aicf_rt.call tanh(%v) : (tensor<6xf32>) -> tensor<6xf32>
  %z = aicf_rt.call concat(%t, %y) {axis = 0 : i64} : (tensor<6xf32>, tensor<6xf32>) -> tensor<12xf32>
  return %y, %z : tensor<6xf32>, tensor<12xf32>
}

// -----

// Tests sums of elements that do not stand together in the other shape.
// CHECK-LABEL: func.func @apart
// CHECK: aicf_rt.call reduce_sum(%{{.*}}) {axis = 1} : (tensor<2x6xf32>) -> tensor<2xf32>
func.func @apart(%x: tensor<3x4xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<2xf32> {aicf.name = "s"}) {
  %e = aicf_rt.call exp(%x) : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %v = aicf_rt.view %e[0] : tensor<3x4xf32> to tensor<2x6xf32>
  %s = aicf_rt.call reduce_sum(%v) {axis = 1 : i64} : (tensor<2x6xf32>) -> tensor<2xf32>
  return %s : tensor<2xf32>
}

// -----

// Tests another operand that no strides show in that shape, a part of a tensor, a
// maker that is not elementwise, and a copy.
// CHECK-LABEL: func.func @stays
// CHECK: aicf_rt.call add(%{{.*}}, %{{.*}}) : (tensor<6x4xf32>, tensor<6x4xf32, #aicf_rt.strided<[1, 6]>>)
// CHECK: aicf_rt.call relu(%{{.*}}) : (tensor<12xf32>)
// CHECK: aicf_rt.call tanh(%{{.*}}) : (tensor<24xf32>)
// CHECK: aicf_rt.call copy(%{{.*}}) : (tensor<24xf32>)
func.func @stays(%x: tensor<4x6xf32> {aicf.role = "input", aicf.name = "x"},
                 %t: tensor<4x6xf32> {aicf.role = "input", aicf.name = "t"})
    -> (tensor<6x4xf32> {aicf.name = "a"}, tensor<12xf32> {aicf.name = "b"},
        tensor<24xf32> {aicf.name = "c"}, tensor<24xf32> {aicf.name = "d"}) {
  %e = aicf_rt.call exp(%x) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %v = aicf_rt.view %e[0] : tensor<4x6xf32> to tensor<6x4xf32>
  %w = aicf_rt.view %t[0] : tensor<4x6xf32> to tensor<6x4xf32, #aicf_rt.strided<[1, 6]>>
  %s = aicf_rt.call add(%v, %w)
      : (tensor<6x4xf32>, tensor<6x4xf32, #aicf_rt.strided<[1, 6]>>) -> tensor<6x4xf32>
  %a = aicf_rt.call softmax(%s) : (tensor<6x4xf32>) -> tensor<6x4xf32>
  %p = aicf_rt.view %e[12] : tensor<4x6xf32> to tensor<12xf32>
  %b0 = aicf_rt.call relu(%p) : (tensor<12xf32>) -> tensor<12xf32>
  %b = aicf_rt.call softmax(%b0) : (tensor<12xf32>) -> tensor<12xf32>
  %q = aicf_rt.view %a[0] : tensor<6x4xf32> to tensor<24xf32>
  %c0 = aicf_rt.call tanh(%q) : (tensor<24xf32>) -> tensor<24xf32>
  %c = aicf_rt.call softmax(%c0) : (tensor<24xf32>) -> tensor<24xf32>
  %r = aicf_rt.view %e[0] : tensor<4x6xf32> to tensor<24xf32>
  %d0 = aicf_rt.call copy(%r) : (tensor<24xf32>) -> tensor<24xf32>
  %d = aicf_rt.call softmax(%d0) : (tensor<24xf32>) -> tensor<24xf32>
  return %a, %b, %c, %d : tensor<6x4xf32>, tensor<12xf32>, tensor<24xf32>, tensor<24xf32>
}
