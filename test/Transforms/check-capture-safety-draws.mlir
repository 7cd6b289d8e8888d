// RUN: aicf-opt %s --aicf-check-capture-safety --split-input-file --verify-diagnostics

// Tests that a dropout's step may be the state that a step_inc counts.
func.func @f(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"},
             %t: tensor<i64> {aicf.role = "state", aicf.name = "t"})
    -> (tensor<4xf32> {aicf.name = "y"}, tensor<i64> {aicf.updates = "t"}) {
  %y = aicf.dropout %x, %t {p = 0.5, seed = 1} : tensor<4xf32>, tensor<i64>
  %t1 = aicf.step_inc %t : tensor<i64>
  return %y, %t1 : tensor<4xf32>, tensor<i64>
}

// -----

// Tests that a mask that would never change is refused.
func.func @f(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"},
             %t: tensor<i64> {aicf.role = "state", aicf.name = "t"})
    -> (tensor<4xf32> {aicf.name = "y"}) {
  // expected-error @+1 {{'aicf.dropout' op capture safety: its step is not counted by an aicf.step_inc, so a captured graph would draw the same numbers in every step}}
  %y = aicf.dropout %x, %t {p = 0.5, seed = 1} : tensor<4xf32>, tensor<i64>
  return %y : tensor<4xf32>
}

// -----

// Tests that an input may count, too.
func.func @f(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"},
             %t: tensor<i64> {aicf.role = "input", aicf.name = "t"})
    -> (tensor<4xf32> {aicf.name = "y"}) {
  %y = aicf.dropout %x, %t {p = 0.5, seed = 1} : tensor<4xf32>, tensor<i64>
  return %y : tensor<4xf32>
}

// -----

// Tests that what draws does not wait for the update half.
func.func @f(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"},
             %t: tensor<i64> {aicf.role = "state", aicf.name = "t"})
    -> (tensor<4xf32> {aicf.name = "y"}, tensor<i64> {aicf.updates = "t"}) {
  %t1 = aicf.step_inc %t : tensor<i64>
  // expected-error @+1 {{capture safety: its step is the result of an aicf.step_inc, which the update half runs later: give it the state that is counted}}
  %y = aicf.dropout %x, %t1 {p = 0.5, seed = 1} : tensor<4xf32>, tensor<i64>
  return %y, %t1 : tensor<4xf32>, tensor<i64>
}

// -----

// Tests that the step_inc must update the state.
func.func @f(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"},
             %t: tensor<i64> {aicf.role = "state", aicf.name = "t"})
    -> (tensor<4xf32> {aicf.name = "y"}, tensor<i64> {aicf.name = "t1"}) {
  %y = aicf.dropout %x, %t {p = 0.5, seed = 1} : tensor<4xf32>, tensor<i64>
  // expected-error @+1 {{capture safety: its result does not update "t", so the step would never advance}}
  %t1 = aicf.step_inc %t : tensor<i64>
  return %y, %t1 : tensor<4xf32>, tensor<i64>
}

// -----

// Tests that a copy of the state is not what is counted.
func.func @f(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"},
             %t: tensor<i64> {aicf.role = "state", aicf.name = "t"})
    -> (tensor<4xf32> {aicf.name = "y"}, tensor<i64> {aicf.updates = "t"}) {
  %old = aicf.copy %t : tensor<i64>
  // expected-error @+1 {{'aicf.dropout' op capture safety: its step is not counted by an aicf.step_inc}}
  %y = aicf.dropout %x, %old {p = 0.5, seed = 1} : tensor<4xf32>, tensor<i64>
  %t1 = aicf.step_inc %t : tensor<i64>
  return %y, %t1 : tensor<4xf32>, tensor<i64>
}
