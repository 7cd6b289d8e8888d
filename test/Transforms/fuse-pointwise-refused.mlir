// Tests which elementwise calls stay apart, and what a remark says of it.

// RUN: aicf-opt %s --aicf-rt-fuse-pointwise --split-input-file | FileCheck %s
// RUN: aicf-opt %s --aicf-rt-fuse-pointwise --remarks-filter-missed=aicf --split-input-file --verify-diagnostics -o /dev/null
// RUN: sed -n 's,^// STEP: ,,p' %s | not aicf-opt --aicf-rt-fuse-pointwise 2>&1 | FileCheck %s --check-prefix=FORM


// Tests an entry that is not lowered.
// STEP: func.func @f(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
// STEP:     -> (tensor<4xf32> {aicf.name = "y"}) {
// STEP:   %y = aicf.relu %x : tensor<4xf32>
// STEP:   return %y : tensor<4xf32>
// STEP: }
// FORM: is not an aicf_rt.call: run --aicf-lower-to-rt first

// Tests a cumsum in between: it needs all of a row.
// CHECK-LABEL: func.func @between
// CHECK: aicf_rt.call tanh(
// CHECK: aicf_rt.call cumsum(
// CHECK: aicf_rt.call mul(
func.func @between(%x: tensor<4x8xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4x8xf32> {aicf.name = "y"}) {
  %t = aicf_rt.call tanh(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %s = aicf_rt.call cumsum(%t) {axis = 1} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // expected-remark @+1 {{'mul' is not fused to 'tanh', whose result it reads: something between them reads a result of the first}}
  %y = aicf_rt.call mul(%t, %s) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

// Tests a reader that sees another shape.
// CHECK-LABEL: func.func @another_shape
// CHECK: aicf_rt.call tanh(
// CHECK: aicf_rt.call relu(
func.func @another_shape(%x: tensor<4x8xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<32xf32> {aicf.name = "y"}) {
  %t = aicf_rt.call tanh(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %v = aicf_rt.view %t[0] : tensor<4x8xf32> to tensor<32xf32>
  %y = aicf_rt.call relu(%v) : (tensor<32xf32>) -> tensor<32xf32>
  return %y : tensor<32xf32>
}

// -----

// Tests a call that names its kernel.
// CHECK-LABEL: func.func @named
// CHECK: aicf_rt.call tanh(
// CHECK: aicf_rt.call relu(
func.func @named(%x: tensor<4x8xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4x8xf32> {aicf.name = "y"}) {
  %t = aicf_rt.call tanh(%x) launch<kernel = "tanh_f32_v0"> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %y = aicf_rt.call relu(%t) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

// Tests a copy that turns a matrix: the kernel of copies moves tiles.
// CHECK-LABEL: func.func @turned
// CHECK: aicf_rt.call copy(
// CHECK: aicf_rt.call relu(
func.func @turned(%x: tensor<8x4xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4x8xf32> {aicf.name = "y"}) {
  %v = aicf_rt.view %x[0] : tensor<8x4xf32> to tensor<4x8xf32, #aicf_rt.strided<[1, 4]>>
  %c = aicf_rt.call copy(%v) : (tensor<4x8xf32, #aicf_rt.strided<[1, 4]>>) -> tensor<4x8xf32>
  %y = aicf_rt.call relu(%c) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

// Tests tensors of which one is padded: the kernel takes all of them so, or none.
// CHECK-LABEL: func.func @padded
// CHECK: aicf_rt.call relu(
// CHECK: aicf_rt.call cast(
func.func @padded(%x: tensor<3x5xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<3x5xf32> {aicf.name = "y"}) {
  %c = aicf_rt.call cast(%x) : (tensor<3x5xf32>) -> tensor<3x5xbf16, #aicf_rt.padded>
  // expected-remark @+1 {{the target has no kernel for them in one call}}
  %r = aicf_rt.call relu(%c) : (tensor<3x5xbf16, #aicf_rt.padded>) -> tensor<3x5xbf16, #aicf_rt.padded>
  // expected-remark @+1 {{the target has no kernel for them in one call; pointwise_graph_v0: some tensors are padded}}
  %y = aicf_rt.call cast(%r) : (tensor<3x5xbf16, #aicf_rt.padded>) -> tensor<3x5xf32>
  return %y : tensor<3x5xf32>
}

// -----

// Tests a seventeenth operand: the family takes 16.
// CHECK-LABEL: func.func @too_many
// CHECK: aicf_rt.call {
// CHECK: yield
// CHECK: aicf_rt.call add(
func.func @too_many(
    %a0: tensor<4xf32> {aicf.role = "input", aicf.name = "a0"},
    %a1: tensor<4xf32> {aicf.role = "input", aicf.name = "a1"},
    %a2: tensor<4xf32> {aicf.role = "input", aicf.name = "a2"},
    %a3: tensor<4xf32> {aicf.role = "input", aicf.name = "a3"},
    %a4: tensor<4xf32> {aicf.role = "input", aicf.name = "a4"},
    %a5: tensor<4xf32> {aicf.role = "input", aicf.name = "a5"},
    %a6: tensor<4xf32> {aicf.role = "input", aicf.name = "a6"},
    %a7: tensor<4xf32> {aicf.role = "input", aicf.name = "a7"},
    %a8: tensor<4xf32> {aicf.role = "input", aicf.name = "a8"},
    %a9: tensor<4xf32> {aicf.role = "input", aicf.name = "a9"},
    %a10: tensor<4xf32> {aicf.role = "input", aicf.name = "a10"},
    %a11: tensor<4xf32> {aicf.role = "input", aicf.name = "a11"},
    %a12: tensor<4xf32> {aicf.role = "input", aicf.name = "a12"},
    %a13: tensor<4xf32> {aicf.role = "input", aicf.name = "a13"},
    %a14: tensor<4xf32> {aicf.role = "input", aicf.name = "a14"},
    %a15: tensor<4xf32> {aicf.role = "input", aicf.name = "a15"},
    %a16: tensor<4xf32> {aicf.role = "input", aicf.name = "a16"})
    -> (tensor<4xf32> {aicf.name = "y"}) {
  %0 = aicf_rt.call add(%a0, %a1) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = aicf_rt.call add(%0, %a2) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = aicf_rt.call add(%1, %a3) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %3 = aicf_rt.call add(%2, %a4) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %4 = aicf_rt.call add(%3, %a5) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %5 = aicf_rt.call add(%4, %a6) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %6 = aicf_rt.call add(%5, %a7) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %7 = aicf_rt.call add(%6, %a8) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %8 = aicf_rt.call add(%7, %a9) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %9 = aicf_rt.call add(%8, %a10) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %10 = aicf_rt.call add(%9, %a11) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %11 = aicf_rt.call add(%10, %a12) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %12 = aicf_rt.call add(%11, %a13) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %13 = aicf_rt.call add(%12, %a14) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %14 = aicf_rt.call add(%13, %a15) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // expected-remark @+1 {{'add' is not fused to 'add, add, add, add, add, add, add, add, add, add, add, add, add, add, add', whose result it reads: one call would have too many primitives, operands or results, would repeat what is not reduced, or would read what it repeats in another way, too}}
  %15 = aicf_rt.call add(%14, %a16) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %15 : tensor<4xf32>
}
