// RUN: aicf-opt %s --aicf-rt-fuse-calls --split-input-file | FileCheck %s
// RUN: aicf-opt %s --aicf-rt-fuse-calls --remarks-filter-missed=aicf --split-input-file --verify-diagnostics -o /dev/null

// Tests loss and gradient of different targets.
// CHECK-LABEL: func.func @two_targets
// CHECK: aicf_rt.call mse_loss(%
// CHECK: aicf_rt.call mse_grad(
func.func @two_targets(%p: tensor<8xf32> {aicf.role = "input", aicf.name = "p"},
                       %t: tensor<8xf32> {aicf.role = "input", aicf.name = "t"})
    -> (tensor<f32> {aicf.name = "loss"}, tensor<8xf32> {aicf.name = "d"})
    attributes {aicf.target = #aicf.target<cuda>} {
  %l = aicf_rt.call mse_loss(%p, %t) : (tensor<8xf32>, tensor<8xf32>) -> tensor<f32>
  %d = aicf_rt.call mse_grad(%p, %p) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %l, %d : tensor<f32>, tensor<8xf32>
}

// -----

// Tests a sum before the product whose other operand is made in between: the
// fused call would stand at the sum.
// CHECK-LABEL: func.func @operand_after_sum
// CHECK: aicf_rt.call reduce_sum(
// CHECK: aicf_rt.call relu(
// CHECK: aicf_rt.call gemm(%
func.func @operand_after_sum(%d: tensor<8x8xf32> {aicf.role = "input", aicf.name = "d"},
                             %x: tensor<8x8xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<8x8xf32> {aicf.name = "w"}, tensor<8xf32> {aicf.name = "s"})
    attributes {aicf.target = #aicf.target<cuda>} {
  %s = aicf_rt.call reduce_sum(%d) : (tensor<8x8xf32>) -> tensor<8xf32>
  %h = aicf_rt.call relu(%x) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  // expected-remark @+1 {{gemm is not fused to gemm_reduce: an operand is made too late, or a result is needed too early}}
  %w = aicf_rt.call gemm(%d, %h) {transA = true} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %w, %s : tensor<8x8xf32>, tensor<8xf32>
}

// -----

