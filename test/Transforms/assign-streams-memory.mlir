// RUN: aicf-opt %s --aicf-rt-assign-streams=streams=2 --aicf-rt-verify=phase=lowered --split-input-file | FileCheck %s
// RUN: sed "s/, free_bytes = 0//" %s | aicf-opt --aicf-rt-assign-streams=streams=2 --split-input-file | FileCheck %s --check-prefix=FREE

// In the serial order two tensors of 1 KiB are alive at a time. The gradient of %b
// holds %2 on stream 1: without a wait, %5 were the third. The call that makes
// %4 waits for no one: %1 is free by then. What is already waited for, here by the
// join, is waited for once.
// CHECK-LABEL: @chain
// CHECK: exp(%arg0) {{.*}}-> tensor<16x16xf32>
// CHECK-NEXT: exp({{[^)]*}}) launch<signals = [1]>
// CHECK-NEXT: reduce_sum({{.*}}) launch<stream = 1, waits = [1], signals = [2]>
// CHECK-NEXT: exp({{[^)]*}}) :
// CHECK-NEXT: exp({{[^)]*}}) launch<waits = [2]
// CHECK-NEXT: exp({{[^)]*}}) :
// FREE-LABEL: @chain
// FREE-NOT: exp({{.*}}waits
// FREE: sgd_step({{.*}}launch<waits = [2]>
func.func @chain(%x: tensor<16x16xf32> {aicf.role = "input", aicf.name = "x"},
                 %b: tensor<16xf32> {aicf.role = "param", aicf.name = "b"},
                 %lr: tensor<f32> {aicf.role = "hyper", aicf.name = "lr"})
    -> (tensor<16x16xf32> {aicf.name = "y"}, tensor<16xf32> {aicf.updates = "b"})
    attributes {aicf.target = #aicf.target<cpu, free_bytes = 0>} {
  %1 = aicf_rt.call exp(%x) : (tensor<16x16xf32>) -> tensor<16x16xf32>
  %2 = aicf_rt.call exp(%1) : (tensor<16x16xf32>) -> tensor<16x16xf32>
  %3 = aicf_rt.call reduce_sum(%2) {axis = 0} : (tensor<16x16xf32>) -> tensor<16xf32>
  %4 = aicf_rt.call exp(%2) : (tensor<16x16xf32>) -> tensor<16x16xf32>
  %5 = aicf_rt.call exp(%4) : (tensor<16x16xf32>) -> tensor<16x16xf32>
  %6 = aicf_rt.call exp(%5) : (tensor<16x16xf32>) -> tensor<16x16xf32>
  %7 = aicf_rt.call sgd_step(%b, %3, %lr) inplace [0] : (tensor<16xf32>, tensor<16xf32>, tensor<f32>) -> tensor<16xf32>
  return %6, %7 : tensor<16x16xf32>, tensor<16xf32>
}

// -----

// Five tensors are alive at first. So there is room for the one that stream 1 holds, and
// nothing waits for it: what stream 0 alone has read is free.
// CHECK-LABEL: @room
// CHECK: reduce_sum({{.*}} launch<stream = 1
// CHECK-NOT: exp({{.*}}waits
// CHECK: sgd_step({{.*}} launch<waits
func.func @room(%x: tensor<16x16xf32> {aicf.role = "input", aicf.name = "x"},
                %b: tensor<16xf32> {aicf.role = "param", aicf.name = "b"},
                %lr: tensor<f32> {aicf.role = "hyper", aicf.name = "lr"})
    -> (tensor<16x16xf32> {aicf.name = "y"}, tensor<16xf32> {aicf.updates = "b"})
    attributes {aicf.target = #aicf.target<cpu, free_bytes = 0>} {
  %1 = aicf_rt.call exp(%x) : (tensor<16x16xf32>) -> tensor<16x16xf32>
  %2 = aicf_rt.call exp(%x) : (tensor<16x16xf32>) -> tensor<16x16xf32>
  %3 = aicf_rt.call exp(%x) : (tensor<16x16xf32>) -> tensor<16x16xf32>
  %4 = aicf_rt.call exp(%x) : (tensor<16x16xf32>) -> tensor<16x16xf32>
  %5 = aicf_rt.call add(%1, %2) : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %6 = aicf_rt.call add(%3, %4) : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %7 = aicf_rt.call add(%5, %6) : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %s = aicf_rt.call reduce_sum(%7) {axis = 0} : (tensor<16x16xf32>) -> tensor<16xf32>
  %8 = aicf_rt.call exp(%7) : (tensor<16x16xf32>) -> tensor<16x16xf32>
  %9 = aicf_rt.call exp(%8) : (tensor<16x16xf32>) -> tensor<16x16xf32>
  %10 = aicf_rt.call exp(%9) : (tensor<16x16xf32>) -> tensor<16x16xf32>
  %11 = aicf_rt.call exp(%10) : (tensor<16x16xf32>) -> tensor<16x16xf32>
  %12 = aicf_rt.call exp(%11) : (tensor<16x16xf32>) -> tensor<16x16xf32>
  %13 = aicf_rt.call exp(%12) : (tensor<16x16xf32>) -> tensor<16x16xf32>
  %14 = aicf_rt.call exp(%13) : (tensor<16x16xf32>) -> tensor<16x16xf32>
  %15 = aicf_rt.call exp(%14) : (tensor<16x16xf32>) -> tensor<16x16xf32>
  %p = aicf_rt.call sgd_step(%b, %s, %lr) inplace [0] : (tensor<16xf32>, tensor<16xf32>, tensor<f32>) -> tensor<16xf32>
  return %15, %p : tensor<16x16xf32>, tensor<16xf32>
}
