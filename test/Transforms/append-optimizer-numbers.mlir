// RUN: aicf-opt %s --aicf-append-optimizer --split-input-file --verify-diagnostics | FileCheck %s

// Tests numbers that f64 holds, and the type that a step computes in does not.

// expected-error @+1 {{'aicf.optimizer' has the number 1.000000e+39, which is infinite in f32, and parameter "W" is trained in f32}}
func.func @schedule(%W: tensor<f32> {aicf.role = "param", aicf.name = "W"})
    -> (tensor<f32> {aicf.name = "g", aicf.grad = "W"})
    attributes {aicf.optimizer = #aicf.sgd<lr = #aicf.linear<start = 1.0e39, steps = 2>>} {
  return %W : tensor<f32>
}

// -----

// expected-error @+1 {{'aicf.optimizer' has the number 1.000000e+300}}
func.func @clip(%W: tensor<f16> {aicf.role = "param", aicf.name = "W"})
    -> (tensor<f16> {aicf.name = "g", aicf.grad = "W"})
    attributes {aicf.optimizer = #aicf.sgd<lr = "lr", clip_norm = 1.0e300>} {
  return %W : tensor<f16>
}

// -----

// expected-error @+1 {{'aicf.weight_decay' has the number 1.000000e+300, which is infinite in f32, and parameter "W" is trained in f32}}
func.func @decay(%W: tensor<f32> {aicf.role = "param", aicf.name = "W", aicf.weight_decay = 1.0e300})
    -> (tensor<f32> {aicf.name = "g", aicf.grad = "W"}) attributes {aicf.optimizer = #aicf.sgd<lr = "lr">} {
  return %W : tensor<f32>
}

// -----

// expected-error @+1 {{'aicf.lr_scale' has the number 1.000000e+39}}
func.func @rate(%W: tensor<f32> {aicf.role = "param", aicf.name = "W", aicf.lr_scale = 1.0e39})
    -> (tensor<f32> {aicf.name = "g", aicf.grad = "W"}) attributes {aicf.optimizer = #aicf.sgd<lr = "lr">} {
  return %W : tensor<f32>
}

// -----

// expected-error @+1 {{'aicf.init' is 7.000000e+04 : f64, which is infinite in 'f16'}}
func.func @init(%W: tensor<f16> {aicf.role = "param", aicf.name = "W", aicf.init = 7.0e4}) {
  return
}

// -----

// expected-error @+1 {{'aicf.init' is "normal:1e39", which is infinite in 'f32'}}
func.func @deviation(%W: tensor<f32> {aicf.role = "param", aicf.name = "W", aicf.init = "normal:1e39"}) {
  return
}

// -----

// Tests what f64 holds, and a schedule for a parameter of 16 bits: it is computed
// in f32.
// CHECK-LABEL: func.func @double(
// CHECK: aicf.learning_rate {{.*}}E+199
func.func @double(%W: tensor<f64> {aicf.role = "param", aicf.name = "W", aicf.init = 1.0e200})
    -> (tensor<f64> {aicf.name = "g", aicf.grad = "W"})
    attributes {aicf.optimizer = #aicf.sgd<lr = #aicf.constant<value = 1.0e200>>} {
  return %W : tensor<f64>
}

// -----

// CHECK-LABEL: func.func @half(
// CHECK: %[[R:.*]] = aicf.learning_rate
// CHECK-NEXT: aicf.cast %[[R]] to f16 : tensor<f32>
func.func @half(%W: tensor<f16> {aicf.role = "param", aicf.name = "W"})
    -> (tensor<f16> {aicf.name = "g", aicf.grad = "W"})
    attributes {aicf.optimizer = #aicf.sgd<lr = #aicf.constant<value = 1.0e-3>>} {
  return %W : tensor<f16>
}
