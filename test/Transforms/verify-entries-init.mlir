// RUN: aicf-opt %s --aicf-verify-entries --split-input-file --verify-diagnostics

// Tests that integers may have an initial value, if it is not random.
func.func @f(%x: tensor<4xi32> {aicf.role = "state", aicf.name = "x", aicf.init = 1.0 : f32}) {
  return
}

// -----

// expected-error @+1 {{argument 0 ("x") is 'tensor<4x4xi32>': random initial values need a float type}}
func.func @f(%x: tensor<4x4xi32> {aicf.role = "state", aicf.name = "x", aicf.init = "uniform_fan_in"}) {
  return
}
