// RUN: aicf-opt %s --aicf-narrow-products --split-input-file | FileCheck %s
// RUN: aicf-opt %s --aicf-narrow-products --remarks-filter=aicf --split-input-file -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// Tests one column: a product with the weights, summed over rows.
// REMARK: NarrowProducts | Category:aicf | Function=column | Remark="a product of one column or one term became elementwise products and sums"
// REMARK: NarrowProducts | Category:aicf | Function=column | products_replaced=1
// CHECK-LABEL: @column
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<2x4x8xf32>{{.*}}, %[[W:[a-z0-9]+]]: tensor<1x8xf32>{{.*}}, %[[B:[a-z0-9]+]]: tensor<1xf32>
// CHECK-NEXT: %[[R:.*]] = aicf.reshape %[[W]] to [8]
// CHECK-NEXT: %[[V:.*]] = aicf.broadcast %[[R]] to [2, 4, 8]
// CHECK-NEXT: %[[M:.*]] = aicf.mul %[[X]], %[[V]]
// CHECK-NEXT: %[[S:.*]] = aicf.reduce_sum %[[M]] over [2] {keepdim = true}
// CHECK-NEXT: %[[C:.*]] = aicf.broadcast %[[B]] to [2, 4, 1]
// CHECK-NEXT: %[[Y:.*]] = aicf.add %[[S]], %[[C]]
// CHECK-NEXT: return %[[Y]]
func.func @column(%x: tensor<2x4x8xf32> {aicf.role = "input", aicf.name = "x"},
                  %w: tensor<1x8xf32> {aicf.role = "input", aicf.name = "w"},
                  %b: tensor<1xf32> {aicf.role = "input", aicf.name = "b"})
    -> (tensor<2x4x1xf32> {aicf.name = "y"})
    attributes {aicf.target = #aicf.target<cuda, narrow_product_bytes = 0>} {
  %y = aicf.linear %x, %w, %b : tensor<2x4x8xf32>, tensor<1x8xf32>, tensor<1xf32>
  return %y : tensor<2x4x1xf32>
}

// -----

// Tests that what a matrix's product becomes stays as it is.
// CHECK-LABEL: @matrix
// CHECK-NEXT: %[[R:.*]] = aicf.reshape %arg1 to [8] : tensor<1x8xf32>
// CHECK-NEXT: %[[V:.*]] = aicf.broadcast %[[R]] to [4, 8] : tensor<8xf32>
// CHECK-NEXT: %[[M:.*]] = aicf.mul %arg0, %[[V]]
// CHECK-NEXT: %[[S:.*]] = aicf.reduce_sum %[[M]] over [1] {keepdim = true}
// CHECK-NEXT: %[[C:.*]] = aicf.broadcast %arg2 to [4, 1] : tensor<1xf32>
// CHECK-NEXT: %[[Y:.*]] = aicf.add %[[S]], %[[C]]
// CHECK-NEXT: %[[R:.*]] = aicf.reshape %arg1 to [8] : tensor<1x8xf32>
// CHECK-NEXT: %[[V:.*]] = aicf.broadcast %[[R]] to [4, 8] : tensor<8xf32>
// CHECK-NEXT: %[[M:.*]] = aicf.mul %arg0, %[[V]]
// CHECK-NEXT: %[[S:.*]] = aicf.reduce_sum %[[M]] over [1] {keepdim = true}
// CHECK-NEXT: %[[C:.*]] = aicf.broadcast %arg2 to [4, 1] : tensor<1xf32>
// CHECK-NEXT: %[[Z:.*]] = aicf.add %[[S]], %[[C]]
// CHECK-NEXT: return %[[Y]], %[[Z]]
func.func @matrix(%x: tensor<4x8xf32> {aicf.role = "input", aicf.name = "x"},
                  %w: tensor<1x8xf32> {aicf.role = "input", aicf.name = "w"},
                  %b: tensor<1xf32> {aicf.role = "input", aicf.name = "b"})
    -> (tensor<4x1xf32> {aicf.name = "y"}, tensor<4x1xf32> {aicf.name = "z"})
    attributes {aicf.target = #aicf.target<cuda, narrow_product_bytes = 0>} {
  %r = aicf.reshape %w to [8] : tensor<1x8xf32>
  %v = aicf.broadcast %r to [4, 8] : tensor<8xf32>
  %m = aicf.mul %x, %v : tensor<4x8xf32>, tensor<4x8xf32>
  %s = aicf.reduce_sum %m over [1] {keepdim = true} : tensor<4x8xf32>
  %c = aicf.broadcast %b to [4, 1] : tensor<1xf32>
  %y = aicf.add %s, %c : tensor<4x1xf32>, tensor<4x1xf32>
  %z = aicf.linear %x, %w, %b : tensor<4x8xf32>, tensor<1x8xf32>, tensor<1xf32>
  return %y, %z : tensor<4x1xf32>, tensor<4x1xf32>
}

