// RUN: aicf-opt %s --split-input-file --aicf-append-optimizer --verify-diagnostics | FileCheck %s

// V was frozen for the first 3 updates: its moments are corrected by a count of its own, which
// both of its kind share. Nothing of W's changes.
// CHECK-LABEL: @unfrozen
// CHECK: %[[STEP:.*]] = aicf.step_inc
// CHECK: aicf.bias_corr %[[STEP]]
// CHECK: aicf.adam_step
// CHECK: %[[LATE:.*]] = aicf.add_scalar %[[STEP]] {value = -3.000000e+00 : f64} : tensor<i64>
// CHECK: aicf.bias_corr %[[LATE]]
// CHECK-NOT: aicf.bias_corr
// CHECK: return
func.func @unfrozen(
    %W: tensor<4xf32> {aicf.role = "param", aicf.name = "W"},
    %V: tensor<4xf32> {aicf.role = "param", aicf.name = "V", aicf.step_lag = 3},
    %U: tensor<4xf32> {aicf.role = "param", aicf.name = "U", aicf.step_lag = 3},
    %g: tensor<4xf32> {aicf.role = "input", aicf.name = "g"})
    -> (tensor<4xf32> {aicf.grad = "W"}, tensor<4xf32> {aicf.grad = "V"},
        tensor<4xf32> {aicf.grad = "U"})
    attributes {aicf.optimizer = #aicf.adamw<lr = "lr">} {
  return %g, %g, %g : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// expected-error @+1 {{parameter "W" has 'aicf.step_lag', and 'aicf.optimizer' does not count updates}}
func.func @uncounted(%W: tensor<4xf32> {aicf.role = "param", aicf.name = "W", aicf.step_lag = 1},
                     %g: tensor<4xf32> {aicf.role = "input", aicf.name = "g"})
    -> (tensor<4xf32> {aicf.grad = "W"})
    attributes {aicf.optimizer = #aicf.sgd<lr = "lr">} {
  return %g : tensor<4xf32>
}
