// RUN: aicf-opt %s --aicf-rt-fuse-epilogues=target=cuda --split-input-file | FileCheck %s
// RUN: sed -n 's,^// STEP: ,,p' %s | not aicf-opt --aicf-rt-fuse-epilogues 2>&1 | FileCheck %s --check-prefix=FORM

// Tests an entry that is not lowered.
// STEP: func.func @f(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
// STEP:     -> (tensor<4xf32> {aicf.name = "y"}) {
// STEP:   %y = aicf.relu %x : tensor<4xf32>
// STEP:   return %y : tensor<4xf32>
// STEP: }
// FORM: is not an aicf_rt primitive: run --aicf-lower-to-rt first

// Tests a product that something else reads too.
// CHECK-LABEL: func.func @read_twice
// CHECK: aicf_rt.gemm %
// CHECK: aicf_rt.bias_add
func.func @read_twice(%x: tensor<8x8xf32> {aicf.role = "input", aicf.name = "x"},
                      %b: tensor<8xf32> {aicf.role = "param", aicf.name = "b"})
    -> (tensor<8x8xf32> {aicf.name = "y"}, tensor<8x8xf32> {aicf.name = "z"}) {
  %0 = aicf_rt.gemm %x, %x : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = aicf_rt.bias_add %0, %b : (tensor<8x8xf32>, tensor<8xf32>) -> tensor<8x8xf32>
  return %0, %1 : tensor<8x8xf32>, tensor<8x8xf32>
}

// -----

// Tests a sum before relu that is returned: bias is fused, relu is not.
// CHECK-LABEL: func.func @sum_returned
// CHECK: aicf_rt.gemm_bias
// CHECK-NOT: relu = true
// CHECK: aicf_rt.relu
func.func @sum_returned(%x: tensor<8x8xf32> {aicf.role = "input", aicf.name = "x"},
                        %b: tensor<8xf32> {aicf.role = "param", aicf.name = "b"})
    -> (tensor<8x8xf32> {aicf.name = "y"}, tensor<8x8xf32> {aicf.name = "z"}) {
  %0 = aicf_rt.gemm %x, %x : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = aicf_rt.bias_add %0, %b : (tensor<8x8xf32>, tensor<8xf32>) -> tensor<8x8xf32>
  %2 = aicf_rt.relu %1 : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %1, %2 : tensor<8x8xf32>, tensor<8x8xf32>
}

// -----

