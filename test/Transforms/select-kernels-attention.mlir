// RUN: aicf-opt %s --lower-to-backend=target=cuda --split-input-file | FileCheck %s

// Tests which kernel attention gets on a GPU, by its heads.

// Tensor cores take heads of whole vectors of 16 bytes, of f32 by three products.
// CHECK-LABEL: @vectors_of_f32
// CHECK: call attention(
// CHECK-SAME: launch<kernel = "attention_f32_mma_v0"
func.func @vectors_of_f32(
    %q: tensor<2x8x4x36xf32> {aicf.role = "input", aicf.name = "q"})
    -> (tensor<2x8x4x36xf32> {aicf.name = "y"}) {
  %y, %lse = aicf.attention %q, %q, %q : tensor<2x8x4x36xf32>, tensor<2x8x4x36xf32>, tensor<2x8x4x36xf32>
  return %y : tensor<2x8x4x36xf32>
}

// -----

// These are 8 elements of 16 bits.
// CHECK-LABEL: @no_vectors_of_f16
// CHECK: launch<kernel = "attention_f16_v0"
func.func @no_vectors_of_f16(
    %q: tensor<2x8x4x36xf16> {aicf.role = "input", aicf.name = "q"})
    -> (tensor<2x8x4x36xf16> {aicf.name = "y"}) {
  %y, %lse = aicf.attention %q, %q, %q : tensor<2x8x4x36xf16>, tensor<2x8x4x36xf16>, tensor<2x8x4x36xf16>
  return %y : tensor<2x8x4x36xf16>
}

// -----

// CHECK-LABEL: @no_vectors_of_f32
// CHECK: launch<kernel = "attention_f32_v0"
func.func @no_vectors_of_f32(
    %q: tensor<2x8x4x34xf32> {aicf.role = "input", aicf.name = "q"})
    -> (tensor<2x8x4x34xf32> {aicf.name = "y"}) {
  %y, %lse = aicf.attention %q, %q, %q : tensor<2x8x4x34xf32>, tensor<2x8x4x34xf32>, tensor<2x8x4x34xf32>
  return %y : tensor<2x8x4x34xf32>
}

// -----

// Registers have room for 128 elements.
// CHECK-LABEL: @wide
// CHECK: launch<kernel = "attention_f32_v0"
func.func @wide(
    %q: tensor<2x8x4x132xf32> {aicf.role = "input", aicf.name = "q"})
    -> (tensor<2x8x4x132xf32> {aicf.name = "y"}) {
  %y, %lse = aicf.attention %q, %q, %q : tensor<2x8x4x132xf32>, tensor<2x8x4x132xf32>, tensor<2x8x4x132xf32>
  return %y : tensor<2x8x4x132xf32>
}

// -----

// Rows at distances that are not a multiple of 16 bytes have no vectors.
// CHECK-LABEL: @apart
// CHECK: launch<kernel = "attention_f32_v0"
func.func @apart(
    %x: tensor<2x8x4x37xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<2x8x4x36xf32> {aicf.name = "y"}) {
  %q = aicf.slice %x from [0, 0, 0, 0] to [2, 8, 4, 36] : tensor<2x8x4x37xf32>
  %y, %lse = aicf.attention %q, %q, %q : tensor<2x8x4x36xf32>, tensor<2x8x4x36xf32>, tensor<2x8x4x36xf32>
  return %y : tensor<2x8x4x36xf32>
}
