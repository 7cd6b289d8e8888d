// RUN: aicf-translate --aicf-to-plan %s -o %t.plan
// RUN: aicf-plan dump %t.plan | FileCheck %s
// RUN: aicf-translate --plan-to-aicf %t.plan | aicf-translate --aicf-to-plan -o %t.again.plan
// RUN: cmp %t.plan %t.again.plan
// RUN: aicf-run %t.plan --input x=8xf32=1,-2,3,4,5,6,7,8 --output y=@%t.npy
// RUN: tail -c 32 %t.npy | od -An -tfF -w32 | FileCheck %s --check-prefix=RESULT

// Tests that calls work on parts of buffers: each half of a temp is written by a
// call of its own, and read as a whole. A persistent buffer has a part, too.
// CHECK: w     state  8xf32  0       32     zeros
// CHECK: x     input   8xf32  0       32
// CHECK: y     output  8xf32  256     32
// CHECK: t3    4xf32  0       16
// CHECK: t6    8xf32  0       32
// CHECK: t4    4xf32  16      16
// CHECK: t4 = relu(w+16)
// RESULT: 1 0 3 4 0 0 0 0
aicf_rt.plan cpu persistent(256) {
  aicf_rt.global @w state offset(0) vid(1) init(zeros) : !aicf_rt.value<8xf32>
  aicf_rt.entry @f io(512) temp(256) bound(256) values(0) nodes(0) {
    %x_buffer = aicf_rt.alloc input "x" bytes(32) offset(0)
    %x = aicf_rt.value %x_buffer[0] vid(-1) : <8xf32>
    %y_buffer = aicf_rt.alloc output "y" bytes(32) offset(256)
    %y = aicf_rt.value %y_buffer[0] vid(-1) : <8xf32>
    %t = aicf_rt.alloc temp bytes(32) offset(0)
    %low = aicf_rt.value %t[0] vid(-1) : <4xf32>
    %high = aicf_rt.value %t[16] vid(-1) : <4xf32>
    %w_buffer = aicf_rt.get @w
    %w_high = aicf_rt.value %w_buffer[16] vid(-1) : <4xf32>
    %all = aicf_rt.value %t[0] vid(-1) : <8xf32>
    %x_low = aicf_rt.value %x_buffer[0] vid(-1) : <4xf32>
    aicf_rt.call relu(%x_low) outs(%low) launch<kernel = "relu_f32_v0"> : (!aicf_rt.value<4xf32>) -> !aicf_rt.value<4xf32>
    aicf_rt.call relu(%w_high) outs(%high) launch<kernel = "relu_f32_v0"> : (!aicf_rt.value<4xf32>) -> !aicf_rt.value<4xf32>
    aicf_rt.call relu(%all) outs(%y) launch<kernel = "relu_f32_v0"> : (!aicf_rt.value<8xf32>) -> !aicf_rt.value<8xf32>
  }
}
