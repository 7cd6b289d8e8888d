// RUN: aicf-opt %s --aicf-autodiff --split-input-file | FileCheck %s

// Tests that cotangents go where a parameter needs them, and nowhere else.

// CHECK-LABEL: @doubled
func.func @doubled(%W: tensor<f32> {aicf.role = "param", aicf.name = "W"})
    -> (tensor<f32> {aicf.name = "loss", aicf.minimize}) {
  // CHECK: %[[ONE:.*]] = aicf.fill_like
  // CHECK-NEXT: %[[ONE2:.*]] = aicf.fill_like
  // CHECK-NEXT: %[[TWO:.*]] = aicf.add %[[ONE2]], %[[ONE]]
  // CHECK-NEXT: return %{{.*}}, %[[TWO]]
  %l = aicf.add %W, %W : tensor<f32>, tensor<f32>
  return %l : tensor<f32>
}

// -----

// CHECK-LABEL: @input_twice
func.func @input_twice(%W: tensor<f32> {aicf.role = "param", aicf.name = "W"},
                       %x: tensor<f32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<f32> {aicf.name = "loss", aicf.minimize}) {
  // CHECK: aicf.add
  // CHECK-NEXT: aicf.add
  // CHECK-NEXT: %[[ONE:.*]] = aicf.fill_like %{{.*}}
  // CHECK-NEXT: return %{{.*}}, %[[ONE]]
  %a = aicf.add %W, %x : tensor<f32>, tensor<f32>
  %l = aicf.add %a, %x : tensor<f32>, tensor<f32>
  return %l : tensor<f32>
}

// -----

// What is computed of inputs alone has none.
// CHECK-LABEL: @inputs
func.func @inputs(%W: tensor<4xf32> {aicf.role = "param", aicf.name = "W"},
                  %x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<f32> {aicf.name = "loss", aicf.minimize}) {
  // CHECK: aicf.mse_loss
  // CHECK-NEXT: %[[D:.*]] = aicf.mse_grad
  // CHECK-NEXT: %[[DW:.*]] = aicf.mul %[[D]],
  // CHECK-NEXT: return %{{.*}}, %[[DW]]
  %r = aicf.relu %x : tensor<4xf32>
  %m = aicf.mul %r, %W : tensor<4xf32>, tensor<4xf32>
  %l = aicf.mse_loss %m, %x : tensor<4xf32>, tensor<4xf32>
  return %l : tensor<f32>
}

// -----

// What is saved already is not saved again.
// CHECK-LABEL: @saved
func.func @saved(%W: tensor<4xf32> {aicf.role = "param", aicf.name = "W"},
                 %x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"},
                 %t: tensor<4xf32> {aicf.role = "input", aicf.name = "t"})
    -> (tensor<f32> {aicf.name = "loss", aicf.minimize}) {
  // CHECK: %[[S:.*]] = aicf.save
  // CHECK-NEXT: aicf.mul
  // CHECK: aicf.mul %{{.*}}, %[[S]]
  %r = aicf.relu %x : tensor<4xf32>
  %s = aicf.save %r : tensor<4xf32>
  %m = aicf.mul %s, %W : tensor<4xf32>, tensor<4xf32>
  %l = aicf.mse_loss %W, %m : tensor<4xf32>, tensor<4xf32>
  return %l : tensor<f32>
}

// -----

// A copy of a parameter that nothing reads has none; without an optimizer an entry
// may update its parameters itself.
// CHECK-LABEL: @unread
func.func @unread(%W: tensor<4xf32> {aicf.role = "param", aicf.name = "W"},
                  %W16: tensor<4xf16> {aicf.role = "state", aicf.name = "W.f16", aicf.derived_from = "W"},
                  %x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<f32> {aicf.name = "loss", aicf.minimize}, tensor<4xf32> {aicf.updates = "W"},
        tensor<4xf16> {aicf.updates = "W.f16"}) {
  // CHECK: aicf.mse_loss
  // CHECK: %[[D:.*]] = aicf.mse_grad %arg0, %arg2
  // CHECK-NEXT: return %{{.*}}, %{{.*}}, %{{.*}}, %[[D]]
  %l = aicf.mse_loss %W, %x : tensor<4xf32>, tensor<4xf32>
  %c = aicf.cast %x to f16 : tensor<4xf32>
  return %l, %x, %c : tensor<f32>, tensor<4xf32>, tensor<4xf16>
}

// -----

// A count that another op reads stays before that.
// CHECK-LABEL: @counted
func.func @counted(%W: tensor<4xf32> {aicf.role = "param", aicf.name = "W"},
                   %t: tensor<i64> {aicf.role = "state", aicf.name = "t"})
    -> (tensor<f32> {aicf.name = "loss", aicf.minimize}, tensor<2xf32> {aicf.name = "bc"},
        tensor<i64> {aicf.updates = "t"}) {
  // CHECK: %[[N:.*]] = aicf.step_inc
  // CHECK-NEXT: %[[BC:.*]] = aicf.bias_corr %[[N]]
  // CHECK-NEXT: aicf.relu %[[BC]]
  %n = aicf.step_inc %t : tensor<i64>
  %bc = aicf.bias_corr %n : tensor<i64>
  %r = aicf.relu %bc : tensor<2xf32>
  %l = aicf.mse_loss %W, %W : tensor<4xf32>, tensor<4xf32>
  return %l, %r, %n : tensor<f32>, tensor<2xf32>, tensor<i64>
}

// -----

// An input that two ops read has none, though both compute it.
// CHECK-LABEL: @two_readers
// CHECK: aicf.linear_bwd
// CHECK-NOT: aicf.add
// CHECK: aicf.linear_bwd
// CHECK-NOT: aicf.add
// CHECK: return
func.func @two_readers(%x: tensor<4x8xf32> {aicf.role = "input", aicf.name = "x"},
                       %W: tensor<2x8xf32> {aicf.role = "param", aicf.name = "W"},
                       %V: tensor<2x8xf32> {aicf.role = "param", aicf.name = "V"})
    -> (tensor<f32> {aicf.name = "loss", aicf.minimize}) {
  %y = aicf.linear %x, %W : tensor<4x8xf32>, tensor<2x8xf32>
  %z = aicf.linear %x, %V : tensor<4x8xf32>, tensor<2x8xf32>
  %l = aicf.mse_loss %y, %z : tensor<4x2xf32>, tensor<4x2xf32>
  return %l : tensor<f32>
}
