// RUN: aicf-opt %s --aicf-verify-entries --verify-diagnostics

// The example of the pass's page.

// expected-error @+1 {{result 0 updates "x", which is of role input; only params and states may be updated}}
func.func @f(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4xf32> {aicf.updates = "x"}) {
  %y = aicf.relu %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
