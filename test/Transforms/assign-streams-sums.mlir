// Tests gradients of a weight that is used twice: they are added, and the sum is scaled. Only
// updates read what comes of it, so that all of it runs beside the way to the lower layer.

// RUN: aicf-opt %s --aicf-rt-assign-streams=streams=2 --aicf-rt-verify=phase=lowered --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @sum
// CHECK-NEXT: aicf_rt.call gemm(%{{.*}}) {transA = true} launch<stream = 1>
// CHECK-NEXT: aicf_rt.call gemm(%{{.*}}) launch<signals = [1]>
// CHECK-NEXT: aicf_rt.call gemm(%{{.*}}) {transA = true} launch<stream = 1, waits = [1]>
// CHECK-NEXT: aicf_rt.call add(%{{.*}}) launch<stream = 1>
// CHECK-NEXT: aicf_rt.call scale(%{{.*}}) {{.*}}launch<stream = 1
// CHECK-NEXT: aicf_rt.call gemm(%{{.*}}) : (
func.func @sum(%d: tensor<4x4xf32> {aicf.role = "input", aicf.name = "d"},
               %w: tensor<4x4xf32> {aicf.role = "param", aicf.name = "w"},
               %lr: tensor<f32> {aicf.role = "hyper", aicf.name = "lr"})
    -> (tensor<4x4xf32> {aicf.updates = "w"}, tensor<4x4xf32> {aicf.name = "dx"}) {
  %a = aicf_rt.call gemm(%d, %d) {transA = true} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %dx = aicf_rt.call gemm(%d, %w) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %b = aicf_rt.call gemm(%dx, %d) {transA = true} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %sum = aicf_rt.call add(%a, %b) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %g = aicf_rt.call scale(%sum) {factor = 0.5} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %dx2 = aicf_rt.call gemm(%dx, %w) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %w2 = aicf_rt.call sgd_step(%w, %g, %lr) : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  return %w2, %dx2 : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// A sum that a layer reads, too, is on the way of forward and backward.
// CHECK-LABEL: func.func @read
// CHECK-NOT: stream = 1
// CHECK: aicf_rt.call sgd_step
func.func @read(%d: tensor<4x4xf32> {aicf.role = "input", aicf.name = "d"},
                %w: tensor<4x4xf32> {aicf.role = "param", aicf.name = "w"},
                %lr: tensor<f32> {aicf.role = "hyper", aicf.name = "lr"})
    -> (tensor<4x4xf32> {aicf.updates = "w"}, tensor<4x4xf32> {aicf.name = "y"}) {
  %a = aicf_rt.call gemm(%d, %d) {transA = true} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %g = aicf_rt.call scale(%a) {factor = 0.5} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %y = aicf_rt.call gemm(%g, %d) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %w2 = aicf_rt.call sgd_step(%w, %g, %lr) : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  return %w2, %y : tensor<4x4xf32>, tensor<4x4xf32>
}
