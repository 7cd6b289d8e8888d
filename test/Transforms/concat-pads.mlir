// RUN: aicf-opt %s --aicf-concat-pads --split-input-file | FileCheck %s
// RUN: aicf-opt %s --aicf-concat-pads --remarks-filter=aicf --split-input-file -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// Tests which sums of padded tensors become concats.

// Three parts tile the rows; what else is added comes first.
// REMARK: ConcatPads | Category:aicf | Function=tiles | Remark="a sum of 4 terms has 2: pads became concats"
// REMARK: ConcatPads | Category:aicf | Function=tiles | sums_of_pads=1
// CHECK-LABEL: @tiles
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<2x4xf32>{{.*}}, %[[B:[a-z0-9]+]]: tensor<3x4xf32>{{.*}}, %[[C:[a-z0-9]+]]: tensor<1x4xf32>{{.*}}, %[[X:[a-z0-9]+]]: tensor<6x4xf32>
// CHECK-NEXT: %[[R:.*]] = aicf.relu %[[X]]
// CHECK-NEXT: %[[Y:.*]] = aicf.concat %[[C]], %[[A]], %[[B]] {axis = 0 : i64}
// CHECK-NEXT: %[[S:.*]] = aicf.add %[[R]], %[[Y]]
// CHECK-NEXT: return %[[S]]
func.func @tiles(%a: tensor<2x4xf32> {aicf.role = "input", aicf.name = "a"},
                 %b: tensor<3x4xf32> {aicf.role = "input", aicf.name = "b"},
                 %c: tensor<1x4xf32> {aicf.role = "input", aicf.name = "c"},
                 %x: tensor<6x4xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<6x4xf32> {aicf.name = "y"}) {
  %pa = aicf.pad %a {axis = 0 : i64, begin = 1 : i64, size = 6 : i64} : tensor<2x4xf32>
  %pb = aicf.pad %b {axis = 0 : i64, begin = 3 : i64, size = 6 : i64} : tensor<3x4xf32>
  %pc = aicf.pad %c {axis = 0 : i64, size = 6 : i64} : tensor<1x4xf32>
  %r = aicf.relu %x : tensor<6x4xf32>
  %0 = aicf.add %pb, %pa : tensor<6x4xf32>, tensor<6x4xf32>
  %1 = aicf.add %r, %0 : tensor<6x4xf32>, tensor<6x4xf32>
  %2 = aicf.add %1, %pc : tensor<6x4xf32>, tensor<6x4xf32>
  return %2 : tensor<6x4xf32>
}

// -----

// Zeros in front, between and behind are filled once, by a pad of a part.
// CHECK-LABEL: @holes
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<2xf32>{{.*}}, %[[B:[a-z0-9]+]]: tensor<2xf32>
// CHECK-NEXT: %[[P:.*]] = aicf.pad %[[A]] {axis = 0 : i64, begin = 1 : i64, size = 5 : i64}
// CHECK-NEXT: %[[Q:.*]] = aicf.pad %[[B]] {axis = 0 : i64, size = 4 : i64}
// CHECK-NEXT: %[[Y:.*]] = aicf.concat %[[P]], %[[Q]] {axis = 0 : i64}
// CHECK-NEXT: return %[[Y]]
func.func @holes(%a: tensor<2xf32> {aicf.role = "input", aicf.name = "a"},
                 %b: tensor<2xf32> {aicf.role = "input", aicf.name = "b"})
    -> (tensor<9xf32> {aicf.name = "y"}) {
  %pa = aicf.pad %a {axis = 0 : i64, begin = 1 : i64, size = 9 : i64} : tensor<2xf32>
  %pb = aicf.pad %b {axis = 0 : i64, begin = 5 : i64, size = 9 : i64} : tensor<2xf32>
  %y = aicf.add %pa, %pb : tensor<9xf32>, tensor<9xf32>
  return %y : tensor<9xf32>
}

// -----

