// RUN: aicf-opt %s --aicf-set-target=target=cuda --aicf-rt-fuse-calls --split-input-file | FileCheck %s
// RUN: aicf-opt %s --aicf-rt-fuse-calls --split-input-file | FileCheck %s --check-prefix=CPU
// CPU-NOT: aicf_rt.call {

// Tests that the loss and the gradient of long rows are one call, which reads them once.
// CHECK-LABEL: func.func @long
// CHECK: aicf_rt.call {
// CHECK-NEXT: t0 = softmax_cross_entropy(%arg0, %arg1)
// CHECK-NEXT: t1 = softmax_cross_entropy_grad(%arg0, %arg1)
// CHECK-NEXT: yield t0, t1
func.func @long(%x: tensor<4x1025xbf16> {aicf.role = "input", aicf.name = "x"},
                %l: tensor<4xi32> {aicf.role = "input", aicf.name = "l"})
    -> (tensor<f32> {aicf.name = "loss"}, tensor<4x1025xbf16> {aicf.name = "d"}) {
  %0 = aicf_rt.call softmax_cross_entropy(%x, %l) : (tensor<4x1025xbf16>, tensor<4xi32>) -> tensor<f32>
  %1 = aicf_rt.call softmax_cross_entropy_grad(%x, %l) : (tensor<4x1025xbf16>, tensor<4xi32>) -> tensor<4x1025xbf16>
  return %0, %1 : tensor<f32>, tensor<4x1025xbf16>
}

// -----

// Tests that short rows stay apart: both calls may run at the same time.
// CHECK-LABEL: func.func @short
// CHECK-NOT: aicf_rt.call {
func.func @short(%x: tensor<4x1024xf32> {aicf.role = "input", aicf.name = "x"},
                 %l: tensor<4xi32> {aicf.role = "input", aicf.name = "l"})
    -> (tensor<f32> {aicf.name = "loss"}, tensor<4x1024xf32> {aicf.name = "d"}) {
  %0 = aicf_rt.call softmax_cross_entropy(%x, %l) : (tensor<4x1024xf32>, tensor<4xi32>) -> tensor<f32>
  %1 = aicf_rt.call softmax_cross_entropy_grad(%x, %l) : (tensor<4x1024xf32>, tensor<4xi32>) -> tensor<4x1024xf32>
  return %0, %1 : tensor<f32>, tensor<4x1024xf32>
}

// -----

// Tests that the gradient of another target stays apart.
// CHECK-LABEL: func.func @smoothed
// CHECK-NOT: aicf_rt.call {
func.func @smoothed(%x: tensor<4x2000xf32> {aicf.role = "input", aicf.name = "x"},
                    %l: tensor<4xi32> {aicf.role = "input", aicf.name = "l"})
    -> (tensor<f32> {aicf.name = "loss"}, tensor<4x2000xf32> {aicf.name = "d"}) {
  %0 = aicf_rt.call softmax_cross_entropy(%x, %l) : (tensor<4x2000xf32>, tensor<4xi32>) -> tensor<f32>
  %1 = aicf_rt.call softmax_cross_entropy_grad(%x, %l) {label_smoothing = 0.1} : (tensor<4x2000xf32>, tensor<4xi32>) -> tensor<4x2000xf32>
  return %0, %1 : tensor<f32>, tensor<4x2000xf32>
}

// -----

// Tests that the gradient of other labels stays apart, and so do rows that do not count in
// one of both.
// CHECK-LABEL: func.func @labels
// CHECK-NOT: aicf_rt.call {
func.func @labels(%x: tensor<4x2000xf32> {aicf.role = "input", aicf.name = "x"},
                  %l: tensor<4xi32> {aicf.role = "input", aicf.name = "l"},
                  %m: tensor<4xi32> {aicf.role = "input", aicf.name = "m"})
    -> (tensor<f32> {aicf.name = "loss"}, tensor<4x2000xf32> {aicf.name = "d"}, tensor<4x2000xf32> {aicf.name = "e"}) {
  %0 = aicf_rt.call softmax_cross_entropy(%x, %l) : (tensor<4x2000xf32>, tensor<4xi32>) -> tensor<f32>
  %1 = aicf_rt.call softmax_cross_entropy_grad(%x, %m) : (tensor<4x2000xf32>, tensor<4xi32>) -> tensor<4x2000xf32>
  %2 = aicf_rt.call softmax_cross_entropy_grad(%x, %l) {ignore_index = 0} : (tensor<4x2000xf32>, tensor<4xi32>) -> tensor<4x2000xf32>
  return %0, %1, %2 : tensor<f32>, tensor<4x2000xf32>, tensor<4x2000xf32>
}
