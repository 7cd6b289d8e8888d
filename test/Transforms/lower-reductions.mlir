// RUN: aicf-opt %s --aicf-lower-to-rt --split-input-file | FileCheck %s

// Tests that axes become one dimension that is reduced: the leading ones as they are,
// those side by side by a view, others by a view that turns them to the end.

// CHECK-LABEL: @nothing(
// CHECK-NEXT: %[[V:.*]] = aicf_rt.view %arg0[0] : tensor<2x3x4x5xf32> to tensor<2x3x4x5x1xf32>
// CHECK-NEXT: aicf_rt.call reduce_sum(%[[V]]) {axis = 4} : {{.*}} -> tensor<2x3x4x5xf32>
// CHECK-NEXT: return
func.func @nothing(%x: tensor<2x3x4x5xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<2x3x4x5xf32> {aicf.name = "y"}) {
  %y = aicf.reduce_sum %x over [] : tensor<2x3x4x5xf32>
  return %y : tensor<2x3x4x5xf32>
}

// -----

// CHECK-LABEL: @leading(
// CHECK-NEXT: aicf_rt.call reduce_sum(%arg0) {axis = 1} : {{.*}} -> tensor<4x5xf32>
// CHECK-NEXT: return
func.func @leading(%x: tensor<2x3x4x5xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4x5xf32> {aicf.name = "y"}) {
  %y = aicf.reduce_sum %x over [0, 1] : tensor<2x3x4x5xf32>
  return %y : tensor<4x5xf32>
}

// -----

// CHECK-LABEL: @leading_kept(
// CHECK-NEXT: %[[V:.*]] = aicf_rt.view %arg0[0] : tensor<2x3x4x5xf32> to tensor<6x1x4x5xf32>
// CHECK-NEXT: aicf_rt.call reduce_sum(%[[V]]) : {{.*}} -> tensor<1x1x4x5xf32>
// CHECK-NEXT: return
func.func @leading_kept(%x: tensor<2x3x4x5xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<1x1x4x5xf32> {aicf.name = "y"}) {
  %y = aicf.reduce_sum %x over [0, 1] {keepdim = true} : tensor<2x3x4x5xf32>
  return %y : tensor<1x1x4x5xf32>
}

// -----

// CHECK-LABEL: @run(
// CHECK-NEXT: %[[V:.*]] = aicf_rt.view %arg0[0] : tensor<2x3x4x5xf32> to tensor<2x12x5xf32>
// CHECK-NEXT: aicf_rt.call reduce_sum(%[[V]]) {axis = 1} : {{.*}} -> tensor<2x5xf32>
// CHECK-NEXT: return
func.func @run(%x: tensor<2x3x4x5xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<2x5xf32> {aicf.name = "y"}) {
  %y = aicf.reduce_sum %x over [1, 2] : tensor<2x3x4x5xf32>
  return %y : tensor<2x5xf32>
}

// -----

// CHECK-LABEL: @run_kept(
// CHECK-NEXT: %[[V:.*]] = aicf_rt.view %arg0[0] : tensor<2x3x4x5xf32> to tensor<2x12x1x5xf32>
// CHECK-NEXT: aicf_rt.call reduce_sum(%[[V]]) {axis = 1} : {{.*}} -> tensor<2x1x1x5xf32>
// CHECK-NEXT: return
func.func @run_kept(%x: tensor<2x3x4x5xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<2x1x1x5xf32> {aicf.name = "y"}) {
  %y = aicf.reduce_sum %x over [1, 2] {keepdim = true} : tensor<2x3x4x5xf32>
  return %y : tensor<2x1x1x5xf32>
}

// -----

// CHECK-LABEL: @apart(
// CHECK-NEXT: %[[V:.*]] = aicf_rt.view %arg0[0] : tensor<2x3x4x5xf32> to tensor<3x5x2x4xf32, #aicf_rt.strided<[20, 1, 60, 5]>>
// CHECK-NEXT: %[[C:.*]] = aicf_rt.call copy(%[[V]])
// CHECK-NEXT: %[[W:.*]] = aicf_rt.view %[[C]][0] : tensor<3x5x2x4xf32> to tensor<3x5x8xf32>
// CHECK-NEXT: aicf_rt.call reduce_sum(%[[W]]) {axis = 2} : {{.*}} -> tensor<3x5xf32>
// CHECK-NEXT: return
func.func @apart(%x: tensor<2x3x4x5xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<3x5xf32> {aicf.name = "y"}) {
  %y = aicf.reduce_sum %x over [0, 2] : tensor<2x3x4x5xf32>
  return %y : tensor<3x5xf32>
}

// -----

// CHECK-LABEL: @bwd_run(
// CHECK-NEXT: %[[D:.*]] = aicf_rt.call extremum_bwd(%arg0, %arg1) {axis = 1} : {{.*}} -> tensor<2x12xf32>
// CHECK-NEXT: aicf_rt.view %[[D]][0] : tensor<2x12xf32> to tensor<2x3x4xf32>
func.func @bwd_run(%d: tensor<2xf32> {aicf.role = "input", aicf.name = "d"},
    %i: tensor<2xi32> {aicf.role = "input", aicf.name = "i"})
    -> (tensor<2x3x4xf32> {aicf.name = "y"}) {
  %y = aicf.extremum_bwd %d, %i over [1, 2] to [2, 3, 4] : tensor<2xf32>, tensor<2xi32>
  return %y : tensor<2x3x4xf32>
}

// -----

// CHECK-LABEL: @bwd_apart(
// CHECK-NEXT: %[[D:.*]] = aicf_rt.call extremum_bwd(%arg0, %arg1) {axis = 1} : {{.*}} -> tensor<3x8xf32>
// CHECK-NEXT: aicf_rt.view %[[D]][0] : tensor<3x8xf32> to tensor<2x3x4xf32, #aicf_rt.strided<[4, 8, 1]>>
func.func @bwd_apart(%d: tensor<3xf32> {aicf.role = "input", aicf.name = "d"},
    %i: tensor<3xi32> {aicf.role = "input", aicf.name = "i"})
    -> (tensor<2x3x4xf32> {aicf.name = "y"}) {
  %y = aicf.extremum_bwd %d, %i over [0, 2] to [2, 3, 4] : tensor<3xf32>, tensor<3xi32>
  return %y : tensor<2x3x4xf32>
}

// -----

// The mean of everything is a reduction, too; but not where its type is another one, and a
// scalar has no dimension.
// CHECK-LABEL: @means
func.func @means(%x: tensor<4x3xf32> {aicf.role = "input", aicf.name = "x"},
                 %h: tensor<4x3xbf16> {aicf.role = "input", aicf.name = "h"},
                 %s: tensor<f32> {aicf.role = "input", aicf.name = "s"})
    -> (tensor<f32> {aicf.name = "a"}, tensor<f32> {aicf.name = "b"},
        tensor<f32> {aicf.name = "c"}) {
  // CHECK: aicf_rt.call reduce_mean(%arg0) {axis = 1} : (tensor<4x3xf32>) -> tensor<f32>
  %a = aicf.mean %x : tensor<4x3xf32>
  // CHECK: aicf_rt.call mean(%arg1) : (tensor<4x3xbf16>) -> tensor<f32>
  %b = aicf.mean %h : tensor<4x3xbf16>
  // CHECK: aicf_rt.call mean(%arg2) : (tensor<f32>) -> tensor<f32>
  %c = aicf.mean %s : tensor<f32>
  return %a, %b, %c : tensor<f32>, tensor<f32>, tensor<f32>
}
