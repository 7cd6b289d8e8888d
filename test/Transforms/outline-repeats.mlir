// RUN: aicf-opt %s --aicf-outline-repeats --split-input-file | FileCheck %s
// RUN: aicf-opt %s --lower-to-backend --split-input-file | FileCheck %s --check-prefix=PLAN

// What stands in front of a loop, its body, and what is left. The parameter is updated by the
// runs themselves; a constant is made again, and a value crosses as a state.
// CHECK-LABEL: func.func @f.part0(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32> {aicf.name = "x", aicf.role = "input"}
// CHECK-SAME: aicf.name = "f.cross0"
// CHECK-SAME: -> (tensor<4xf32> {aicf.updates = "f.cross0"}, tensor<4xf32> {aicf.updates = "f.repeat0.0"}, tensor<9x4xf32> {aicf.updates = "f.repeat0.1"}, tensor<i64> {aicf.updates = "f.repeat0.count"})
// CHECK-SAME: attributes {aicf.part_of = "f"}
// CHECK: %[[NONE:.*]] = aicf.constant dense<0.000000e+00> : tensor<9x4xf32>
// CHECK: %[[T:.*]] = aicf.tanh %[[X]]
// CHECK: %[[ZERO:.*]] = aicf.constant dense<0> : tensor<i64>
// CHECK: return %[[T]], %[[X]], %[[NONE]], %[[ZERO]]

// CHECK-LABEL: func.func @f.part1(
// CHECK-SAME: %[[COUNT:.*]]: tensor<i64> {aicf.name = "f.repeat0.count", aicf.role = "state", aicf.scratch}
// CHECK-SAME: {aicf.updates = "w"}, tensor<i64> {aicf.updates = "f.repeat0.count"})
// CHECK-SAME: attributes {aicf.part_of = "f", aicf.repeat = 9 : i64}
// CHECK: %[[HALF:.*]] = aicf.constant dense<5.000000e-01>
// CHECK: aicf.record
// CHECK: %[[NEXT:.*]] = aicf.step_inc %[[COUNT]]
// CHECK: return {{.*}}, %[[NEXT]]

// CHECK-LABEL: func.func @f(
// CHECK-SAME: aicf.name = "w"
// CHECK-SAME: -> (tensor<4xf32> {aicf.name = "y"}, tensor<9x4xf32> {aicf.name = "all"})
// CHECK: %[[HALF2:.*]] = aicf.constant dense<5.000000e-01>
// CHECK: return

// PLAN: aicf_rt.entry @f io
// PLAN-COUNT-1: alloc input "x"
// PLAN: aicf_rt.repeat 1 {
// PLAN: aicf_rt.repeat 9 {
// PLAN-NOT: aicf_rt.alloc
// PLAN: record(
// PLAN: step_inc(
// PLAN: aicf_rt.repeat 1 {
// PLAN-NOT: aicf_rt.repeat
// PLAN: aicf_rt.entry @two io
func.func @f(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"},
             %w: tensor<4xf32> {aicf.role = "param", aicf.name = "w", aicf.init = 0.5})
    -> (tensor<4xf32> {aicf.name = "y"}, tensor<9x4xf32> {aicf.name = "all"},
        tensor<4xf32> {aicf.updates = "w"}) {
  %none = aicf.constant dense<0.0> : tensor<9x4xf32>
  %half = aicf.constant dense<0.5> : tensor<4xf32>
  %t = aicf.tanh %x : tensor<4xf32>
  %h, %all, %v = aicf.repeat 9 %x, %none, %w
      : tensor<4xf32>, tensor<9x4xf32>, tensor<4xf32>
      -> tensor<4xf32>, tensor<9x4xf32>, tensor<4xf32> {
  ^bb0(%i: tensor<i64>, %old: tensor<4xf32>, %rows: tensor<9x4xf32>, %u: tensor<4xf32>):
    %a = aicf.add %old, %t : tensor<4xf32>, tensor<4xf32>
    %b = aicf.mul %a, %half : tensor<4xf32>, tensor<4xf32>
    %with = aicf.record %rows, %b, %i : tensor<9x4xf32>, tensor<4xf32>, tensor<i64>
    %u2 = aicf.add %u, %b : tensor<4xf32>, tensor<4xf32>
    aicf.next %b, %with, %u2 : tensor<4xf32>, tensor<9x4xf32>, tensor<4xf32>
  }
  %s = aicf.add %h, %t : tensor<4xf32>, tensor<4xf32>
  %y = aicf.mul %s, %half : tensor<4xf32>, tensor<4xf32>
  return %y, %all, %v : tensor<4xf32>, tensor<9x4xf32>, tensor<4xf32>
}

// -----

// Two loops: between them nothing is left but the start of the second one. Nobody counts.
// CHECK-LABEL: func.func @two.part0(
// CHECK: return %{{.*}} : tensor<4xf32>
// CHECK-LABEL: func.func @two.part1(
// CHECK-SAME: aicf.repeat = 7 : i64
// CHECK-LABEL: func.func @two.part2(
// CHECK-SAME: %[[A:.*]]: tensor<4xf32> {aicf.name = "two.repeat0.0", aicf.role = "state", aicf.scratch}, %
// CHECK: return %[[A]]
// CHECK-LABEL: func.func @two.part3(
// CHECK-SAME: aicf.repeat = 5 : i64
// CHECK-LABEL: func.func @two(
// CHECK-NOT: step_inc
func.func @two(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4xf32> {aicf.name = "y"}) {
  %a = aicf.repeat 7 %x : tensor<4xf32> -> tensor<4xf32> {
  ^bb0(%i: tensor<i64>, %h: tensor<4xf32>):
    %t = aicf.tanh %h : tensor<4xf32>
    aicf.next %t : tensor<4xf32>
  }
  %b = aicf.repeat 5 %a : tensor<4xf32> -> tensor<4xf32> {
  ^bb0(%i: tensor<i64>, %h: tensor<4xf32>):
    %t = aicf.exp %h : tensor<4xf32>
    aicf.next %t : tensor<4xf32>
  }
  return %b : tensor<4xf32>
}

// -----

// The old value of a state is read behind the loop: the runs have a copy.
// CHECK-LABEL: func.func @reads_old.part1(
// CHECK-SAME: {aicf.updates = "reads_old.repeat0.0"}
// CHECK-LABEL: func.func @reads_old(
// CHECK: return %{{.*}}, %{{.*}} : tensor<4xf32>, tensor<4xf32>
func.func @reads_old(%s: tensor<4xf32> {aicf.role = "state", aicf.name = "s"})
    -> (tensor<4xf32> {aicf.name = "y"}, tensor<4xf32> {aicf.updates = "s"}) {
  %a = aicf.repeat 7 %s : tensor<4xf32> -> tensor<4xf32> {
  ^bb0(%i: tensor<i64>, %h: tensor<4xf32>):
    %t = aicf.tanh %h : tensor<4xf32>
    aicf.next %t : tensor<4xf32>
  }
  %y = aicf.add %a, %s : tensor<4xf32>, tensor<4xf32>
  return %y, %a : tensor<4xf32>, tensor<4xf32>
}
