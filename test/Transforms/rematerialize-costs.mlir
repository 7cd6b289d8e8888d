// RUN: aicf-opt %s --aicf-rematerialize=rate=2 --split-input-file | FileCheck %s
// RUN: aicf-opt %s --aicf-rematerialize=rate=1.99 --split-input-file | FileCheck %s --check-prefix=FEW
// RUN: sed 's/call_bytes = 0/call_bytes = 1/' %s | aicf-opt --aicf-rematerialize=rate=2 --split-input-file | FileCheck %s --check-prefix=FEW
// RUN: aicf-opt %s --aicf-rematerialize=rate=4.4 --split-input-file | FileCheck %s --check-prefix=MANY
// RUN: aicf-opt %s --aicf-rematerialize --split-input-file | FileCheck %s --check-prefix=FREE

// A unary op moves two bytes for each byte of its result. %g is larger than %x, which
// is an argument.
// CHECK-LABEL: @unary
// CHECK: aicf.exp
// CHECK-NEXT: %[[A:.*]] = aicf.gelu %arg0
// CHECK-NEXT: aicf.mul %arg1, %[[A]]
// FEW-LABEL: @unary
// FEW: aicf.save
// FREE-LABEL: @unary
// FREE: aicf.save
func.func @unary(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"},
                 %d: tensor<4xf32> {aicf.role = "input", aicf.name = "d"})
    -> (tensor<4xf32> {aicf.name = "y"}, tensor<4xf32> {aicf.name = "dx"})
    attributes {aicf.target = #aicf.target<cpu, call_bytes = 0>} {
  %g = aicf.gelu %x : tensor<4xf32>
  %s = aicf.save %g : tensor<4xf32>
  %y = aicf.exp %g : tensor<4xf32>
  %dx = aicf.mul %d, %s : tensor<4xf32>, tensor<4xf32>
  return %y, %dx : tensor<4xf32>, tensor<4xf32>
}

// -----

// Of two values one is computed from the other, which stays. The larger one goes:
// the cast is f32, and its source f16. It moves 6 bytes for each element, and spares 4.
// CHECK-LABEL: @larger
// CHECK: %[[H:.*]] = aicf.linear
// CHECK-NEXT: %[[S:.*]] = aicf.save %[[H]] : tensor<4x4xf16>
// CHECK: %[[A:.*]] = aicf.cast %[[S]] to f32
// CHECK-NEXT: aicf.mul %arg2, %[[A]]
// CHECK-NEXT: aicf.mul %arg3, %[[S]]
// FREE-LABEL: @larger
// FREE-COUNT-2: aicf.save
func.func @larger(%x: tensor<4x4xf16> {aicf.role = "input", aicf.name = "x"},
                  %W: tensor<4x4xf16> {aicf.role = "param", aicf.name = "W"},
                  %d: tensor<4x4xf32> {aicf.role = "input", aicf.name = "d"},
                  %e: tensor<4x4xf16> {aicf.role = "input", aicf.name = "e"})
    -> (tensor<4x4xf32> {aicf.name = "y"}, tensor<4x4xf32> {aicf.name = "a"},
        tensor<4x4xf16> {aicf.name = "b"})
    attributes {aicf.target = #aicf.target<cpu, call_bytes = 0>} {
  %h = aicf.linear %x, %W : tensor<4x4xf16>, tensor<4x4xf16>
  %hs = aicf.save %h : tensor<4x4xf16>
  %c = aicf.cast %h to f32 : tensor<4x4xf16>
  %cs = aicf.save %c : tensor<4x4xf32>
  %y = aicf.exp %c : tensor<4x4xf32>
  %a = aicf.mul %d, %cs : tensor<4x4xf32>, tensor<4x4xf32>
  %b = aicf.mul %e, %hs : tensor<4x4xf16>, tensor<4x4xf16>
  return %y, %a, %b : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf16>
}

// -----

