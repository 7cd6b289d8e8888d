// RUN: aicf-compile %s -o %t.plan && aicf-plan verify %t.plan
// RUN: aicf-translate --plan-to-aicf %t.plan -o %t.mlir && FileCheck %s < %t.mlir
// RUN: aicf-translate --aicf-to-plan %t.mlir -o %t.again && cmp %t.plan %t.again
// RUN: aicf-plan dump %t.plan | FileCheck %s --check-prefix=DUMP
// RUN: aicf-plan dump --json %t.plan | FileCheck %s --check-prefix=JSON
// RUN: sed 's/repeat 9/repeat 8/' %s > %t-8.mlir && aicf-compile %t-8.mlir -o %t-8.plan
// RUN: not aicf-plan diff %t.plan %t-8.plan | FileCheck %s --check-prefix=DIFF
// RUN: aicf-run %t.plan --steps 3 --check --input x=f32=1
// RUN: aicf-plan interpret %t.plan --input x=f32=1 | FileCheck %s --check-prefix=VALUE

// CHECK: aicf_rt.repeat 1 {
// CHECK: copy(%x)
// CHECK: aicf_rt.repeat 9 {
// CHECK-NOT: aicf_rt.alloc
// CHECK: pointwise
// CHECK: aicf_rt.repeat 1 {

// DUMP: part 1 of 3: calls 0..0, once
// DUMP: part 2 of 3: calls 1..1, 9 times
// DUMP: part 3 of 3: calls 2..2, once

// JSON: "parts": [
// JSON: "times": 9

// DIFF: parts 1 call once, 1 call 9 times, 1 call once -> 1 call once, 1 call 8 times, 1 call once

// 1 + 9 · 1
// VALUE: 10
func.func @f(%x: tensor<f32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<f32> {aicf.name = "y"}) {
  %y = aicf.repeat 9 %x : tensor<f32> -> tensor<f32> {
  ^bb0(%i: tensor<i64>, %h: tensor<f32>):
    %a = aicf.add %h, %x : tensor<f32>, tensor<f32>
    %b = aicf.abs %a : tensor<f32>
    aicf.next %b : tensor<f32>
  }
  return %y : tensor<f32>
}
