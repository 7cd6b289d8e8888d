// RUN: aicf-opt %s --aicf-verify-entries --split-input-file --verify-diagnostics

// expected-error @+1 {{argument 0 ("x") has 'aicf.scratch', but is of role input, expected state}}
func.func @f(%x: tensor<f32> {aicf.role = "input", aicf.name = "x", aicf.scratch}) {
  return
}

// -----

func.func @f(%x: tensor<f32> {aicf.role = "state", aicf.name = "x", aicf.scratch}) {
  return
}
// expected-error @+1 {{entries disagree about "x": no aicf.scratch in @g, aicf.scratch in @f}}
func.func @g(%x: tensor<f32> {aicf.role = "state", aicf.name = "x"}) {
  return
}
