// Tests that passes which refuse calls or a plan fail, and say why once.
// RUN: split-file %s %t
// RUN: not aicf-opt %t/argument.mlir --aicf-rt-verify=phase=inplace 2>&1 | FileCheck %s --check-prefix=ARGUMENT
// RUN: aicf-opt %t/argument.mlir --aicf-rt-verify=phase=updates
// RUN: not aicf-opt %t/early.mlir --aicf-rt-materialize-views 2>&1 | FileCheck %s --check-prefix=EARLY
// RUN: not aicf-opt %t/io.mlir --aicf-rt-verify-plan 2>&1 | FileCheck %s --check-prefix=IO
// RUN: not aicf-opt %t/persistent.mlir --aicf-rt-verify-plan 2>&1 | FileCheck %s --check-prefix=PERSISTENT
// RUN: not aicf-opt %t/left.mlir --aicf-rt-verify-plan 2>&1 | FileCheck %s --check-prefix=LEFT
// RUN: not aicf-opt %t/streams.mlir --aicf-rt-verify-plan 2>&1 | FileCheck %s --check-prefix=STREAMS
// RUN: not aicf-opt %t/streams.mlir --aicf-rt-plan-memory 2>&1 | FileCheck %s --check-prefix=STREAMS

//--- argument.mlir
// ARGUMENT: error: 'aicf_rt.call' op overwrites argument 0 ("w"), but is not its update
// ARGUMENT-NOT: error:
func.func @f(%w: tensor<4xf32> {aicf.role = "param", aicf.name = "w"})
    -> (tensor<4xf32> {aicf.name = "y"}) {
  %0 = aicf_rt.call add(%w, %w) inplace [0] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = aicf_rt.call copy(%0) : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

//--- early.mlir
// EARLY: error: 'aicf.relu' op is not an aicf_rt.call: run --aicf-lower-to-rt first
// EARLY-NOT: error:
func.func @f(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4xf32> {aicf.name = "y"}) {
  %y = aicf.relu %x : tensor<4xf32>
  return %y : tensor<4xf32>
}

//--- io.mlir
// IO: error: 'aicf_rt.alloc' op of 16 bytes at offset 0 does not fit in an io segment of 0 bytes
// IO-NOT: error:
aicf_rt.plan cpu persistent(0) {
  aicf_rt.entry @f io(0) temp(0) bound(0) values(0) nodes(0) {
    %x_buffer = aicf_rt.alloc input "x" bytes(16) offset(0)
    %x = aicf_rt.value %x_buffer[0] vid(-1) : <4xf32>
  }
}

//--- persistent.mlir
// PERSISTENT: error: 'aicf_rt.global' op of 16 bytes at offset 0 does not fit in a persistent segment of 0 bytes
// PERSISTENT-NOT: error:
aicf_rt.plan cpu persistent(0) {
  aicf_rt.global @w param offset(0) vid(-1) : !aicf_rt.value<4xf32>
}

//--- left.mlir
// LEFT: error: entry @f is left after plan emission
// LEFT-NOT: error:
func.func @f(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"}) {
  return
}

//--- streams.mlir
// STREAMS: error: stream 1: its last call, 0, is not joined into stream 0
// STREAMS-NOT: error:
aicf_rt.plan cpu persistent(0) {
  aicf_rt.entry @f io(512) temp(0) bound(0) values(0) nodes(0) {
    %x_buffer = aicf_rt.alloc input "x" bytes(16) offset(0)
    %x = aicf_rt.value %x_buffer[0] vid(-1) : <4xf32>
    %y_buffer = aicf_rt.alloc output "y" bytes(16) offset(256)
    %y = aicf_rt.value %y_buffer[0] vid(-1) : <4xf32>
    aicf_rt.call relu(%x) outs(%y) launch<kernel = "relu_f32_v0", stream = 1> : (!aicf_rt.value<4xf32>) -> !aicf_rt.value<4xf32>
  }
}
