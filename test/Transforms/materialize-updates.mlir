// RUN: aicf-opt %s --aicf-rt-materialize-updates --aicf-rt-verify=phase=updates | FileCheck %s

// Tests a swap: both old values are copied before either is overwritten.
// CHECK-LABEL: func.func @swap
// CHECK-SAME:    %[[A:.*]]: tensor<4xf32> {{{.*}}}, %[[B:.*]]: tensor<4xf32>
func.func @swap(%a: tensor<4xf32> {aicf.role = "param", aicf.name = "a"},
                %b: tensor<4xf32> {aicf.role = "param", aicf.name = "b"})
    -> (tensor<4xf32> {aicf.updates = "a"}, tensor<4xf32> {aicf.updates = "b"}) {
  // CHECK-NEXT: %[[S0:.*]] = aicf_rt.call copy(%[[B]]) protective
  // CHECK-NEXT: %[[S1:.*]] = aicf_rt.call copy(%[[A]]) protective
  // CHECK-NEXT: %[[U0:.*]] = aicf_rt.call copy(%[[S0]]) protective
  // CHECK-NEXT: %[[U1:.*]] = aicf_rt.call copy(%[[S1]]) protective
  // CHECK-NEXT: return %[[U0]], %[[U1]]
  return %b, %a : tensor<4xf32>, tensor<4xf32>}

// Tests that an argument returned into itself stays, and an update is a copy.
// CHECK-LABEL: func.func @plain
// CHECK-SAME:    %[[A:.*]]: tensor<4xf32> {{{.*}}}, %[[B:.*]]: tensor<4xf32>
func.func @plain(%a: tensor<4xf32> {aicf.role = "param", aicf.name = "a"},
                 %b: tensor<4xf32> {aicf.role = "param", aicf.name = "b"})
    -> (tensor<4xf32> {aicf.updates = "a"}, tensor<4xf32> {aicf.updates = "b"}) {
  // CHECK-NEXT: %[[R:.*]] = aicf_rt.call relu(
  %0 = aicf_rt.call relu(%b) vids [7] : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[U:.*]] = aicf_rt.call copy(%[[R]]) vids [7] protective
  // CHECK-NEXT: return %[[A]], %[[U]]
  return %a, %0 : tensor<4xf32>, tensor<4xf32>
}

// Tests one value as two outputs and an update: one copy for each further use.
// CHECK-LABEL: func.func @shared
func.func @shared(%a: tensor<4xf32> {aicf.role = "param", aicf.name = "a"})
    -> (tensor<4xf32> {aicf.name = "y"}, tensor<4xf32> {aicf.name = "z"},
        tensor<4xf32> {aicf.updates = "a"}, tensor<4xf32> {aicf.name = "old"}) {
  // CHECK-NEXT: %[[R:.*]] = aicf_rt.call relu(
  %0 = aicf_rt.call relu(%a) : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: %[[Y:.*]] = aicf_rt.call copy(%[[R]])
  // CHECK-NEXT: %[[Z:.*]] = aicf_rt.call copy(%[[R]])
  // CHECK-NEXT: %[[OLD:.*]] = aicf_rt.call copy(%arg0)
  // CHECK-NEXT: %[[U:.*]] = aicf_rt.call copy(%[[R]])
  // CHECK-NEXT: return %[[Y]], %[[Z]], %[[U]], %[[OLD]]
  return %0, %0, %0, %a : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// Tests that an output of a value of its own needs no copy.
// CHECK-LABEL: func.func @output
func.func @output(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4xf32> {aicf.name = "y"}) {
  // CHECK-NOT: aicf_rt.call copy(
  %0 = aicf_rt.call relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
