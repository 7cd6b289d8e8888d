// RUN: aicf-opt %s --aicf-expand-history --split-input-file --verify-diagnostics | FileCheck %s

// Tests one counter for two histories, counted behind both.
// CHECK-LABEL: func.func @f
// CHECK-SAME: %[[N:[a-z0-9]+]]: tensor<i64> {aicf.name = "f.history_step", aicf.role = "state"}, %[[H:[a-z0-9]+]]: tensor<8xf32> {aicf.name = "l.history", aicf.role = "state"}, %[[K:[a-z0-9]+]]: tensor<3x4xf32> {aicf.name = "y.history", aicf.role = "state"})
// CHECK-NOT: aicf.history =
// CHECK: %[[A:.*]] = aicf.record %[[H]], %{{.*}}, %[[N]]
// CHECK-NEXT: %[[B:.*]] = aicf.record %[[K]], %{{.*}}, %[[N]]
// CHECK-NEXT: %[[M:.*]] = aicf.step_inc %[[N]]
// CHECK-NEXT: return %{{.*}}, %{{.*}}, %[[A]], %[[B]], %[[M]]
func.func @f(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<f32> {aicf.name = "l", aicf.history = 8}, tensor<4xf32> {aicf.name = "y", aicf.history = 3}) {
  %l = aicf.mse_loss %x, %x : tensor<4xf32>, tensor<4xf32>
  %y = aicf.relu %x : tensor<4xf32>
  return %l, %y : tensor<f32>, tensor<4xf32>
}

// -----

// Tests that an entry without histories is left alone.
// CHECK-LABEL: func.func @g
// CHECK-SAME: (%{{.*}}: tensor<4xf32> {{{[^}]*}}}) -> (tensor<4xf32> {aicf.name = "y"})
func.func @g(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4xf32> {aicf.name = "y"}) {
  %y = aicf.relu %x : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// Tests a history of an update.
// expected-error @+1 {{result 0 has 'aicf.history' but updates "w"; only an output has a history}}
func.func @h(%w: tensor<4xf32> {aicf.role = "param", aicf.name = "w"})
    -> (tensor<4xf32> {aicf.updates = "w", aicf.history = 8}) {
  %y = aicf.relu %w : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// Tests a history of no steps.
// expected-error @+1 {{'aicf.history' must be a number of steps in [1, 2^31), got 0 : i64}}
func.func @none(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4xf32> {aicf.name = "y", aicf.history = 0}) {
  return %x : tensor<4xf32>
}

// -----

// Tests two entries that would share a history.
func.func @a(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4xf32> {aicf.name = "y", aicf.history = 2}) {
  return %x : tensor<4xf32>
}
// expected-error @+1 {{output "y" has a history in @a too: give one of them another name}}
func.func @b(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4xf32> {aicf.name = "y", aicf.history = 3}) {
  return %x : tensor<4xf32>
}
