// RUN: aicf-opt %s --aicf-mixed-precision=dtype=bf16 | FileCheck %s
// RUN: aicf-opt %s --aicf-mixed-precision=dtype=f16 | FileCheck %s --check-prefix=F16
// RUN: aicf-opt %s --lower-to-backend | FileCheck %s --check-prefix=RT
// RUN: aicf-opt %s --lower-to-backend=mixed-precision=bf16 -o /dev/null
// RUN: aicf-opt %s "--lower-to-backend=target=cuda mixed-precision=f16" -o /dev/null

// Tests that ops which no pass knows by name go through mixed precision as their
// records say: gelu narrow, the cross entropy as its operands come, its loss f32
// and its gradient with the loss scale of f32.
// CHECK-LABEL: func.func @train
// CHECK: %[[H:.*]] = aicf.linear {{.*}} : tensor<4x8xbf16>, tensor<6x8xbf16>
// CHECK-NEXT: %[[A:.*]] = aicf.gelu %[[H]] : tensor<4x6xbf16>
// CHECK-NEXT: %[[Y:.*]] = aicf.linear %[[A]], {{.*}} : tensor<4x6xbf16>
// CHECK-NEXT: %[[L:.*]] = aicf.softmax_cross_entropy %[[Y]], %{{.*}} : tensor<4x10xbf16>, tensor<4xi32>
// CHECK-NEXT: %[[D:.*]] = aicf.softmax_cross_entropy_grad %[[Y]], %{{.*}} : tensor<4x10xbf16>, tensor<4xi32>, tensor<f32>
// CHECK: aicf.gelu_bwd %{{.*}}, %[[H]] : tensor<4x6xbf16>
// CHECK: return %[[L]], {{.*}} : tensor<f32>,

// F16-LABEL: func.func @train
// F16-SAME: %[[S:[a-z0-9]+]]: tensor<f32> {aicf.name = "s"
// F16: aicf.softmax_cross_entropy_grad %{{.*}}, %{{.*}}, %[[S]] : tensor<4x10xf16>, tensor<4xi32>, tensor<f32>
// F16: aicf.gelu_bwd %{{.*}}, %{{.*}} : tensor<4x6xf16>

// Tests that the gradient takes the logits' storage and gelu's that of dy.
// RT: aicf_rt.call softmax_cross_entropy_grad(%[[Y:temp[_0-9]*]], {{.*}}) {{.*}}outs(%[[Y]])
// RT: aicf_rt.call gelu_bwd(%[[D:temp[_0-9]*]], {{.*}}) {{.*}}outs(%[[D]])
func.func @train(%x: tensor<4x8xf32> {aicf.role = "input", aicf.name = "x"},
                 %t: tensor<4xi32> {aicf.role = "input", aicf.name = "labels"},
                 %w0: tensor<6x8xf32> {aicf.role = "param", aicf.name = "w0"},
                 %w1: tensor<10x6xf32> {aicf.role = "param", aicf.name = "w1"},
                 %s: tensor<f32> {aicf.role = "state", aicf.name = "s"},
                 %lr: tensor<f32> {aicf.role = "hyper", aicf.name = "lr"})
    -> (tensor<f32> {aicf.name = "loss"}, tensor<6x8xf32> {aicf.updates = "w0"},
        tensor<10x6xf32> {aicf.updates = "w1"}) {
  %h = aicf.linear %x, %w0 : tensor<4x8xf32>, tensor<6x8xf32>
  %a = aicf.gelu %h : tensor<4x6xf32>
  %y = aicf.linear %a, %w1 : tensor<4x6xf32>, tensor<10x6xf32>
  %l = aicf.softmax_cross_entropy %y, %t : tensor<4x10xf32>, tensor<4xi32>
  %d = aicf.softmax_cross_entropy_grad %y, %t, %s : tensor<4x10xf32>, tensor<4xi32>, tensor<f32>
  %da, %dw1, %db1 = aicf.linear_bwd %d, %a, %w1 : tensor<4x10xf32>, tensor<4x6xf32>, tensor<10x6xf32>
  %dh = aicf.gelu_bwd %da, %h : tensor<4x6xf32>, tensor<4x6xf32>
  %dx, %dw0, %db0 = aicf.linear_bwd %dh, %x, %w0 : tensor<4x6xf32>, tensor<4x8xf32>, tensor<6x8xf32>
  %ok = aicf.all_finite %dw0, %dw1 : tensor<6x8xf32>, tensor<10x6xf32>
  %i = aicf.reciprocal %s : tensor<f32>
  %n0, %m0 = aicf.sgd_step %w0, %dw0, %lr inv_scale %i ok %ok : tensor<6x8xf32>, tensor<6x8xf32>, tensor<f32> inv_scale tensor<f32> ok tensor<i32>
  %n1, %m1 = aicf.sgd_step %w1, %dw1, %lr inv_scale %i ok %ok : tensor<10x6xf32>, tensor<10x6xf32>, tensor<f32> inv_scale tensor<f32> ok tensor<i32>
  return %l, %n0, %n1 : tensor<f32>, tensor<6x8xf32>, tensor<10x6xf32>
}
