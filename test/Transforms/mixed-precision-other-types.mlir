// RUN: aicf-opt %s --aicf-mixed-precision | FileCheck %s

// Another dialect's op may make a value of any type.
// CHECK-LABEL: func.func @f
// CHECK: constant @g
func.func @f(%x: tensor<4xf16> {aicf.role = "input"}) {
  %g = func.constant @g : () -> ()
  return
}
func.func private @g()
