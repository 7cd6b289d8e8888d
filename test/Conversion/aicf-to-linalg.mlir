// RUN: aicf-opt %s --convert-aicf-to-linalg | FileCheck %s
// RUN: aicf-opt %s --convert-aicf-to-linalg=strip-marks | FileCheck %s --check-prefix=STRIP
// RUN: aicf-opt %s --convert-aicf-to-linalg=strip-marks | mlir-opt --linalg-generalize-named-ops --one-shot-bufferize=bufferize-function-boundaries -o /dev/null

// What each op computes: test/python/test_linalg.py, against NumPy and the
// interpreter.

// Names and roles stay, or go.
// CHECK: func.func @step(%{{.*}}: tensor<4x8xf32> {aicf.name = "x", aicf.role = "input"}
// CHECK-SAME: -> (tensor<4x3xf32> {aicf.name = "y"}, tensor<3x8xf32> {aicf.updates = "W"}) attributes {aicf.target = #aicf.target<cuda, math = "tf32">}
// STRIP-NOT: aicf.
// STRIP: func.func @step(%{{.*}}: tensor<4x8xf32>, %{{.*}}: tensor<3x8xf32>, %{{.*}}: tensor<3xf32>
// STRIP-SAME: -> (tensor<4x3xf32>, tensor<3x8xf32>) {
// STRIP-NOT: aicf.
func.func @step(%x: tensor<4x8xf32> {aicf.role = "input", aicf.name = "x"},
                %W: tensor<3x8xf32> {aicf.role = "param", aicf.name = "W"},
                %b: tensor<3xf32> {aicf.role = "param", aicf.name = "b"},
                %lr: tensor<f32> {aicf.role = "hyper", aicf.name = "lr"})
    -> (tensor<4x3xf32> {aicf.name = "y"}, tensor<3x8xf32> {aicf.updates = "W"})
    attributes {aicf.target = #aicf.target<cuda, math = "tf32">} {
  // The bias is what the product starts from.
  // CHECK: %[[START:.*]] = linalg.generic {{.*}} ins(%{{.*}} : tensor<3xf32>) outs(%{{.*}} : tensor<4x3xf32>)
  // CHECK: linalg.matmul indexing_maps = {{.*}} outs(%[[START]] : tensor<4x3xf32>)
  %y = aicf.linear %x, %W, %b : tensor<4x8xf32>, tensor<3x8xf32>, tensor<3xf32>
  // The gradient with respect to x is not asked for: one product.
  // CHECK: linalg.fill
  // CHECK: linalg.matmul {{.*}} -> tensor<3x8xf32>
  // CHECK-NOT: linalg.matmul
  %dx, %dW, %db = aicf.linear_bwd %y, %x, %W : tensor<4x3xf32>, tensor<4x8xf32>, tensor<3x8xf32>
  // A scalar is read once, before the loops.
  // CHECK: %[[LR:.*]] = tensor.extract %{{.*}}[] : tensor<f32>
  // CHECK: linalg.generic
  // CHECK: arith.mulf %[[LR]]
  %W2, %m = aicf.sgd_step %W, %dW, %lr : tensor<3x8xf32>, tensor<3x8xf32>, tensor<f32>
  return %y, %W2 : tensor<4x3xf32>, tensor<3x8xf32>
}

// 16 bits are computed in f32 and rounded once.
// CHECK-LABEL: func.func @half
// CHECK: linalg.matmul {{.*}} ins(%{{.*}}, %{{.*}} : tensor<4x8xbf16>, tensor<3x8xbf16>) outs(%{{.*}} : tensor<4x3xf32>)
// CHECK: arith.truncf %{{.*}} : f32 to bf16
// CHECK: arith.extf %{{.*}} : bf16 to f32
// CHECK: math.tanh %{{.*}} : f32
// CHECK: arith.truncf %{{.*}} : f32 to bf16
func.func @half(%x: tensor<4x8xbf16>, %W: tensor<3x8xbf16>) -> tensor<4x3xbf16> {
  %y = aicf.linear %x, %W : tensor<4x8xbf16>, tensor<3x8xbf16>
  %z = aicf.tanh %y : tensor<4x3xbf16>
  return %z : tensor<4x3xbf16>
}

// More dimensions are rows; copies are values; a loss is summed in f64.
// CHECK-LABEL: func.func @rows
// CHECK: tensor.collapse_shape %{{.*}} {{\[\[}}0, 1], [2]] : tensor<2x4x8xf32> into tensor<8x8xf32>
// CHECK: tensor.expand_shape {{.*}} : tensor<8x3xf32> into tensor<2x4x3xf32>
// CHECK: iterator_types = ["reduction", "reduction", "reduction"]
// CHECK-SAME: outs(%{{.*}} : tensor<f64>)
// CHECK-NOT: linalg.copy
// CHECK: return
func.func @rows(%x: tensor<2x4x8xf32>, %W: tensor<3x8xf32>, %t: tensor<2x4x3xf32>) -> tensor<f32> {
  %y = aicf.linear %x, %W : tensor<2x4x8xf32>, tensor<3x8xf32>
  %s = aicf.save %y : tensor<2x4x3xf32>
  %l = aicf.mse_loss %s, %t : tensor<2x4x3xf32>, tensor<2x4x3xf32>
  return %l : tensor<f32>
}

// A definition is said once where it is used more often, and only its own side.
// CHECK-LABEL: func.func @definition
// CHECK-COUNT-1: math.exp
// CHECK-NOT: math.exp
// CHECK-NOT: math.erfc
// CHECK: return
func.func @definition(%dy: tensor<4xf32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %dx = aicf.gelu_bwd %dy, %x {approximate = true} : tensor<4xf32>, tensor<4xf32>
  return %dx : tensor<4xf32>
}

// f64 is compared in f64.
// CHECK-LABEL: func.func @double
// CHECK-NOT: arith.truncf
// CHECK: return
func.func @double(%x: tensor<4x3xf64>) -> (tensor<i32>, tensor<4xi32>) {
  %ok = aicf.all_finite %x : tensor<4x3xf64>
  %i = aicf.argmax %x : tensor<4x3xf64>
  return %ok, %i : tensor<i32>, tensor<4xi32>
}
