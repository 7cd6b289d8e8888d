// RUN: aicf-opt %s --aicf-rt-fuse-calls --split-input-file | FileCheck %s
// RUN: aicf-opt %s --aicf-rt-fuse-calls --remarks-filter-passed=aicf --split-input-file -o /dev/null 2>&1 | FileCheck %s --check-prefix=PASSED
// PASSED: gemm, bias_add in one call

// Tests a bias that is made behind the product: the fused call stands where the
// product is read.
// CHECK-LABEL: func.func @bias_between
// CHECK-NEXT: %[[B:.*]] = aicf_rt.call relu(
// CHECK-NEXT: aicf_rt.call {
// CHECK-NEXT: t0 = gemm(
// CHECK-NEXT: t1 = bias_add(t0, %[[B]])
func.func @bias_between(%x: tensor<8x8xf32> {aicf.role = "input", aicf.name = "x"},
                        %b: tensor<8xf32> {aicf.role = "input", aicf.name = "b"})
    -> (tensor<8x8xf32> {aicf.name = "y"}) attributes {aicf.target = #aicf.target<cuda>} {
  %0 = aicf_rt.call gemm(%x, %x) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = aicf_rt.call relu(%b) : (tensor<8xf32>) -> tensor<8xf32>
  %2 = aicf_rt.call bias_add(%0, %1) : (tensor<8x8xf32>, tensor<8xf32>) -> tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}

// -----

