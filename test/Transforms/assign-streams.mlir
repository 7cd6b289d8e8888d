// RUN: aicf-opt %s --aicf-rt-assign-streams --aicf-rt-verify=phase=lowered | FileCheck %s --check-prefix=ONE
// RUN: aicf-opt %s --aicf-rt-assign-streams=streams=2 --aicf-rt-verify=phase=lowered | FileCheck %s
// RUN: aicf-opt %s --aicf-rt-assign-streams=streams=2 --aicf-rt-assign-streams | FileCheck %s --check-prefix=ONE
// RUN: not aicf-opt %s --aicf-rt-assign-streams=streams=0 2>&1 | FileCheck %s --check-prefix=ZERO
// RUN: not aicf-opt %s --aicf-rt-assign-streams=streams=65 2>&1 | FileCheck %s --check-prefix=MANY
// ZERO: streams is 0, expected 1 to 64
// MANY: streams is 65, expected 1 to 64

// Tests that one stream needs no events, whatever was there before.
// ONE-LABEL: func.func @entry
// ONE-NEXT: aicf_rt.relu %{{.*}} :
// ONE-NEXT: aicf_rt.relu %{{.*}} :
// CHECK-LABEL: func.func @entry
// CHECK-NEXT: aicf_rt.relu %{{.*}} :
// CHECK-NEXT: aicf_rt.relu %{{.*}} :
func.func @entry(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"}) {
  %0 = aicf_rt.relu %x {stream = 1 : i64, signals = array<i64: 3>} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = aicf_rt.relu %0 {waits = array<i64: 3>} : (tensor<4xf32>) -> tensor<4xf32>
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
// CHECK-NEXT: aicf_rt.relu %{{.*}} {signals = array<i64: 0>}
// CHECK-NEXT: aicf_rt.gemm %{{.*}} {stream = 1 : i64, transA = true, waits = array<i64: 0>}
// CHECK-NEXT: aicf_rt.gemm %{{.*}} : (
// CHECK-NEXT: aicf_rt.gemm %{{.*}} {signals = array<i64: 3>, transA = true}
// CHECK-NEXT: aicf_rt.step_inc %{{.*}} {inplace = array<i64: 0>, stream = 1 : i64}
// CHECK-NEXT: aicf_rt.sgd_step %{{.*}} {inplace = array<i64: 0>, signals = array<i64: 5>, stream = 1 : i64, waits = array<i64: 3>}
// CHECK-NEXT: aicf_rt.sgd_step %{{.*}} {inplace = array<i64: 0>, waits = array<i64: 5>}
// CHECK-NEXT: return
func.func @step(%d: tensor<4x4xf32> {aicf.role = "input", aicf.name = "d"},
                %w: tensor<4x4xf32> {aicf.role = "param", aicf.name = "w"},
                %u: tensor<4x4xf32> {aicf.role = "param", aicf.name = "u"},
                %s: tensor<i64> {aicf.role = "state", aicf.name = "s"},
                %lr: tensor<f32> {aicf.role = "hyper", aicf.name = "lr"})
    -> (tensor<4x4xf32> {aicf.updates = "u"}, tensor<4x4xf32> {aicf.updates = "w"}, tensor<i64> {aicf.updates = "s"}) {
  %0 = aicf_rt.relu %d : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %dw = aicf_rt.gemm %0, %d {transA = true} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %dx = aicf_rt.gemm %0, %w : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %du = aicf_rt.gemm %dx, %d {transA = true} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %t = aicf_rt.step_inc %s {inplace = array<i64: 0>} : (tensor<i64>) -> tensor<i64>
  %u2 = aicf_rt.sgd_step %u, %du, %lr {inplace = array<i64: 0>} : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %w2 = aicf_rt.sgd_step %w, %dw, %lr {inplace = array<i64: 0>} : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  return %u2, %w2, %t : tensor<4x4xf32>, tensor<4x4xf32>, tensor<i64>
}

// Tests that other functions keep theirs.
// CHECK-LABEL: func.func @no_entry
func.func @no_entry(%x: tensor<4xf32>) {
  // CHECK-NEXT: aicf_rt.relu %{{.*}} {stream = 1 : i64}
  %0 = aicf_rt.relu %x {stream = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return
}
