// RUN: split-file %s %t
// RUN: aicf-opt %t/serial.mlir --aicf-rt-verify=phase=inplace --aicf-rt-assign-streams --aicf-rt-verify=phase=inplace --mlir-timing -o /dev/null 2>&1 | FileCheck %t/serial.mlir
// RUN: aicf-opt %t/streams.mlir --aicf-rt-verify=phase=inplace --aicf-rt-assign-streams --aicf-rt-verify=phase=inplace --mlir-timing -o /dev/null 2>&1 | FileCheck %t/streams.mlir

// The report says which analyses (A) ran, and where.

//--- serial.mlir
// Tests that nothing is analysed again where every call was on one stream before.
// CHECK: VerifyRT
// CHECK: (A) aicf::rt::CallList
// CHECK: AssignStreams
// CHECK-NOT: (A) aicf::rt::CallList
// CHECK: VerifyRT
// CHECK-NOT: (A) aicf::rt::CallList
// CHECK: Output
func.func @step(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4xf32> {aicf.name = "y"}) {
  %0 = aicf_rt.call relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

//--- streams.mlir
// Tests that the order is analysed again where it has changed.
// CHECK: VerifyRT
// CHECK: (A) aicf::rt::CallList
// CHECK: AssignStreams
// CHECK: VerifyRT
// CHECK: (A) aicf::rt::CallList
// CHECK: Output
func.func @step(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4xf32> {aicf.name = "y"}) {
  %0 = aicf_rt.call relu(%x) launch<stream = 1, signals = [3]> : (tensor<4xf32>) -> tensor<4xf32>
  %1 = aicf_rt.call relu(%0) launch<waits = [3]> : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
