// RUN: aicf-opt %s --aicf-autodiff | FileCheck %s

// Tests that backward makes a view again of what is saved of its operand, so that
// the view's base is what lives on.

// CHECK-LABEL: @keys
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<3x4xf32>{{.*}}, %[[W:[a-z0-9]*]]: tensor<3x4xf32>
func.func @keys(%x: tensor<3x4xf32> {aicf.role = "input", aicf.name = "x"},
                %w: tensor<3x4xf32> {aicf.role = "param", aicf.name = "w"})
    -> (tensor<f32> {aicf.name = "loss", aicf.minimize}) {
  // CHECK: %[[H:.*]] = aicf.tanh %[[W]]
  // CHECK-NEXT: %[[S:.*]] = aicf.save %[[H]]
  // CHECK-NOT: aicf.save
  // CHECK: %[[P:.*]] = aicf.matmul
  // CHECK-NEXT: aicf.save %[[P]]
  // CHECK-NOT: aicf.save
  %h = aicf.tanh %w : tensor<3x4xf32>
  %s = aicf.slice %h from [0, 1] to [3, 3] : tensor<3x4xf32>
  %t = aicf.transpose %s [1, 0] : tensor<3x2xf32>
  %p = aicf.matmul %s, %t : tensor<3x2xf32>, tensor<2x3xf32>
  %q = aicf.mul %p, %p : tensor<3x3xf32>, tensor<3x3xf32>
  %loss = aicf.mean %q : tensor<3x3xf32>
  // CHECK: %[[AGAIN:.*]] = aicf.slice %[[S]] from [0, 1] to [3, 3]
  // CHECK: %[[TURNED:.*]] = aicf.transpose %[[AGAIN]] [1, 0]
  // CHECK: aicf.matmul %{{.*}}, %[[TURNED]]
  return %loss : tensor<f32>
}
