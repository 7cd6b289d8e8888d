// RUN: aicf-opt %s --aicf-rt-eliminate-saves --split-input-file --verify-diagnostics | FileCheck %s

// Tests that a saved value is read where it lies, and that copies stay.
// CHECK-LABEL: func.func @saved
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32> {{.*}}, %[[D:.*]]: tensor<4xf32>
func.func @saved(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"},
                 %d: tensor<4xf32> {aicf.role = "input", aicf.name = "d"})
    -> (tensor<4xf32> {aicf.name = "dx"}, tensor<4xf32> {aicf.name = "c"}) {
  // CHECK-NOT: copy_saved
  // CHECK: %[[H:.*]] = aicf_rt.call relu(%[[X]])
  %h = aicf_rt.call relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %s = aicf_rt.call copy_saved(%h) : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: aicf_rt.call relu_bwd(%[[D]], %[[H]])
  %dx = aicf_rt.call relu_bwd(%d, %s) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK: aicf_rt.call copy(%[[H]])
  %c = aicf_rt.call copy(%h) : (tensor<4xf32>) -> tensor<4xf32>
  return %dx, %c : tensor<4xf32>, tensor<4xf32>
}

// -----

// Tests that a save of a save goes too, and that a returned one is its operand.
// CHECK-LABEL: func.func @returned
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>
// CHECK-NEXT: return %[[X]]
func.func @returned(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4xf32> {aicf.name = "y"}) {
  %0 = aicf_rt.call copy_saved(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = aicf_rt.call copy_saved(%0) : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// Tests that what sees a save of a view sees the view's base.
// CHECK-LABEL: func.func @views
// CHECK-SAME: (%[[X:.*]]: tensor<2x6xf32>
// CHECK-NEXT: aicf_rt.view %[[X]][6]
// CHECK-NEXT: %[[V:.*]] = aicf_rt.view %[[X]][8] : tensor<2x6xf32> to tensor<2xf32>
// CHECK-NEXT: aicf_rt.call relu(%[[V]])
func.func @views(%x: tensor<2x6xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<2xf32> {aicf.name = "y"}) {
  %0 = aicf_rt.view %x[6] : tensor<2x6xf32> to tensor<2x3xf32>
  %1 = aicf_rt.call copy_saved(%0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = aicf_rt.view %1[2] : tensor<2x3xf32> to tensor<2xf32>
  %3 = aicf_rt.call relu(%2) : (tensor<2xf32>) -> tensor<2xf32>
  return %3 : tensor<2xf32>
}

// -----

// Tests that views of a save see what was saved, and that a save of a turned view
// goes where nothing sees it by a view.
// CHECK-LABEL: func.func @view_of_save
// CHECK-SAME: (%[[X:.*]]: tensor<2x6xf32>
// CHECK-NOT: copy_saved
// CHECK: aicf_rt.view %[[X]][2] : tensor<2x6xf32> to tensor<2xf32>
// CHECK-NOT: copy_saved
func.func @view_of_save(%x: tensor<2x6xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<2xf32> {aicf.name = "y"}, tensor<6x2xf32> {aicf.name = "z"}) {
  %0 = aicf_rt.call copy_saved(%x) : (tensor<2x6xf32>) -> tensor<2x6xf32>
  %1 = aicf_rt.view %0[2] : tensor<2x6xf32> to tensor<2xf32>
  %2 = aicf_rt.call relu(%1) : (tensor<2xf32>) -> tensor<2xf32>
  %3 = aicf_rt.view %x[0] : tensor<2x6xf32> to tensor<6x2xf32, #aicf_rt.strided<[1, 6]>>
  %4 = aicf_rt.call copy_saved(%3) : (tensor<6x2xf32, #aicf_rt.strided<[1, 6]>>) -> tensor<6x2xf32>
  %5 = aicf_rt.call relu(%4) : (tensor<6x2xf32>) -> tensor<6x2xf32>
  return %2, %5 : tensor<2xf32>, tensor<6x2xf32>
}

// -----

// Tests that a save stays where it is seen in an order that its operand has not.
// CHECK-LABEL: func.func @turned
// CHECK: copy_saved
func.func @turned(%x: tensor<2x6xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<12xf32> {aicf.name = "y"}) {
  %0 = aicf_rt.view %x[0] : tensor<2x6xf32> to tensor<6x2xf32, #aicf_rt.strided<[1, 6]>>
  %1 = aicf_rt.call copy_saved(%0) : (tensor<6x2xf32, #aicf_rt.strided<[1, 6]>>) -> tensor<6x2xf32>
  %2 = aicf_rt.view %1[0] : tensor<6x2xf32> to tensor<12xf32>
  %3 = aicf_rt.call relu(%2) : (tensor<12xf32>) -> tensor<12xf32>
  return %3 : tensor<12xf32>
}

// -----

// Tests that a returned save of a view stays: a result has storage of its own.
// CHECK-LABEL: func.func @returned_view
// CHECK: copy_saved
func.func @returned_view(%x: tensor<2x6xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<12xf32> {aicf.name = "y"}) {
  %0 = aicf_rt.view %x[0] : tensor<2x6xf32> to tensor<12xf32>
  %1 = aicf_rt.call copy_saved(%0) : (tensor<12xf32>) -> tensor<12xf32>
  return %1 : tensor<12xf32>
}

// -----

// Tests that functions that are not entries are left alone.
// CHECK-LABEL: func.func private @other
// CHECK-NEXT: aicf_rt.call copy_saved(
func.func private @other(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = aicf_rt.call copy_saved(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// Tests that the pass runs on primitives only.
func.func @early(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"}) {
  // expected-error @+1 {{is not an aicf_rt.call: run --aicf-lower-to-rt first}}
  %0 = aicf.save %x : tensor<4xf32>
  return
}
