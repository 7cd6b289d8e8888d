// RUN: aicf-compile %s --opt-level=1 -o %t.plan && aicf-plan dump %t.plan | FileCheck %s

// Tests what a dump shows of locations, which come from files that others made: a
// long path by its end, nothing that a terminal would obey; and where an
// optional operand is absent.

func.func @f(%p: tensor<4xf32> {aicf.role = "param", aicf.name = "p"},
             %x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"},
             %lr: tensor<f32> {aicf.role = "hyper", aicf.name = "lr"})
    -> (tensor<4xf32> {aicf.updates = "p"}) {
  // CHECK: relu_f32_v0,
  // CHECK-NEXT: {{ [.][.][.]d{39}/e+$}}
  // CHECK-NEXT: {{ e+/}}step.mlir:7:8
  %0 = aicf.relu %x : tensor<4xf32>
      loc("dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd/eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee/step.mlir":7:8)
  // CHECK: gelu_f32_v0, a??[31mz:1:2
  %1 = aicf.gelu %0 : tensor<4xf32> loc("a\C2\9B[31mz":1:2)
  // CHECK: relu_f32_v0, straße.mlir:3:4
  %2 = aicf.relu %1 : tensor<4xf32> loc("stra\C3\9Fe.mlir":3:4)
  // CHECK: p = sgd_step(p, t3, lr, -, -, -) {momentum=0,
  %3, %4 = aicf.sgd_step %p, %2, %lr : tensor<4xf32>, tensor<4xf32>, tensor<f32>
  return %3 : tensor<4xf32>
}
