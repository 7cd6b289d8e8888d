// RUN: aicf-opt %s --aicf-rt-assign-streams --aicf-rt-verify=phase=lowered | FileCheck %s

// Tests that every call ends up on stream 0 without events.
// CHECK-LABEL: func.func @entry
func.func @entry(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"}) {
  // CHECK-NEXT: aicf_rt.relu %{{.*}} :
  %0 = aicf_rt.relu %x {stream = 1 : i64, signals = array<i64: 3>} : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: aicf_rt.relu %{{.*}} :
  %1 = aicf_rt.relu %0 {waits = array<i64: 3>} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// Tests that other functions keep theirs.
// CHECK-LABEL: func.func @no_entry
func.func @no_entry(%x: tensor<4xf32>) {
  // CHECK-NEXT: aicf_rt.relu %{{.*}} {stream = 1 : i64}
  %0 = aicf_rt.relu %x {stream = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return
}
