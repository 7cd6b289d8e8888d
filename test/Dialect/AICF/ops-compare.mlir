// RUN: aicf-opt %s | aicf-opt | FileCheck %s

// CHECK-LABEL: func.func @comparisons
func.func @comparisons(%x: tensor<4xi64>, %y: tensor<4xi64>) {
  // CHECK: aicf.not_equal %{{.*}} : tensor<4xi64>, tensor<4xi64>
  %0 = aicf.not_equal %x, %y : tensor<4xi64>, tensor<4xi64>
  // CHECK: aicf.less_equal %{{.*}} : tensor<4xi64>, tensor<4xi64>
  %1 = aicf.less_equal %x, %y : tensor<4xi64>, tensor<4xi64>
  // CHECK: aicf.equal_scalar %{{.*}} {{{.*}}} : tensor<4xi64>
  %2 = aicf.equal_scalar %x {value = 2.0} : tensor<4xi64>
  // CHECK: aicf.not_equal_scalar %{{.*}} {{{.*}}} : tensor<4xi64>
  %3 = aicf.not_equal_scalar %x {value = 2.0} : tensor<4xi64>
  // CHECK: aicf.less_scalar %{{.*}} {{{.*}}} : tensor<4xi64>
  %4 = aicf.less_scalar %x {value = 2.0} : tensor<4xi64>
  // CHECK: aicf.less_equal_scalar %{{.*}} {{{.*}}} : tensor<4xi64>
  %5 = aicf.less_equal_scalar %x {value = 2.0} : tensor<4xi64>
  // CHECK: aicf.greater_equal_scalar %{{.*}} {{{.*}}} : tensor<4xi64>
  %6 = aicf.greater_equal_scalar %x {value = 2.0} : tensor<4xi64>
  return
}

// CHECK-LABEL: func.func @logic
func.func @logic(%x: tensor<4xi1>, %y: tensor<4xi1>) {
  // CHECK: aicf.logical_and %{{.*}} : tensor<4xi1>, tensor<4xi1>
  %0 = aicf.logical_and %x, %y : tensor<4xi1>, tensor<4xi1>
  // CHECK: aicf.logical_xor %{{.*}} : tensor<4xi1>, tensor<4xi1>
  %1 = aicf.logical_xor %x, %y : tensor<4xi1>, tensor<4xi1>
  return
}
