// RUN: aicf-opt %s --aicf-mixed-precision --split-input-file | FileCheck %s
// RUN: aicf-opt %s --aicf-mixed-precision=dtype=none --split-input-file | FileCheck %s --check-prefix=NONE

// Tests which parameters have a copy in 16 bits.
// NONE-NOT: aicf.derived_from

// None that is read in f32 only, though it is trained; what is computed of it stays
// wide.
// CHECK-LABEL: func.func @wide
// CHECK-NOT: bf16>
// CHECK: aicf.mse_grad %arg1, %arg0 : tensor<4xf32>, tensor<4xf32>
func.func @wide(%t: tensor<4xf32> {aicf.role = "input", aicf.name = "t"},
                %w: tensor<4xf32> {aicf.role = "param", aicf.name = "w"},
                %lr: tensor<f32> {aicf.role = "hyper", aicf.name = "lr"})
    -> (tensor<4xf32> {aicf.updates = "w"}) {
  %d = aicf.mse_grad %w, %t : tensor<4xf32>, tensor<4xf32>
  %n, %m = aicf.sgd_step %w, %d, %lr : tensor<4xf32>, tensor<4xf32>, tensor<f32>
  return %n : tensor<4xf32>
}

// -----

// None in an entry that neither updates it nor reads it in 16 bits.
// CHECK-LABEL: func.func @narrow
// CHECK-SAME: aicf.derived_from = "w"
// CHECK-LABEL: func.func @compare
// CHECK-NOT: aicf.derived_from = "w"
// CHECK: return
func.func @narrow(%x: tensor<4x8xf32> {aicf.role = "input", aicf.name = "x"},
                  %w: tensor<2x8xf32> {aicf.role = "param", aicf.name = "w"})
    -> (tensor<4x2xf32> {aicf.name = "y"}) {
  %y = aicf.linear %x, %w : tensor<4x8xf32>, tensor<2x8xf32>
  return %y : tensor<4x2xf32>
}
func.func @compare(%s: tensor<f32> {aicf.role = "state", aicf.name = "s"},
                   %w: tensor<2x8xf32> {aicf.role = "param", aicf.name = "w"})
    -> (tensor<f32> {aicf.updates = "s"}) {
  %l = aicf.mse_loss %w, %w : tensor<2x8xf32>, tensor<2x8xf32>
  return %l : tensor<f32>
}

// -----

// None of a parameter that is narrow already.
// CHECK-LABEL: func.func @stored
// CHECK-NOT: aicf.derived_from
// CHECK: aicf.linear %{{.*}}, %arg1
func.func @stored(%x: tensor<4x8xbf16> {aicf.role = "input", aicf.name = "x"},
                  %w: tensor<2x8xbf16> {aicf.role = "param", aicf.name = "w"})
    -> (tensor<4x2xbf16> {aicf.name = "y"}) {
  %y = aicf.linear %x, %w : tensor<4x8xbf16>, tensor<2x8xbf16>
  return %y : tensor<4x2xbf16>
}

// -----

// None of a single number, nor is it cast to be repeated.
// CHECK-LABEL: func.func @repeated
// CHECK: aicf.broadcast %arg1 to [4] : tensor<f32>
func.func @repeated(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"},
                    %w: tensor<f32> {aicf.role = "param", aicf.name = "w"})
    -> (tensor<4xf32> {aicf.name = "y"}) {
  %b = aicf.broadcast %w to [4] : tensor<f32>
  %y = aicf.mul %x, %b : tensor<4xf32>, tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// The body of a map is scalar: it stays in f32, as what other dialects compute.
// CHECK-LABEL: func.func @foreign
// CHECK: %[[L:.*]] = aicf.linear {{.*}} : tensor<4x8xbf16>, tensor<2x8xbf16>
// CHECK-NEXT: %[[W:.*]] = aicf.cast %[[L]] to f32
// CHECK-NEXT: %[[M:.*]] = aicf.map %[[W]] : tensor<4x2xf32> -> tensor<4x2xf32>
// CHECK: call @helper(%[[M]])
func.func @foreign(%x: tensor<4x8xf32> {aicf.role = "input", aicf.name = "x"},
                   %w: tensor<2x8xf32> {aicf.role = "param", aicf.name = "w"})
    -> (tensor<4x2xf32> {aicf.name = "y"}) {
  %l = aicf.linear %x, %w : tensor<4x8xf32>, tensor<2x8xf32>
  %m = aicf.map %l : tensor<4x2xf32> -> tensor<4x2xf32> {
  ^bb0(%a: f32):
    %s = math.sin %a : f32
    aicf.yield %s : f32
  }
  %y = func.call @helper(%m) : (tensor<4x2xf32>) -> tensor<4x2xf32>
  return %y : tensor<4x2xf32>
}
func.func private @helper(tensor<4x2xf32>) -> tensor<4x2xf32>
