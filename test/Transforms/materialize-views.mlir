// RUN: aicf-opt %s --aicf-rt-materialize-views --split-input-file | FileCheck %s
// RUN: aicf-opt %s --aicf-set-target=target=cuda --aicf-rt-materialize-views --split-input-file | FileCheck %s
// RUN: aicf-opt %s --aicf-rt-materialize-views --split-input-file --remarks-filter=aicf 2>&1 | FileCheck %s --check-prefix=REMARK

// Tests that what no kernel takes as a view is copied, once, and nothing else.

// REMARK: MaterializeViews{{.*}}'relu' needs a copy of 6x4xf32 strided [1, 6]: none of its kernels takes that view
// CHECK-LABEL: @shared
func.func @shared(%x: tensor<4x6xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<6x4xf32> {aicf.name = "a"}, tensor<6x4xf32> {aicf.name = "b"}) {
  %t = aicf_rt.view %x[0] : tensor<4x6xf32> to tensor<6x4xf32, #aicf_rt.strided<[1, 6]>>
  %u = aicf_rt.view %x[0] : tensor<4x6xf32> to tensor<6x4xf32, #aicf_rt.strided<[1, 6]>>
  // CHECK: %[[T:.*]] = aicf_rt.view
  // CHECK-NOT: aicf_rt.view
  // CHECK: %[[D:.*]] = aicf_rt.call copy(%[[T]])
  // CHECK: aicf_rt.call relu(%[[D]])
  // CHECK: aicf_rt.call tanh(%[[D]])
  %a = aicf_rt.call relu(%t) : (tensor<6x4xf32, #aicf_rt.strided<[1, 6]>>) -> tensor<6x4xf32>
  %b = aicf_rt.call tanh(%u) : (tensor<6x4xf32, #aicf_rt.strided<[1, 6]>>) -> tensor<6x4xf32>
  return %a, %b : tensor<6x4xf32>, tensor<6x4xf32>
}

// -----

// Of two operands the one that no product takes: its rows overlap.
// CHECK-LABEL: @one_of_two
func.func @one_of_two(%x: tensor<4x6xf32> {aicf.role = "input", aicf.name = "x"},
                      %y: tensor<3xf32> {aicf.role = "input", aicf.name = "y"})
    -> (tensor<4x4xf32> {aicf.name = "c"}) {
  %a = aicf_rt.view %x[0] : tensor<4x6xf32> to tensor<4x3xf32, #aicf_rt.strided<[6, 1]>>
  %b = aicf_rt.view %y[0] : tensor<3xf32> to tensor<4x3xf32, #aicf_rt.strided<[0, 1]>>
  // CHECK: %[[A:.*]] = aicf_rt.view
  // CHECK: %[[B:.*]] = aicf_rt.view
  // CHECK: %[[D:.*]] = aicf_rt.call copy(%[[B]])
  // CHECK: aicf_rt.call gemm(%[[A]], %[[D]])
  %c = aicf_rt.call gemm(%a, %b) {transB = true} : (tensor<4x3xf32, #aicf_rt.strided<[6, 1]>>, tensor<4x3xf32, #aicf_rt.strided<[0, 1]>>) -> tensor<4x4xf32>
  return %c : tensor<4x4xf32>
}

// -----

// A dense part of rows is not a copy where a kernel takes its address.
// CHECK-LABEL: @rows
func.func @rows(%x: tensor<4x6xbf16> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<2x6xbf16> {aicf.name = "a"}) {
  // CHECK: %[[V:.*]] = aicf_rt.view
  // CHECK-NEXT: aicf_rt.call relu(%[[V]])
  %v = aicf_rt.view %x[6] : tensor<4x6xbf16> to tensor<2x6xbf16>
  %a = aicf_rt.call relu(%v) : (tensor<2x6xbf16>) -> tensor<2x6xbf16>
  return %a : tensor<2x6xbf16>
}

// -----

// Without views, and with dead ones, there is nothing to do.
// CHECK-LABEL: @dead
func.func @dead(%x: tensor<4x6xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4x6xf32> {aicf.name = "a"}) {
  // CHECK-NOT: aicf_rt.view
  %t = aicf_rt.view %x[0] : tensor<4x6xf32> to tensor<24xf32>
  %a = aicf_rt.call relu(%x) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %a : tensor<4x6xf32>
}

// -----

// Equal copies of a view are one, and later readers take it; a returned one has
// storage of its own.
// REMARK: a copy of 6x4xf32 strided [1, 6] is dropped: an earlier call makes an equal one
// CHECK-LABEL: @merged
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<4x6xf32>
func.func @merged(%x: tensor<4x6xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<6x4xf32> {aicf.name = "a"}, tensor<6x4xf32> {aicf.name = "b"}, tensor<6x4xf32> {aicf.name = "c"}) {
  // CHECK: %[[T:.*]] = aicf_rt.view %[[X]]
  // CHECK: %[[C:.*]] = aicf_rt.call copy(%[[T]])
  // CHECK: %[[D:.*]] = aicf_rt.call copy(%[[T]])
  // CHECK-NOT: copy(
  // CHECK: relu(%[[D]])
  // CHECK: tanh(%[[D]])
  // CHECK: return %{{.*}}, %{{.*}}, %[[C]]
  %t = aicf_rt.view %x[0] : tensor<4x6xf32> to tensor<6x4xf32, #aicf_rt.strided<[1, 6]>>
  %c = aicf_rt.call copy(%t) : (tensor<6x4xf32, #aicf_rt.strided<[1, 6]>>) -> tensor<6x4xf32>
  %d = aicf_rt.call copy(%t) : (tensor<6x4xf32, #aicf_rt.strided<[1, 6]>>) -> tensor<6x4xf32>
  %e = aicf_rt.call copy(%t) : (tensor<6x4xf32, #aicf_rt.strided<[1, 6]>>) -> tensor<6x4xf32>
  %a = aicf_rt.call relu(%e) : (tensor<6x4xf32>) -> tensor<6x4xf32>
  %b = aicf_rt.call tanh(%d) : (tensor<6x4xf32>) -> tensor<6x4xf32>
  return %a, %b, %c : tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>
}

// -----

// Tests that a copy has its operand's label.
// CHECK-LABEL: @labels
// CHECK: aicf_rt.call copy({{.*}}) vids [5]
func.func @labels(%x: tensor<4x6xf32> {aicf.role = "input", aicf.name = "x", aicf.vid = 5 : i64})
    -> (tensor<6x4xf32> {aicf.name = "a"}) {
  %t = aicf_rt.view %x[0] : tensor<4x6xf32> to tensor<6x4xf32, #aicf_rt.strided<[1, 6]>>
  %a = aicf_rt.call relu(%t) : (tensor<6x4xf32, #aicf_rt.strided<[1, 6]>>) -> tensor<6x4xf32>
  return %a : tensor<6x4xf32>
}
