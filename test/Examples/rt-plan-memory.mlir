// RUN: split-file %s %t
// RUN: aicf-opt %t/before.mlir --aicf-rt-plan-memory -o %t/got.mlir
// RUN: aicf-opt %t/after.mlir -o %t/expected.mlir
// RUN: diff %t/got.mlir %t/expected.mlir

// The example of the pass's page.

//--- before.mlir
aicf_rt.plan cpu persistent(-1) {
  aicf_rt.entry @f io(-1) temp(-1) bound(-1) values(3) nodes(2) {
    %x_buffer = aicf_rt.alloc input "x" bytes(16) offset(-1)
    %x = aicf_rt.value %x_buffer[0] vid(0) : <4xf32>
    %y_buffer = aicf_rt.alloc output "y" bytes(16) offset(-1)
    %y = aicf_rt.value %y_buffer[0] vid(2) : <4xf32>
    %temp_buffer = aicf_rt.alloc temp bytes(16) offset(-1)
    %temp = aicf_rt.value %temp_buffer[0] vid(1) : <4xf32>
    aicf_rt.call relu(%x) outs(%temp) launch<kernel = "relu_f32_v0">
        : (!aicf_rt.value<4xf32>) -> !aicf_rt.value<4xf32>
    aicf_rt.call relu(%temp) outs(%y) launch<kernel = "relu_f32_v0">
        : (!aicf_rt.value<4xf32>) -> !aicf_rt.value<4xf32>
  }
}

//--- after.mlir
aicf_rt.plan cpu persistent(0) {
  aicf_rt.entry @f io(512) temp(256) bound(256) values(3) nodes(2) {
    %x_buffer = aicf_rt.alloc input "x" bytes(16) offset(0)
    %x = aicf_rt.value %x_buffer[0] vid(0) : <4xf32>
    %y_buffer = aicf_rt.alloc output "y" bytes(16) offset(256)
    %y = aicf_rt.value %y_buffer[0] vid(2) : <4xf32>
    %temp_buffer = aicf_rt.alloc temp bytes(16) offset(0)
    %temp = aicf_rt.value %temp_buffer[0] vid(1) : <4xf32>
    aicf_rt.call relu(%x) outs(%temp) launch<kernel = "relu_f32_v0">
        : (!aicf_rt.value<4xf32>) -> !aicf_rt.value<4xf32>
    aicf_rt.call relu(%temp) outs(%y) launch<kernel = "relu_f32_v0">
        : (!aicf_rt.value<4xf32>) -> !aicf_rt.value<4xf32>
  }
}