// Equal ranges are added before they are padded. Ranges that overlap are two
// terms.
// CHECK-LABEL: @overlap
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<2xf32>{{.*}}, %[[B:[a-z0-9]+]]: tensor<2xf32>{{.*}}, %[[C:[a-z0-9]+]]: tensor<3xf32>
// CHECK-NEXT: %[[S:.*]] = aicf.add %[[A]], %[[B]]
// CHECK-NEXT: %[[P:.*]] = aicf.pad %[[S]] {axis = 0 : i64, size = 4 : i64}
// CHECK-NEXT: %[[Q:.*]] = aicf.pad %[[C]] {axis = 0 : i64, begin = 1 : i64, size = 4 : i64}
// CHECK-NEXT: %[[Y:.*]] = aicf.add %[[P]], %[[Q]]
// CHECK-NEXT: return %[[Y]]
func.func @overlap(%a: tensor<2xf32> {aicf.role = "input", aicf.name = "a"},
                   %b: tensor<2xf32> {aicf.role = "input", aicf.name = "b"},
                   %c: tensor<3xf32> {aicf.role = "input", aicf.name = "c"})
    -> (tensor<4xf32> {aicf.name = "y"}) {
  %pa = aicf.pad %a {axis = 0 : i64, size = 4 : i64} : tensor<2xf32>
  %pc = aicf.pad %c {axis = 0 : i64, begin = 1 : i64, size = 4 : i64} : tensor<3xf32>
  %pb = aicf.pad %b {axis = 0 : i64, size = 4 : i64} : tensor<2xf32>
  %0 = aicf.add %pa, %pc : tensor<4xf32>, tensor<4xf32>
  %y = aicf.add %0, %pb : tensor<4xf32>, tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// The tiles of a matrix, as their slices are padded: along 0, then along 1.
// CHECK-LABEL: @grid
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<2x3xf32>{{.*}}, %[[B:[a-z0-9]+]]: tensor<2x3xf32>{{.*}}, %[[C:[a-z0-9]+]]: tensor<2x3xf32>{{.*}}, %[[D:[a-z0-9]+]]: tensor<2x3xf32>
// CHECK-NEXT: %[[L:.*]] = aicf.concat %[[A]], %[[C]] {axis = 0 : i64}
// CHECK-NEXT: %[[R:.*]] = aicf.concat %[[B]], %[[D]] {axis = 0 : i64}
// CHECK-NEXT: %[[Y:.*]] = aicf.concat %[[L]], %[[R]] {axis = 1 : i64}
// CHECK-NEXT: return %[[Y]]
func.func @grid(%a: tensor<2x3xf32> {aicf.role = "input", aicf.name = "a"},
                %b: tensor<2x3xf32> {aicf.role = "input", aicf.name = "b"},
                %c: tensor<2x3xf32> {aicf.role = "input", aicf.name = "c"},
                %d: tensor<2x3xf32> {aicf.role = "input", aicf.name = "d"})
    -> (tensor<4x6xf32> {aicf.name = "y"}) {
  %a0 = aicf.pad %a {axis = 0 : i64, size = 4 : i64} : tensor<2x3xf32>
  %a1 = aicf.pad %a0 {axis = 1 : i64, size = 6 : i64} : tensor<4x3xf32>
  %b0 = aicf.pad %b {axis = 0 : i64, size = 4 : i64} : tensor<2x3xf32>
  %b1 = aicf.pad %b0 {axis = 1 : i64, begin = 3 : i64, size = 6 : i64} : tensor<4x3xf32>
  %c0 = aicf.pad %c {axis = 0 : i64, begin = 2 : i64, size = 4 : i64} : tensor<2x3xf32>
  %c1 = aicf.pad %c0 {axis = 1 : i64, size = 6 : i64} : tensor<4x3xf32>
  %d0 = aicf.pad %d {axis = 0 : i64, begin = 2 : i64, size = 4 : i64} : tensor<2x3xf32>
  %d1 = aicf.pad %d0 {axis = 1 : i64, begin = 3 : i64, size = 6 : i64} : tensor<4x3xf32>
  %0 = aicf.add %a1, %b1 : tensor<4x6xf32>, tensor<4x6xf32>
  %1 = aicf.add %c1, %d1 : tensor<4x6xf32>, tensor<4x6xf32>
  %y = aicf.add %0, %1 : tensor<4x6xf32>, tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}
