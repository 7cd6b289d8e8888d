// RUN: aicf-opt %s --aicf-rt-annotate-inplace | FileCheck %s

// Tests that copies stay which the program makes itself, or which order calls.
// CHECK-LABEL: func.func @own_copies
// CHECK-NEXT: aicf_rt.call relu(
// CHECK-NEXT: aicf_rt.call copy(
// CHECK-NEXT: aicf_rt.call relu(
// CHECK-NEXT: aicf_rt.call copy({{.*}}) protective launch<waits = [0]>
func.func @own_copies(%p: tensor<4xf32> {aicf.role = "param", aicf.name = "p"},
                      %q: tensor<4xf32> {aicf.role = "param", aicf.name = "q"})
    -> (tensor<4xf32> {aicf.updates = "p"}, tensor<4xf32> {aicf.updates = "q"}) {
  %0 = aicf_rt.call relu(%p) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = aicf_rt.call copy(%0) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = aicf_rt.call relu(%q) launch<stream = 1, signals = [0]> : (tensor<4xf32>) -> tensor<4xf32>
  %3 = aicf_rt.call copy(%2) protective launch<waits = [0]> : (tensor<4xf32>) -> tensor<4xf32>
  return %1, %3 : tensor<4xf32>, tensor<4xf32>
}
