// RUN: aicf-opt %s | FileCheck %s

// The example of aicf_rt.repeat.
// CHECK: aicf_rt.repeat 100 {
// CHECK-NEXT: aicf_rt.call add(
aicf_rt.plan cpu persistent(256) {
  aicf_rt.global @h state offset(0) vid(1) init(zeros) : !aicf_rt.value<4xf32>
  aicf_rt.entry @f io(256) temp(0) bound(0) values(3) nodes(1) {
    %x_buffer = aicf_rt.alloc input "x" bytes(16) offset(0)
    %x = aicf_rt.value %x_buffer[0] vid(2) : <4xf32>
    %h_buffer = aicf_rt.get @h
    %h = aicf_rt.value %h_buffer[0] vid(1) : <4xf32>
    aicf_rt.repeat 100 {
      aicf_rt.call add(%h, %x) outs(%h) in_vids [1, 2] vids [3] launch<kernel = "add_f32_v0">
          : (!aicf_rt.value<4xf32>, !aicf_rt.value<4xf32>) -> !aicf_rt.value<4xf32>
    }
  }
}
