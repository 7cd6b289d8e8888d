// RUN: aicf-opt %s --aicf-check-capture-safety --verify-diagnostics

// The example of the pass's page.

func.func @f(%t: tensor<i64> {aicf.role = "hyper", aicf.name = "t"})
    -> (tensor<2xf32> {aicf.name = "y"}) {
  // expected-error @+1 {{'aicf.bias_corr' op capture safety: its step does not come through aicf.step_inc, so a captured graph would train on a frozen step}}
  %bc = aicf.bias_corr %t : tensor<i64>
  return %bc : tensor<2xf32>
}
