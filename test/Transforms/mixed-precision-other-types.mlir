// RUN: aicf-opt %s --aicf-mixed-precision | FileCheck %s

// Another dialect's op may make a value of any type.
// CHECK-LABEL: func.func @f
// CHECK: constant @g
func.func @f(%x: tensor<4xf16> {aicf.role = "input"}) {
  %g = func.constant @g : () -> ()
  return
}
func.func private @g()

// The regions of such an op read values that are not its operands. They get f32, too.
// CHECK-LABEL: func.func @captured
// CHECK: %[[Y:.*]] = aicf.linear {{.*}} : tensor<4x3xbf16>, tensor<2x3xbf16>
// CHECK: %[[WIDE:.*]] = aicf.cast %[[Y]] to f32
// CHECK: tensor.generate
// CHECK: tensor.extract %[[WIDE]]
func.func @captured(%x: tensor<4x3xf32> {aicf.role = "input", aicf.name = "x"},
                    %w: tensor<2x3xf32> {aicf.role = "param", aicf.name = "w"})
    -> (tensor<4x2xf32> {aicf.name = "d"}) {
  %y = aicf.linear %x, %w : tensor<4x3xf32>, tensor<2x3xf32>
  %d = tensor.generate {
  ^bb0(%i: index, %j: index):
    %e = tensor.extract %y[%i, %j] : tensor<4x2xf32>
    tensor.yield %e : f32
  } : tensor<4x2xf32>
  return %d : tensor<4x2xf32>
}
