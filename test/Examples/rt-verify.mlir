// RUN: aicf-opt %s --aicf-rt-verify=phase=inplace --verify-diagnostics

// The example of the pass's page.

func.func @f(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4xf32> {aicf.name = "z"}) {
  %h = aicf_rt.call relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error @+1 {{'aicf_rt.call' op result 0 overwrites a value that 'add' still reads}}
  %y = aicf_rt.call relu(%h) inplace [0] : (tensor<4xf32>) -> tensor<4xf32>
  // expected-note @+1 {{read here}}
  %z = aicf_rt.call add(%h, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %z : tensor<4xf32>
}
