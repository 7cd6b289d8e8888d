// RUN: aicf-opt %s --split-input-file --aicf-append-optimizer --aicf-return-gradients --verify-diagnostics | FileCheck %s

// Tests gradients and their norm by name. Without clipping the norm is computed for
// it, of the gradients that the optimizer reads.
// CHECK-LABEL: func.func @plain
// CHECK-SAME: aicf.updates = "w"}, tensor<f32> {aicf.name = "grad_norm"}, tensor<3xf32> {aicf.name = "grad:w"})
// CHECK-NOT: aicf.outputs
// CHECK: aicf.sgd_step %arg0, %arg1
// CHECK: %[[N:.*]] = aicf.global_norm %arg1 : tensor<3xf32>
// CHECK: return {{.*}}, %[[N]], %arg1
func.func @plain(%w: tensor<3xf32> {aicf.role = "param", aicf.name = "w"},
                 %g: tensor<3xf32> {aicf.role = "input", aicf.name = "g"})
    -> (tensor<3xf32> {aicf.name = "grad:w", aicf.grad = "w"})
    attributes {aicf.optimizer = #aicf.sgd<lr = "lr">, aicf.outputs = ["grad_norm", "grad:w"]} {
  return %g : tensor<3xf32>
}

// -----

// Tests that a star stands for the gradients that no other name is of.
// CHECK-LABEL: func.func @star
// CHECK-SAME: tensor<3xf32> {aicf.name = "grad:v"}, tensor<3xf32> {aicf.name = "grad:w"})
func.func @star(%w: tensor<3xf32> {aicf.role = "param", aicf.name = "w"},
                %v: tensor<3xf32> {aicf.role = "param", aicf.name = "v"},
                %g: tensor<3xf32> {aicf.role = "input", aicf.name = "g"})
    -> (tensor<3xf32> {aicf.name = "grad:w", aicf.grad = "w"},
        tensor<3xf32> {aicf.name = "grad:v", aicf.grad = "v"})
    attributes {aicf.optimizer = #aicf.sgd<lr = "lr">, aicf.outputs = ["grad:v", "grad:*"]} {
  return %g, %g : tensor<3xf32>, tensor<3xf32>
}

// -----

// Tests that clipping has the norm already; over two batches it is that of the mean.
// CHECK-LABEL: func.func @clipped(
// CHECK: %[[N:.*]] = aicf.global_norm
// CHECK: %[[F:.*]] = aicf.fill_like %[[N]] {value = 5.0
// CHECK: aicf.clip_factor %[[N]], %[[F]]
// CHECK-NOT: aicf.global_norm
// CHECK: %[[M:.*]] = aicf.mul %[[N]], %[[F]]
// CHECK: return {{.*}}, %[[M]] :
// CHECK-LABEL: func.func @clipped.accumulate
// CHECK-NOT: grad_norm
// CHECK: return
func.func @clipped(%w: tensor<3xf32> {aicf.role = "param", aicf.name = "w"},
                   %g: tensor<3xf32> {aicf.role = "input", aicf.name = "g"})
    -> (tensor<3xf32> {aicf.name = "grad:w", aicf.grad = "w"})
    attributes {aicf.optimizer = #aicf.sgd<lr = "lr", clip_norm = 1.0, accumulate = 2>,
                aicf.outputs = ["grad_norm"]} {
  return %g : tensor<3xf32>
}

// -----

// Tests that without clipping it is that of the mean, too, as the gradient itself is.
// CHECK-LABEL: func.func @mean(
// CHECK: %[[H:.*]] = aicf.fill_like %{{.*}} {value = 5.0
// CHECK: aicf.sgd_step %{{.*}}, %[[G:.*]], %{{.*}} inv_scale %[[H]]
// CHECK: %[[N:.*]] = aicf.global_norm
// CHECK: %[[M:.*]] = aicf.mul %[[N]], %[[H]]
// CHECK: %[[HS:.*]] = aicf.broadcast %[[H]]
// CHECK: %[[MG:.*]] = aicf.mul %[[G]], %[[HS]]
// CHECK: return {{.*}}, %[[M]], %[[MG]] :
func.func @mean(%w: tensor<3xf32> {aicf.role = "param", aicf.name = "w"},
                %g: tensor<3xf32> {aicf.role = "input", aicf.name = "g"})
    -> (tensor<3xf32> {aicf.name = "grad:w", aicf.grad = "w"})
    attributes {aicf.optimizer = #aicf.sgd<lr = "lr", accumulate = 2>,
                aicf.outputs = ["grad_norm", "grad:w"]} {
  return %g : tensor<3xf32>
}

// -----

// expected-error @+1 {{'aicf.outputs' names "grad:v", which is neither "grad_norm", "grad:*" nor one of grad:w}}
func.func @unknown(%w: tensor<3xf32> {aicf.role = "param", aicf.name = "w"})
    -> (tensor<3xf32> {aicf.name = "grad:w", aicf.grad = "w"})
    attributes {aicf.optimizer = #aicf.sgd<lr = "lr">, aicf.outputs = ["grad:v"]} {
  return %w : tensor<3xf32>
}

// -----

// expected-error @+1 {{'aicf.outputs' names "grad_norm", but a result has that name already}}
func.func @taken(%w: tensor<3xf32> {aicf.role = "param", aicf.name = "w"},
                 %x: tensor<f32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<3xf32> {aicf.name = "grad:w", aicf.grad = "w"},
        tensor<f32> {aicf.name = "grad_norm"})
    attributes {aicf.optimizer = #aicf.sgd<lr = "lr">, aicf.outputs = ["grad_norm"]} {
  return %w, %x : tensor<3xf32>, tensor<f32>
}

// -----

// expected-error @+1 {{'aicf.outputs' names "grad:w", but a result has that name already}}
func.func @twice(%w: tensor<3xf32> {aicf.role = "param", aicf.name = "w"})
    -> (tensor<3xf32> {aicf.name = "grad:w", aicf.grad = "w"})
    attributes {aicf.optimizer = #aicf.sgd<lr = "lr">, aicf.outputs = ["grad:w", "grad:w"]} {
  return %w : tensor<3xf32>
}

// -----

// expected-error @+1 {{'aicf.outputs' names gradients, and the entry trains no parameter}}
func.func @untrained(%x: tensor<f32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<f32> {aicf.name = "y"})
    attributes {aicf.outputs = ["grad_norm"]} {
  return %x : tensor<f32>
}

// -----

// expected-error @+1 {{'aicf.outputs' must be an array of names, such as ["grad_norm"], got "grad_norm"}}
func.func @f() attributes {aicf.outputs = "grad_norm"} {
  return
}
