// RUN: aicf-opt %s --lower-to-backend=opt-level=1 | FileCheck %s

// Tests the number with which a tensor starts: an integer is one, and the standard
// deviation is 1 unless it is written.
// CHECK:      aicf_rt.global @whole param {{.*}} init(constant, 3.000000e+00)
// CHECK-NEXT: aicf_rt.global @long state {{.*}} init(constant, -4.000000e+00)
// CHECK-NEXT: aicf_rt.global @number param {{.*}} init(constant, 5.000000e-01)
// CHECK-NEXT: aicf_rt.global @unit param {{.*}} init(normal, 1.000000e+00)
// CHECK-NEXT: aicf_rt.global @narrow param {{.*}} init(normal, 2.500000e-01)
func.func @f(%a: tensor<f32> {aicf.role = "param", aicf.name = "whole", aicf.init = 3 : i32},
             %b: tensor<i64> {aicf.role = "state", aicf.name = "long", aicf.init = -4},
             %c: tensor<f32> {aicf.role = "param", aicf.name = "number", aicf.init = 0.5},
             %d: tensor<f32> {aicf.role = "param", aicf.name = "unit", aicf.init = "normal"},
             %e: tensor<f32> {aicf.role = "param", aicf.name = "narrow", aicf.init = "normal:0.25"})
    -> (tensor<f32> {aicf.name = "y"}) {
  return %a : tensor<f32>
}
