// RUN: aicf-opt %s --aicf-rt-materialize-views --split-input-file | FileCheck %s
// RUN: aicf-opt %s --aicf-rt-materialize-views --split-input-file --remarks-filter=aicf 2>&1 | FileCheck %s --check-prefix=REMARK

// Which operands are copied where a call reads several.

// The one view that no product takes, wherever it stands; not the other operand.
// REMARK-DAG: MaterializeViews{{.*}}Function=second{{.*}}copies_for_views=1
// CHECK-LABEL: func.func @second
// CHECK: %[[A:.*]] = aicf_rt.view %arg0[0]
// CHECK: %[[B:.*]] = aicf_rt.view %arg1[0]
// CHECK-NEXT: %[[D:.*]] = aicf_rt.call copy(%[[B]])
// CHECK-NEXT: aicf_rt.call gemm(%[[A]], %[[D]])
func.func @second(%x: tensor<4x6xf32> {aicf.role = "input", aicf.name = "x"},
                  %y: tensor<3xf32> {aicf.role = "input", aicf.name = "y"})
    -> (tensor<4x4xf32> {aicf.name = "c"}) attributes {aicf.target = #aicf.target<cuda>} {
  %a = aicf_rt.view %x[0] : tensor<4x6xf32> to tensor<4x3xf32, #aicf_rt.strided<[6, 1]>>
  %b = aicf_rt.view %y[0] : tensor<3xf32> to tensor<4x3xf32, #aicf_rt.strided<[0, 1]>>
  %c = aicf_rt.call gemm(%a, %b) {transB = true} : (tensor<4x3xf32, #aicf_rt.strided<[6, 1]>>, tensor<4x3xf32, #aicf_rt.strided<[0, 1]>>) -> tensor<4x4xf32>
  return %c : tensor<4x4xf32>
}

// -----

// CHECK-LABEL: func.func @first
// CHECK: %[[B:.*]] = aicf_rt.view %arg1[0]
// CHECK: %[[A:.*]] = aicf_rt.view %arg0[0]
// CHECK-NEXT: %[[D:.*]] = aicf_rt.call copy(%[[B]])
// CHECK-NEXT: aicf_rt.call gemm(%[[D]], %[[A]])
func.func @first(%x: tensor<4x6xf32> {aicf.role = "input", aicf.name = "x"},
                 %y: tensor<3xf32> {aicf.role = "input", aicf.name = "y"})
    -> (tensor<4x4xf32> {aicf.name = "c"}) attributes {aicf.target = #aicf.target<cuda>} {
  %b = aicf_rt.view %y[0] : tensor<3xf32> to tensor<4x3xf32, #aicf_rt.strided<[0, 1]>>
  %a = aicf_rt.view %x[0] : tensor<4x6xf32> to tensor<4x3xf32, #aicf_rt.strided<[6, 1]>>
  %c = aicf_rt.call gemm(%b, %a) {transB = true} : (tensor<4x3xf32, #aicf_rt.strided<[0, 1]>>, tensor<4x3xf32, #aicf_rt.strided<[6, 1]>>) -> tensor<4x4xf32>
  return %c : tensor<4x4xf32>
}

// -----

// A view that a kernel takes, but not beside a padded operand: the view is copied.
// CHECK-LABEL: func.func @beside_pads
// CHECK: %[[P:.*]] = aicf_rt.call cast(%arg1)
// CHECK-NEXT: %[[V:.*]] = aicf_rt.view %arg0[0]
// CHECK-NEXT: %[[D:.*]] = aicf_rt.call copy(%[[V]])
// CHECK-NEXT: aicf_rt.call concat(%[[P]], %[[D]])
func.func @beside_pads(%x: tensor<4x6xbf16> {aicf.role = "input", aicf.name = "x"},
                       %y: tensor<6x5xf32> {aicf.role = "input", aicf.name = "y"})
    -> (tensor<6x9xbf16> {aicf.name = "c"}) attributes {aicf.target = #aicf.target<cuda>} {
  %p = aicf_rt.call cast(%y) : (tensor<6x5xf32>) -> tensor<6x5xbf16, #aicf_rt.padded>
  %v = aicf_rt.view %x[0] : tensor<4x6xbf16> to tensor<6x4xbf16, #aicf_rt.strided<[1, 6]>>
  %c = aicf_rt.call concat(%p, %v) {axis = 1} : (tensor<6x5xbf16, #aicf_rt.padded>, tensor<6x4xbf16, #aicf_rt.strided<[1, 6]>>) -> tensor<6x9xbf16>
  return %c : tensor<6x9xbf16>
}

// -----

// A call of several primitives that no kernel does at once, whatever it reads.
// CHECK-LABEL: func.func @no_pattern
// CHECK: %[[V:.*]] = aicf_rt.view
// CHECK-NEXT: aicf_rt.call {
// CHECK-NEXT: relu(%[[V]])
func.func @no_pattern(%x: tensor<4x6xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<6x4xf32> {aicf.name = "a"}) attributes {aicf.target = #aicf.target<cuda>} {
  %v = aicf_rt.view %x[0] : tensor<4x6xf32> to tensor<6x4xf32, #aicf_rt.strided<[1, 6]>>
  %a = aicf_rt.call {
    t0 = relu(%v)
    t1 = relu(t0)
    yield t1
  } : (tensor<6x4xf32, #aicf_rt.strided<[1, 6]>>) -> tensor<6x4xf32>
  return %a : tensor<6x4xf32>
}

// -----

// Copies of what is not a view are none of this pass's.
// CHECK-LABEL: func.func @copies
// CHECK: copy(%arg0)
// CHECK: copy(%arg0)
func.func @copies(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4xf32> {aicf.name = "a"}, tensor<4xf32> {aicf.name = "b"})
    attributes {aicf.target = #aicf.target<cuda>} {
  %c = aicf_rt.call copy(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %d = aicf_rt.call copy(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %a = aicf_rt.call relu(%c) : (tensor<4xf32>) -> tensor<4xf32>
  %b = aicf_rt.call tanh(%d) : (tensor<4xf32>) -> tensor<4xf32>
  return %a, %b : tensor<4xf32>, tensor<4xf32>
}
