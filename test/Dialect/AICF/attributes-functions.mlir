// RUN: aicf-opt %s --split-input-file --verify-diagnostics

// Tests the checks of single aicf.* attributes on functions and ops.

func.func private @legal() attributes {
  aicf.accumulate = 2147483647 : i64, aicf.target = #aicf.target<cuda, math = "tf32">, aicf.output_form = "tuple",
  aicf.outputs = ["grad_norm"]
}

// -----

// expected-error @+1 {{'aicf.target' must be a target, such as #aicf.target<cuda>, got 32 : i64}}
func.func private @f() attributes {aicf.target = 32}

// -----

// expected-error @+1 {{'aicf.accumulate' must be an i64 from 2 to 2147483647, got "2"}}
func.func private @f() attributes {aicf.accumulate = "2"}

// -----

// expected-error @+1 {{'aicf.accumulate' must be an i64 from 2 to 2147483647, got 2 : i32}}
func.func private @f() attributes {aicf.accumulate = 2 : i32}

// -----

// expected-error @+1 {{'aicf.accumulate' must be an i64 from 2 to 2147483647, got 2147483648 : i64}}
func.func private @f() attributes {aicf.accumulate = 2147483648}

// -----

// expected-error @+1 {{'aicf.outputs' must be an array of names, such as ["grad_norm"], got []}}
func.func private @f() attributes {aicf.outputs = []}

// -----

// expected-error @+1 {{'aicf.outputs' must be an array of names, such as ["grad_norm"], got ["grad_norm", 1]}}
func.func private @f() attributes {aicf.outputs = ["grad_norm", 1]}

// -----

// expected-error @+1 {{'aicf.output_form' must be the name of a form, such as "tuple", got 2 : i64}}
func.func private @f() attributes {aicf.output_form = 2}

// -----

// expected-error @+1 {{unknown attribute 'aicf.recompute' on a function}}
func.func private @f() attributes {aicf.recompute}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'aicf.vids' must be an array of 1 labels, got 1 : i64}}
  %0 = aicf.relu %x {aicf.vids = 1} : tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{unexpected attribute 'aicf.exact': only functions carry it}}
  %0 = aicf.relu %x {aicf.exact = 1.0 : f64} : tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<2x2x2xf32>) {
  // expected-error @+1 {{'aicf.read_turned' must be true or false, got 1 : i64}}
  %0 = aicf.matmul %x, %x {aicf.read_turned = 1} : tensor<2x2x2xf32>, tensor<2x2x2xf32>
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'aicf.exact' must be an f64, got "1"}}
  %0 = arith.constant {aicf.exact = "1"} 1.0 : f32
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'aicf.exact' must be an f64, got 1.000000e+00 : f32}}
  %0 = arith.constant {aicf.exact = 1.0 : f32} 1.0 : f32
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'aicf.exact' is 1.000000e+308 : f64, expected a number that rounds to 1.000000e+00 : f16}}
  %0 = arith.constant {aicf.exact = 1.0e308} 1.0 : f16
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'aicf.exact' is 7.000000e+00 : f64, expected a number that rounds to 7 : i32}}
  %0 = arith.constant {aicf.exact = 7.0} 7 : i32
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{unexpected attribute 'aicf.name': only functions carry it}}
  %0 = arith.constant {aicf.name = "one"} 1.0 : f32
  return
}
