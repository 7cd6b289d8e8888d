// RUN: aicf-opt %s --aicf-set-target=target=cuda --aicf-rt-pad-tensors --split-input-file | FileCheck %s
// RUN: sed -n 's,^// STEP: ,,p' %s | not aicf-opt --aicf-rt-pad-tensors 2>&1 | FileCheck %s --check-prefix=FORM

// Tests an entry that is not lowered.
// STEP: func.func @f(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
// STEP:     -> (tensor<4xf32> {aicf.name = "y"}) {
// STEP:   %y = aicf.relu %x : tensor<4xf32>
// STEP:   return %y : tensor<4xf32>
// STEP: }
// FORM: is not an aicf_rt.call: run --aicf-lower-to-rt first

// Tests a product that a tile kernel runs.
// CHECK-LABEL: func.func @small
// CHECK-NOT: #aicf_rt.padded>
func.func @small(%x: tensor<33x17xf32> {aicf.role = "input", aicf.name = "x"}) {
  %w = aicf_rt.call cast(%x) : (tensor<33x17xf32>) -> tensor<33x17xbf16>
  %y = aicf_rt.call gemm(%w, %w) {transB = true} : (tensor<33x17xbf16>, tensor<33x17xbf16>) -> tensor<33x33xbf16>
  return
}

// -----

// Tests extents that are multiples, f32, rank 3, and what no product wants.
// CHECK-LABEL: func.func @nothing_to_pad
// CHECK-NOT: #aicf_rt.padded>
func.func @nothing_to_pad(%x: tensor<1024x768xf32> {aicf.role = "input", aicf.name = "x"},
                          %y: tensor<999x777xf32> {aicf.role = "input", aicf.name = "y"},
                          %z: tensor<9x111x777xf32> {aicf.role = "input", aicf.name = "z"}) {
  %0 = aicf_rt.call cast(%x) : (tensor<1024x768xf32>) -> tensor<1024x768xbf16>
  %1 = aicf_rt.call gemm(%0, %0) {transB = true} : (tensor<1024x768xbf16>, tensor<1024x768xbf16>) -> tensor<1024x1024xbf16>
  %2 = aicf_rt.call gemm(%y, %y) {transB = true} : (tensor<999x777xf32>, tensor<999x777xf32>) -> tensor<999x999xf32>
  %3 = aicf_rt.call cast(%y) : (tensor<999x777xf32>) -> tensor<999x777xbf16>
  %4 = aicf_rt.call relu(%3) : (tensor<999x777xbf16>) -> tensor<999x777xbf16>
  %5 = aicf_rt.call cast(%z) : (tensor<9x111x777xf32>) -> tensor<9x111x777xbf16>
  return
}

// -----

// Tests inputs, params, states that are not derived, and outputs.
// CHECK-LABEL: func.func @roles
// CHECK-NOT: #aicf_rt.padded>
func.func @roles(%x: tensor<999x777xbf16> {aicf.role = "input", aicf.name = "x"},
                 %w: tensor<777x777xbf16> {aicf.role = "param", aicf.name = "w"},
                 %s: tensor<777x777xbf16> {aicf.role = "state", aicf.name = "s"})
    -> (tensor<999x777xbf16> {aicf.name = "y"}, tensor<777x777xbf16> {aicf.updates = "s"}) {
  %y = aicf_rt.call gemm(%x, %w) : (tensor<999x777xbf16>, tensor<777x777xbf16>) -> tensor<999x777xbf16>
  %n = aicf_rt.call gemm(%s, %w) : (tensor<777x777xbf16>, tensor<777x777xbf16>) -> tensor<777x777xbf16>
  return %y, %n : tensor<999x777xbf16>, tensor<777x777xbf16>
}

// -----

// Tests a reader without a kernel for it: layer_norm reads what the product
// made, so that stays dense; the product's operands do not. And a call that
// names a kernel, which does not take it.
// CHECK-LABEL: func.func @readers
func.func @readers(%x: tensor<1000x777xf32> {aicf.role = "input", aicf.name = "x"},
                   %g: tensor<1000xbf16> {aicf.role = "input", aicf.name = "g"}) {
  // CHECK: cast({{.*}}) -> tensor<1000x777xbf16, #aicf_rt.padded>
  %0 = aicf_rt.call cast(%x) : (tensor<1000x777xf32>) -> tensor<1000x777xbf16>
  // CHECK: gemm({{.*}}) -> tensor<1000x1000xbf16>
  %1 = aicf_rt.call gemm(%0, %0) {transB = true} : (tensor<1000x777xbf16>, tensor<1000x777xbf16>) -> tensor<1000x1000xbf16>
  %2, %m, %r = aicf_rt.call layer_norm(%1, %g, %g) : (tensor<1000x1000xbf16>, tensor<1000xbf16>, tensor<1000xbf16>) -> (tensor<1000x1000xbf16>, tensor<1000xbf16>, tensor<1000xbf16>)
  // CHECK: cast({{.*}}) -> tensor<1000x777xbf16>
  %3 = aicf_rt.call cast(%x) : (tensor<1000x777xf32>) -> tensor<1000x777xbf16>
  // CHECK: gemm({{.*}}) {transB = true} launch
  %4 = aicf_rt.call gemm(%3, %3) {transB = true} launch<kernel = "gemm_bf16_tile_v0">
      : (tensor<1000x777xbf16>, tensor<1000x777xbf16>) -> tensor<1000x1000xbf16>
  return
}

