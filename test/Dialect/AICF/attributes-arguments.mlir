// RUN: aicf-opt %s --split-input-file --verify-diagnostics

// Tests the checks of single aicf.* attributes on arguments and results.

func.func private @legal(
    tensor<f32> {aicf.init = 3 : i32}, tensor<i64> {aicf.init = -4},
    tensor<f32> {aicf.init = "normal"}, tensor<f32> {aicf.init = "normal:0.5"})
    -> (tensor<f32> {aicf.history = 2147483647})

// -----

// expected-error @+1 {{'aicf.role' must be "input", "param", "state", "hyper" or "constant", got 1 : i64}}
func.func private @f(tensor<f32> {aicf.role = 1})

// -----

// expected-error @+1 {{'aicf.init' must be a finite number, "none", "zeros", "ones", "uniform_fan_in", "normal" or "normal:STDDEV", got [1]}}
func.func private @f(tensor<f32> {aicf.init = [1]})

// -----

// expected-error @+1 {{'aicf.init' must be a finite number, "none", "zeros", "ones", "uniform_fan_in", "normal" or "normal:STDDEV", got 3 : i8}}
func.func private @f(tensor<f32> {aicf.init = 3 : i8})

// -----

// Tests that a constant is written as its number.
// expected-error @+1 {{'aicf.init' must be a finite number, "none", "zeros", "ones", "uniform_fan_in", "normal" or "normal:STDDEV", got "constant"}}
func.func private @f(tensor<f32> {aicf.init = "constant"})

// -----

// expected-error @+1 {{'aicf.init' must be a finite number, "none", "zeros", "ones", "uniform_fan_in", "normal" or "normal:STDDEV", got "ones:1"}}
func.func private @f(tensor<f32> {aicf.init = "ones:1"})

// -----

// expected-error @+1 {{'aicf.init' must be a finite number, "none", "zeros", "ones", "uniform_fan_in", "normal" or "normal:STDDEV", got "normal:wide"}}
func.func private @f(tensor<f32> {aicf.init = "normal:wide"})

// -----

// expected-error @+1 {{'aicf.init' must be a finite number, "none", "zeros", "ones", "uniform_fan_in", "normal" or "normal:STDDEV", got "normal:inf"}}
func.func private @f(tensor<f32> {aicf.init = "normal:inf"})

// -----

// expected-error @+1 {{'aicf.data' must be dense elements of 'tensor<0xf32>', of up to 1048576 bytes}}
func.func private @f(tensor<0xf32> {aicf.data = dense<> : tensor<0xf32>})

// -----

// expected-error @+1 {{'aicf.weight_decay' must be a finite number >= 0, got 0x7FF0000000000000 : f64}}
func.func private @f(tensor<f32> {aicf.weight_decay = 0x7FF0000000000000 : f64})

// -----

// expected-error @+1 {{'aicf.updates' must be a non-empty string, got 1 : i64}}
func.func private @f() -> (tensor<f32> {aicf.updates = 1})

// -----

// expected-error @+1 {{'aicf.history' must be a number of steps in [1, 2^31), got "8"}}
func.func private @f() -> (tensor<f32> {aicf.history = "8"})

// -----

// expected-error @+1 {{'aicf.history' must be a number of steps in [1, 2^31), got 2147483648 : i64}}
func.func private @f() -> (tensor<f32> {aicf.history = 2147483648})