// -----

// Tests one term, with weights that lie the other way, and that the ops are marked as the
// product is.
// CHECK-LABEL: @term
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4x1xf64>{{.*}}, %[[W:[a-z0-9]+]]: tensor<1x8xf64>
// CHECK-NEXT: %[[R:.*]] = aicf.reshape %[[W]] to [8] {aicf.recompute = "block"}
// CHECK-DAG: %[[V:.*]] = aicf.broadcast %[[R]] to [4, 8] {aicf.recompute = "block"}
// CHECK-DAG: %[[Z:.*]] = aicf.broadcast %[[X]] to [4, 8] {aicf.recompute = "block"}
// CHECK-NEXT: %[[Y:.*]] = aicf.mul %[[Z]], %[[V]] {aicf.recompute = "block"}
// CHECK-NEXT: return %[[Y]]
func.func @term(%x: tensor<4x1xf64> {aicf.role = "input", aicf.name = "x"},
                %w: tensor<1x8xf64> {aicf.role = "input", aicf.name = "w"})
    -> (tensor<4x8xf64> {aicf.name = "y"})
    attributes {aicf.target = #aicf.target<cuda, narrow_product_bytes = 0>} {
  %y = aicf.linear %x, %w {aicf.recompute = "block", transW = false} : tensor<4x1xf64>, tensor<1x8xf64>
  return %y : tensor<4x8xf64>
}

// -----

// Tests a concat: each part is summed by itself, and nothing puts them together.
// CHECK-LABEL: @parts
// CHECK-NOT: aicf.concat
// CHECK: %[[U:.*]] = aicf.slice %arg2 from [0, 0] to [1, 3]
// CHECK: %[[R:.*]] = aicf.reshape %[[U]] to [3]
// CHECK: %[[V:.*]] = aicf.broadcast %[[R]] to [4, 3]
// CHECK: aicf.mul %arg0, %[[V]]
// CHECK: aicf.slice %arg2 from [0, 3] to [1, 8]
// CHECK: aicf.mul %arg1,
// CHECK: aicf.add
func.func @parts(%a: tensor<4x3xf32> {aicf.role = "input", aicf.name = "a"},
                 %b: tensor<4x5xf32> {aicf.role = "input", aicf.name = "b"},
                 %w: tensor<1x8xf32> {aicf.role = "input", aicf.name = "w"})
    -> (tensor<4x1xf32> {aicf.name = "y"})
    attributes {aicf.target = #aicf.target<cuda, narrow_product_bytes = 0>} {
  %x = aicf.concat %a, %b {axis = 1 : i64} : tensor<4x3xf32>, tensor<4x5xf32>
  %y = aicf.linear %x, %w : tensor<4x8xf32>, tensor<1x8xf32>
  return %y : tensor<4x1xf32>
}

// -----

// Tests a concat along rows, and one that something else reads: both stay whole.
// CHECK-LABEL: @whole
// CHECK: %[[X:.*]] = aicf.concat
// CHECK: aicf.mul %[[X]]
// CHECK: %[[Z:.*]] = aicf.concat
// CHECK: aicf.mul %[[Z]]
// CHECK: return {{.*}}, %[[Z]]
func.func @whole(%a: tensor<4x4xf32> {aicf.role = "input", aicf.name = "a"},
                 %w: tensor<1x4xf32> {aicf.role = "input", aicf.name = "w"},
                 %v: tensor<1x8xf32> {aicf.role = "input", aicf.name = "v"})
    -> (tensor<8x1xf32> {aicf.name = "y"}, tensor<4x1xf32> {aicf.name = "u"},
        tensor<4x8xf32> {aicf.name = "z"})
    attributes {aicf.target = #aicf.target<cuda, narrow_product_bytes = 0>} {
  %x = aicf.concat %a, %a {axis = 0 : i64} : tensor<4x4xf32>, tensor<4x4xf32>
  %y = aicf.linear %x, %w : tensor<8x4xf32>, tensor<1x4xf32>
  %z = aicf.concat %a, %a {axis = 1 : i64} : tensor<4x4xf32>, tensor<4x4xf32>
  %u = aicf.linear %z, %v : tensor<4x8xf32>, tensor<1x8xf32>
  return %y, %u, %z : tensor<8x1xf32>, tensor<4x1xf32>, tensor<4x8xf32>
}
