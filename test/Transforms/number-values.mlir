// RUN: aicf-opt %s --aicf-number-values | FileCheck %s

// Tests trace order: operands, then results; unused arguments last.
// CHECK-LABEL: func.func @order
// CHECK-SAME:    %[[U:.*]]: tensor<4xf32> {{{.*}}aicf.vid = 4 : i64}
// CHECK-SAME:    %[[W:.*]]: tensor<4x4xf32> {{{.*}}aicf.vid = 1 : i64}
// CHECK-SAME:    %[[X:.*]]: tensor<2x4xf32> {{{.*}}aicf.vid = 0 : i64}
// CHECK-SAME:    attributes {aicf.nodes = 2 : i64, aicf.values = 5 : i64}
func.func @order(%u: tensor<4xf32> {aicf.role = "input", aicf.name = "u"},
                 %w: tensor<4x4xf32> {aicf.role = "param", aicf.name = "w"},
                 %x: tensor<2x4xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<2x4xf32> {aicf.name = "y"}) {
  // CHECK: aicf.linear %[[X]], %[[W]] {aicf.vids = array<i64: 2>}
  %0 = aicf.linear %x, %w : tensor<2x4xf32>, tensor<4x4xf32>
  // CHECK: aicf.relu %{{.*}} {aicf.vids = array<i64: 3>}
  %1 = aicf.relu %0 {aicf.vids = array<i64: 99>} : tensor<2x4xf32>
  return %1 : tensor<2x4xf32>
}

// Tests that results nobody uses are numbered too.
// CHECK-LABEL: func.func @results
func.func @results(%d: tensor<2x2xf32> {aicf.role = "input", aicf.name = "d"})
    -> (tensor<2x2xf32> {aicf.name = "y"}) {
  // CHECK: aicf.linear_bwd {{.*}} {aicf.vids = array<i64: 1, 2, 3>}
  %a, %b, %c = aicf.linear_bwd %d, %d, %d : tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>
  // CHECK: aicf.add %{{.*}}, %{{.*}} {aicf.vids = array<i64: 4>}
  %e = aicf.add %b, %b : tensor<2x2xf32>, tensor<2x2xf32>
  return %e : tensor<2x2xf32>
}

// Tests that other functions are left alone.
// CHECK-LABEL: func.func @no_entry
// CHECK-NOT:     vid
func.func @no_entry(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = aicf.relu %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