// Tests a bias along the rows.
// CHECK-LABEL: func.func @other_axis
// CHECK: aicf_rt.bias_add %{{.*}} {axis = 0 : i64}
func.func @other_axis(%x: tensor<8x8xf32> {aicf.role = "input", aicf.name = "x"},
                      %b: tensor<8xf32> {aicf.role = "param", aicf.name = "b"})
    -> (tensor<8x8xf32> {aicf.name = "y"}) {
  %0 = aicf_rt.gemm %x, %x : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = aicf_rt.bias_add %0, %b {axis = 0} : (tensor<8x8xf32>, tensor<8xf32>) -> tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

// -----

// Tests a sum over the columns, and one that keeps its dimension.
// CHECK-LABEL: func.func @other_sums
// CHECK-NOT: gemm_reduce
// CHECK-NOT: relu_bwd_reduce
func.func @other_sums(%d: tensor<8x8xf32> {aicf.role = "input", aicf.name = "d"},
                      %h: tensor<8x8xf32> {aicf.role = "input", aicf.name = "h"})
    -> (tensor<8x8xf32> {aicf.name = "w"}, tensor<8xf32> {aicf.name = "s"},
        tensor<1x8xf32> {aicf.name = "k"}) {
  %w = aicf_rt.gemm %d, %h {transA = true} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %s = aicf_rt.reduce_sum %d {axis = 1} : (tensor<8x8xf32>) -> tensor<8xf32>
  %k = aicf_rt.reduce_sum %d : (tensor<8x8xf32>) -> tensor<1x8xf32>
  return %w, %s, %k : tensor<8x8xf32>, tensor<8xf32>, tensor<1x8xf32>
}

// -----

// Tests an input gradient, which needs no sum of its operand's rows here.
// CHECK-LABEL: func.func @not_transposed
// CHECK: aicf_rt.gemm %
// CHECK: aicf_rt.reduce_sum
func.func @not_transposed(%d: tensor<8x8xf32> {aicf.role = "input", aicf.name = "d"})
    -> (tensor<8x8xf32> {aicf.name = "w"}, tensor<8xf32> {aicf.name = "s"}) {
  %w = aicf_rt.gemm %d, %d : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %s = aicf_rt.reduce_sum %d : (tensor<8x8xf32>) -> tensor<8xf32>
  return %w, %s : tensor<8x8xf32>, tensor<8xf32>
}

// -----

// Tests loss and gradient of different targets.
// CHECK-LABEL: func.func @two_targets
// CHECK: aicf_rt.mse_loss %
// CHECK: aicf_rt.mse_grad
func.func @two_targets(%p: tensor<8xf32> {aicf.role = "input", aicf.name = "p"},
                       %t: tensor<8xf32> {aicf.role = "input", aicf.name = "t"})
    -> (tensor<f32> {aicf.name = "loss"}, tensor<8xf32> {aicf.name = "d"}) {
  %l = aicf_rt.mse_loss %p, %t : (tensor<8xf32>, tensor<8xf32>) -> tensor<f32>
  %d = aicf_rt.mse_grad %p, %p : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %l, %d : tensor<f32>, tensor<8xf32>
}

// -----

// Tests a sum before the product whose other operand is made in between: the
// fused call would stand at the sum.
// CHECK-LABEL: func.func @operand_after_sum
// CHECK: aicf_rt.reduce_sum
// CHECK: aicf_rt.relu
// CHECK: aicf_rt.gemm %
func.func @operand_after_sum(%d: tensor<8x8xf32> {aicf.role = "input", aicf.name = "d"},
                             %x: tensor<8x8xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<8x8xf32> {aicf.name = "w"}, tensor<8xf32> {aicf.name = "s"}) {
  %s = aicf_rt.reduce_sum %d : (tensor<8x8xf32>) -> tensor<8xf32>
  %h = aicf_rt.relu %x : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %w = aicf_rt.gemm %d, %h {transA = true} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %w, %s : tensor<8x8xf32>, tensor<8xf32>
}

// -----

// Tests a loss before a scale that only the gradient needs.
// CHECK-LABEL: func.func @scale_after_loss
// CHECK: aicf_rt.mse_loss %
// CHECK: aicf_rt.reciprocal
// CHECK: aicf_rt.mse_grad %
func.func @scale_after_loss(%p: tensor<8xf32> {aicf.role = "input", aicf.name = "p"},
                            %t: tensor<8xf32> {aicf.role = "input", aicf.name = "t"},
                            %c: tensor<f32> {aicf.role = "input", aicf.name = "c"})
    -> (tensor<f32> {aicf.name = "loss"}, tensor<8xf32> {aicf.name = "d"}) {
  %l = aicf_rt.mse_loss %p, %t : (tensor<8xf32>, tensor<8xf32>) -> tensor<f32>
  %s = aicf_rt.reciprocal %c : (tensor<f32>) -> tensor<f32>
  %d = aicf_rt.mse_grad %p, %t loss_scale %s : (tensor<8xf32>, tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  return %l, %d : tensor<f32>, tensor<8xf32>
}

// -----

// Tests gradients that are not products, and a product that something else reads.
// CHECK-LABEL: func.func @no_product
// CHECK-NOT: gemm_relu_bwd
func.func @no_product(%d: tensor<8x8xf32> {aicf.role = "input", aicf.name = "d"},
                      %h: tensor<8x8xf32> {aicf.role = "input", aicf.name = "h"})
    -> (tensor<8x8xf32> {aicf.name = "a"}, tensor<8x8xf32> {aicf.name = "b"},
        tensor<8x8xf32> {aicf.name = "c"}) {
  %a = aicf_rt.relu_bwd %d, %h : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %c = aicf_rt.gemm %d, %h : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %b = aicf_rt.relu_bwd %c, %h : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %a, %b, %c : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
}
