// RUN: aicf-opt %s --aicf-set-target=target=cuda --aicf-rt-fuse-pointwise --split-input-file | FileCheck %s
// RUN: aicf-opt %s --aicf-rt-fuse-pointwise --split-input-file | FileCheck %s

// Tests a sum of little that alone reads what it sums: the product is in no memory.
// CHECK-LABEL: func.func @alone
// CHECK: aicf_rt.call {
// CHECK-NEXT: t0 = mul(
// CHECK-NEXT: t1 = reduce_sum(t0)
// CHECK-NEXT: yield t1
func.func @alone(%x: tensor<64x8xf32> {aicf.role = "input", aicf.name = "x"},
                 %y: tensor<64x8xf32> {aicf.role = "input", aicf.name = "y"})
    -> (tensor<8xf32> {aicf.name = "s"}) {
  %m = aicf_rt.call mul(%x, %y) : (tensor<64x8xf32>, tensor<64x8xf32>) -> tensor<64x8xf32>
  %s = aicf_rt.call reduce_sum(%m) : (tensor<64x8xf32>) -> tensor<8xf32>
  return %s : tensor<8xf32>
}

// -----

// Tests that the product goes to its sum, and not to the call that makes its operand: others
// read that, and would wait for the sum.
// CHECK-LABEL: func.func @behind
// CHECK: aicf_rt.call relu(
// CHECK: aicf_rt.call {
// CHECK-NEXT: t0 = mul(
// CHECK-NEXT: t1 = reduce_sum(t0)
// CHECK-NEXT: yield t1
func.func @behind(%x: tensor<64x8xf32> {aicf.role = "input", aicf.name = "x"},
                  %y: tensor<64x8xf32> {aicf.role = "input", aicf.name = "y"})
    -> (tensor<64x8xf32> {aicf.name = "r"}, tensor<8xf32> {aicf.name = "s"}) {
  %r = aicf_rt.call relu(%x) : (tensor<64x8xf32>) -> tensor<64x8xf32>
  %m = aicf_rt.call mul(%r, %y) : (tensor<64x8xf32>, tensor<64x8xf32>) -> tensor<64x8xf32>
  %s = aicf_rt.call reduce_sum(%m) : (tensor<64x8xf32>) -> tensor<8xf32>
  return %r, %s : tensor<64x8xf32>, tensor<8xf32>
}

// -----

// Tests that a product which is a result stays apart.
// CHECK-LABEL: func.func @kept
// CHECK: mul(
// CHECK: aicf_rt.call reduce_sum(
func.func @kept(%x: tensor<64x8xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<64x8xf32> {aicf.name = "m"}, tensor<8xf32> {aicf.name = "s"}) {
  %m = aicf_rt.call square(%x) : (tensor<64x8xf32>) -> tensor<64x8xf32>
  %t = aicf_rt.call mul(%m, %x) : (tensor<64x8xf32>, tensor<64x8xf32>) -> tensor<64x8xf32>
  %s = aicf_rt.call reduce_sum(%t) : (tensor<64x8xf32>) -> tensor<8xf32>
  return %t, %s : tensor<64x8xf32>, tensor<8xf32>
}
