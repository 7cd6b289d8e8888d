// RUN: aicf-opt %s --verify-roundtrip | FileCheck %s
// RUN: aicf-opt %s --cse --canonicalize | FileCheck %s --check-prefix=KEEP

// Tests that primitives and decisions round-trip, and that CSE, DCE and
// canonicalization leave every call: two equal ones, and unused ones.

// CHECK-LABEL: func.func @primitives
// KEEP-LABEL:  func.func @primitives
func.func @primitives(%x: tensor<4x3xf32>, %w: tensor<2x3xf32>, %b: tensor<2xf32>) {
  // CHECK: aicf_rt.gemm %{{.*}}, %{{.*}} {transB = true, vids = array<i64: 3>}
  // KEEP-COUNT-2: aicf_rt.gemm
  %0 = aicf_rt.gemm %x, %w {transB = true, vids = array<i64: 3>}
      : (tensor<4x3xf32>, tensor<2x3xf32>) -> tensor<4x2xf32>
  %1 = aicf_rt.gemm %x, %w {transB = true, vids = array<i64: 3>}
      : (tensor<4x3xf32>, tensor<2x3xf32>) -> tensor<4x2xf32>
  // CHECK: aicf_rt.bias_add %{{.*}}, %{{.*}} {inplace = array<i64: 0>, kid = "bias_add_f32_v0", slots = array<i64: 256>}
  // KEEP: aicf_rt.bias_add
  %2 = aicf_rt.bias_add %0, %b {inplace = array<i64: 0>, kid = "bias_add_f32_v0", slots = array<i64: 256>}
      : (tensor<4x2xf32>, tensor<2xf32>) -> tensor<4x2xf32>
  // CHECK: aicf_rt.relu %{{.*}} {signals = array<i64: 0>, stream = 1 : i64, waits = array<i64: 7>}
  // KEEP: aicf_rt.relu
  %3 = aicf_rt.relu %2 {stream = 1 : i64, waits = array<i64: 7>, signals = array<i64: 0>}
      : (tensor<4x2xf32>) -> tensor<4x2xf32>
  // CHECK: aicf_rt.copy %{{.*}} {aicf_rt.protective}
  // KEEP-COUNT-2: aicf_rt.copy
  %4 = aicf_rt.copy %3 {aicf_rt.protective} : (tensor<4x2xf32>) -> tensor<4x2xf32>
  %5 = aicf_rt.copy %3 {aicf_rt.protective} : (tensor<4x2xf32>) -> tensor<4x2xf32>
  return
}

// Tests the plan.
// CHECK-LABEL: aicf_rt.plan "cpu" persistent(256)
aicf_rt.plan "cpu" persistent(256) {
  // CHECK-NEXT: aicf_rt.tensor 0 "w" "param" "persistent"[0] vid(1) {init = "normal", init_value = 5.000000e-01 : f64} : tensor<4xf32>
  aicf_rt.tensor 0 "w" "param" "persistent"[0] vid(1) {init = "normal", init_value = 0.5} : tensor<4xf32>
  // CHECK-NEXT: aicf_rt.entry "f" io(512) temp(0) bound(0) values(2) nodes(1)
  aicf_rt.entry "f" io(512) temp(0) bound(0) values(2) nodes(1) {
    aicf_rt.tensor 1 "y" "output" "io"[0] vid(2) : tensor<4xf32>
    // CHECK: aicf_rt.call "relu" "relu_f32_v0" ins [0] outs [1] vids [1] -> [2] schema(0) attrs []
    aicf_rt.call "relu" "relu_f32_v0" ins [0] outs [1] vids [1] -> [2] schema(0) attrs []
  }
}
