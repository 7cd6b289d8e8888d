// RUN: aicf-opt %s --aicf-append-optimizer --split-input-file --verify-diagnostics | FileCheck %s

!w = tensor<4xf32>
// Tests two optimizers: the second counts on its own. The learning rate is shared as
// it is written.
// CHECK-LABEL: func.func @discriminator(
// CHECK-SAME: aicf.name = "lr", aicf.role = "hyper"
// CHECK-SAME: aicf.name = "step", aicf.role = "state"
// CHECK: aicf.updates = "step"
func.func @discriminator(%D: !w {aicf.role = "param", aicf.name = "D"},
                         %G: !w {aicf.role = "param", aicf.name = "G"})
    -> (!w {aicf.name = "dD", aicf.grad = "D"}) attributes {aicf.optimizer = #aicf.adamw<lr = "lr">} {
  return %G : !w
}
// Tests that an entry without an optimizer stays as it is.
// CHECK-LABEL: func.func @predict(
// CHECK-NOT: aicf.updates
func.func @predict(%G: !w {aicf.role = "param", aicf.name = "G"}) -> (!w {aicf.name = "y"}) {
  return %G : !w
}
// CHECK-LABEL: func.func @generator(
// CHECK-SAME: aicf.name = "lr", aicf.role = "hyper"
// CHECK-SAME: aicf.name = "generator/step", aicf.role = "state"
// CHECK: aicf.updates = "generator/step"
func.func @generator(%D: !w {aicf.role = "param", aicf.name = "D"},
                     %G: !w {aicf.role = "param", aicf.name = "G"})
    -> (!w {aicf.name = "dG", aicf.grad = "G"}) attributes {aicf.optimizer = #aicf.adamw<lr = "lr">} {
  return %D : !w
}

// -----

!w = tensor<4xf32>
// Tests that entries which train a common parameter have one optimizer: also those
// that only a third one brings together.
// CHECK-LABEL: func.func @whole(
// CHECK: aicf.updates = "step"
func.func @whole(%A: !w {aicf.role = "param", aicf.name = "A"})
    -> (!w {aicf.name = "dA", aicf.grad = "A"}) attributes {aicf.optimizer = #aicf.adamw<lr = "lr">} {
  return %A : !w
}
// CHECK-LABEL: func.func @other(
// CHECK: aicf.updates = "step"
func.func @other(%B: !w {aicf.role = "param", aicf.name = "B"})
    -> (!w {aicf.name = "dB", aicf.grad = "B"}) attributes {aicf.optimizer = #aicf.adamw<lr = "lr">} {
  return %B : !w
}
// CHECK-LABEL: func.func @both(
// CHECK: aicf.updates = "step"
// CHECK-NOT: aicf.step_count
func.func @both(%A: !w {aicf.role = "param", aicf.name = "A"},
                %B: !w {aicf.role = "param", aicf.name = "B"})
    -> (!w {aicf.name = "dA", aicf.grad = "A"}, !w {aicf.name = "dB", aicf.grad = "B"})
    attributes {aicf.optimizer = #aicf.adamw<lr = "lr">} {
  return %A, %B : !w, !w
}

// -----

!w = tensor<4xf32>
// Tests counters by name: two entries without a common parameter have one.
// CHECK-LABEL: func.func @a(
// CHECK: aicf.updates = "count"
func.func @a(%A: !w {aicf.role = "param", aicf.name = "A"})
    -> (!w {aicf.name = "dA", aicf.grad = "A"})
    attributes {aicf.optimizer = #aicf.adamw<lr = "lr">, aicf.step_count = "count"} {
  return %A : !w
}
// CHECK-LABEL: func.func @b(
// CHECK: aicf.updates = "count"
// CHECK-NOT: aicf.step_count
func.func @b(%B: !w {aicf.role = "param", aicf.name = "B"})
    -> (!w {aicf.name = "dB", aicf.grad = "B"})
    attributes {aicf.optimizer = #aicf.adamw<lr = "lr">, aicf.step_count = "count"} {
  return %B : !w
}

// -----

!w = tensor<4xf32>
func.func @a(%A: !w {aicf.role = "param", aicf.name = "A"})
    -> (!w {aicf.name = "dA", aicf.grad = "A"}) attributes {aicf.optimizer = #aicf.adamw<lr = "lr">} {
  return %A : !w
}
// expected-error @+1 {{the optimizers of @a and @b would share the state "A.exp_avg": train the parameter by one of them, or count the steps of both in one 'aicf.step_count'}}
func.func @b(%A: !w {aicf.role = "param", aicf.name = "A"})
    -> (!w {aicf.name = "dA", aicf.grad = "A"})
    attributes {aicf.optimizer = #aicf.adamw<lr = "lr">, aicf.step_count = "count"} {
  return %A : !w
}

// -----

// expected-error @+1 {{'aicf.step_count' must be a non-empty string, got 3 : i64}}
func.func @f() attributes {aicf.step_count = 3} {
  return
}

// -----

// expected-error @+1 {{'aicf.accumulate' must be an i64 from 2 to 2147483647, got 1 : i64}}
func.func @f() attributes {aicf.accumulate = 1 : i64} {
  return
}

// -----

// expected-error @+1 {{'aicf.output_form' must be the name of a form, such as "tuple", got "list"}}
func.func @f() attributes {aicf.output_form = "list"} {
  return
}
