// RUN: aicf-opt %s --aicf-narrow-products --split-input-file | FileCheck %s
// RUN: sed "s/, narrow_product_bytes = 128//" %s | aicf-opt --lower-to-backend --split-input-file | FileCheck %s --check-prefix=SMALL
// SMALL-NOT: reduce_sum

// Tests which products stay.

// Two columns of two terms.
// CHECK-LABEL: @two
// CHECK: aicf.linear
func.func @two(%x: tensor<64x2xf32> {aicf.role = "input", aicf.name = "x"},
               %w: tensor<2x2xf32> {aicf.role = "input", aicf.name = "w"})
    -> (tensor<64x2xf32> {aicf.name = "y"})
    attributes {aicf.target = #aicf.target<cuda, narrow_product_bytes = 128>} {
  %y = aicf.linear %x, %w : tensor<64x2xf32>, tensor<2x2xf32>
  return %y : tensor<64x2xf32>
}

// -----

// 124 bytes, where 128 are asked for; then as many.
// CHECK-LABEL: @small
// CHECK: aicf.linear
// CHECK-NOT: aicf.linear
// CHECK: aicf.reduce_sum
// CHECK-LABEL: @bf16
func.func @small(%x: tensor<1x31xf32> {aicf.role = "input", aicf.name = "x"},
                 %w: tensor<1x31xf32> {aicf.role = "input", aicf.name = "w"},
                 %u: tensor<1x32xf32> {aicf.role = "input", aicf.name = "u"},
                 %v: tensor<1x32xf32> {aicf.role = "input", aicf.name = "v"})
    -> (tensor<1x1xf32> {aicf.name = "y"}, tensor<1x1xf32> {aicf.name = "z"})
    attributes {aicf.target = #aicf.target<cuda, narrow_product_bytes = 128>} {
  %y = aicf.linear %x, %w : tensor<1x31xf32>, tensor<1x31xf32>
  %z = aicf.linear %u, %v : tensor<1x32xf32>, tensor<1x32xf32>
  return %y, %z : tensor<1x1xf32>, tensor<1x1xf32>
}

// -----

// 16-bit numbers, whose products would be rounded.
// CHECK: aicf.linear
func.func @bf16(%x: tensor<64x8xbf16> {aicf.role = "input", aicf.name = "x"},
                %w: tensor<1x8xbf16> {aicf.role = "input", aicf.name = "w"})
    -> (tensor<64x1xbf16> {aicf.name = "y"})
    attributes {aicf.target = #aicf.target<cuda, narrow_product_bytes = 128>} {
  %y = aicf.linear %x, %w : tensor<64x8xbf16>, tensor<1x8xbf16>
  return %y : tensor<64x1xbf16>
}
