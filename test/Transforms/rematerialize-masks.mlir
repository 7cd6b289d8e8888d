// RUN: aicf-opt %s --aicf-rematerialize --split-input-file | FileCheck %s
// RUN: aicf-opt %s --aicf-rematerialize=rate=1 --split-input-file | FileCheck %s --check-prefix=MASK

// relu_bwd may read both sides of relu. The other side is kept for %b and %d.
// CHECK-LABEL: @sides
// CHECK: %[[H:.*]] = aicf.linear
// CHECK: %[[R:.*]] = aicf.leaky_relu %[[H]]
// CHECK-NEXT: %[[RS:.*]] = aicf.save %[[R]]
// CHECK-NOT: aicf.save
// CHECK: aicf.relu_bwd %arg2, %arg0
// CHECK: aicf.leaky_relu_bwd %arg2, %[[RS]] {slope = 1.000000e-01 : f64}
// CHECK: aicf.mul %arg2, %[[RS]]
func.func @sides(%x: tensor<4x4xf32> {aicf.role = "input", aicf.name = "x"},
                 %W: tensor<4x4xf32> {aicf.role = "param", aicf.name = "W"},
                 %d: tensor<4x4xf32> {aicf.role = "input", aicf.name = "d"})
    -> (tensor<4x4xf32> {aicf.name = "y"}, tensor<4x4xf32> {aicf.name = "a"},
        tensor<4x4xf32> {aicf.name = "b"}, tensor<4x4xf32> {aicf.name = "c"})
    attributes {aicf.target = #aicf.target<cpu, call_bytes = 0>} {
  %q = aicf.relu %x : tensor<4x4xf32>
  %qs = aicf.save %q : tensor<4x4xf32>
  %h = aicf.linear %q, %W : tensor<4x4xf32>, tensor<4x4xf32>
  %hs = aicf.save %h : tensor<4x4xf32>
  %r = aicf.leaky_relu %h {slope = 0.1} : tensor<4x4xf32>
  %rs = aicf.save %r : tensor<4x4xf32>
  %y = aicf.exp %r : tensor<4x4xf32>
  %a = aicf.relu_bwd %d, %qs : tensor<4x4xf32>, tensor<4x4xf32>
  %b = aicf.leaky_relu_bwd %d, %hs {slope = 0.1} : tensor<4x4xf32>, tensor<4x4xf32>
  %c = aicf.mul %d, %rs : tensor<4x4xf32>, tensor<4x4xf32>
  return %y, %a, %b, %c : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// The two sides do not compare alike: another slope, one below 0, a bound that f16
// does not hold.
// CHECK-LABEL: @differ
// CHECK-COUNT-6: aicf.save
func.func @differ(%W: tensor<4x4xf16> {aicf.role = "param", aicf.name = "W"},
                  %d: tensor<4x4xf16> {aicf.role = "input", aicf.name = "d"})
    -> (tensor<4x4xf16> {aicf.name = "a"}, tensor<4x4xf16> {aicf.name = "b"},
        tensor<4x4xf16> {aicf.name = "c"})
    attributes {aicf.target = #aicf.target<cpu, call_bytes = 0>} {
  %h = aicf.linear %d, %W : tensor<4x4xf16>, tensor<4x4xf16>
  %hs = aicf.save %h : tensor<4x4xf16>
  %r = aicf.leaky_relu %h {slope = 0.1} : tensor<4x4xf16>
  %rs = aicf.save %r : tensor<4x4xf16>
  %k = aicf.linear %r, %W : tensor<4x4xf16>, tensor<4x4xf16>
  %ks = aicf.save %k : tensor<4x4xf16>
  %s = aicf.leaky_relu %k {slope = -0.1} : tensor<4x4xf16>
  %ss = aicf.save %s : tensor<4x4xf16>
  %m = aicf.linear %s, %W : tensor<4x4xf16>, tensor<4x4xf16>
  %ms = aicf.save %m : tensor<4x4xf16>
  %t = aicf.hardtanh %m {min = 0.0, max = 0.1} : tensor<4x4xf16>
  %ts = aicf.save %t : tensor<4x4xf16>
  %a = aicf.leaky_relu_bwd %rs, %hs {slope = 0.2} : tensor<4x4xf16>, tensor<4x4xf16>
  %b = aicf.leaky_relu_bwd %ss, %ks {slope = -0.1} : tensor<4x4xf16>, tensor<4x4xf16>
  %c = aicf.hardtanh_bwd %ts, %ms {min = 0.0, max = 0.1} : tensor<4x4xf16>, tensor<4x4xf16>
  return %a, %b, %c : tensor<4x4xf16>, tensor<4x4xf16>, tensor<4x4xf16>
}

// -----

// Nothing but a derivative reads %q: a mask has a quarter of its bytes. It moves
// 5 bytes for each element, less 3 that are not read; 3 are spared.
// CHECK-LABEL: @mask
// CHECK: aicf.save %{{.*}} : tensor<4x4xf32>
// MASK-LABEL: @mask
// MASK: %[[Q:.*]] = aicf.relu
// MASK-NEXT: %[[M:.*]] = aicf.greater_scalar %[[Q]] {value = 0.000000e+00 : f64}
// MASK-NEXT: %[[S:.*]] = aicf.save %[[M]] : tensor<4x4xi1>
// MASK-NOT: aicf.save
// MASK: %[[A:.*]] = aicf.masked_fill %arg2, %[[S]] {inverted = true, value = 0.000000e+00 : f64}
// MASK: return %{{.*}}, %[[A]]
func.func @mask(%x: tensor<4x4xf32> {aicf.role = "input", aicf.name = "x"},
                %W: tensor<4x4xf32> {aicf.role = "param", aicf.name = "W"},
                %d: tensor<4x4xf32> {aicf.role = "input", aicf.name = "d"})
    -> (tensor<4x4xf32> {aicf.name = "y"}, tensor<4x4xf32> {aicf.name = "a"})
    attributes {aicf.target = #aicf.target<cpu, call_bytes = 0>} {
  %h = aicf.linear %x, %W : tensor<4x4xf32>, tensor<4x4xf32>
  %q = aicf.relu %h : tensor<4x4xf32>
  %qs = aicf.save %q : tensor<4x4xf32>
  %y = aicf.exp %q : tensor<4x4xf32>
  %a = aicf.relu_bwd %d, %qs : tensor<4x4xf32>, tensor<4x4xf32>
  return %y, %a : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// A derivative may read both sides for dy, too: it does not compare that operand. One
// that multiplies where it does not pass dy on has no mask.
// MASK-LABEL: @no_mask
// MASK-COUNT-2: aicf.save %{{.*}} : tensor<4x4xf32>
func.func @no_mask(%x: tensor<4x4xf32> {aicf.role = "input", aicf.name = "x"},
                   %W: tensor<4x4xf32> {aicf.role = "param", aicf.name = "W"},
                   %d: tensor<4x4xf32> {aicf.role = "input", aicf.name = "d"})
    -> (tensor<4x4xf32> {aicf.name = "y"}, tensor<4x4xf32> {aicf.name = "a"},
        tensor<4x4xf32> {aicf.name = "b"})
    attributes {aicf.target = #aicf.target<cpu, call_bytes = 0>} {
  %h = aicf.linear %x, %W : tensor<4x4xf32>, tensor<4x4xf32>
  %hs = aicf.save %h : tensor<4x4xf32>
  %r = aicf.leaky_relu %h {slope = 0.1} : tensor<4x4xf32>
  %k = aicf.linear %r, %W : tensor<4x4xf32>, tensor<4x4xf32>
  %ks = aicf.save %k : tensor<4x4xf32>
  %y = aicf.exp %k : tensor<4x4xf32>
  %a = aicf.leaky_relu_bwd %d, %hs {slope = 0.1} : tensor<4x4xf32>, tensor<4x4xf32>
  %b = aicf.relu_bwd %ks, %a : tensor<4x4xf32>, tensor<4x4xf32>
  return %y, %a, %b : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// What makes the other side stands behind the reader, and reads the value, too.
// CHECK-LABEL: @late
// CHECK: %[[H:.*]] = aicf.linear
// CHECK: %[[S:.*]] = aicf.save %[[H]]
// CHECK: aicf.relu_bwd %arg1, %[[S]]
func.func @late(%W: tensor<4x4xf32> {aicf.role = "param", aicf.name = "W"},
                %d: tensor<4x4xf32> {aicf.role = "input", aicf.name = "d"})
    -> (tensor<4x4xf32> {aicf.name = "a"}, tensor<4x4xf32> {aicf.name = "r"})
    attributes {aicf.target = #aicf.target<cpu, call_bytes = 0>} {
  %h = aicf.linear %d, %W : tensor<4x4xf32>, tensor<4x4xf32>
  %s = aicf.save %h : tensor<4x4xf32>
  %a = aicf.relu_bwd %d, %s : tensor<4x4xf32>, tensor<4x4xf32>
  %r = aicf.relu %h : tensor<4x4xf32>
  return %a, %r : tensor<4x4xf32>, tensor<4x4xf32>
}
