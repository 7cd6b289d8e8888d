// RUN: aicf-opt %s --aicf-rt-assign-streams=streams=3 --aicf-rt-verify=phase=lowered | FileCheck %s

// Tests that gradients go round the side streams, and that an update stays on the one
// that comes next.
// CHECK-LABEL: func.func @round
// CHECK: reduce_sum({{.*}} launch<stream = 1
// CHECK: step_inc({{.*}} launch<stream = 2
// CHECK: reduce_sum({{.*}} launch<stream = 2
// CHECK: reduce_sum({{.*}} launch<stream = 1
func.func @round(%x: tensor<4x4xf32> {aicf.role = "input", aicf.name = "x"},
                 %a: tensor<4xf32> {aicf.role = "param", aicf.name = "a"},
                 %b: tensor<4xf32> {aicf.role = "param", aicf.name = "b"},
                 %c: tensor<4xf32> {aicf.role = "param", aicf.name = "c"},
                 %t: tensor<i64> {aicf.role = "state", aicf.name = "t"},
                 %lr: tensor<f32> {aicf.role = "hyper", aicf.name = "lr"})
    -> (tensor<4xf32> {aicf.updates = "a"}, tensor<4xf32> {aicf.updates = "b"},
        tensor<4xf32> {aicf.updates = "c"}, tensor<i64> {aicf.updates = "t"}) {
  %0 = aicf_rt.call reduce_sum(%x) {axis = 0} : (tensor<4x4xf32>) -> tensor<4xf32>
  %1 = aicf_rt.call step_inc(%t) inplace [0] : (tensor<i64>) -> tensor<i64>
  %2 = aicf_rt.call reduce_sum(%x) {axis = 0} : (tensor<4x4xf32>) -> tensor<4xf32>
  %3 = aicf_rt.call reduce_sum(%x) {axis = 0} : (tensor<4x4xf32>) -> tensor<4xf32>
  %4 = aicf_rt.call sgd_step(%a, %0, %lr) inplace [0] : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %5 = aicf_rt.call sgd_step(%b, %2, %lr) inplace [0] : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %6 = aicf_rt.call sgd_step(%c, %3, %lr) inplace [0] : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %4, %5, %6, %1 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<i64>
}
