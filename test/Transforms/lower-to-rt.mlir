// RUN: aicf-opt %s --aicf-number-values --aicf-lower-to-rt --split-input-file --verify-diagnostics | FileCheck %s

// Tests linear with and without bias, and the label of both calls.
// CHECK-LABEL: func.func @linear
// CHECK-SAME:    %[[X:.*]]: tensor<2x4xf32> {{{.*}}}, %[[W:.*]]: tensor<3x4xf32> {{{.*}}}, %[[B:.*]]: tensor<3xf32>
func.func @linear(%x: tensor<2x4xf32> {aicf.role = "input", aicf.name = "x"},
                  %w: tensor<3x4xf32> {aicf.role = "param", aicf.name = "w"},
                  %b: tensor<3xf32> {aicf.role = "param", aicf.name = "b"})
    -> (tensor<2x3xf32> {aicf.name = "y"}, tensor<2x3xf32> {aicf.name = "z"}) {
  // CHECK-NEXT: %[[G:.*]] = aicf_rt.call gemm(%[[X]], %[[W]]) {transB = true} vids [3]
  // CHECK-NEXT: %[[Y:.*]] = aicf_rt.call bias_add(%[[G]], %[[B]]) vids [3]
  %y = aicf.linear %x, %w, %b : tensor<2x4xf32>, tensor<3x4xf32>, tensor<3xf32>
  // CHECK-NEXT: %[[Z:.*]] = aicf_rt.call gemm(%[[X]], %[[W]]) {transB = true} vids [4]
  %z = aicf.linear %x, %w : tensor<2x4xf32>, tensor<3x4xf32>
  // CHECK-NEXT: return %[[Y]], %[[Z]]
  return %y, %z : tensor<2x3xf32>, tensor<2x3xf32>
}

// -----

// Tests that linear_bwd makes only the calls whose results are used.
// CHECK-LABEL: func.func @linear_bwd
func.func @linear_bwd(%d: tensor<2x3xf32> {aicf.role = "input", aicf.name = "d"},
                      %x: tensor<2x4xf32> {aicf.role = "input", aicf.name = "x"},
                      %w: tensor<3x4xf32> {aicf.role = "param", aicf.name = "w"})
    -> (tensor<3x4xf32> {aicf.name = "dw"}, tensor<3xf32> {aicf.name = "db"}) {
  // CHECK-NEXT: aicf_rt.call gemm(%{{.*}}, %{{.*}}) {transA = true} vids [4] : {{.*}} -> tensor<3x4xf32>
  // CHECK-NEXT: aicf_rt.call reduce_sum(%{{.*}}) vids [5] : {{.*}} -> tensor<3xf32>
  // CHECK-NEXT: return
  %dx, %dw, %db = aicf.linear_bwd %d, %x, %w : tensor<2x3xf32>, tensor<2x4xf32>, tensor<3x4xf32>
  return %dw, %db : tensor<3x4xf32>, tensor<3xf32>
}

// -----

// Tests attributes, save, and that dead ops get no call.
// CHECK-LABEL: func.func @attributes
func.func @attributes(%x: tensor<2x4xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<2x1xf32> {aicf.name = "y"}, tensor<2x4xf32> {aicf.name = "g"}) {
  %dead = aicf.relu %x : tensor<2x4xf32>
  // CHECK-NEXT: aicf_rt.call copy_saved(
  %s = aicf.save %x : tensor<2x4xf32>
  // CHECK-NEXT: aicf_rt.call reduce_sum(%{{.*}}) {axis = 1} vids {{.*}} : (tensor<2x4xf32>) -> tensor<2x1xf32>
  %y = aicf.reduce_sum %s over [1] {keepdim = true} : tensor<2x4xf32>
  // CHECK-NEXT: aicf_rt.call mse_grad(%{{.*}}, %{{.*}}) {scale = 1.000000e+00} vids {{.*}}
  %g = aicf.mse_grad %s, %x {scale = 1.0} : tensor<2x4xf32>, tensor<2x4xf32>
  // CHECK-NEXT: return
  return %y, %g : tensor<2x1xf32>, tensor<2x4xf32>
}

// -----

// Tests that sgd_step without m has one result.
// CHECK-LABEL: func.func @sgd
func.func @sgd(%p: tensor<4xf32> {aicf.role = "param", aicf.name = "p"},
               %lr: tensor<f32> {aicf.role = "hyper", aicf.name = "lr"})
    -> (tensor<4xf32> {aicf.updates = "p"}) {
  // CHECK: %{{.*}} = aicf_rt.call sgd_step({{.*}}) {weight_decay = 1.000000e-01} vids [2] : {{.*}} -> tensor<4xf32>
  %n, %m = aicf.sgd_step %p, %p, %lr {weight_decay = 0.1} : tensor<4xf32>, tensor<4xf32>, tensor<f32>
  return %n : tensor<4xf32>
}

// -----

// Tests values of i1, which calls make and take.
// CHECK-LABEL: func.func @chosen
func.func @chosen(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4xi1> {aicf.name = "m"}, tensor<4xf32> {aicf.name = "y"}) {
  // CHECK: %[[M:.*]] = aicf_rt.call greater_scalar(%{{.*}}) {{.*}} -> tensor<4xi1>
  %m = aicf.greater_scalar %x {value = 0.0} : tensor<4xf32>
  // CHECK: aicf_rt.call masked_fill(%{{.*}}, %[[M]]) {{.*}} : (tensor<4xf32>, tensor<4xi1>)
  %y = aicf.masked_fill %x, %m {value = 0.0} : tensor<4xf32>, tensor<4xi1>
  return %m, %y : tensor<4xi1>, tensor<4xf32>
}

// -----

// Tests that a moment that nobody keeps is refused.
func.func @sgd(%p: tensor<4xf32> {aicf.role = "param", aicf.name = "p"},
               %lr: tensor<f32> {aicf.role = "hyper", aicf.name = "lr"})
    -> (tensor<4xf32> {aicf.name = "m"}) {
  // expected-error @+1 {{its result m_out is used, but the operand m is absent}}
  %n, %m = aicf.sgd_step %p, %p, %lr : tensor<4xf32>, tensor<4xf32>, tensor<f32>
  return %m : tensor<4xf32>
}

// -----

// Tests a gradient that nobody expanded: no primitive computes it.
func.func @gradient(%x: tensor<f32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<f32> {aicf.name = "dx"}) {
  // expected-error @+1 {{'aicf.gradient' op has no call: run --aicf-expand-gradients first}}
  %dx = aicf.gradient %x, %x : tensor<f32>, tensor<f32>
  return %dx : tensor<f32>
}

// -----

// Tests a history that nobody expanded: it would be lost.
// expected-error @+1 {{result 0 has 'aicf.history': run --aicf-expand-history first}}
func.func @history(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4xf32> {aicf.name = "y", aicf.history = 3}) {
  return %x : tensor<4xf32>
}

// -----

// expected-error @+1 {{result 0 has 'aicf.minimize': run --aicf-autodiff first}}
func.func @loss(%W: tensor<f32> {aicf.role = "param", aicf.name = "W"})
    -> (tensor<f32> {aicf.name = "loss", aicf.minimize}) {
  return %W : tensor<f32>
}

// -----

// expected-error @+1 {{has 'aicf.optimizer': run --aicf-append-optimizer first}}
func.func @optimizer(%W: tensor<f32> {aicf.role = "param", aicf.name = "W"})
    -> (tensor<f32> {aicf.name = "w"}) attributes {aicf.optimizer = #aicf.sgd<lr = "lr">} {
  return %W : tensor<f32>
}
