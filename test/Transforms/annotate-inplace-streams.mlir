// RUN: aicf-opt %s --aicf-rt-materialize-updates --aicf-rt-annotate-inplace | FileCheck %s --check-prefixes=CHECK,ONE
// RUN: aicf-opt %s --aicf-rt-materialize-updates --aicf-rt-annotate-inplace=streams=2 | FileCheck %s --check-prefixes=CHECK,TWO

// Tests that with streams to come nothing overwrites what a side call reads: the
// main stream would wait for it.
// CHECK-LABEL: func.func @side_call
func.func @side_call(%b: tensor<4xf32> {aicf.role = "param", aicf.name = "b"},
                     %x: tensor<4x4xf32> {aicf.role = "input", aicf.name = "x"},
                     %lr: tensor<f32> {aicf.role = "hyper", aicf.name = "lr"})
    -> (tensor<4xf32> {aicf.updates = "b"}, tensor<4x4xf32> {aicf.name = "y"}) {
  %0 = aicf_rt.call relu(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = aicf_rt.call reduce_sum(%0) {axis = 0} : (tensor<4x4xf32>) -> tensor<4xf32>
  // CHECK: aicf_rt.call reduce_sum(
  // ONE-NEXT: aicf_rt.call relu({{.*}}) inplace [0]
  // TWO-NEXT: aicf_rt.call relu(%{{[^{]*}}) :
  %2 = aicf_rt.call relu(%0) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  // CHECK-NEXT: aicf_rt.call sgd_step({{.*}}) inplace [0]
  %3 = aicf_rt.call sgd_step(%b, %1, %lr) : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %3, %2 : tensor<4xf32>, tensor<4x4xf32>
}

// Tests that calls of the main stream alone share as before.
// CHECK-LABEL: func.func @main_only
func.func @main_only(%x: tensor<4x4xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4x4xf32> {aicf.name = "y"}, tensor<4xf32> {aicf.name = "z"}) {
  %0 = aicf_rt.call relu(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = aicf_rt.call reduce_sum(%0) {axis = 0} : (tensor<4x4xf32>) -> tensor<4xf32>
  // CHECK: aicf_rt.call reduce_sum(
  // CHECK-NEXT: aicf_rt.call relu({{.*}}) inplace [0]
  %2 = aicf_rt.call relu(%0) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %2, %1 : tensor<4x4xf32>, tensor<4xf32>
}

// Tests that a side call overwrites what another one reads, with streams to come
// too: neither is of the main stream.
// CHECK-LABEL: func.func @side_only
func.func @side_only(%b: tensor<4xf32> {aicf.role = "param", aicf.name = "b"},
                     %w: tensor<4x4xf32> {aicf.role = "param", aicf.name = "w"},
                     %x: tensor<4x4xf32> {aicf.role = "input", aicf.name = "x"},
                     %lr: tensor<f32> {aicf.role = "hyper", aicf.name = "lr"})
    -> (tensor<4xf32> {aicf.updates = "b"}, tensor<4x4xf32> {aicf.updates = "w"}) {
  %0 = aicf_rt.call relu(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = aicf_rt.call reduce_sum(%0) {axis = 0} : (tensor<4x4xf32>) -> tensor<4xf32>
  // CHECK: aicf_rt.call reduce_sum(
  // CHECK-NEXT: aicf_rt.call relu({{.*}}) inplace [0]
  %2 = aicf_rt.call relu(%0) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = aicf_rt.call sgd_step(%b, %1, %lr) : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %4 = aicf_rt.call sgd_step(%w, %2, %lr) : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  return %3, %4 : tensor<4xf32>, tensor<4x4xf32>
}
