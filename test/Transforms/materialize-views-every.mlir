// RUN: aicf-opt %s --aicf-rt-materialize-views=every | FileCheck %s
// RUN: aicf-opt %s --aicf-rt-materialize-views=every --remarks-filter=aicf 2>&1 | FileCheck %s --check-prefix=REMARK

// Tests that `every` copies what kernels would read where it lies, but not what a
// copy reads, nor what is not a view.

// REMARK: MaterializeViews{{.*}}'relu' needs a copy of 2x6xf32: every view is copied
// CHECK-LABEL: @rows
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<4x6xf32>
func.func @rows(%x: tensor<4x6xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<2x6xf32> {aicf.name = "a"}, tensor<6x4xf32> {aicf.name = "b"}) {
  // CHECK: %[[V:.*]] = aicf_rt.view %[[X]][6]
  // CHECK: %[[D:.*]] = aicf_rt.call copy(%[[V]])
  // CHECK-NEXT: aicf_rt.call relu(%[[D]])
  %v = aicf_rt.view %x[6] : tensor<4x6xf32> to tensor<2x6xf32>
  %a = aicf_rt.call relu(%v) : (tensor<2x6xf32>) -> tensor<2x6xf32>
  // CHECK: %[[T:.*]] = aicf_rt.view %[[X]][0]
  // CHECK: aicf_rt.call copy(%[[T]])
  // CHECK-NOT: copy(
  %t = aicf_rt.view %x[0] : tensor<4x6xf32> to tensor<6x4xf32, #aicf_rt.strided<[1, 6]>>
  %b = aicf_rt.call copy(%t) : (tensor<6x4xf32, #aicf_rt.strided<[1, 6]>>) -> tensor<6x4xf32>
  return %a, %b : tensor<2x6xf32>, tensor<6x4xf32>
}

// CHECK-LABEL: @whole
// CHECK-NEXT: %[[V:.*]] = aicf_rt.view %arg0[6]
// CHECK-NEXT: %[[D:.*]] = aicf_rt.call copy(%[[V]])
// CHECK-NEXT: aicf_rt.call add(%arg1, %[[D]])
func.func @whole(%x: tensor<4x6xf32> {aicf.role = "input", aicf.name = "x"},
                 %y: tensor<2x6xf32> {aicf.role = "input", aicf.name = "y"})
    -> (tensor<2x6xf32> {aicf.name = "a"}) {
  %v = aicf_rt.view %x[6] : tensor<4x6xf32> to tensor<2x6xf32>
  %a = aicf_rt.call add(%y, %v) : (tensor<2x6xf32>, tensor<2x6xf32>) -> tensor<2x6xf32>
  return %a : tensor<2x6xf32>
}
