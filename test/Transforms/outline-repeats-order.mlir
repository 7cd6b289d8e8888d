// RUN: aicf-opt %s --aicf-outline-repeats --aicf-verify-entries | FileCheck %s
// RUN: aicf-opt %s --lower-to-backend | FileCheck %s --check-prefix=PLAN
// RUN: aicf-opt %s --lower-to-backend=keep=all | FileCheck %s --check-prefix=KEEP
// RUN: sed 's/repeat 9/repeat 90000000/' %s > %t.mlir
// RUN: not aicf-opt %t.mlir --lower-to-backend 2>&1 | FileCheck %s --check-prefix=MANY

// The parts read %h0 first; the plan has the inputs in the order of the entry. Labels go on
// from part to part. A derived state brings what it is a cast of.
// CHECK-LABEL: func.func @f.part1(
// CHECK-SAME: aicf.name = "w"
// CHECK-SAME: aicf.derived_from = "w"

// PLAN: alloc input "v"
// PLAN: alloc input "h0"
// PLAN: aicf_rt.repeat 1 {
// PLAN: copy(%h0) {{.*}} vids [[[FIRST:[0-9]+]]]
// PLAN: aicf_rt.repeat 9 {
// PLAN-NOT: vids [[[FIRST]]]
// PLAN: aicf_rt.repeat 1 {

// KEEP-DAG: alloc output "v{{[0-9]+}}"
// KEEP-DAG: alloc output "f.part1.v{{[0-9]+}}"

// MANY: a run of @f makes {{[0-9]+}} calls or more, the limit is 16777216
func.func @f(%v: tensor<4xf16> {aicf.role = "input", aicf.name = "v"},
             %h0: tensor<4xf16> {aicf.role = "input", aicf.name = "h0"},
             %w: tensor<4xf32> {aicf.role = "param", aicf.name = "w"},
             %d: tensor<4xf16> {aicf.role = "state", aicf.name = "d", aicf.derived_from = "w"})
    -> (tensor<4xf16> {aicf.name = "y"}) {
  %h = aicf.repeat 9 %h0 : tensor<4xf16> -> tensor<4xf16> {
  ^bb0(%i: tensor<i64>, %old: tensor<4xf16>):
    %a = aicf.add %old, %v : tensor<4xf16>, tensor<4xf16>
    %b = aicf.softmax %a : tensor<4xf16>
    %c = aicf.mul %b, %d : tensor<4xf16>, tensor<4xf16>
    aicf.next %c : tensor<4xf16>
  }
  %y = aicf.tanh %h : tensor<4xf16>
  %z = aicf.softmax %y : tensor<4xf16>
  return %z : tensor<4xf16>
}
