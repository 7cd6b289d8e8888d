// RUN: aicf-opt %s --aicf-rt-annotate-inplace --split-input-file | FileCheck %s

// Tests that a call takes over whole temps alone: what it sees of a part of one, it
// may not write there.
// CHECK-LABEL: func.func @part
func.func @part(%x: tensor<4x6xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<f32> {aicf.name = "y"}) {
  %t = aicf_rt.call tanh(%x) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %v = aicf_rt.view %t[6] : tensor<4x6xf32> to tensor<2x6xf32>
  // CHECK: aicf_rt.call relu(%{{[^{]*}}) :
  %r = aicf_rt.call relu(%v) : (tensor<2x6xf32>) -> tensor<2x6xf32>
  %y = aicf_rt.call mean(%r) : (tensor<2x6xf32>) -> tensor<f32>
  return %y : tensor<f32>
}

// -----

// Tests that a view which is read later keeps its base from being overwritten.
// CHECK-LABEL: func.func @seen_later
func.func @seen_later(%x: tensor<4x6xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<f32> {aicf.name = "y"}, tensor<6x4xf32> {aicf.name = "z"}) {
  %t = aicf_rt.call tanh(%x) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %v = aicf_rt.view %t[0] : tensor<4x6xf32> to tensor<6x4xf32, #aicf_rt.strided<[1, 6]>>
  // CHECK: aicf_rt.call relu(%{{[^{]*}}) :
  %r = aicf_rt.call relu(%t) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %y = aicf_rt.call mean(%r) : (tensor<4x6xf32>) -> tensor<f32>
  %z = aicf_rt.call copy(%v) : (tensor<6x4xf32, #aicf_rt.strided<[1, 6]>>) -> tensor<6x4xf32>
  return %y, %z : tensor<f32>, tensor<6x4xf32>
}

// -----

// Tests that each result of a call takes over an operand of its own.
// CHECK-LABEL: func.func @several
// CHECK: adam_step({{.*}} inplace [0, 2, 3]
func.func @several(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"},
                   %bc: tensor<2xf32> {aicf.role = "input", aicf.name = "bc"},
                   %lr: tensor<f32> {aicf.role = "hyper", aicf.name = "lr"})
    -> (tensor<f32> {aicf.name = "a"}) {
  %p = aicf_rt.call tanh(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %m = aicf_rt.call sigmoid(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %v = aicf_rt.call relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %q, %n, %w = aicf_rt.call adam_step(%p, %x, %m, %v, %bc, %lr) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<2xf32>, tensor<f32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  %s = aicf_rt.call add(%q, %n) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %t = aicf_rt.call add(%s, %w) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %a = aicf_rt.call mean(%t) : (tensor<4xf32>) -> tensor<f32>
  return %a : tensor<f32>
}

// -----

// Tests a call that reads a temp and the same temp turned round: it would
// overwrite elements that it reads later.
// CHECK-LABEL: func.func @turned
func.func @turned(%x: tensor<4x4xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<f32> {aicf.name = "y"}) {
  %t = aicf_rt.call tanh(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %v = aicf_rt.view %t[0] : tensor<4x4xf32> to tensor<4x4xf32, #aicf_rt.strided<[1, 4]>>
  // CHECK: aicf_rt.call add(%{{[^{]*}}) :
  %r = aicf_rt.call add(%t, %v) : (tensor<4x4xf32>, tensor<4x4xf32, #aicf_rt.strided<[1, 4]>>) -> tensor<4x4xf32>
  %y = aicf_rt.call mean(%r) : (tensor<4x4xf32>) -> tensor<f32>
  return %y : tensor<f32>
}

// -----

// Tests that a view which has all of a temp in another shape stands for it, and one of
// the first rows does not.
// CHECK-LABEL: func.func @shapes
func.func @shapes(%x: tensor<4x6xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<f32> {aicf.name = "y"}, tensor<f32> {aicf.name = "z"}) {
  %t = aicf_rt.call tanh(%x) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %v = aicf_rt.view %t[0] : tensor<4x6xf32> to tensor<24xf32>
  // CHECK: aicf_rt.call relu({{.*}}) inplace [0]
  %r = aicf_rt.call relu(%v) : (tensor<24xf32>) -> tensor<24xf32>
  %y = aicf_rt.call mean(%r) : (tensor<24xf32>) -> tensor<f32>
  %u = aicf_rt.call tanh(%x) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %w = aicf_rt.view %u[0] : tensor<4x6xf32> to tensor<2x6xf32>
  // CHECK: aicf_rt.call relu(%{{[^{]*}}) :
  %s = aicf_rt.call relu(%w) : (tensor<2x6xf32>) -> tensor<2x6xf32>
  %z = aicf_rt.call mean(%s) : (tensor<2x6xf32>) -> tensor<f32>
  return %y, %z : tensor<f32>, tensor<f32>
}
