// RUN: aicf-opt %s --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: @bits
func.func @bits(%x: tensor<4xi32>, %y: tensor<4xi32>, %a: tensor<2xi64>) {
  // CHECK: aicf.bitwise_and %{{.*}} : tensor<4xi32>, tensor<4xi32>
  %0 = aicf.bitwise_and %x, %y : tensor<4xi32>, tensor<4xi32>
  // CHECK: aicf.bitwise_or %{{.*}} : tensor<4xi32>, tensor<4xi32>
  %1 = aicf.bitwise_or %x, %y : tensor<4xi32>, tensor<4xi32>
  // CHECK: aicf.bitwise_xor %{{.*}} : tensor<2xi64>, tensor<2xi64>
  %2 = aicf.bitwise_xor %a, %a : tensor<2xi64>, tensor<2xi64>
  // CHECK: aicf.shift_left %{{.*}} : tensor<4xi32>, tensor<4xi32>
  %3 = aicf.shift_left %x, %y : tensor<4xi32>, tensor<4xi32>
  // CHECK: aicf.shift_right %{{.*}} : tensor<4xi32>, tensor<4xi32>
  %4 = aicf.shift_right %x, %y : tensor<4xi32>, tensor<4xi32>
  // CHECK: aicf.shift_right_logical %{{.*}} : tensor<4xi32>, tensor<4xi32>
  %5 = aicf.shift_right_logical %x, %y : tensor<4xi32>, tensor<4xi32>
  return
}

// -----

func.func @of_floats(%x: tensor<4xf32>) {
  // expected-error @+1 {{'aicf.bitwise_and' op operand 0 (a) has element type f32, expected i32 or i64}}
  %0 = aicf.bitwise_and %x, %x : tensor<4xf32>, tensor<4xf32>
  return
}

// -----

func.func @of_bools(%x: tensor<4xi1>) {
  // expected-error @+1 {{'aicf.shift_left' op operand 0 (a) has element type i1, expected i32 or i64}}
  %0 = aicf.shift_left %x, %x : tensor<4xi1>, tensor<4xi1>
  return
}

// -----

func.func @two_types(%x: tensor<4xi32>, %y: tensor<4xi64>) {
  // expected-error @+1 {{'aicf.bitwise_xor' op}}
  %0 = aicf.bitwise_xor %x, %y : tensor<4xi32>, tensor<4xi64>
  return
}
