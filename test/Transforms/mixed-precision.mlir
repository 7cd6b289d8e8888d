// RUN: aicf-opt %s --aicf-mixed-precision --split-input-file | FileCheck %s
// RUN: aicf-opt %s "--aicf-mixed-precision=dtype=f16 initial-scale=1024" --split-input-file | FileCheck %s --check-prefix=F16
// RUN: aicf-opt %s --aicf-mixed-precision=dtype=f16 --aicf-verify-entries --aicf-check-capture-safety --split-input-file -o /dev/null
// RUN: not aicf-opt %s --aicf-mixed-precision=dtype=f8 --split-input-file 2>&1 | FileCheck %s --check-prefix=F8
// F8: --dtype option: Cannot find option named 'f8'!

// Tests a whole step: the input is cast, the param is not; the loss and the
// outputs keep their type; the update of the param updates its derived state.
// CHECK-LABEL: func.func @train
// CHECK-SAME: %[[X:.*]]: tensor<4x8xf32> {{.*}}, %[[T:.*]]: tensor<4x2xf32> {{.*}}, %[[W:.*]]: tensor<2x8xf32> {{.*}}, %[[W16:[a-z0-9]+]]: tensor<2x8xbf16> {aicf.derived_from = "w", aicf.name = "w.bf16", aicf.role = "state"}
// CHECK-SAME: tensor<2x8xbf16> {aicf.updates = "w.bf16"}
// CHECK-NEXT: %[[X16:.*]] = aicf.cast %[[X]] to bf16
// CHECK-NEXT: %[[Y:.*]] = aicf.linear %[[X16]], %[[W16]] : tensor<4x8xbf16>, tensor<2x8xbf16>
// CHECK-NEXT: %[[L:.*]] = aicf.mse_loss %[[Y]], %[[T]] : tensor<4x2xbf16>, tensor<4x2xf32>
// CHECK-NEXT: %[[D:.*]] = aicf.mse_grad %[[Y]], %[[T]], %{{.*}} : tensor<4x2xbf16>, tensor<4x2xf32>, tensor<f32>
// CHECK-NEXT: %{{.*}}, %[[DW:.*]], %{{.*}} = aicf.linear_bwd %[[D]], %[[X16]], %[[W16]]
// CHECK-NEXT: aicf.all_finite %[[DW]] : tensor<2x8xbf16>
// CHECK: %[[N:.*]], %{{.*}} = aicf.sgd_step %[[W]], %[[DW]], {{.*}} : tensor<2x8xf32>, tensor<2x8xbf16>, tensor<f32>
// CHECK-NEXT: %[[OUT:.*]] = aicf.cast %[[Y]] to f32
// CHECK-NEXT: %[[N16:.*]] = aicf.cast %[[N]] to bf16
// CHECK-NEXT: return %[[L]], %[[OUT]], %[[N]], %[[N16]]

// Tests a loss scale that is written by hand: it stays f32, and the gradients are
// judged as they were computed.
// F16-LABEL: func.func @train
// F16-SAME: %[[S:[a-z0-9]+]]: tensor<f32> {aicf.name = "s"
// F16: %[[D:.*]] = aicf.mse_grad %{{.*}}, %{{.*}}, %[[S]] : tensor<4x2xf16>, tensor<4x2xf32>, tensor<f32>
// F16: %{{.*}}, %[[DW:.*]], %{{.*}} = aicf.linear_bwd %[[D]]
// F16: %[[OK:.*]] = aicf.all_finite %[[DW]] : tensor<2x8xf16>
// F16: %[[INV:.*]] = aicf.reciprocal %[[S]] : tensor<f32>
// F16: aicf.sgd_step {{.*}} inv_scale %[[INV]] ok %[[OK]]
func.func @train(%x: tensor<4x8xf32> {aicf.role = "input", aicf.name = "x"},
                 %t: tensor<4x2xf32> {aicf.role = "input", aicf.name = "t"},
                 %w: tensor<2x8xf32> {aicf.role = "param", aicf.name = "w"},
                 %s: tensor<f32> {aicf.role = "state", aicf.name = "s"},
                 %lr: tensor<f32> {aicf.role = "hyper", aicf.name = "lr"})
    -> (tensor<f32> {aicf.name = "loss"}, tensor<4x2xf32> {aicf.name = "y"}, tensor<2x8xf32> {aicf.updates = "w"}) {
  %y = aicf.linear %x, %w : tensor<4x8xf32>, tensor<2x8xf32>
  %l = aicf.mse_loss %y, %t : tensor<4x2xf32>, tensor<4x2xf32>
  %d = aicf.mse_grad %y, %t, %s : tensor<4x2xf32>, tensor<4x2xf32>, tensor<f32>
  %dx, %dw, %db = aicf.linear_bwd %d, %x, %w : tensor<4x2xf32>, tensor<4x8xf32>, tensor<2x8xf32>
  %ok = aicf.all_finite %dw : tensor<2x8xf32>
  %i = aicf.reciprocal %s : tensor<f32>
  %n, %m = aicf.sgd_step %w, %dw, %lr inv_scale %i ok %ok : tensor<2x8xf32>, tensor<2x8xf32>, tensor<f32> inv_scale tensor<f32> ok tensor<i32>
  return %l, %y, %n : tensor<f32>, tensor<4x2xf32>, tensor<2x8xf32>
}

// -----

// Tests an entry that only predicts: the derived state is read, not updated,
// and there is no loss scale.
// CHECK-LABEL: func.func @predict
// CHECK-SAME: %{{.*}}: tensor<2x8xbf16> {aicf.derived_from = "w"
// CHECK-SAME: -> (tensor<4x2xf32> {aicf.name = "y"})
// F16-LABEL: func.func @predict
// F16-NOT: loss_scale
func.func @predict(%x: tensor<4x8xf32> {aicf.role = "input", aicf.name = "x"},
                   %w: tensor<2x8xf32> {aicf.role = "param", aicf.name = "w"})
    -> (tensor<4x2xf32> {aicf.name = "y"}) {
  %y = aicf.linear %x, %w : tensor<4x8xf32>, tensor<2x8xf32>
  return %y : tensor<4x2xf32>
}

// -----

// Tests an entry that only writes a param: its copy is written too, because
// another entry reads it. A state that a compute op reads is cast, not derived.
// CHECK-LABEL: func.func @reader
// CHECK-LABEL: func.func @writer
// CHECK-SAME: tensor<2x8xbf16> {aicf.derived_from = "w", aicf.name = "w.bf16", aicf.role = "state"}
// CHECK-SAME: tensor<2x8xbf16> {aicf.updates = "w.bf16"}
// F16-LABEL: func.func @writer
func.func @reader(%h: tensor<4x8xf32> {aicf.role = "state", aicf.name = "h"},
                  %w: tensor<2x8xf32> {aicf.role = "param", aicf.name = "w"})
    -> (tensor<4x2xf32> {aicf.name = "y"}, tensor<4x8xf32> {aicf.updates = "h"}) {
  %y = aicf.linear %h, %w : tensor<4x8xf32>, tensor<2x8xf32>
  %n = aicf.relu %h : tensor<4x8xf32>
  return %y, %n : tensor<4x2xf32>, tensor<4x8xf32>
}
func.func @writer(%w: tensor<2x8xf32> {aicf.role = "param", aicf.name = "w"},
                  %best: tensor<2x8xf32> {aicf.role = "state", aicf.name = "best"})
    -> (tensor<2x8xf32> {aicf.updates = "w"}) {
  return %best : tensor<2x8xf32>
}
