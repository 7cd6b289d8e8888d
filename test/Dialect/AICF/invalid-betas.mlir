// RUN: aicf-opt %s --split-input-file --verify-diagnostics

// Tests that Adam and its bias correction agree about both betas.
func.func @beta1(%p: tensor<3xf32>, %t: tensor<i64>, %lr: tensor<f32>) {
  %bc = aicf.bias_corr %t : tensor<i64>
  // expected-error @+1 {{C4: beta1 and beta2 are 8.000000e-01 : f64 and 0.99899999999999999 : f64, but its bias_corr has 9.000000e-01 : f64 and 0.99899999999999999 : f64}}
  %r:3 = aicf.adam_step %p, %p, %p, %p, %bc, %lr {beta1 = 0.8} : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2xf32>, tensor<f32>
  return
}

// -----

func.func @beta2(%p: tensor<3xf32>, %t: tensor<i64>, %lr: tensor<f32>) {
  %bc = aicf.bias_corr %t : tensor<i64>
  // expected-error @+1 {{C4: beta1 and beta2 are 9.000000e-01 : f64 and 8.000000e-01 : f64, but its bias_corr has 9.000000e-01 : f64 and 0.99899999999999999 : f64}}
  %r:3 = aicf.adam_step %p, %p, %p, %p, %bc, %lr {beta2 = 0.8} : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2xf32>, tensor<f32>
  return
}
