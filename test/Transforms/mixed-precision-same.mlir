// RUN: aicf-opt %s --aicf-mixed-precision --split-input-file | FileCheck %s
// RUN: aicf-opt %s --lower-to-backend=mixed-precision=bf16 --split-input-file -o /dev/null

// Tests one value in two places that want two forms of it.
// CHECK-LABEL: func.func @same
// CHECK: %[[Y:.*]] = aicf.linear {{.*}} : tensor<4x3xbf16>, tensor<2x3xbf16>
// CHECK: %[[WIDE:.*]] = aicf.cast %[[Y]] to f32
// CHECK: aicf.mse_grad %[[Y]], %[[WIDE]] : tensor<4x2xbf16>, tensor<4x2xf32>
func.func @same(%x: tensor<4x3xf32> {aicf.role = "input", aicf.name = "x"},
                %w: tensor<2x3xf32> {aicf.role = "param", aicf.name = "w"})
    -> (tensor<4x2xf32> {aicf.name = "d"}) {
  %y = aicf.linear %x, %w : tensor<4x3xf32>, tensor<2x3xf32>
  %d = aicf.mse_grad %y, %y : tensor<4x2xf32>, tensor<4x2xf32>
  return %d : tensor<4x2xf32>
}

// -----

// Tests a parameter that is its own gradient.
// CHECK-LABEL: func.func @own
// CHECK: aicf.sgd_step %{{.*}}, %{{.*}}, %{{.*}} : tensor<2x3xf32>, tensor<2x3xbf16>, tensor<f32>
func.func @own(%x: tensor<4x3xf32> {aicf.role = "input", aicf.name = "x"},
               %w: tensor<2x3xf32> {aicf.role = "param", aicf.name = "w"},
               %lr: tensor<f32> {aicf.role = "hyper", aicf.name = "lr"})
    -> (tensor<4x2xf32> {aicf.name = "y"}, tensor<2x3xf32> {aicf.updates = "w"}) {
  %y = aicf.linear %x, %w : tensor<4x3xf32>, tensor<2x3xf32>
  %n, %m = aicf.sgd_step %w, %w, %lr : tensor<2x3xf32>, tensor<2x3xf32>, tensor<f32>
  return %y, %n : tensor<4x2xf32>, tensor<2x3xf32>
}

// -----

// Tests updates whose master keeps its protective copy while the working copy is
// written straight away: a swap, and an old value that is returned too.
// CHECK-LABEL: func.func @swap
func.func @swap(%x: tensor<4x3xf32> {aicf.role = "input", aicf.name = "x"},
                %u: tensor<2x3xf32> {aicf.role = "param", aicf.name = "u"},
                %v: tensor<2x3xf32> {aicf.role = "param", aicf.name = "v"})
    -> (tensor<4x2xf32> {aicf.name = "y"}, tensor<2x3xf32> {aicf.name = "old"},
        tensor<2x3xf32> {aicf.updates = "u"}, tensor<2x3xf32> {aicf.updates = "v"}) {
  %y = aicf.linear %x, %u : tensor<4x3xf32>, tensor<2x3xf32>
  %z = aicf.linear %x, %v : tensor<4x3xf32>, tensor<2x3xf32>
  %s = aicf.add %y, %z : tensor<4x2xf32>, tensor<4x2xf32>
  return %s, %u, %v, %u : tensor<4x2xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>
}

// -----

// Tests a derived state that is returned before its source.
// CHECK-LABEL: func.func @order
func.func @order(%w: tensor<3xf32> {aicf.role = "param", aicf.name = "w"},
                 %c: tensor<3xbf16> {aicf.role = "state", aicf.name = "c", aicf.derived_from = "w"})
    -> (tensor<3xbf16> {aicf.updates = "c"}, tensor<3xf32> {aicf.updates = "w"}) {
  %n = aicf.relu %w : tensor<3xf32>
  %d = aicf.cast %n to bf16 : tensor<3xf32>
  return %d, %n : tensor<3xbf16>, tensor<3xf32>
}
