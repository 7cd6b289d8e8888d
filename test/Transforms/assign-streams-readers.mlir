// RUN: aicf-opt %s --aicf-rt-assign-streams=streams=2 --aicf-rt-verify=phase=lowered | FileCheck %s

// Tests which gradients go beside the main stream: one that only an update and the
// guard of updates read does, and one that forward or backward reads too does not.
// CHECK-LABEL: func.func @readers
// CHECK: reduce_sum(%arg0) launch<signals
// CHECK: reduce_sum(%arg1) launch<stream = 1
// CHECK: relu(%arg0) :
func.func @readers(%x: tensor<4x4xf32> {aicf.role = "input", aicf.name = "x"},
                   %y: tensor<4x4xf32> {aicf.role = "input", aicf.name = "y"},
                   %a: tensor<4xf32> {aicf.role = "param", aicf.name = "a"},
                   %b: tensor<4xf32> {aicf.role = "param", aicf.name = "b"},
                   %lr: tensor<f32> {aicf.role = "hyper", aicf.name = "lr"})
    -> (tensor<4xf32> {aicf.updates = "a"}, tensor<4xf32> {aicf.updates = "b"},
        tensor<4xf32> {aicf.name = "r"}, tensor<4x4xf32> {aicf.name = "s"}) {
  %0 = aicf_rt.call reduce_sum(%x) {axis = 0} : (tensor<4x4xf32>) -> tensor<4xf32>
  %1 = aicf_rt.call reduce_sum(%y) {axis = 0} : (tensor<4x4xf32>) -> tensor<4xf32>
  %ok = aicf_rt.call all_finite(%1) : (tensor<4xf32>) -> tensor<i32>
  %2 = aicf_rt.call relu(%0) : (tensor<4xf32>) -> tensor<4xf32>
  %3 = aicf_rt.call relu(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %4 = aicf_rt.call sgd_step(%a, %0, %lr, ok = %ok) inplace [0] : (tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<i32>) -> tensor<4xf32>
  %5 = aicf_rt.call sgd_step(%b, %1, %lr, ok = %ok) inplace [0] : (tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<i32>) -> tensor<4xf32>
  return %4, %5, %2, %3 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4x4xf32>
}

// Tests parts of a gradient: the update reads them as one. What forward or backward reads
// as one stays on the main stream.
// CHECK-LABEL: func.func @parts
// CHECK: reduce_sum(%arg0) {{.*}}launch<{{.*}}stream = 1
// CHECK: reduce_sum(%arg1) {{.*}}launch<{{.*}}stream = 1
// CHECK-NOT: stream = 1
// CHECK: relu(
func.func @parts(%x: tensor<4x2xf32> {aicf.role = "input", aicf.name = "x"},
                 %y: tensor<4x2xf32> {aicf.role = "input", aicf.name = "y"},
                 %a: tensor<4xf32> {aicf.role = "param", aicf.name = "a"},
                 %lr: tensor<f32> {aicf.role = "hyper", aicf.name = "lr"})
    -> (tensor<4xf32> {aicf.updates = "a"}, tensor<4xf32> {aicf.name = "r"}) {
  %0 = aicf_rt.call reduce_sum(%x) {axis = 0} : (tensor<4x2xf32>) -> tensor<2xf32>
  %1 = aicf_rt.call reduce_sum(%y) {axis = 0} : (tensor<4x2xf32>) -> tensor<2xf32>
  %g = aicf_rt.join %0[0], %1[2] : tensor<2xf32>, tensor<2xf32> to tensor<4xf32>
  %2 = aicf_rt.call reduce_sum(%y) {axis = 0} : (tensor<4x2xf32>) -> tensor<2xf32>
  %3 = aicf_rt.call reduce_sum(%x) {axis = 0} : (tensor<4x2xf32>) -> tensor<2xf32>
  %h = aicf_rt.join %2[0], %3[2] : tensor<2xf32>, tensor<2xf32> to tensor<4xf32>
  %r = aicf_rt.call relu(%h) : (tensor<4xf32>) -> tensor<4xf32>
  %4 = aicf_rt.call sgd_step(%a, %g, %lr) inplace [0] : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %4, %r : tensor<4xf32>, tensor<4xf32>
}
