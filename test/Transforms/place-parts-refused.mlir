// RUN: aicf-opt %s --split-input-file --aicf-rt-place-parts | FileCheck %s
// RUN: aicf-opt %s --split-input-file --aicf-rt-place-parts --remarks-filter=aicf 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK

// Tests which parts are copied, and which concats and copies stay, and why.

// REMARK: a part of 'concat', 4x8xf32, is copied: it has a place of its own
// REMARK: a part of 'concat', 4x8xf32 strided [16, 1], is computed where it belongs: no copy
// REMARK: Function=returned | parts_copied=1, parts_in_place=1
// CHECK-LABEL: @returned
func.func @returned(%x: tensor<4x8xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4x8xf32> {aicf.name = "a"}, tensor<4x16xf32> {aicf.name = "c"}) {
  // CHECK: %[[A:.*]] = aicf_rt.call relu(%arg0) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: aicf_rt.call copy(%[[A]])
  %a = aicf_rt.call relu(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %b = aicf_rt.call exp(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %c = aicf_rt.call concat(%a, %b) {axis = 1} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x16xf32>
  return %a, %c : tensor<4x8xf32>, tensor<4x16xf32>
}

// -----

// REMARK: Function=twice | Remark="a part of 'concat', 4x8xf32 strided [16, 1], is computed where it belongs: no copy"
// REMARK: Function=twice | Remark="a part of 'concat', 4x8xf32 strided [16, 1], is copied: it has a place of its own"
// CHECK-LABEL: @twice
func.func @twice(%x: tensor<4x8xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4x16xf32> {aicf.name = "c"}) {
  %a = aicf_rt.call relu(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: aicf_rt.call copy(%{{.*}}) : (tensor<4x8xf32, #aicf_rt.strided<[16, 1]>>) -> tensor<4x8xf32, #aicf_rt.strided<[16, 1]>>
  %c = aicf_rt.call concat(%a, %a) {axis = 1} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x16xf32>
  return %c : tensor<4x16xf32>
}

// -----

// Nothing is gained where every part would be copied.
// REMARK-COUNT-2: is left where it is made: no call makes it
// CHECK-LABEL: @arguments
// CHECK: concat
// CHECK-NOT: aicf_rt.join
func.func @arguments(%x: tensor<4x8xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4x16xf32> {aicf.name = "c"}) {
  %c = aicf_rt.call concat(%x, %x) {axis = 1} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x16xf32>
  return %c : tensor<4x16xf32>
}

// -----

// No kernel of softmax writes columns, and tanh reads dense tensors alone.
// REMARK: is left where it is made: 'softmax' has no kernel that writes there, or what reads its result needs another one
// REMARK: is left where it is made: 'relu' has no kernel
// CHECK-LABEL: @kernels
// CHECK: softmax(%arg0){{.*}} -> tensor<4x8xf32>
// CHECK: relu(%arg0){{.*}} -> tensor<4x8xf32>
// CHECK: concat
func.func @kernels(%x: tensor<4x8xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4x16xf32> {aicf.name = "c"}, tensor<4x8xf32> {aicf.name = "d"}) {
  %a = aicf_rt.call softmax(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %b = aicf_rt.call relu(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %d = aicf_rt.call tanh(%b) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %c = aicf_rt.call concat(%a, %b) {axis = 1} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x16xf32>
  return %c, %d : tensor<4x16xf32>, tensor<4x8xf32>
}

// -----

// For half of a product, all of it is not written elsewhere; nor is what repeats.
// REMARK-COUNT-2: is left where it is made: it is a view that has not each element once, or no strides say where they would lie
// CHECK-LABEL: @slices
// CHECK-COUNT-2: copy
// CHECK-NOT: aicf_rt.join
func.func @slices(%x: tensor<4x4xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<2x4xf32> {aicf.name = "c"}, tensor<2x4x4xf32> {aicf.name = "d"}) {
  %a = aicf_rt.call gemm(%x, %x) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %half = aicf_rt.view %a[0] : tensor<4x4xf32> to tensor<2x4xf32, #aicf_rt.strided<[1, 4]>>
  %c = aicf_rt.call copy(%half) : (tensor<2x4xf32, #aicf_rt.strided<[1, 4]>>) -> tensor<2x4xf32>
  %all = aicf_rt.view %a[0] : tensor<4x4xf32> to tensor<2x4x4xf32, #aicf_rt.strided<[0, 4, 1]>>
  %d = aicf_rt.call copy(%all) : (tensor<2x4x4xf32, #aicf_rt.strided<[0, 4, 1]>>) -> tensor<2x4x4xf32>
  return %c, %d : tensor<2x4xf32>, tensor<2x4x4xf32>
}

// -----

// A product writes rows, and no columns.
// REMARK: is left where it is made: 'gemm' has no kernel
// CHECK-LABEL: @turned
// CHECK: copy
// CHECK-NOT: aicf_rt.join
func.func @turned(%x: tensor<4x4xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4x4xf32> {aicf.name = "c"}) {
  %a = aicf_rt.call gemm(%x, %x) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %t = aicf_rt.view %a[0] : tensor<4x4xf32> to tensor<4x4xf32, #aicf_rt.strided<[1, 4]>>
  %c = aicf_rt.call copy(%t) : (tensor<4x4xf32, #aicf_rt.strided<[1, 4]>>) -> tensor<4x4xf32>
  return %c : tensor<4x4xf32>
}

// -----

// A slice that goes along two dimensions of a part cannot go along with it.
// REMARK: is left where it is made: a view of it would have no strides there
// CHECK-LABEL: @along
// CHECK: concat
func.func @along(%x: tensor<4x8xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4x16xf32> {aicf.name = "c"}, tensor<16xf32> {aicf.name = "d"}) {
  %a = aicf_rt.call exp(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %s = aicf_rt.view %a[0] : tensor<4x8xf32> to tensor<16xf32, #aicf_rt.strided<[2]>>
  %d = aicf_rt.call mul(%s, %s) : (tensor<16xf32, #aicf_rt.strided<[2]>>, tensor<16xf32, #aicf_rt.strided<[2]>>) -> tensor<16xf32>
  %c = aicf_rt.call concat(%a, %x) {axis = 1} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x16xf32>
  return %c, %d : tensor<4x16xf32>, tensor<16xf32>
}
