// RUN: aicf-opt %s --split-input-file --aicf-append-optimizer --verify-diagnostics | FileCheck %s

// Tests schedules: what each is made of, and a table of rates, which is a state that
// nobody initialises.
// CHECK-LABEL: func.func @cosine
// CHECK: aicf.learning_rate %{{.*}} {cosine = true, dtype = f32, end = 1.0{{.*}} : f64, peak = 1.0{{.*}} : f64, start = 1.0{{.*}} : f64, steps = 50 : i64, warmup = 0 : i64}
func.func @cosine(%w: tensor<3xf32> {aicf.role = "param", aicf.name = "w"})
    -> (tensor<3xf32> {aicf.name = "grad:w", aicf.grad = "w"})
    attributes {aicf.optimizer = #aicf.sgd<lr = #aicf.cosine<start = 0.1, steps = 50, end = 0.001>>} {
  return %w : tensor<3xf32>
}

// -----

// CHECK-LABEL: func.func @stairs
// CHECK: aicf.step_decay %{{.*}} {dtype = f32, every = 30 : i64, factor = 5.0{{.*}} : f64, start = 1.0{{.*}} : f64}
func.func @stairs(%w: tensor<3xf32> {aicf.role = "param", aicf.name = "w"})
    -> (tensor<3xf32> {aicf.name = "grad:w", aicf.grad = "w"})
    attributes {aicf.optimizer = #aicf.sgd<lr = #aicf.step_decay<start = 0.1, factor = 0.5, every = 30>>} {
  return %w : tensor<3xf32>
}

// -----

// Tests that 16 bits get a cast.
// CHECK-LABEL: func.func @polynomial
// CHECK: %[[R:.*]] = aicf.polynomial_decay %{{.*}} {dtype = f32, end = 0.0{{.*}}, power = 2.0{{.*}}, start = 1.0{{.*}}, steps = 9 : i64}
// CHECK: aicf.cast %[[R]] to f16
func.func @polynomial(%w: tensor<3xf16> {aicf.role = "param", aicf.name = "w"})
    -> (tensor<3xf16> {aicf.name = "grad:w", aicf.grad = "w"})
    attributes {aicf.optimizer = #aicf.sgd<lr = #aicf.polynomial<start = 0.1, steps = 9, power = 2.0>>} {
  return %w : tensor<3xf16>
}

// -----

// CHECK-LABEL: func.func @table
// CHECK-SAME: %[[T:[a-z0-9]+]]: tensor<4xf32> {aicf.init = "none", aicf.name = "lr_table", aicf.role = "state"}
// CHECK: aicf.rate_table %{{.*}}, %[[T]] : tensor<i64>, tensor<4xf32>
func.func @table(%w: tensor<3xf32> {aicf.role = "param", aicf.name = "w"})
    -> (tensor<3xf32> {aicf.name = "grad:w", aicf.grad = "w"})
    attributes {aicf.optimizer = #aicf.sgd<lr = #aicf.table<rows = 4>>} {
  return %w : tensor<3xf32>
}

// -----

// Tests that the table of another optimizer is another one.
// CHECK-LABEL: func.func @named
// CHECK-SAME: aicf.name = "disc/lr_table"
func.func @named(%w: tensor<3xf32> {aicf.role = "param", aicf.name = "w"})
    -> (tensor<3xf32> {aicf.name = "grad:w", aicf.grad = "w"})
    attributes {aicf.step_count = "disc/step",
                aicf.optimizer = #aicf.sgd<lr = #aicf.table<rows = 4>>} {
  return %w : tensor<3xf32>
}

// -----

// expected-error @+1 {{argument 1 is named "lr_table", as a state that 'aicf.optimizer' adds: rename it}}
func.func @taken(%w: tensor<3xf32> {aicf.role = "param", aicf.name = "w"},
                 %t: tensor<4xf32> {aicf.role = "state", aicf.name = "lr_table"})
    -> (tensor<3xf32> {aicf.name = "grad:w", aicf.grad = "w"})
    attributes {aicf.optimizer = #aicf.sgd<lr = #aicf.table<rows = 4>>} {
  return %w : tensor<3xf32>
}
