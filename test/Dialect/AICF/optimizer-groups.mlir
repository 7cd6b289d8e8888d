// RUN: split-file %s %t
// RUN: aicf-opt %t/legal.mlir | aicf-opt | FileCheck %s
// RUN: aicf-opt %t/refused.mlir --split-input-file --verify-diagnostics

// Tests the text of optimizers with groups, and of the mark of a parameter.

//--- legal.mlir
// CHECK: #aicf.adam_groups<clip_norm = 1.000000e+00, l2 = true, lr = "group0">
func.func private @f(tensor<f32> {aicf.group = "group1"})
    attributes {aicf.optimizer = #aicf.adam_groups<lr = "group0", l2 = true, clip_norm = 1.0>}
// CHECK: #aicf.sgd_groups<lr = "g", momentum = true>
func.func private @g() attributes {aicf.optimizer = #aicf.sgd_groups<lr = "g", momentum = true>}

//--- refused.mlir
// expected-error @+1 {{#aicf.sgd_groups: unknown field 'weight_decay'; it has lr, momentum, nesterov, clip_norm, accumulate}}
func.func private @f() attributes {aicf.optimizer = #aicf.sgd_groups<lr = "g", weight_decay = 0.1>}

// -----

// expected-error @+1 {{#aicf.adam_groups: unknown field 'beta1'; it has lr, l2, clip_norm, accumulate}}
func.func private @f() attributes {aicf.optimizer = #aicf.adam_groups<lr = "g", beta1 = 0.1>}

// -----

// expected-error @+1 {{'aicf.group' must be a non-empty string, got 1}}
func.func private @f(tensor<f32> {aicf.group = 1})

// -----

// expected-error @+1 {{'aicf.group' must be a non-empty string, got ""}}
func.func private @f(tensor<f32> {aicf.group = ""})

// -----

// expected-error @+1 {{#aicf.sgd_groups: nesterov is true, but momentum is false}}
func.func private @f() attributes {aicf.optimizer = #aicf.sgd_groups<lr = "g", nesterov = true>}
