// RUN: not aicf-compile %s -o %t 2>&1 | FileCheck %s
// RUN: not aicf-opt %s --lower-to-backend 2>&1 | FileCheck %s

// Tests that a call which the rules of its op refuse is an error at its op. aicf-compile
// verifies at the end of a phase alone, so passes see the call before.

// CHECK: many-rows.mlir:[[#@LINE+5]]:8: error: {{.*}}C5: operand 0 (a) is 2x2147483647x4xf32 of 4294967294 rows, expected fewer than 2147483648
func.func @many_rows(%x: tensor<2x2147483647x4xf32> {aicf.role = "input", aicf.name = "x"},
                     %w: tensor<5x4xf32> {aicf.role = "param", aicf.name = "w"},
                     %b: tensor<5xf32> {aicf.role = "param", aicf.name = "b"})
    -> (tensor<f32> {aicf.name = "loss", aicf.minimize}) attributes {aicf.optimizer = #aicf.sgd<lr = "lr">} {
  %c = aicf.linear %x, %w, %b : tensor<2x2147483647x4xf32>, tensor<5x4xf32>, tensor<5xf32>
  %l = aicf.mean %c : tensor<2x2147483647x5xf32>
  return %l : tensor<f32>
}