// A smaller value is kept in place of a larger one, even if nothing else reads it;
// a view moves nothing. A product is never computed again. 26 bytes move for each
// element, and 8 - 2 are spared.
// CHECK-LABEL: @smaller
// CHECK: aicf.exp
// CHECK-NEXT: aicf.save
// MANY-LABEL: @smaller
// MANY: %[[H:.*]] = aicf.linear
// MANY-NEXT: %[[S:.*]] = aicf.save %[[H]] : tensor<4x4xf16>
// MANY-NOT: aicf.save
// MANY: %[[A:.*]] = aicf.cast %[[S]] to f64
// MANY-NEXT: %[[V:.*]] = aicf.reshape %[[A]]
// MANY-NEXT: %[[B:.*]] = aicf.exp %[[V]]
// MANY-NEXT: aicf.mul %arg2, %[[B]]
func.func @smaller(%x: tensor<4x4xf16> {aicf.role = "input", aicf.name = "x"},
                   %W: tensor<4x4xf16> {aicf.role = "param", aicf.name = "W"},
                   %d: tensor<16xf64> {aicf.role = "input", aicf.name = "d"})
    -> (tensor<16xf64> {aicf.name = "y"}, tensor<16xf64> {aicf.name = "a"})
    attributes {aicf.target = #aicf.target<cpu, call_bytes = 0>} {
  %h = aicf.linear %x, %W : tensor<4x4xf16>, tensor<4x4xf16>
  %c = aicf.cast %h to f64 : tensor<4x4xf16>
  %v = aicf.reshape %c to [16] : tensor<4x4xf64>
  %e = aicf.exp %v : tensor<16xf64>
  %es = aicf.save %e : tensor<16xf64>
  %y = aicf.exp %e : tensor<16xf64>
  %a = aicf.mul %d, %es : tensor<16xf64>, tensor<16xf64>
  return %y, %a : tensor<16xf64>, tensor<16xf64>
}

// -----

// What is returned is kept anyhow, and so is what a save is returned of.
// CHECK-LABEL: @returned
// CHECK-COUNT-2: aicf.save
func.func @returned(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"},
                    %d: tensor<4xf32> {aicf.role = "input", aicf.name = "d"})
    -> (tensor<4xf32> {aicf.name = "y"}, tensor<4xf32> {aicf.name = "s"},
        tensor<4xf32> {aicf.name = "a"}, tensor<4xf32> {aicf.name = "b"})
    attributes {aicf.target = #aicf.target<cpu, call_bytes = 0>} {
  %y = aicf.gelu %x : tensor<4xf32>
  %ys = aicf.save %y : tensor<4xf32>
  %t = aicf.tanh %x : tensor<4xf32>
  %ts = aicf.save %t : tensor<4xf32>
  %a = aicf.mul %d, %ys : tensor<4xf32>, tensor<4xf32>
  %b = aicf.mul %d, %ts : tensor<4xf32>, tensor<4xf32>
  return %y, %ts, %a, %b : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// A value that another one is computed from stays, though it could be computed again.
// CHECK-LABEL: @source
// CHECK: %[[X:.*]] = aicf.exp %arg0
// CHECK-NEXT: %[[S:.*]] = aicf.save %[[X]]
// CHECK-NOT: aicf.save
// CHECK: aicf.mul %arg1, %[[S]]
// CHECK-NEXT: %[[A:.*]] = aicf.cast %[[S]] to f64
// CHECK-NEXT: aicf.mul %arg2, %[[A]]
func.func @source(%z: tensor<4xf32> {aicf.role = "input", aicf.name = "z"},
                  %d: tensor<4xf32> {aicf.role = "input", aicf.name = "d"},
                  %e: tensor<4xf64> {aicf.role = "input", aicf.name = "e"})
    -> (tensor<4xf64> {aicf.name = "y"}, tensor<4xf32> {aicf.name = "a"},
        tensor<4xf64> {aicf.name = "b"})
    attributes {aicf.target = #aicf.target<cpu, call_bytes = 0>} {
  %x = aicf.exp %z : tensor<4xf32>
  %xs = aicf.save %x : tensor<4xf32>
  %c = aicf.cast %x to f64 : tensor<4xf32>
  %cs = aicf.save %c : tensor<4xf64>
  %y = aicf.exp %c : tensor<4xf64>
  %a = aicf.mul %d, %xs : tensor<4xf32>, tensor<4xf32>
  %b = aicf.mul %e, %cs : tensor<4xf64>, tensor<4xf64>
  return %y, %a, %b : tensor<4xf64>, tensor<4xf32>, tensor<4xf64>
}
