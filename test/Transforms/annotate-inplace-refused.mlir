// RUN: aicf-opt %s --aicf-rt-annotate-inplace=require-inplace=true --split-input-file --verify-diagnostics
// The pass fails, too: an error alone would let what follows run.
// RUN: sed -n '/^func.func @not_lowered/,$p' %s | not aicf-opt --aicf-rt-annotate-inplace 2>&1 | FileCheck %s
// RUN: sed '/^\/\/ -----/,$d' %s | not aicf-opt --aicf-rt-annotate-inplace=require-inplace=true 2>&1 | FileCheck %s --check-prefix=COPY
// CHECK: run --aicf-lower-to-rt first
// CHECK-NOT: func.func
// COPY: error: the update of "p" needs a copy
// COPY-NOT: func.func

// What only copies written by hand, or by an earlier run, show.

// Tests an argument that is returned itself: the end of the entry reads it.
func.func @returned(%p: tensor<4xf32> {aicf.role = "param", aicf.name = "p"})
    -> (tensor<4xf32> {aicf.updates = "p"}, tensor<4xf32> {aicf.name = "y"}) {
  // expected-error @+1 {{the update of "p" needs a copy: 'func.return' still reads the old value when 'relu' would overwrite it}}
  %0 = aicf_rt.call relu(%p) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = aicf_rt.call copy(%0) protective : (tensor<4xf32>) -> tensor<4xf32>
  // expected-note @+1 {{read here}}
  return %1, %p : tensor<4xf32>, tensor<4xf32>
}

// -----

// Tests one copy of another argument, as an earlier run leaves it.
func.func @argument(%a: tensor<4xf32> {aicf.role = "param", aicf.name = "a"},
                    // expected-error @+1 {{the update of "a" needs a copy: 'copy' reads a value that lives in another argument}}
                    %b: tensor<4xf32> {aicf.role = "param", aicf.name = "b"})
    -> (tensor<4xf32> {aicf.updates = "a"}) {
  %0 = aicf_rt.call copy(%b) protective : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// Tests a copy of a copy that is not one of an argument.
func.func @twice(%p: tensor<4xf32> {aicf.role = "param", aicf.name = "p"},
                 %x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4xf32> {aicf.updates = "p"}, tensor<4xf32> {aicf.name = "y"}) {
  %0 = aicf_rt.call relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error @+1 {{the update of "p" needs a copy: 'copy' reads a value that}}
  %1 = aicf_rt.call copy(%0) protective : (tensor<4xf32>) -> tensor<4xf32>
  %2 = aicf_rt.call copy(%1) protective : (tensor<4xf32>) -> tensor<4xf32>
  return %2, %0 : tensor<4xf32>, tensor<4xf32>
}

// -----

// Tests an argument that is returned itself, and read by a call before that: the
// call is named.
func.func @read_and_returned(%p: tensor<4xf32> {aicf.role = "param", aicf.name = "p"})
    -> (tensor<4xf32> {aicf.updates = "p"}, tensor<4xf32> {aicf.name = "y"}, tensor<4xf32> {aicf.name = "z"}) {
  // expected-error @+1 {{the update of "p" needs a copy: 'add' still reads the old value when 'relu' would overwrite it}}
  %0 = aicf_rt.call relu(%p) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = aicf_rt.call copy(%0) protective : (tensor<4xf32>) -> tensor<4xf32>
  // expected-note @+1 {{read here}}
  %2 = aicf_rt.call add(%0, %p) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %1, %p, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// Tests a wait for an event that no call signals.
// expected-error @+1 {{event 3}}
func.func @no_signal(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4xf32> {aicf.name = "y"}) {
  %0 = aicf_rt.call relu(%x) launch<waits = [3]> : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// Tests an entry that is not lowered.
func.func @not_lowered(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4xf32> {aicf.name = "y"}) {
  // expected-error @+1 {{'aicf.relu' op is not an aicf_rt.call: run --aicf-lower-to-rt first}}
  %0 = aicf.relu %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
