// RUN: aicf-opt %s --aicf-mixed-precision=dtype=bf16 | FileCheck %s
// RUN: aicf-opt %s --aicf-mixed-precision=dtype=bf16 --aicf-hoist-constants | FileCheck %s --check-prefix=HOISTED

// Tests that constants are rounded by the compiler, to nearest and even, and that no
// step casts them; what computes in f32 reads them as they are.

// CHECK-LABEL: @table
// CHECK-DAG: %[[N:.*]] = aicf.constant dense<[1.000000e+00, 1.007810e+00]> : tensor<2xbf16>
// CHECK-DAG: %[[W:.*]] = aicf.constant dense<[1.000000e+00, 1.00585938]> : tensor<2xf32>
// CHECK: aicf.mul %{{.*}}, %[[N]] : tensor<2xbf16>, tensor<2xbf16>
// CHECK: aicf.mse_loss %{{.*}}, %[[W]]
// HOISTED-LABEL: @table
// HOISTED-SAME: aicf.data = dense<[1.000000e+00, 1.007810e+00]> : tensor<2xbf16>
// HOISTED-NOT: aicf.cast %{{arg[1-9]}}
func.func @table(%x: tensor<2xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<2xf32> {aicf.name = "y"}, tensor<f32> {aicf.name = "loss"}) {
  %c = aicf.constant dense<[1.0, 1.005859375]> : tensor<2xf32>
  %y = aicf.mul %x, %c : tensor<2xf32>, tensor<2xf32>
  %l = aicf.mse_loss %y, %c : tensor<2xf32>, tensor<2xf32>
  return %y, %l : tensor<2xf32>, tensor<f32>
}