// -----

// Tests a state that another entry reads by a call without a kernel for it.
// CHECK-LABEL: func.func @train
// CHECK-SAME: %arg1: tensor<560x777xbf16> {
func.func @train(%w: tensor<560x777xf32> {aicf.role = "param", aicf.name = "w"},
                 %w16: tensor<560x777xbf16> {aicf.role = "state", aicf.name = "w16", aicf.derived_from = "w"})
    -> (tensor<560x777xbf16> {aicf.updates = "w16"}) {
  %y = aicf_rt.call gemm(%w16, %w16) {transB = true} : (tensor<560x777xbf16>, tensor<560x777xbf16>) -> tensor<560x560xf32>
  // CHECK: cast({{.*}}) -> tensor<560x777xbf16>
  %new = aicf_rt.call cast(%w) : (tensor<560x777xf32>) -> tensor<560x777xbf16>
  return %new : tensor<560x777xbf16>
}
// CHECK-LABEL: func.func @other
// CHECK-SAME: %arg1: tensor<560x777xbf16> {
func.func @other(%w: tensor<560x777xf32> {aicf.role = "param", aicf.name = "w"},
                 %w16: tensor<560x777xbf16> {aicf.role = "state", aicf.name = "w16", aicf.derived_from = "w"}) {
  %d = aicf_rt.call mse_grad(%w16, %w16) : (tensor<560x777xbf16>, tensor<560x777xbf16>) -> tensor<560x777xbf16>
  return
}

// -----

// Tests products that gain nothing: 999 rows that the result has dense, where a
// bias would be added to rows that are pads; 999 columns that an output has.
// CHECK-LABEL: func.func @no_gain
// CHECK-NOT: #aicf_rt.padded>
func.func @no_gain(%x: tensor<999x777xf32> {aicf.role = "input", aicf.name = "x"},
                   %b: tensor<999xf32> {aicf.role = "input", aicf.name = "b"})
    -> (tensor<999x999xbf16> {aicf.name = "y"}) {
  %0 = aicf_rt.call cast(%x) : (tensor<999x777xf32>) -> tensor<999x777xbf16>
  %1 = aicf_rt.call cast(%b) : (tensor<999xf32>) -> tensor<999xbf16>
  %2 = aicf_rt.call gemm(%0, %0) {transB = true} : (tensor<999x777xbf16>, tensor<999x777xbf16>) -> tensor<999x999xbf16>
  %3 = aicf_rt.call bias_add(%2, %1) : (tensor<999x999xbf16>, tensor<999xbf16>) -> tensor<999x999xbf16>
  %4 = aicf_rt.call gemm(%0, %0) {transB = true} : (tensor<999x777xbf16>, tensor<999x777xbf16>) -> tensor<999x999xbf16>
  return %4 : tensor<999x999xbf16>
}

// -----

// Tests a state whose update is an output too: a copy will stand in between.
// CHECK-LABEL: func.func @returned_twice
// CHECK-NOT: #aicf_rt.padded>
func.func @returned_twice(%w: tensor<560x777xf32> {aicf.role = "param", aicf.name = "w"},
                          %w16: tensor<560x777xbf16> {aicf.role = "state", aicf.name = "w16", aicf.derived_from = "w"})
    -> (tensor<560x777xbf16> {aicf.updates = "w16"}, tensor<560x777xbf16> {aicf.name = "out"}) {
  %y = aicf_rt.call gemm(%w16, %w16) {transB = true} : (tensor<560x777xbf16>, tensor<560x777xbf16>) -> tensor<560x560xf32>
  %new = aicf_rt.call cast(%w) : (tensor<560x777xf32>) -> tensor<560x777xbf16>
  return %new, %new : tensor<560x777xbf16>, tensor<560x777xbf16>
}
