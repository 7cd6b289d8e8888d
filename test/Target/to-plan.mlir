// RUN: aicf-opt %s --lower-to-backend | aicf-translate --aicf-to-plan -o %t.a.plan
// RUN: aicf-compile %s -o %t.b.plan
// RUN: aicf-plan diff %t.a.plan %t.b.plan
// RUN: aicf-translate --plan-to-aicf %t.b.plan | aicf-translate --aicf-to-plan -o %t.d.plan
// RUN: cmp %t.b.plan %t.d.plan
// RUN: aicf-plan dump %t.b.plan --lifetimes | FileCheck %s
// RUN: aicf-plan dump %t.b.plan --json | %python -m json.tool > /dev/null
// RUN: aicf-plan verify %t.a.plan %t.b.plan | FileCheck %s --check-prefix=OK
// RUN: aicf-compile %s -o %t.c.plan --opt-level=0
// RUN: not aicf-plan diff %t.a.plan %t.c.plan | FileCheck %s --check-prefix=DIFF

// Tests that the two ways to a plan agree, and the tables of aicf-plan.
// OK-COUNT-2: : ok
//       DIFF: entry train
//       DIFF: + call 1: t5 = copy_saved(t4)
//       DIFF: call 3 (now 4), sgd_step: result 0 w -> t8
//       DIFF: + call 5: w = copy(t8)
// CHECK: plan version 4.5 for cpu, 512 bytes that all entries share
// CHECK: w     param  3x4xf32  0       48     uniform_fan_in
// CHECK: entry train: 4 calls, 512 bytes of inputs and outputs, {{[0-9]+}} bytes of temps (at least
// CHECK: t4    2x3xf32
// CHECK: 0 t4 = gemm(x, w) {transA=0, transB=1}
// CHECK: forward, gemm_f32_blas_v0
// CHECK: mse_grad(t4, t, -) {scale=0.3333333333333333}
// CHECK: backward, mse_grad_f32_v1, {{.*}}to-plan.mlir:{{[0-9]+}}:
// CHECK: w = sgd_step(w, t5, lr, -, -, -) {momentum=0, weight_decay=0, nesterov=0}
// CHECK: update, sgd_step_f32_v0
// CHECK: lifetimes in the temp segment
// CHECK: calls 0..3 (1 per column)
// CHECK: ##
func.func @train(%x: tensor<2x4xf32> {aicf.role = "input", aicf.name = "x"},
                 %w: tensor<3x4xf32> {aicf.role = "param", aicf.name = "w", aicf.init = "uniform_fan_in"},
                 %t: tensor<2x3xf32> {aicf.role = "input", aicf.name = "t"},
                 %lr: tensor<f32> {aicf.role = "hyper", aicf.name = "lr"})
    -> (tensor<3x4xf32> {aicf.updates = "w"}) {
  %y = aicf.linear %x, %w : tensor<2x4xf32>, tensor<3x4xf32>
  %s = aicf.save %y : tensor<2x3xf32>
  %d = aicf.mse_grad %s, %t : tensor<2x3xf32>, tensor<2x3xf32>
  %dx, %dw, %db = aicf.linear_bwd %d, %x, %w : tensor<2x3xf32>, tensor<2x4xf32>, tensor<3x4xf32>
  %n, %m = aicf.sgd_step %w, %dw, %lr : tensor<3x4xf32>, tensor<3x4xf32>, tensor<f32>
  return %n : tensor<3x4xf32>
}
