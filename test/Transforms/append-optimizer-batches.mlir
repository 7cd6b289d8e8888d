// RUN: aicf-opt %s --aicf-autodiff --aicf-append-optimizer | FileCheck %s
// RUN: aicf-opt %s --lower-to-backend | FileCheck %s --check-prefix=PLAN
// RUN: aicf-opt %s --lower-to-backend | aicf-translate --aicf-to-plan | aicf-translate --plan-to-aicf | FileCheck %s --check-prefix=PLAN
// RUN: aicf-opt %s "--lower-to-backend=split-step=true" | FileCheck %s --check-prefix=SPLIT

// Tests that the plan says how many batches make an update, of the entry that
// updates; of a step that is split no entry is the last of them.
// CHECK: func.func @f({{.*}} attributes {aicf.accumulate = 3 : i64}
// CHECK: func.func @f.accumulate(
// CHECK-NOT: aicf.accumulate =
// PLAN: aicf_rt.entry @f {{.*}} accumulate(3) {
// PLAN: aicf_rt.entry @f.accumulate
// PLAN-NOT: accumulate(
// SPLIT: aicf_rt.entry @f.grads
// SPLIT-NOT: accumulate(3)
func.func @f(%W: tensor<4xf32> {aicf.role = "param", aicf.name = "W"},
             %x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<f32> {aicf.name = "loss", aicf.minimize})
    attributes {aicf.optimizer = #aicf.sgd<lr = "lr", accumulate = 3>} {
  %p = aicf.mul %W, %x : tensor<4xf32>, tensor<4xf32>
  %l = aicf.mean %p : tensor<4xf32>
  return %l : tensor<f32>
}
