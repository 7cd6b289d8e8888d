// RUN: aicf-opt %s --aicf-rt-plan-memory --aicf-rt-verify=phase=inplace | FileCheck %s
// RUN: aicf-opt %s --aicf-rt-plan-memory=report=true -o /dev/null 2>&1 | FileCheck %s --check-prefix=REPORT

// Tests the three segments; temps that are dead share bytes, live ones do not.
// CHECK-LABEL: func.func @f
// CHECK-SAME:    %{{.*}}: tensor<64xf32> {aicf.name = "x", aicf.role = "input", aicf_rt.offset = 0 : i64}
// CHECK-SAME:    %{{.*}}: tensor<100xf32> {aicf.name = "w", aicf.role = "param", aicf_rt.offset = 0 : i64}
// CHECK-SAME:    %{{.*}}: tensor<f32> {aicf.name = "lr", aicf.role = "hyper", aicf_rt.offset = 512 : i64}
// CHECK-SAME:    -> (tensor<64xf32> {aicf.name = "y", aicf_rt.offset = 256 : i64})
// CHECK-SAME:    aicf_rt.io_bytes = 512 : i64, aicf_rt.persistent_bytes = 768 : i64, aicf_rt.temp_bound = 512 : i64, aicf_rt.temp_bytes = 512 : i64
// REPORT: remark: @f: temp segment 512 bytes, max-live lower bound 512 bytes, gap 0.00 %
func.func @f(%x: tensor<64xf32> {aicf.role = "input", aicf.name = "x"},
             %w: tensor<100xf32> {aicf.role = "param", aicf.name = "w"},
             %lr: tensor<f32> {aicf.role = "hyper", aicf.name = "lr"})
    -> (tensor<64xf32> {aicf.name = "y"}) {
  // CHECK: aicf_rt.relu {{.*}} {slots = array<i64: [[A:0|256]]>}
  %0 = aicf_rt.relu %x : (tensor<64xf32>) -> tensor<64xf32>
  // CHECK: aicf_rt.relu {{.*}} {slots = array<i64: [[B:0|256]]>}
  %1 = aicf_rt.relu %0 : (tensor<64xf32>) -> tensor<64xf32>
  // CHECK: aicf_rt.relu {{.*}} {slots = array<i64: [[A]]>}
  %2 = aicf_rt.relu %1 : (tensor<64xf32>) -> tensor<64xf32>
  // CHECK: aicf_rt.relu {{.*}} {slots = array<i64: -1>}
  %3 = aicf_rt.relu %2 : (tensor<64xf32>) -> tensor<64xf32>
  return %3 : tensor<64xf32>
}

// Tests that a shared parameter has one offset, whatever the entries' order.
// CHECK-LABEL: func.func @g
// CHECK-SAME:    %{{.*}}: tensor<f32> {aicf.name = "lr", aicf.role = "hyper", aicf_rt.offset = 512 : i64}
// CHECK-SAME:    %{{.*}}: tensor<100xf32> {aicf.name = "w", aicf.role = "param", aicf_rt.offset = 0 : i64}
func.func @g(%lr: tensor<f32> {aicf.role = "hyper", aicf.name = "lr"},
             %w: tensor<100xf32> {aicf.role = "param", aicf.name = "w"}) {
  return
}

// Tests that streams without an order between them share nothing.
// CHECK-LABEL: func.func @streams
// CHECK-SAME:    aicf_rt.temp_bytes = 768 : i64
func.func @streams(%x: tensor<64xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<64xf32> {aicf.name = "y"}) {
  %0 = aicf_rt.relu %x {signals = array<i64: 0>} : (tensor<64xf32>) -> tensor<64xf32>
  %1 = aicf_rt.relu %0 {stream = 1 : i64, waits = array<i64: 0>, signals = array<i64: 1>} : (tensor<64xf32>) -> tensor<64xf32>
  %2 = aicf_rt.relu %x : (tensor<64xf32>) -> tensor<64xf32>
  %3 = aicf_rt.add %1, %2 {waits = array<i64: 1>} : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  return %3 : tensor<64xf32>
}
