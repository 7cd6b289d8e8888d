// RUN: aicf-opt %s --aicf-verify-entries --split-input-file --verify-diagnostics

// Only a parameter has had updates.

// expected-error @+1 {{argument 0 ("x") has 'aicf.step_lag', but is of role input; only params are trained}}
func.func @f(%x: tensor<f32> {aicf.role = "input", aicf.name = "x", aicf.step_lag = 1}) {
  return
}

// -----

func.func @of_a_parameter(%W: tensor<f32> {aicf.role = "param", aicf.name = "W", aicf.step_lag = 1}) {
  return
}

// -----

// expected-error @+1 {{'aicf.step_lag' must be a number of updates in [0, 2^31), got -1}}
func.func private @below_0(tensor<f32> {aicf.step_lag = -1})

// -----

// expected-error @+1 {{'aicf.step_lag' must be a number of updates in [0, 2^31), got 1 : i32}}
func.func private @of_another_type(tensor<f32> {aicf.step_lag = 1 : i32})