// Tests a loss before a scale that only the gradient needs.
// CHECK-LABEL: func.func @scale_after_loss
// CHECK: aicf_rt.call mse_loss(%
// CHECK: aicf_rt.call reciprocal(
// CHECK: aicf_rt.call mse_grad(%
func.func @scale_after_loss(%p: tensor<8xf32> {aicf.role = "input", aicf.name = "p"},
                            %t: tensor<8xf32> {aicf.role = "input", aicf.name = "t"},
                            %c: tensor<f32> {aicf.role = "input", aicf.name = "c"})
    -> (tensor<f32> {aicf.name = "loss"}, tensor<8xf32> {aicf.name = "d"})
    attributes {aicf.target = #aicf.target<cuda>} {
  // expected-remark @+1 {{mse_loss is not fused to mse_loss_grad: an operand is made too late, or a result is needed too early}}
  %l = aicf_rt.call mse_loss(%p, %t) : (tensor<8xf32>, tensor<8xf32>) -> tensor<f32>
  %s = aicf_rt.call reciprocal(%c) : (tensor<f32>) -> tensor<f32>
  %d = aicf_rt.call mse_grad(%p, %t, loss_scale = %s) : (tensor<8xf32>, tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  return %l, %d : tensor<f32>, tensor<8xf32>
}

// -----

// Tests gradients that are not products, and a product that something else reads.
// CHECK-LABEL: func.func @no_product
// CHECK-NOT: aicf_rt.call {
func.func @no_product(%d: tensor<8x8xf32> {aicf.role = "input", aicf.name = "d"},
                      %h: tensor<8x8xf32> {aicf.role = "input", aicf.name = "h"})
    -> (tensor<8x8xf32> {aicf.name = "a"}, tensor<8x8xf32> {aicf.name = "b"},
        tensor<8x8xf32> {aicf.name = "c"}) attributes {aicf.target = #aicf.target<cuda>} {
  %a = aicf_rt.call relu_bwd(%d, %h) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  // expected-remark @+1 {{gemm is not fused to gemm_relu_bwd: 'func.return' reads the result of 'gemm' too}}
  %c = aicf_rt.call gemm(%d, %h) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %b = aicf_rt.call relu_bwd(%c, %h) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %a, %b, %c : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
}

// -----

// Tests a library's kernel that takes longer than calls apart, and a call that
// names its kernel.
// CHECK-LABEL: func.func @slower
// CHECK-NOT: aicf_rt.call {
func.func @slower(%d: tensor<2048x2048xf32> {aicf.role = "input", aicf.name = "d"},
                  %b: tensor<2048xf32> {aicf.role = "param", aicf.name = "b"})
    -> (tensor<2048x2048xf32> {aicf.name = "w"}, tensor<2048xf32> {aicf.name = "s"},
        tensor<2048x2048xf32> {aicf.name = "y"}) attributes {aicf.target = #aicf.target<cuda>} {
  // expected-remark @+1 {{gemm is not fused to gemm_reduce: the target has no kernel for them in one call; gemm_reduce_f32_tile_v0: it does not pay: not (isSmallProduct(c, costs)); gemm_reduce_tf32_lt_v0: it runs only where a call names it; gemm_reduce_f32_lt_v0: it runs only where a call names it}}
  %w = aicf_rt.call gemm(%d, %d) {transA = true} : (tensor<2048x2048xf32>, tensor<2048x2048xf32>) -> tensor<2048x2048xf32>
  %s = aicf_rt.call reduce_sum(%d) : (tensor<2048x2048xf32>) -> tensor<2048xf32>
  %g = aicf_rt.call gemm(%d, %d) launch<kernel = "gemm_f32_lt_v0"> : (tensor<2048x2048xf32>, tensor<2048x2048xf32>) -> tensor<2048x2048xf32>
  %y = aicf_rt.call bias_add(%g, %b) : (tensor<2048x2048xf32>, tensor<2048xf32>) -> tensor<2048x2048xf32>
  return %w, %s, %y : tensor<2048x2048xf32>, tensor<2048xf32>, tensor<2048x2048xf32>
}

// -----

// Tests a product that another call sees by a view, and one that has a reader
// between views that nobody reads.
// CHECK-LABEL: func.func @views
// CHECK: aicf_rt.call gemm(%
// CHECK: aicf_rt.call bias_add(
// CHECK: aicf_rt.call gemm(%
// CHECK: aicf_rt.call bias_add(
func.func @views(%d: tensor<8x8xf32> {aicf.role = "input", aicf.name = "d"},
                 %b: tensor<8xf32> {aicf.role = "param", aicf.name = "b"})
    -> (tensor<8x8xf32> {aicf.name = "x"}, tensor<64xf32> {aicf.name = "y"},
        tensor<8x8xf32> {aicf.name = "p"}, tensor<8x8xf32> {aicf.name = "q"})
    attributes {aicf.target = #aicf.target<cuda>} {
  // expected-remark @+1 {{: 'relu' reads the result of 'gemm' too}}
  %g = aicf_rt.call gemm(%d, %d) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %x = aicf_rt.call bias_add(%g, %b) : (tensor<8x8xf32>, tensor<8xf32>) -> tensor<8x8xf32>
  %v = aicf_rt.view %g[0] : tensor<8x8xf32> to tensor<64xf32>
  %y = aicf_rt.call relu(%v) : (tensor<64xf32>) -> tensor<64xf32>
  // expected-remark @+1 {{: 'tanh' reads the result of 'gemm' too}}
  %h = aicf_rt.call gemm(%d, %d) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %u0 = aicf_rt.view %h[0] : tensor<8x8xf32> to tensor<64xf32>
  %p = aicf_rt.call bias_add(%h, %b) : (tensor<8x8xf32>, tensor<8xf32>) -> tensor<8x8xf32>
  %q = aicf_rt.call tanh(%h) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %u1 = aicf_rt.view %h[0] : tensor<8x8xf32> to tensor<64xf32>
  return %x, %y, %p, %q : tensor<8x8xf32>, tensor<64xf32>, tensor<8x8xf32>, tensor<8x8xf32>
}

// Tests a product that nothing else sees but a view that nobody reads: the fused
// call would have no value to view.
// CHECK-LABEL: func.func @unread_view
// CHECK: aicf_rt.call gemm(%
// CHECK: aicf_rt.call bias_add(
func.func @unread_view(%d: tensor<8x8xf32> {aicf.role = "input", aicf.name = "d"},
                       %b: tensor<8xf32> {aicf.role = "param", aicf.name = "b"})
    -> (tensor<8x8xf32> {aicf.name = "x"}) attributes {aicf.target = #aicf.target<cuda>} {
  // expected-remark @+1 {{: 'aicf_rt.view' reads the result of 'gemm' too}}
  %g = aicf_rt.call gemm(%d, %d) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %u = aicf_rt.view %g[0] : tensor<8x8xf32> to tensor<64xf32>
  %x = aicf_rt.call bias_add(%g, %b) : (tensor<8x8xf32>, tensor<8xf32>) -> tensor<8x8xf32>
  return %x : tensor<8x8xf32>
}
