// RUN: aicf-opt %s --lower-to-backend=target=cuda --split-input-file | FileCheck %s

// Tests that a product does not write over the mask that it multiplies, too:
// other blocks of the launch still read it.
// CHECK-LABEL: aicf_rt.entry @mask_is_operand
// CHECK: t0 = gemm(%[[P:.*]], %b)
// CHECK-NEXT: t1 = relu_bwd(t0, %[[P]])
// CHECK: outs(%y)
func.func @mask_is_operand(%a: tensor<128x128xf32> {aicf.role = "input", aicf.name = "a"},
                           %b: tensor<128x128xf32> {aicf.role = "input", aicf.name = "b"})
    -> (tensor<128x128xf32> {aicf.name = "y"}) {
  %p = aicf.tanh %a : tensor<128x128xf32>
  %c = aicf.matmul %p, %b : tensor<128x128xf32>, tensor<128x128xf32>
  %y = aicf.relu_bwd %c, %p : tensor<128x128xf32>, tensor<128x128xf32>
  return %y : tensor<128x128xf32>
}

// -----

// Tests that the sum does not take the storage of gamma, which the norm behind it
// reads; the other term of the sum is free.
// CHECK-LABEL: aicf_rt.entry @gamma_is_term
// CHECK: aicf_rt.call tanh(%a) outs(%[[P:.*]]) in_vids
// CHECK: aicf_rt.call tanh(%b) outs(%[[Q:.*]]) in_vids
// CHECK: t0 = add(%[[P]], %[[Q]])
// CHECK-NEXT: layer_norm(t0, %[[P]], %b)
// CHECK: outs(%[[Q]], %y,
func.func @gamma_is_term(%a: tensor<64xf32> {aicf.role = "input", aicf.name = "a"},
                         %b: tensor<64xf32> {aicf.role = "input", aicf.name = "b"})
    -> (tensor<64xf32> {aicf.name = "y"}, tensor<64xf32> {aicf.name = "z"}) {
  %p = aicf.tanh %a : tensor<64xf32>
  %q = aicf.tanh %b : tensor<64xf32>
  %c = aicf.add %p, %q : tensor<64xf32>, tensor<64xf32>
  %y, %m, %r = aicf.layer_norm %c, %p, %b : tensor<64xf32>, tensor<64xf32>, tensor<64xf32>
  %z = aicf.mul %c, %y : tensor<64xf32>, tensor<64xf32>
  return %y, %z : tensor<64xf32>, tensor<64xf32>
}

// -----

// Tests that calls stay apart where a slot would read a value inside that the
// pattern does not pass on: it would have no memory.
// CHECK-LABEL: aicf_rt.entry @beta_is_sum
// CHECK: aicf_rt.call add(
// CHECK: aicf_rt.call layer_norm(
func.func @beta_is_sum(%a: tensor<64xf32> {aicf.role = "input", aicf.name = "a"},
                       %b: tensor<64xf32> {aicf.role = "input", aicf.name = "b"})
    -> (tensor<64xf32> {aicf.name = "y"}) {
  %c = aicf.add %a, %b : tensor<64xf32>, tensor<64xf32>
  %y, %m, %r = aicf.layer_norm %c, %a, %c : tensor<64xf32>, tensor<64xf32>, tensor<64xf32>
  return %y : tensor<64xf32>
}

// -----

// But a graph has all of it in registers.
// CHECK-LABEL: aicf_rt.entry @mask_is_product
// CHECK: aicf_rt.call {
// CHECK-NEXT: [[C:t.*]] = gemm(
// CHECK-NEXT: relu_bwd([[C]], [[C]])
// CHECK: kernel = "product_graph_v0"
// CHECK: aicf_rt.call {
// CHECK-NEXT: [[D:t.*]] = gemm(
// CHECK-NEXT: gelu_bwd([[D]], [[D]])
// CHECK: kernel = "product_graph_v0"
func.func @mask_is_product(%a: tensor<64x64xf32> {aicf.role = "input", aicf.name = "a"},
                           %b: tensor<64x64xf32> {aicf.role = "input", aicf.name = "b"})
    -> (tensor<64x64xf32> {aicf.name = "y"}, tensor<64x64xf32> {aicf.name = "z"}) {
  %c = aicf.matmul %a, %b : tensor<64x64xf32>, tensor<64x64xf32>
  %y = aicf.relu_bwd %c, %c : tensor<64x64xf32>, tensor<64x64xf32>
  %d = aicf.matmul %b, %a : tensor<64x64xf32>, tensor<64x64xf32>
  %z = aicf.gelu_bwd %d, %d : tensor<64x64xf32>, tensor<64x64xf32>
  return %y, %z : tensor<64x64xf32>, tensor<64x64xf32>
}

// -----

// Tests that an update does not go together with one that reads its parameter, as
// a gradient or as a learning rate; others do.
// CHECK-LABEL: aicf_rt.entry @gradient_is_param
// CHECK: aicf_rt.call {
// CHECK-NEXT: sgd_step(%w0, %w1, %lr)
// CHECK-NEXT: sgd_step(%w2, %g, %lr)
// CHECK: outs(%w0, %w2)
// CHECK: aicf_rt.call sgd_step(%w1, %g, %lr) outs(%w1)
!w = tensor<64xf32>
func.func @gradient_is_param(%w0: !w {aicf.role = "param", aicf.name = "w0", aicf.init = 1.0},
                             %w1: !w {aicf.role = "param", aicf.name = "w1", aicf.init = 2.0},
                             %w2: !w {aicf.role = "param", aicf.name = "w2", aicf.init = 3.0},
                             %g: !w {aicf.role = "input", aicf.name = "g"},
                             %lr: tensor<f32> {aicf.role = "hyper", aicf.name = "lr"})
    -> (!w {aicf.updates = "w0"}, !w {aicf.updates = "w1"}, !w {aicf.updates = "w2"}) {
  %a, %u = aicf.sgd_step %w0, %w1, %lr : !w, !w, tensor<f32>
  %c, %x = aicf.sgd_step %w2, %g, %lr : !w, !w, tensor<f32>
  %b, %v = aicf.sgd_step %w1, %g, %lr : !w, !w, tensor<f32>
  return %a, %b, %c : !w, !w, !w
}

// -----

// CHECK-LABEL: aicf_rt.entry @rate_is_param
// CHECK: aicf_rt.call sgd_step(%s, %g, %s) outs(%[[T:.*]]) in_vids
// CHECK: aicf_rt.call sgd_step(%w, %h, %s) outs(%w)
// CHECK: aicf_rt.call copy(%[[T]]) outs(%s)
func.func @rate_is_param(%s: tensor<f32> {aicf.role = "param", aicf.name = "s", aicf.init = 0.5},
                         %w: tensor<f32> {aicf.role = "param", aicf.name = "w", aicf.init = 2.0},
                         %g: tensor<f32> {aicf.role = "input", aicf.name = "g"},
                         %h: tensor<f32> {aicf.role = "input", aicf.name = "h"})
    -> (tensor<f32> {aicf.updates = "s"}, tensor<f32> {aicf.updates = "w"}) {
  %a, %u = aicf.sgd_step %s, %g, %s : tensor<f32>, tensor<f32>, tensor<f32>
  %b, %v = aicf.sgd_step %w, %h, %s : tensor<f32>, tensor<f32>, tensor<f32>
  return %a, %b : tensor<f32>, tensor<f32>
}
