// Tests that calls of several primitives take the shape of what they read, too.

// RUN: aicf-opt %s --aicf-rt-fold-reshapes --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @bias_gradient
// CHECK: %[[E:.*]] = aicf_rt.call exp(
// CHECK-NEXT: %[[S:.*]] = aicf_rt.view %{{.*}}[0] : tensor<6x8xf32> to tensor<2x3x8xf32>
// CHECK-NEXT: %[[DX:.*]], %[[DB:.*]] = aicf_rt.call {
// CHECK-NEXT: t0 = relu_bwd(%[[E]], %[[S]])
// CHECK-NEXT: t1 = reduce_sum(t0) {axis = 1}
// CHECK-NEXT: yield t0, t1
// CHECK-NEXT: } : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> (tensor<2x3x8xf32>, tensor<8xf32>)
// CHECK-NEXT: %[[V:.*]] = aicf_rt.view %[[DX]][0] : tensor<2x3x8xf32> to tensor<6x8xf32>
// CHECK-NEXT: aicf_rt.call softmax(%[[V]])
func.func @bias_gradient(%x: tensor<2x3x8xf32> {aicf.role = "input", aicf.name = "x"},
                         %s: tensor<6x8xf32> {aicf.role = "input", aicf.name = "s"})
    -> (tensor<6x8xf32> {aicf.name = "p"}, tensor<8xf32> {aicf.name = "db"})
    attributes {aicf.target = #aicf.target<cuda>} {
  %e = aicf_rt.call exp(%x) : (tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  %v = aicf_rt.view %e[0] : tensor<2x3x8xf32> to tensor<6x8xf32>
  %dx, %db = aicf_rt.call {
    t0 = relu_bwd(%v, %s)
    t1 = reduce_sum(t0)
    yield t0, t1
  } : (tensor<6x8xf32>, tensor<6x8xf32>) -> (tensor<6x8xf32>, tensor<8xf32>)
  %p = aicf_rt.call softmax(%dx) : (tensor<6x8xf32>) -> tensor<6x8xf32>
  return %p, %db : tensor<6x8xf32>, tensor<8xf32>
}

// -----

// Tests a result that is padded: no other shape has its pads.
// CHECK-LABEL: func.func @padded
// CHECK: aicf_rt.call cast(%{{.*}}) : (tensor<6x5xf32>) -> tensor<6x5xbf16, #aicf_rt.padded>
func.func @padded(%x: tensor<2x3x5xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<6x5xf32> {aicf.name = "y"}) attributes {aicf.target = #aicf.target<cuda>} {
  %e = aicf_rt.call exp(%x) : (tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
  %v = aicf_rt.view %e[0] : tensor<2x3x5xf32> to tensor<6x5xf32>
  %c = aicf_rt.call cast(%v) : (tensor<6x5xf32>) -> tensor<6x5xbf16, #aicf_rt.padded>
  %y = aicf_rt.call cast(%c) : (tensor<6x5xbf16, #aicf_rt.padded>) -> tensor<6x5xf32>
  return %y : tensor<6x5xf32>
}

// -----

// Tests two readers that come to the same view: there is one.
// CHECK-LABEL: func.func @one_view
// CHECK-COUNT-1: aicf_rt.view
// CHECK-NOT: aicf_rt.view
// CHECK: return
func.func @one_view(%x: tensor<2x3xf32> {aicf.role = "input", aicf.name = "x"},
                    %y: tensor<6xf32> {aicf.role = "input", aicf.name = "y"})
    -> (tensor<2x3xf32> {aicf.name = "p"}, tensor<2x3xf32> {aicf.name = "q"})
    attributes {aicf.target = #aicf.target<cuda>} {
  %e = aicf_rt.call exp(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %v = aicf_rt.view %e[0] : tensor<2x3xf32> to tensor<6xf32>
  %a = aicf_rt.call add(%v, %y) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
  %b = aicf_rt.call mul(%v, %y) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
  %w = aicf_rt.view %a[0] : tensor<6xf32> to tensor<2x3xf32>
  %z = aicf_rt.view %b[0] : tensor<6xf32> to tensor<2x3xf32>
  %p = aicf_rt.call softmax(%w) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %q = aicf_rt.call softmax(%z) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %p, %q : tensor<2x3xf32>, tensor<2x3xf32>
}

// -----

// Tests a part of a join: it lies in the memory of the whole in its shape.
// CHECK-LABEL: func.func @part
// CHECK: aicf_rt.call relu(%{{.*}}) : (tensor<6xf32>) -> tensor<6xf32>
func.func @part(%x: tensor<2x3xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<12xf32> {aicf.name = "w"}) attributes {aicf.target = #aicf.target<cuda>} {
  %e = aicf_rt.call exp(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %v = aicf_rt.view %e[0] : tensor<2x3xf32> to tensor<6xf32>
  %r = aicf_rt.call relu(%v) : (tensor<6xf32>) -> tensor<6xf32>
  %t = aicf_rt.call tanh(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %w = aicf_rt.join %r[0], %t[6] : tensor<6xf32>, tensor<2x3xf32> to tensor<12xf32>
  return %w : tensor<12xf32>
}

// -----

// A mean that keeps its dimension loses it, and what reads it follows.
// CHECK-LABEL: func.func @kept_dimension
// CHECK: %[[M:.*]] = aicf_rt.call reduce_mean(%{{.*}}) {axis = 1} : (tensor<4x8xf32>) -> tensor<4xf32>
// CHECK-NEXT: %[[N:.*]] = aicf_rt.call neg(%[[M]]) : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %[[V:.*]] = aicf_rt.view %[[N]][0] : tensor<4xf32> to tensor<4x8xf32, #aicf_rt.strided<[1, 0]>>
// CHECK-NEXT: aicf_rt.call add(%{{.*}}, %[[V]])
func.func @kept_dimension(%x: tensor<4x8xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4x8xf32> {aicf.name = "y"}) attributes {aicf.target = #aicf.target<cuda>} {
  %m = aicf_rt.call reduce_mean(%x) {axis = 1} : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %n = aicf_rt.call neg(%m) : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %v = aicf_rt.view %n[0] : tensor<4x1xf32> to tensor<4x8xf32, #aicf_rt.strided<[1, 0]>>
  %y = aicf_rt.call add(%x, %v) : (tensor<4x8xf32>, tensor<4x8xf32, #aicf_rt.strided<[1, 0]>>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

// Tests one that is returned as it is.
// CHECK-LABEL: func.func @kept_and_returned
// CHECK: aicf_rt.call reduce_mean(%{{.*}}) {axis = 1} : (tensor<4x8xf32>) -> tensor<4x1xf32>
func.func @kept_and_returned(%x: tensor<4x8xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4x1xf32> {aicf.name = "y"}) attributes {aicf.target = #aicf.target<cuda>} {
  %m = aicf_rt.call reduce_mean(%x) {axis = 1} : (tensor<4x8xf32>) -> tensor<4x1xf32>
  return %m : tensor<4x1xf32>
}

// -----

// Tests a body that reads its sum: it keeps its shape.
// CHECK-LABEL: func.func @sum_inside
// CHECK: %[[V:.*]] = aicf_rt.view %{{.*}}[0] : tensor<256x512xf32> to tensor<2x128x512xf32>
// CHECK: aicf_rt.call {
// CHECK-NEXT: t0 = reduce_sum(%[[V]]) {axis = 2}
func.func @sum_inside(%x: tensor<256x512xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<2x128xf32> {aicf.name = "y"}) attributes {aicf.target = #aicf.target<cuda>} {
  %e = aicf_rt.call exp(%x) : (tensor<256x512xf32>) -> tensor<256x512xf32>
  %v = aicf_rt.view %e[0] : tensor<256x512xf32> to tensor<2x128x512xf32>
  %y = aicf_rt.call {
    t0 = reduce_sum(%v) {axis = 2}
    t1 = rsqrt(t0)
    yield t1
  } : (tensor<2x128x512xf32>) -> tensor<2x128xf32>
  return %y : tensor<2x128xf32>
}
