// RUN: aicf-opt %s --aicf-rt-assign-streams --aicf-rt-verify=phase=lowered | FileCheck %s --check-prefix=ONE
// RUN: aicf-opt %s --aicf-rt-assign-streams=streams=2 --aicf-rt-verify=phase=lowered | FileCheck %s
// RUN: aicf-opt %s --aicf-rt-assign-streams=streams=2 --aicf-rt-assign-streams | FileCheck %s --check-prefix=ONE
// RUN: not aicf-opt %s --aicf-rt-assign-streams=streams=0 2>&1 | FileCheck %s --check-prefix=ZERO
// RUN: not aicf-opt %s --aicf-rt-assign-streams=streams=65 2>&1 | FileCheck %s --check-prefix=MANY
// ZERO: streams is 0, expected 1 to 64
// MANY: streams is 65, expected 1 to 64

// Tests that one stream needs no events, whatever was there before.
// ONE-LABEL: func.func @entry
// ONE-NEXT: aicf_rt.call relu(%{{.*}}) :
// ONE-NEXT: aicf_rt.call relu(%{{.*}}) :
// CHECK-LABEL: func.func @entry
// CHECK-NEXT: aicf_rt.call relu(%{{.*}}) :
// CHECK-NEXT: aicf_rt.call relu(%{{.*}}) :
func.func @entry(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"}) {
  %0 = aicf_rt.call relu(%x) launch<stream = 1, signals = [3]> : (tensor<4xf32>) -> tensor<4xf32>
  %1 = aicf_rt.call relu(%0) launch<waits = [3]> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// Tests the two branches of a step: dW of the upper layer and the counter run
// beside the way to the lower layer; dW of the lower layer follows it on stream
// 0; the last update joins. The weight w is read by call 2 (dX) before call 6
// overwrites it: they are on one stream, in this order.
// ONE-LABEL: func.func @step
// ONE-NOT: stream =
// ONE-NOT: waits
// ONE: return
// CHECK-LABEL: func.func @step
// CHECK-NEXT: aicf_rt.call relu(%{{.*}}) launch<signals = [0]>
// CHECK-NEXT: aicf_rt.call gemm(%{{.*}}) {transA = true} launch<stream = 1, waits = [0]>
// CHECK-NEXT: aicf_rt.call gemm(%{{.*}}) : (
// CHECK-NEXT: aicf_rt.call gemm(%{{.*}}) {transA = true} launch<signals = [3]>
// CHECK-NEXT: aicf_rt.call step_inc(%{{.*}}) inplace [0] launch<stream = 1>
// CHECK-NEXT: aicf_rt.call sgd_step(%{{.*}}) inplace [0] launch<stream = 1, waits = [3], signals = [5]>
// CHECK-NEXT: aicf_rt.call sgd_step(%{{.*}}) inplace [0] launch<waits = [5]>
// CHECK-NEXT: return
func.func @step(%d: tensor<4x4xf32> {aicf.role = "input", aicf.name = "d"},
                %w: tensor<4x4xf32> {aicf.role = "param", aicf.name = "w"},
                %u: tensor<4x4xf32> {aicf.role = "param", aicf.name = "u"},
                %s: tensor<i64> {aicf.role = "state", aicf.name = "s"},
                %lr: tensor<f32> {aicf.role = "hyper", aicf.name = "lr"})
    -> (tensor<4x4xf32> {aicf.updates = "u"}, tensor<4x4xf32> {aicf.updates = "w"}, tensor<i64> {aicf.updates = "s"}) {
  %0 = aicf_rt.call relu(%d) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %dw = aicf_rt.call gemm(%0, %d) {transA = true} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %dx = aicf_rt.call gemm(%0, %w) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %du = aicf_rt.call gemm(%dx, %d) {transA = true} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %t = aicf_rt.call step_inc(%s) inplace [0] : (tensor<i64>) -> tensor<i64>
  %u2 = aicf_rt.call sgd_step(%u, %du, %lr) inplace [0] : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %w2 = aicf_rt.call sgd_step(%w, %dw, %lr) inplace [0] : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  return %u2, %w2, %t : tensor<4x4xf32>, tensor<4x4xf32>, tensor<i64>
}

// Tests that other functions keep theirs.
// CHECK-LABEL: func.func @no_entry
func.func @no_entry(%x: tensor<4xf32>) {
  // CHECK-NEXT: aicf_rt.call relu(%{{.*}}) launch<stream = 1>
  %0 = aicf_rt.call relu(%x) launch<stream = 1> : (tensor<4xf32>) -> tensor<4xf32>
  return
}
