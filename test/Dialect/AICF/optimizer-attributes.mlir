// RUN: split-file %s %t
// RUN: aicf-opt %t/legal.mlir | aicf-opt | FileCheck %s
// RUN: aicf-opt %t/refused.mlir --split-input-file --verify-diagnostics

// Tests the text of optimizers and schedules, and of the marks beside them.

//--- legal.mlir
// CHECK: #aicf.adamw<lr = "rate">
func.func private @a() attributes {aicf.optimizer = #aicf.adamw<lr = "rate">}
// CHECK: #aicf.adamw<beta1 = 5.000000e-01, beta2 = 9.000000e-01, eps = 1.000000e+00, lr = #aicf.linear<start = 1.000000e+00, steps = 7>, weight_decay = 0.000000e+00>
func.func private @b() attributes {aicf.optimizer = #aicf.adamw<lr = #aicf.linear<steps = 7, start = 1>, eps = 1, beta1 = 0.5, beta2 = 0.9, weight_decay = 0>}
// CHECK: #aicf.sgd<lr = #aicf.constant<value = 1.000000e-01>, momentum = 9.000000e-01, nesterov = true>
func.func private @c() attributes {aicf.optimizer = #aicf.sgd<nesterov = true, momentum = 0.9, lr = #aicf.constant<value = 0.1>>}
// CHECK: #aicf.adamw<clip_norm = 1.000000e+00, lr = "lr", weight_decay = 1.000000e-02>
func.func private @d() attributes {
    aicf.optimizer = #aicf.adamw<lr = "lr", weight_decay = 0.01, clip_norm = 1.0>
}
// CHECK: #aicf.lion<accumulate = 4, beta2 = 0.94{{9*[0-9]*}}, lr = "lr">
func.func private @e() attributes {aicf.optimizer = #aicf.lion<lr = "lr", beta2 = 0.95, accumulate = 4>}

//--- refused.mlir
// expected-error @+1 {{#aicf.adamw: lr is missing: name a hyper (lr = "lr") or give a schedule}}
func.func private @f() attributes {aicf.optimizer = #aicf.adamw}

// -----

// expected-error @+1 {{#aicf.adamw: lr is 1.000000e-01 : f64, expected the name of a hyper (lr = "lr") or a schedule (lr = #aicf.constant<value = 0.001>)}}
func.func private @f() attributes {aicf.optimizer = #aicf.adamw<lr = 0.1>}

// -----

// expected-error @+1 {{#aicf.sgd: lr is "", expected the name of a hyper}}
func.func private @f() attributes {aicf.optimizer = #aicf.sgd<lr = "">}

// -----

// expected-error @+1 {{#aicf.adamw: unknown field 'beta3'; it has lr, beta1, beta2, eps, weight_decay, clip_norm, accumulate}}
func.func private @f() attributes {aicf.optimizer = #aicf.adamw<lr = "lr", beta3 = 0.1>}

// -----

// expected-error @+1 {{#aicf.constant: unknown field 'lr'; it has value}}
func.func private @f() attributes {aicf.optimizer = #aicf.sgd<lr = #aicf.constant<lr = "lr">>}

// -----

// expected-error @+1 {{#aicf.adamw: beta1 is given twice}}
func.func private @f() attributes {aicf.optimizer = #aicf.adamw<lr = "lr", beta1 = 0.1, beta1 = 0.1>}

// -----

// expected-error @+1 {{#aicf.adamw: beta1 is 1, expected a number in [0, 1)}}
func.func private @f() attributes {aicf.optimizer = #aicf.adamw<lr = "lr", beta1 = 1.0>}

// -----

// expected-error @+1 {{#aicf.adamw: eps is "small", expected a number}}
func.func private @f() attributes {aicf.optimizer = #aicf.adamw<lr = "lr", eps = "small">}

// -----

// expected-error @+1 {{#aicf.lion: clip_norm is -1, expected a finite number >= 0}}
func.func private @f() attributes {aicf.optimizer = #aicf.lion<lr = "lr", clip_norm = -1.0>}

// -----

// expected-error @+1 {{#aicf.sgd: accumulate is 0, expected a number in [1, 2^31)}}
func.func private @f() attributes {aicf.optimizer = #aicf.sgd<lr = "lr", accumulate = 0>}

// -----

// expected-error @+1 {{#aicf.sgd: nesterov is 1 : i64, expected true or false}}
func.func private @f() attributes {aicf.optimizer = #aicf.sgd<lr = "lr", nesterov = 1>}

// -----

// expected-error @+1 {{#aicf.sgd: momentum is true, expected a number}}
func.func private @f() attributes {aicf.optimizer = #aicf.sgd<lr = "lr", momentum = true>}

// -----

// expected-error @+1 {{#aicf.linear: steps is missing}}
func.func private @f() attributes {aicf.optimizer = #aicf.sgd<lr = #aicf.linear<start = 0.1>>}

// -----

// expected-error @+1 {{#aicf.linear: steps is 1.500000e+00 : f64, expected a whole number}}
func.func private @f() attributes {aicf.optimizer = #aicf.sgd<lr = #aicf.linear<start = 0.1, steps = 1.5>>}

// -----

// expected-error @+1 {{'aicf.optimizer' must be an optimizer, such as #aicf.adamw<lr = "lr">, got "adam"}}
func.func private @f() attributes {aicf.optimizer = "adam"}

// -----

// expected-error @+1 {{'aicf.optimizer' must be an optimizer, such as #aicf.adamw<lr = "lr">, got #aicf.constant}}
func.func private @f() attributes {aicf.optimizer = #aicf.constant<value = 0.1>}

// -----

// expected-error @+1 {{'aicf.loss_scale' must be a non-empty string, got 1}}
func.func private @f() attributes {aicf.loss_scale = 1}

// -----

// expected-error @+1 {{'aicf.minimize' takes no value, got true}}
func.func private @f() -> (tensor<f32> {aicf.minimize = true})

// -----

// expected-error @+1 {{'aicf.frozen' takes no value, got "yes"}}
func.func private @f(tensor<f32> {aicf.frozen = "yes"})

// -----

// expected-error @+1 {{'aicf.weight_decay' must be a finite number >= 0, got -1.000000e+00}}
func.func private @f(tensor<f32> {aicf.weight_decay = -1.0})

// -----

// expected-error @+1 {{'aicf.lr_scale' must be a finite number >= 0, got "half"}}
func.func private @f(tensor<f32> {aicf.lr_scale = "half"})

// -----

// expected-error @+1 {{'aicf.grad' must be a non-empty string, got 3}}
func.func private @f() -> (tensor<f32> {aicf.grad = 3})

// -----

func.func @f(%x: tensor<f32>) -> tensor<f32> {
  // expected-error @+1 {{'aicf.recompute' must be a non-empty string, got false}}
  %y = aicf.relu %x {aicf.recompute = false} : tensor<f32>
  return %y : tensor<f32>
}

// -----

// expected-error @+1 {{#aicf.sgd: nesterov is true, but momentum is 0}}
func.func private @f() attributes {aicf.optimizer = #aicf.sgd<lr = "lr", nesterov = true>}

// -----

// expected-error @+1 {{#aicf.warmup_cosine: steps is 10, expected more than warmup, 10}}
func.func private @f() attributes {aicf.optimizer = #aicf.sgd<lr = #aicf.warmup_cosine<peak = 0.1, warmup = 10, steps = 10>>}
