// RUN: aicf-opt %s | aicf-opt | FileCheck %s
// RUN: aicf-opt %s --emit-bytecode | aicf-opt | FileCheck %s

// Tests that a join is read as it is written.

// CHECK-LABEL: @columns
func.func @columns(%x: tensor<4x8xf32>) -> tensor<4x16xf32> {
  %a = aicf_rt.call relu(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32, #aicf_rt.strided<[16, 1]>>
  %b = aicf_rt.call exp(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32, #aicf_rt.strided<[16, 1]>>
  // CHECK: %[[C:.*]] = aicf_rt.join %{{.*}}[0], %{{.*}}[8] vid(7) {a = 1 : i64} : tensor<4x8xf32, #aicf_rt.strided<[16, 1]>>, tensor<4x8xf32, #aicf_rt.strided<[16, 1]>> to tensor<4x16xf32>
  %c = aicf_rt.join %a[0], %b[8] vid(7) {a = 1 : i64}
      : tensor<4x8xf32, #aicf_rt.strided<[16, 1]>>, tensor<4x8xf32, #aicf_rt.strided<[16, 1]>> to tensor<4x16xf32>
  return %c : tensor<4x16xf32>
}

// The example of the op's page.
// CHECK-LABEL: @example
func.func @example(%x: tensor<4x8xf32>) -> tensor<4x16xf32> {
  %a = aicf_rt.call relu(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32, #aicf_rt.strided<[16, 1]>>
  %b = aicf_rt.call exp(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32, #aicf_rt.strided<[16, 1]>>
  %c = aicf_rt.join %a[0], %b[8] : tensor<4x8xf32, #aicf_rt.strided<[16, 1]>>,
      tensor<4x8xf32, #aicf_rt.strided<[16, 1]>> to tensor<4x16xf32>
  return %c : tensor<4x16xf32>
}

// CHECK-LABEL: @into
func.func @into(%x: tensor<1x8xf32>, %s: tensor<6x8xf32>) -> tensor<6x8xf32> {
  %a = aicf_rt.call relu(%x) : (tensor<1x8xf32>) -> tensor<1x8xf32>
  // CHECK: aicf_rt.join %{{.*}}[16] into %arg1 : tensor<1x8xf32> to tensor<6x8xf32>
  %c = aicf_rt.join %a[16] into %s : tensor<1x8xf32> to tensor<6x8xf32>
  return %c : tensor<6x8xf32>
}

// A part may have parts, and views go by its strides.
// CHECK-LABEL: @nested
func.func @nested(%x: tensor<2xf32>) -> tensor<8xf32> {
  %a = aicf_rt.call relu(%x) : (tensor<2xf32>) -> tensor<2xf32, #aicf_rt.strided<[2]>>
  %b = aicf_rt.call exp(%x) : (tensor<2xf32>) -> tensor<2xf32, #aicf_rt.strided<[2]>>
  // CHECK: aicf_rt.join %{{.*}}[0], %{{.*}}[1] :
  %ab = aicf_rt.join %a[0], %b[1] : tensor<2xf32, #aicf_rt.strided<[2]>>, tensor<2xf32, #aicf_rt.strided<[2]>> to tensor<4xf32>
  // CHECK: aicf_rt.view %{{.*}}[2] : tensor<2xf32, #aicf_rt.strided<[2]>> to tensor<f32>
  %last = aicf_rt.view %a[2] : tensor<2xf32, #aicf_rt.strided<[2]>> to tensor<f32>
  %d = aicf_rt.call exp(%last) : (tensor<f32>) -> tensor<f32>
  %e = aicf_rt.call tanh(%ab) : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: aicf_rt.join %{{.*}}[0], %{{.*}}[4] : tensor<4xf32>, tensor<4xf32> to tensor<8xf32>
  %c = aicf_rt.join %ab[0], %e[4] : tensor<4xf32>, tensor<4xf32> to tensor<8xf32>
  return %c : tensor<8xf32>
}
