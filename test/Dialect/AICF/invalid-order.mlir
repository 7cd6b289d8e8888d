// RUN: aicf-opt %s --split-input-file --allow-unregistered-dialect --verify-diagnostics

// Tests that an op stands where ops run in their order. In the body of a module a value may
// be read before it is made, and by the op that makes it.

// expected-error @+1 {{'aicf.relu' op stands in the body of 'builtin.module', where ops have no order, expected a function's body}}
%h = aicf.relu %h : tensor<4xf32>

// -----

// expected-error @+1 {{'aicf.save' op stands in the body of 'builtin.module'}}
%h = aicf.save %h : tensor<4xf32>

// -----

// Each of a pair reads the other.
// expected-error @+1 {{'aicf.cast' op stands in the body of 'builtin.module'}}
%a = aicf.cast %b to f32 : tensor<4xf32>
%b = aicf.cast %a to f32 : tensor<4xf32>

// -----

module {
  // expected-error @+1 {{'aicf.iota' op stands in the body of 'builtin.module'}}
  %n = aicf.iota [4] {axis = 0}
}

// -----

// The loop's own body has an order, and stands where there is none.
"unknown.loop"() ({
  // expected-error @+1 {{'aicf.relu' op stands in the body of 'builtin.module'}}
  %g = aicf.relu %h : tensor<4xf32>
}) : () -> ()
%h = "unknown.value"() : () -> tensor<4xf32>

// -----

func.func @functions_have_an_order(%x: tensor<4xf32>) -> tensor<4xf32> {
  %h = aicf.relu %x : tensor<4xf32>
  return %h : tensor<4xf32>
}

// -----

func.func @inside_of_what_no_dialect_knows() {
  "unknown.loop"() ({
    %x = "unknown.value"() : () -> tensor<4xf32>
    %h = aicf.relu %x : tensor<4xf32>
  }) : () -> ()
  return
}
