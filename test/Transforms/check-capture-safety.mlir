// RUN: aicf-opt %s --aicf-check-capture-safety --split-input-file --verify-diagnostics

// Tests that a step that is an input is refused: a graph would freeze it.
func.func @f(%t: tensor<i64> {aicf.role = "input", aicf.name = "t"})
    -> (tensor<2xf32> {aicf.name = "bc"}) {
  // expected-error @+1 {{capture safety: its step does not come through aicf.step_inc, so a captured graph would train on a frozen step}}
  %bc = aicf.bias_corr %t : tensor<i64>
  return %bc : tensor<2xf32>
}

// -----

// Tests that a bias correction that is an input is refused at the optimizer.
func.func @f(%p: tensor<4xf32> {aicf.role = "param", aicf.name = "p"},
             %m: tensor<4xf32> {aicf.role = "state", aicf.name = "m"},
             %v: tensor<4xf32> {aicf.role = "state", aicf.name = "v"},
             %bc: tensor<2xf32> {aicf.role = "input", aicf.name = "bc"},
             %lr: tensor<f32> {aicf.role = "hyper", aicf.name = "lr"})
    -> (tensor<4xf32> {aicf.updates = "p"}) {
  // expected-error @+1 {{'aicf.adam_step' op capture safety: its step does not come through}}
  %n:3 = aicf.adam_step %p, %p, %m, %v, %bc, %lr : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<2xf32>, tensor<f32>
  return %n#0 : tensor<4xf32>
}

// -----

// Tests that the step must be a state.
func.func @f(%t: tensor<i64> {aicf.role = "hyper", aicf.name = "t"})
    -> (tensor<2xf32> {aicf.name = "bc"}) {
  // expected-error @+1 {{capture safety: counts a value that is not an argument of role state, so the count would not persist}}
  %t1 = aicf.step_inc %t : tensor<i64>
  %bc = aicf.bias_corr %t1 : tensor<i64>
  return %bc : tensor<2xf32>
}

// -----

// Tests that the same step_inc must update the state.
func.func @f(%t: tensor<i64> {aicf.role = "state", aicf.name = "t"})
    -> (tensor<2xf32> {aicf.name = "bc"}) {
  // expected-error @+1 {{capture safety: its result does not update "t", so the step would never advance}}
  %t1 = aicf.step_inc %t : tensor<i64>
  %bc = aicf.bias_corr %t1 : tensor<i64>
  return %bc : tensor<2xf32>
}

// -----

// Tests that returning the new step as an output does not update the state.
func.func @f(%t: tensor<i64> {aicf.role = "state", aicf.name = "t"})
    -> (tensor<2xf32> {aicf.name = "bc"}, tensor<i64> {aicf.name = "t1"}) {
  // expected-error @+1 {{its result does not update "t", so the step would never advance}}
  %t1 = aicf.step_inc %t : tensor<i64>
  %bc = aicf.bias_corr %t1 : tensor<i64>
  return %bc, %t1 : tensor<2xf32>, tensor<i64>
}

// -----

// Tests that only what is returned updates: bias_corr reads the step where the
// entry returns the state's update, as operand 0.
func.func @f(%t: tensor<i64> {aicf.role = "state", aicf.name = "t"})
    -> (tensor<i64> {aicf.updates = "t"}, tensor<2xf32> {aicf.name = "bc"}) {
  // expected-error @+1 {{its result does not update "t", so the step would never advance}}
  %t1 = aicf.step_inc %t : tensor<i64>
  %bc = aicf.bias_corr %t1 : tensor<i64>
  return %t, %bc : tensor<i64>, tensor<2xf32>
}

// -----

// Tests that moments without updates are refused.
func.func @f(%p: tensor<4xf32> {aicf.role = "param", aicf.name = "p"},
             %m: tensor<4xf32> {aicf.role = "state", aicf.name = "m"},
             %lr: tensor<f32> {aicf.role = "hyper", aicf.name = "lr"})
    -> (tensor<4xf32> {aicf.updates = "p"}) {
  // expected-error @+1 {{capture safety: result m_out does not update "m", which operand m reads}}
  %n:2 = aicf.sgd_step %p, %p, %lr momentum %m {momentum = 0.9} : tensor<4xf32>, tensor<4xf32>, tensor<f32> momentum tensor<4xf32>
  return %n#0 : tensor<4xf32>
}

// -----

// Tests that a moment must be a state.
func.func @f(%p: tensor<4xf32> {aicf.role = "param", aicf.name = "p"},
             %m: tensor<4xf32> {aicf.role = "input", aicf.name = "m"},
             %lr: tensor<f32> {aicf.role = "hyper", aicf.name = "lr"})
    -> (tensor<4xf32> {aicf.updates = "p"}) {
  // expected-error @+1 {{capture safety: moment m is not an argument of role state}}
  %n:2 = aicf.sgd_step %p, %p, %lr momentum %m {momentum = 0.9} : tensor<4xf32>, tensor<4xf32>, tensor<f32> momentum tensor<4xf32>
  return %n#0 : tensor<4xf32>
}

// -----

// Tests a legal counter, and plain SGD, which has neither step nor moments.
func.func @f(%p: tensor<4xf32> {aicf.role = "param", aicf.name = "p"},
             %t: tensor<i64> {aicf.role = "state", aicf.name = "t"},
             %lr: tensor<f32> {aicf.role = "hyper", aicf.name = "lr"})
    -> (tensor<4xf32> {aicf.updates = "p"}, tensor<i64> {aicf.updates = "t"},
        tensor<2xf32> {aicf.name = "bc"}) {
  %t1 = aicf.step_inc %t : tensor<i64>
  %bc = aicf.bias_corr %t1 : tensor<i64>
  %n:2 = aicf.sgd_step %p, %p, %lr : tensor<4xf32>, tensor<4xf32>, tensor<f32>
  return %n#0, %t1, %bc : tensor<4xf32>, tensor<i64>, tensor<2xf32>
}
