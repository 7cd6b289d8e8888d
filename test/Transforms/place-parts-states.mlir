// RUN: aicf-opt %s --split-input-file --aicf-rt-place-parts | FileCheck %s

// Tests which rows are not written into a state: it would lose what is still needed.

// The old row is read later than the new one is written.
// CHECK-LABEL: @read_later
// CHECK: aicf_rt.join
// CHECK-NOT: into
func.func @read_later(%r: tensor<1x8xf32> {aicf.role = "input", aicf.name = "r"},
                      %s: tensor<6x8xf32> {aicf.role = "state", aicf.name = "s"})
    -> (tensor<6x8xf32> {aicf.updates = "s"}, tensor<1x8xf32> {aicf.name = "y"}) {
  %n = aicf_rt.call relu(%r) : (tensor<1x8xf32>) -> tensor<1x8xf32>
  %old = aicf_rt.view %s[16] : tensor<6x8xf32> to tensor<1x8xf32>
  %y = aicf_rt.call exp(%old) : (tensor<1x8xf32>) -> tensor<1x8xf32>
  %before = aicf_rt.view %s[0] : tensor<6x8xf32> to tensor<2x8xf32>
  %behind = aicf_rt.view %s[24] : tensor<6x8xf32> to tensor<3x8xf32>
  %t = aicf_rt.call concat(%before, %n, %behind) {axis = 0} : (tensor<2x8xf32>, tensor<1x8xf32>, tensor<3x8xf32>) -> tensor<6x8xf32>
  return %t, %y : tensor<6x8xf32>, tensor<1x8xf32>
}

// -----

// All of the state is read behind the first part.
// CHECK-LABEL: @all
// CHECK-NOT: into
func.func @all(%r: tensor<1x8xf32> {aicf.role = "input", aicf.name = "r"},
               %s: tensor<6x8xf32> {aicf.role = "state", aicf.name = "s"})
    -> (tensor<6x8xf32> {aicf.updates = "s"}, tensor<6x8xf32> {aicf.name = "y"}) {
  %n = aicf_rt.call relu(%r) : (tensor<1x8xf32>) -> tensor<1x8xf32>
  %y = aicf_rt.call exp(%s) : (tensor<6x8xf32>) -> tensor<6x8xf32>
  %rest = aicf_rt.view %s[0] : tensor<6x8xf32> to tensor<5x8xf32>
  %t = aicf_rt.call concat(%rest, %n) {axis = 0} : (tensor<5x8xf32>, tensor<1x8xf32>) -> tensor<6x8xf32>
  return %t, %y : tensor<6x8xf32>, tensor<6x8xf32>
}

// -----

// The old state is an output, too.
// CHECK-LABEL: @returned
// CHECK-NOT: into
func.func @returned(%r: tensor<1x8xf32> {aicf.role = "input", aicf.name = "r"},
                    %s: tensor<6x8xf32> {aicf.role = "state", aicf.name = "s"})
    -> (tensor<6x8xf32> {aicf.updates = "s"}, tensor<6x8xf32> {aicf.name = "y"}) {
  %n = aicf_rt.call relu(%r) : (tensor<1x8xf32>) -> tensor<1x8xf32>
  %rest = aicf_rt.view %s[0] : tensor<6x8xf32> to tensor<5x8xf32>
  %t = aicf_rt.call concat(%rest, %n) {axis = 0} : (tensor<5x8xf32>, tensor<1x8xf32>) -> tensor<6x8xf32>
  return %t, %s : tensor<6x8xf32>, tensor<6x8xf32>
}

// -----

// Rows move up: none stays where it is.
// CHECK-LABEL: @moved
// CHECK-NOT: into
func.func @moved(%r: tensor<1x8xf32> {aicf.role = "input", aicf.name = "r"},
                 %s: tensor<6x8xf32> {aicf.role = "state", aicf.name = "s"})
    -> (tensor<6x8xf32> {aicf.updates = "s"}) {
  %n = aicf_rt.call relu(%r) : (tensor<1x8xf32>) -> tensor<1x8xf32>
  %rest = aicf_rt.view %s[8] : tensor<6x8xf32> to tensor<5x8xf32>
  %t = aicf_rt.call concat(%rest, %n) {axis = 0} : (tensor<5x8xf32>, tensor<1x8xf32>) -> tensor<6x8xf32>
  return %t : tensor<6x8xf32>
}

// -----

// An output is not the state.
// CHECK-LABEL: @output
// CHECK-NOT: into
func.func @output(%r: tensor<1x8xf32> {aicf.role = "input", aicf.name = "r"},
                  %s: tensor<6x8xf32> {aicf.role = "state", aicf.name = "s"})
    -> (tensor<6x8xf32> {aicf.name = "y"}) {
  %n = aicf_rt.call relu(%r) : (tensor<1x8xf32>) -> tensor<1x8xf32>
  %rest = aicf_rt.view %s[0] : tensor<6x8xf32> to tensor<5x8xf32>
  %t = aicf_rt.call concat(%rest, %n) {axis = 0} : (tensor<5x8xf32>, tensor<1x8xf32>) -> tensor<6x8xf32>
  return %t : tensor<6x8xf32>
}
