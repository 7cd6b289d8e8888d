// RUN: not aicf-opt %s --aicf-autodiff 2>&1 | FileCheck %s

// CHECK: error: argument 1 is a parameter without 'aicf.name', after which its gradient is called
func.func @f(%x: tensor<3x4xf32> {aicf.name = "x", aicf.role = "input"},
             %w: tensor<4x5xf32> {aicf.role = "param"})
    -> (tensor<f32> {aicf.minimize, aicf.name = "loss"}) {
  %0 = aicf.matmul %x, %w : tensor<3x4xf32>, tensor<4x5xf32>
  %1 = aicf.mean %0 : tensor<3x5xf32>
  return %1 : tensor<f32>
}
