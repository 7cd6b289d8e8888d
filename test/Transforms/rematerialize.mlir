// RUN: aicf-opt %s --aicf-rematerialize --split-input-file | FileCheck %s

// What marked ops compute for the backward pass is computed again, once, in front
// of its first reader, from what is kept.
// CHECK-LABEL: @marked
func.func @marked(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"},
                  %d: tensor<4xf32> {aicf.role = "input", aicf.name = "d"})
    -> (tensor<4xf32> {aicf.name = "y"}, tensor<4xf32> {aicf.name = "a"},
        tensor<4xf32> {aicf.name = "b"}, tensor<4xf32> {aicf.name = "c"}) {
  // CHECK-NEXT: %[[E:.*]] = aicf.exp %arg0 : tensor<4xf32>
  // CHECK-NEXT: %[[KEPT:.*]] = aicf.save %[[E]]
  // CHECK-NEXT: %[[G:.*]] = aicf.gelu %[[E]] : tensor<4xf32>
  // CHECK-NEXT: %[[T:.*]] = aicf.tanh %[[G]] : tensor<4xf32>
  // CHECK-NEXT: %[[Y:.*]] = aicf.add %[[T]], %[[E]]
  // CHECK-NEXT: %[[G2:.*]] = aicf.gelu %[[KEPT]] : tensor<4xf32>
  // CHECK-NEXT: %[[T2:.*]] = aicf.tanh %[[G2]] : tensor<4xf32>
  // CHECK-NEXT: %[[A:.*]] = aicf.mul %arg1, %[[T2]]
  // CHECK-NEXT: %[[B:.*]] = aicf.mul %[[A]], %[[G2]]
  // CHECK-NEXT: %[[C:.*]] = aicf.mul %[[B]], %[[T2]]
  // CHECK-NEXT: return %[[Y]], %[[A]], %[[B]], %[[C]]
  %e = aicf.exp %x : tensor<4xf32>
  %g = aicf.gelu %e {aicf.recompute} : tensor<4xf32>
  %gs = aicf.save %g : tensor<4xf32>
  %t = aicf.tanh %g {aicf.recompute} : tensor<4xf32>
  %ts = aicf.save %t : tensor<4xf32>
  %y = aicf.add %t, %e : tensor<4xf32>, tensor<4xf32>
  %a = aicf.mul %d, %ts : tensor<4xf32>, tensor<4xf32>
  %b = aicf.mul %a, %gs : tensor<4xf32>, tensor<4xf32>
  %c = aicf.mul %b, %ts : tensor<4xf32>, tensor<4xf32>
  return %y, %a, %b, %c : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// What leaves a block is kept: another block reads %y, or a view of it; %z is
// returned. The products of a block are computed again, too.
// CHECK-LABEL: @blocks
func.func @blocks(%x: tensor<4x4xf32> {aicf.role = "input", aicf.name = "x"},
                  %W: tensor<4x4xf32> {aicf.role = "param", aicf.name = "W"},
                  %d: tensor<4x4xf32> {aicf.role = "input", aicf.name = "d"})
    -> (tensor<4x4xf32> {aicf.name = "z"}, tensor<4x4xf32> {aicf.name = "a"}) {
  // CHECK-NEXT: %[[H:.*]] = aicf.linear %arg0, %arg1 :
  // CHECK-NEXT: %[[Y:.*]] = aicf.gelu %[[H]] :
  // CHECK-NEXT: %[[YS:.*]] = aicf.save %[[Y]]
  // CHECK-NEXT: %[[V:.*]] = aicf.transpose %[[Y]]
  // CHECK-NEXT: %[[H2:.*]] = aicf.tanh %[[V]]
  // CHECK-NEXT: %[[Z:.*]] = aicf.exp %[[H2]]
  // CHECK-NEXT: %[[ZS:.*]] = aicf.save %[[Z]]
  // CHECK-NEXT: %[[VA:.*]] = aicf.transpose %[[YS]]
  // CHECK-NEXT: %[[H2A:.*]] = aicf.tanh %[[VA]]
  // CHECK-NEXT: %[[A:.*]] = aicf.mul %[[H2A]], %[[ZS]]
  // CHECK-NEXT: %[[B:.*]] = aicf.mul %[[A]], %[[YS]]
  // CHECK-NEXT: %[[HA:.*]] = aicf.linear %arg0, %arg1
  // CHECK-NEXT: %[[C:.*]] = aicf.mul %[[B]], %[[HA]]
  // CHECK-NEXT: return %[[Z]], %[[C]]
  %h = aicf.linear %x, %W {aicf.recompute = "one"} : tensor<4x4xf32>, tensor<4x4xf32>
  %hs = aicf.save %h : tensor<4x4xf32>
  %y = aicf.gelu %h {aicf.recompute = "one"} : tensor<4x4xf32>
  %ys = aicf.save %y : tensor<4x4xf32>
  %v = aicf.transpose %y [1, 0] {aicf.recompute = "one"} : tensor<4x4xf32>
  %h2 = aicf.tanh %v {aicf.recompute = "two"} : tensor<4x4xf32>
  %h2s = aicf.save %h2 : tensor<4x4xf32>
  %z = aicf.exp %h2 {aicf.recompute = "two"} : tensor<4x4xf32>
  %zs = aicf.save %z : tensor<4x4xf32>
  %a = aicf.mul %h2s, %zs : tensor<4x4xf32>, tensor<4x4xf32>
  %b = aicf.mul %a, %ys : tensor<4x4xf32>, tensor<4x4xf32>
  %c = aicf.mul %b, %hs : tensor<4x4xf32>, tensor<4x4xf32>
  return %z, %c : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// Marks go without saves, too. Other ops stay as they are, and so does what is no
// entry.
// CHECK-LABEL: @forward
// CHECK-NOT: aicf.recompute
// CHECK-LABEL: @private
// CHECK: aicf.recompute
func.func @forward(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4xf32> {aicf.name = "y"}) {
  %y = aicf.gelu %x {aicf.recompute} : tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func private @private(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = aicf.gelu %x {aicf.recompute} : tensor<4xf32>
  return %y : tensor<4xf32>
}
