// RUN: aicf-opt %s --split-input-file --aicf-rt-materialize-updates --aicf-rt-annotate-inplace | FileCheck %s

// Tests that a whole and its parts are one storage: for updates, and for what works in place.

// The parts are written into the state, whose old value nobody reads any more.
// CHECK-LABEL: @update
func.func @update(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"},
                  %s: tensor<8xf32> {aicf.role = "state", aicf.name = "s"})
    -> (tensor<8xf32> {aicf.updates = "s"}) {
  %half = aicf_rt.view %s[0] : tensor<8xf32> to tensor<4xf32>
  %sum = aicf_rt.call add(%half, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %a = aicf_rt.call relu(%sum) : (tensor<4xf32>) -> tensor<4xf32>
  %b = aicf_rt.call exp(%sum) : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: %[[S:.*]] = aicf_rt.join
  // CHECK-NOT: copy
  // CHECK: return %[[S]]
  %c = aicf_rt.join %a[0], %b[4] : tensor<4xf32>, tensor<4xf32> to tensor<8xf32>
  return %c : tensor<8xf32>
}

// -----

// The second part is made of the old value, which the first one would overwrite.
// CHECK-LABEL: @blocked
func.func @blocked(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"},
                   %s: tensor<8xf32> {aicf.role = "state", aicf.name = "s"})
    -> (tensor<8xf32> {aicf.updates = "s"}) {
  %a = aicf_rt.call relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %half = aicf_rt.view %s[0] : tensor<8xf32> to tensor<4xf32>
  %b = aicf_rt.call add(%half, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK: %[[C:.*]] = aicf_rt.join
  // CHECK: %[[S:.*]] = aicf_rt.call copy(%[[C]])
  // CHECK: return %[[S]]
  %c = aicf_rt.join %a[0], %b[4] : tensor<4xf32>, tensor<4xf32> to tensor<8xf32>
  return %c : tensor<8xf32>
}

// -----

// Two states change places: the copies of old values come before the parts.
// CHECK-LABEL: @swapped
func.func @swapped(%s: tensor<8xf32> {aicf.role = "state", aicf.name = "s"},
                   %t: tensor<8xf32> {aicf.role = "state", aicf.name = "t"},
                   %x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<8xf32> {aicf.updates = "t"}, tensor<8xf32> {aicf.updates = "s"}) {
  %a = aicf_rt.call relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %b = aicf_rt.call exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %c = aicf_rt.join %a[0], %b[4] : tensor<4xf32>, tensor<4xf32> to tensor<8xf32>
  // CHECK: %[[C:.*]] = aicf_rt.join
  // CHECK: %[[T:.*]] = aicf_rt.call copy(%arg0)
  // CHECK: %[[S:.*]] = aicf_rt.call copy(%[[C]])
  // CHECK: return %[[T]], %[[S]]
  return %s, %c : tensor<8xf32>, tensor<8xf32>
}

// -----

// A part works in place of nothing, and nothing in place of a part.
// CHECK-LABEL: @parts
func.func @parts(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<8xf32> {aicf.name = "y"}, tensor<f32> {aicf.name = "z"}) {
  %h = aicf_rt.call exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: relu(%{{[^{]*}}) :
  %a = aicf_rt.call relu(%h) : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: relu(%{{[^{]*}}) inplace [0] :
  %g = aicf_rt.call exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %b = aicf_rt.call relu(%g) : (tensor<4xf32>) -> tensor<4xf32>
  %b2 = aicf_rt.call exp(%b) : (tensor<4xf32>) -> tensor<4xf32>
  %c = aicf_rt.join %a[0], %b2[4] : tensor<4xf32>, tensor<4xf32> to tensor<8xf32>
  // CHECK: join
  // CHECK: relu(%{{[^{]*}}) :
  // CHECK: relu(%{{[^{]*}}) inplace [0] :
  %d = aicf_rt.call relu(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %e = aicf_rt.call relu(%d) : (tensor<4xf32>) -> tensor<4xf32>
  %z = aicf_rt.call mean(%e) : (tensor<4xf32>) -> tensor<f32>
  return %c, %z : tensor<8xf32>, tensor<f32>
}

// -----

// All of a whole may be overwritten when its last reader is done.
// CHECK-LABEL: @whole
func.func @whole(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<f32> {aicf.name = "z"}) {
  %a = aicf_rt.call relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %b = aicf_rt.call exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %c = aicf_rt.join %a[0], %b[4] : tensor<4xf32>, tensor<4xf32> to tensor<8xf32>
  // CHECK: relu(%{{[^{]*}}) inplace [0] :
  %d = aicf_rt.call relu(%c) : (tensor<8xf32>) -> tensor<8xf32>
  %z = aicf_rt.call mean(%d) : (tensor<8xf32>) -> tensor<f32>
  return %z : tensor<f32>
}
