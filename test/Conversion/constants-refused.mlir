// RUN: aicf-opt %s --convert-linalg-to-aicf --verify-diagnostics | FileCheck %s

// Tests what does not come in from arith: what is of no tensor type, and one float,
// which whoever uses it takes as a number. (What is too large: test_linalg.py.)

// CHECK-LABEL: @bytes
// CHECK-NOT: aicf.constant
func.func @bytes() -> (tensor<2xi8>, i32, tensor<4xf32>, vector<2xf32>) {
  %a = arith.constant dense<[1, 2]> : tensor<2xi8>
  %b = arith.constant 3 : i32
  %c = arith.constant dense<0.5> : tensor<4xf32>
  %d = arith.constant dense<[1.0, 2.0]> : vector<2xf32>
  return %a, %b, %c, %d : tensor<2xi8>, i32, tensor<4xf32>, vector<2xf32>
}
