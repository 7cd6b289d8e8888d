// RUN: aicf-opt %s --aicf-rt-materialize-updates --aicf-rt-annotate-inplace=require-inplace=true --split-input-file --verify-diagnostics

// Tests that an update that needs a copy is an error naming the reader.
func.func @late_reader(%p: tensor<4xf32> {aicf.role = "param", aicf.name = "p"})
    -> (tensor<4xf32> {aicf.updates = "p"}, tensor<4xf32> {aicf.name = "y"}) {
  // expected-error @+1 {{the update of "p" needs a copy: 'add' still reads the old value when 'relu' would overwrite it}}
  %0 = aicf_rt.call relu(%p) : (tensor<4xf32>) -> tensor<4xf32>
  // expected-note @+1 {{read here}}
  %1 = aicf_rt.call add(%0, %p) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// Tests an op that may not work in place on its operand.
func.func @no_tie(%p: tensor<4x4xf32> {aicf.role = "param", aicf.name = "p"})
    -> (tensor<4x4xf32> {aicf.updates = "p"}) {
  // expected-error @+2 {{needs a copy: 'gemm' still reads the old value}}
  // expected-note @+1 {{read here}}
  %0 = aicf_rt.call gemm(%p, %p) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

// Tests a value that updates two arguments.
func.func @twice(%a: tensor<4xf32> {aicf.role = "param", aicf.name = "a"},
                 %b: tensor<4xf32> {aicf.role = "param", aicf.name = "b"})
    -> (tensor<4xf32> {aicf.updates = "a"}, tensor<4xf32> {aicf.updates = "b"}) {
  // expected-error @+1 {{the update of "b" needs a copy: 'copy' reads a value that lives in another argument or is returned twice}}
  %0 = aicf_rt.call relu(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %0, %0 : tensor<4xf32>, tensor<4xf32>
}

// -----

// Tests a copy that the program makes itself: the pass does not count it.
func.func @own_copy(%a: tensor<4xf32> {aicf.role = "param", aicf.name = "a"},
                    %b: tensor<4xf32> {aicf.role = "param", aicf.name = "b"})
    -> (tensor<4xf32> {aicf.updates = "a"}) {
  %0 = aicf_rt.call copy(%b) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// Tests an update that is in place.
func.func @legal(%t: tensor<i64> {aicf.role = "state", aicf.name = "t"})
    -> (tensor<i64> {aicf.updates = "t"}) {
  %0 = aicf_rt.call step_inc(%t) : (tensor<i64>) -> tensor<i64>
  return %0 : tensor<i64>
}