// Tests an operand that is a view behind the place of the fused call.
// CHECK-LABEL: func.func @view_behind
// CHECK-NEXT: %[[S:.*]] = aicf_rt.view
// CHECK-NEXT: aicf_rt.call {
// CHECK-NEXT: t0 = mse_loss(
// CHECK-NEXT: t1 = mse_grad({{.*}}, loss_scale = %[[S]])
func.func @view_behind(%p: tensor<8xf32> {aicf.role = "input", aicf.name = "p"},
                       %t: tensor<8xf32> {aicf.role = "input", aicf.name = "t"},
                       %c: tensor<1xf32> {aicf.role = "input", aicf.name = "c"})
    -> (tensor<f32> {aicf.name = "loss"}, tensor<8xf32> {aicf.name = "d"})
    attributes {aicf.target = #aicf.target<cuda>} {
  %l = aicf_rt.call mse_loss(%p, %t) : (tensor<8xf32>, tensor<8xf32>) -> tensor<f32>
  %s = aicf_rt.view %c[0] : tensor<1xf32> to tensor<f32>
  %d = aicf_rt.call mse_grad(%p, %t, loss_scale = %s) : (tensor<8xf32>, tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  return %l, %d : tensor<f32>, tensor<8xf32>
}

// -----

// Tests that a view stays in front of another call that reads it.
// CHECK-LABEL: func.func @view_read_before
// CHECK-NEXT: %[[V:.*]] = aicf_rt.view
// CHECK-NEXT: aicf_rt.call relu(%[[V]])
// CHECK-NEXT: aicf_rt.call {
// CHECK-NEXT: t0 = gemm(%[[V]], %[[V]])
func.func @view_read_before(%x: tensor<64xf32> {aicf.role = "input", aicf.name = "x"},
                            %b: tensor<8xf32> {aicf.role = "input", aicf.name = "b"})
    -> (tensor<8x8xf32> {aicf.name = "r"}, tensor<8x8xf32> {aicf.name = "y"})
    attributes {aicf.target = #aicf.target<cuda>} {
  %v = aicf_rt.view %x[0] : tensor<64xf32> to tensor<8x8xf32>
  %r = aicf_rt.call relu(%v) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %0 = aicf_rt.call gemm(%v, %v) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %y = aicf_rt.call bias_add(%0, %b) : (tensor<8x8xf32>, tensor<8xf32>) -> tensor<8x8xf32>
  return %r, %y : tensor<8x8xf32>, tensor<8x8xf32>
}

// -----

// Tests a product and a sum of what a fused call of the same pattern gives.
// CHECK-LABEL: func.func @chain
// CHECK-NEXT: %[[Y:.*]], %{{.*}} = aicf_rt.call {
// CHECK-NEXT: t0 = gemm(
// CHECK-NEXT: t1 = reduce_sum(
// CHECK: aicf_rt.call {
// CHECK-NEXT: t0 = gemm(%[[Y]], %{{.*}}) {transA = true}
// CHECK-NEXT: t1 = reduce_sum(%[[Y]])
func.func @chain(%d: tensor<8x8xf32> {aicf.role = "input", aicf.name = "d"},
                 %h: tensor<8x8xf32> {aicf.role = "input", aicf.name = "h"})
    -> (tensor<8xf32> {aicf.name = "s"}, tensor<8x8xf32> {aicf.name = "z"},
        tensor<8xf32> {aicf.name = "t"}) attributes {aicf.target = #aicf.target<cuda>} {
  %y = aicf_rt.call gemm(%d, %h) {transA = true} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %s = aicf_rt.call reduce_sum(%d) : (tensor<8x8xf32>) -> tensor<8xf32>
  %z = aicf_rt.call gemm(%y, %h) {transA = true} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %t = aicf_rt.call reduce_sum(%y) : (tensor<8x8xf32>) -> tensor<8xf32>
  return %s, %z, %t : tensor<8xf32>, tensor<8x8xf32>, tensor<8xf32>
}

// -----

// Tests a gradient that only its sum reads: the call gives it all the same.
// CHECK-LABEL: func.func @only_sum
// CHECK-NEXT: aicf_rt.call {
// CHECK-NEXT: t0 = relu_bwd(
// CHECK-NEXT: t1 = reduce_sum(t0)
// CHECK-NEXT: yield t0, t1
func.func @only_sum(%d: tensor<8x8xf32> {aicf.role = "input", aicf.name = "d"},
                    %h: tensor<8x8xf32> {aicf.role = "input", aicf.name = "h"})
    -> (tensor<8xf32> {aicf.name = "s"}) attributes {aicf.target = #aicf.target<cuda>} {
  %g = aicf_rt.call relu_bwd(%d, %h) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %s = aicf_rt.call reduce_sum(%g) : (tensor<8x8xf32>) -> tensor<8xf32>
  return %s : tensor<8xf32>
}

// -----

// Tests that of two patterns of one length the first by name is taken: the gradient
// goes with the product, and not with the sum.
// CHECK-LABEL: func.func @by_name
// CHECK-NEXT: aicf_rt.call {
// CHECK-NEXT: t0 = gemm(
// CHECK-NEXT: t1 = relu_bwd(t0,
// CHECK: aicf_rt.call reduce_sum(
func.func @by_name(%d: tensor<8x8xf32> {aicf.role = "input", aicf.name = "d"},
                   %h: tensor<8x8xf32> {aicf.role = "input", aicf.name = "h"})
    -> (tensor<8x8xf32> {aicf.name = "g"}, tensor<8xf32> {aicf.name = "s"})
    attributes {aicf.target = #aicf.target<cuda>} {
  %c = aicf_rt.call gemm(%d, %h) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %g = aicf_rt.call relu_bwd(%c, %h) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %s = aicf_rt.call reduce_sum(%g) : (tensor<8x8xf32>) -> tensor<8xf32>
  return %g, %s : tensor<8x8xf32>, tensor<8xf32>
}

// -----

// Tests two sums of a product's operand: the first goes with it.
// CHECK-LABEL: func.func @two_sums
// CHECK-NEXT: %[[W:.*]], %[[S:.*]] = aicf_rt.call {
// CHECK: %[[T:.*]] = aicf_rt.call reduce_sum(
// CHECK-NEXT: return %[[W]], %[[S]], %[[T]]
func.func @two_sums(%d: tensor<8x8xf32> {aicf.role = "input", aicf.name = "d"})
    -> (tensor<8x8xf32> {aicf.name = "w"}, tensor<8xf32> {aicf.name = "s"},
        tensor<8xf32> {aicf.name = "t"}) attributes {aicf.target = #aicf.target<cuda>} {
  %w = aicf_rt.call gemm(%d, %d) {transA = true} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %s = aicf_rt.call reduce_sum(%d) : (tensor<8x8xf32>) -> tensor<8xf32>
  %t = aicf_rt.call reduce_sum(%d) : (tensor<8x8xf32>) -> tensor<8xf32>
  return %w, %s, %t : tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>
}
