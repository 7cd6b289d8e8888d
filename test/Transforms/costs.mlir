// Tests that each number of a target's profile decides: with the profile's own number, the
// passes' tests show the other choice. (Those of kernels: CostsTest. call_bytes, free_bytes
// and narrow_product_bytes: the tests of their passes.)

// RUN: split-file %s %t
// RUN: aicf-opt %t/sums.mlir --aicf-rt-fuse-pointwise | FileCheck %t/sums.mlir
// RUN: aicf-opt %t/near.mlir --aicf-rt-fuse-pointwise | FileCheck %t/near.mlir
// RUN: aicf-opt %t/again.mlir --aicf-rt-recompute-pointwise | FileCheck %t/again.mlir
// RUN: aicf-opt %t/columns.mlir --aicf-rt-materialize-views | FileCheck %t/columns.mlir
// RUN: aicf-opt %t/rows.mlir --aicf-propagate-reshapes | FileCheck %t/rows.mlir

//--- sums.mlir
// CHECK: t0 = exp(
// CHECK-NEXT: t1 = reduce_sum(t0)
func.func @f(%x: tensor<64x8xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<64x8xf32> {aicf.name = "e"}, tensor<8xf32> {aicf.name = "s"})
    attributes {aicf.target = #aicf.target<cuda, cached_bytes = 4127>} {
  %e = aicf_rt.call exp(%x) : (tensor<64x8xf32>) -> tensor<64x8xf32>
  %s = aicf_rt.call reduce_sum(%e) : (tensor<64x8xf32>) -> tensor<8xf32>
  return %e, %s : tensor<64x8xf32>, tensor<8xf32>
}
// 64x8 and 64x8 and 8 elements are 4128 bytes.
// CHECK-LABEL: func.func @g
// CHECK: aicf_rt.call exp(
func.func @g(%x: tensor<64x8xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<64x8xf32> {aicf.name = "e"}, tensor<8xf32> {aicf.name = "s"})
    attributes {aicf.target = #aicf.target<cuda, cached_bytes = 4128>} {
  %e = aicf_rt.call exp(%x) : (tensor<64x8xf32>) -> tensor<64x8xf32>
  %s = aicf_rt.call reduce_sum(%e) : (tensor<64x8xf32>) -> tensor<8xf32>
  return %e, %s : tensor<64x8xf32>, tensor<8xf32>
}
//--- near.mlir
// CHECK: aicf_rt.call add(
// CHECK: aicf_rt.call mul(
func.func @f(%x: tensor<4x8xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4x8xf32> {aicf.name = "y"})
    attributes {aicf.target = #aicf.target<cpu, near_calls = 0>} {
  %a = aicf_rt.call cumsum(%x) {axis = 1} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %b = aicf_rt.call cumsum(%a) {axis = 1} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %s = aicf_rt.call add(%a, %b) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %c = aicf_rt.call cumsum(%x) {axis = 1} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %y = aicf_rt.call mul(%s, %c) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}
//--- again.mlir
// CHECK: yield t0, t1
// CHECK: aicf_rt.call reduce_sum(
func.func @f(%x: tensor<4096x8192xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4096xf32> {aicf.name = "rows"}, tensor<8192xf32> {aicf.name = "columns"})
    attributes {aicf.target = #aicf.target<cuda, repeated_primitives = 0>} {
  %v, %rows = aicf_rt.call {
    t0 = relu(%x)
    t1 = reduce_sum(t0) {axis = 1 : i64}
    yield t0, t1
  } : (tensor<4096x8192xf32>) -> (tensor<4096x8192xf32>, tensor<4096xf32>)
  %columns = aicf_rt.call reduce_sum(%v) : (tensor<4096x8192xf32>) -> tensor<8192xf32>
  return %rows, %columns : tensor<4096xf32>, tensor<8192xf32>
}
//--- columns.mlir
// CHECK: aicf_rt.view %{{.*}}[0] : tensor<8x2xf32> to tensor<2x8xf32
// CHECK-NEXT: aicf_rt.call copy(
// CHECK-NOT: copy
func.func @f(%x: tensor<8x2xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<8xf32> {aicf.name = "a"}, tensor<8xf32> {aicf.name = "b"})
    attributes {aicf.target = #aicf.target<cpu, copied_views = 2>} {
  %v0 = aicf_rt.view %x[0] : tensor<8x2xf32> to tensor<8xf32, #aicf_rt.strided<[2]>>
  %v1 = aicf_rt.view %x[1] : tensor<8x2xf32> to tensor<8xf32, #aicf_rt.strided<[2]>>
  %a = aicf_rt.call relu(%v0) : (tensor<8xf32, #aicf_rt.strided<[2]>>) -> tensor<8xf32>
  %b = aicf_rt.call relu(%v1) : (tensor<8xf32, #aicf_rt.strided<[2]>>) -> tensor<8xf32>
  return %a, %b : tensor<8xf32>, tensor<8xf32>
}
//--- rows.mlir
// CHECK: aicf.mul %{{.*}} : tensor<2x2x2x8xf32>
func.func @f(%x: tensor<2x2x2x8xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4x16xf32> {aicf.name = "y"})
    attributes {aicf.target = #aicf.target<cpu, tiled_row_bytes = 32>} {
  %t = aicf.transpose %x [0, 2, 1, 3] : tensor<2x2x2x8xf32>
  %r = aicf.reshape %t to [4, 16] : tensor<2x2x2x8xf32>
  %s = aicf.mul %r, %r : tensor<4x16xf32>, tensor<4x16xf32>
  %y = aicf.softmax %s : tensor<4x16xf32>
  return %y : tensor<4x16xf32>
}
