// RUN: aicf-opt %s --aicf-number-values --aicf-keep-values=mode=grad | FileCheck %s --check-prefixes=CHECK,GRAD
// RUN: aicf-opt %s --aicf-number-values --aicf-keep-values=mode=all | FileCheck %s --check-prefixes=CHECK,ALL
// RUN: not aicf-opt %s --aicf-keep-values=mode=all 2>&1 | FileCheck %s --check-prefix=NOLABEL
// RUN: aicf-opt %s --aicf-keep-values=mode=none | FileCheck %s --check-prefix=NO
// RUN: not aicf-opt %s --aicf-keep-values=mode=some 2>&1 | FileCheck %s --check-prefix=MODE
// RUN: sed 's/aicf.name = "y"/aicf.name = "v001"/' %s | not aicf-opt --aicf-number-values --aicf-keep-values=mode=all 2>&1 | FileCheck %s --check-prefix=TAKEN
// RUN: sed 's/aicf.name = "x"/aicf.name = "v001"/' %s | not aicf-opt --aicf-number-values --aicf-keep-values=mode=all 2>&1 | FileCheck %s --check-prefix=ARG

// NOLABEL: 'aicf.relu' op has no 'aicf.vids': run --aicf-number-values first
// MODE: --mode option: Cannot find option named 'some'!
// TAKEN: cannot keep a value as output "v001": a result has that name, give it another or do without --aicf-keep-values (--keep)
// ARG: cannot keep a value as output "v001": an argument has that name

// Tests the added outputs; an unused result is not kept.
// CHECK-LABEL: func.func @f
// GRAD-SAME: tensor<4xf32> {aicf.updates = "w"}, tensor<4xf32> {aicf.name = "grad:w"})
// ALL-SAME:  tensor<4xf32> {aicf.updates = "w"}, tensor<4xf32> {aicf.name = "v001"}, tensor<4xf32> {aicf.name = "v004"})
func.func @f(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"},
             %w: tensor<4xf32> {aicf.role = "param", aicf.name = "w"},
             %lr: tensor<f32> {aicf.role = "hyper", aicf.name = "lr"})
    -> (tensor<4xf32> {aicf.updates = "w"}) {
  // CHECK: %[[G:.*]] = aicf.relu
  %g = aicf.relu %x : tensor<4xf32>
  // CHECK: %[[N:.*]], %{{.*}} = aicf.sgd_step
  %n, %m = aicf.sgd_step %w, %g, %lr : tensor<4xf32>, tensor<4xf32>, tensor<f32>
  // GRAD: return %[[N]], %[[G]] :
  // ALL:  return %[[N]], %[[G]], %[[N]] :
  return %n : tensor<4xf32>
}

// Tests the mode none, functions that are not entries, and a trained value that is not an argument.
// NO-NOT: aicf.name = "v
// NO-NOT: aicf.name = "grad
// GRAD-LABEL: func.func @g
// GRAD-NOT: aicf.name = "grad
// GRAD: func.func private @helper(
// GRAD-SAME: -> tensor<4xf32> {
func.func @g(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"},
             %lr: tensor<f32> {aicf.role = "hyper", aicf.name = "lr"})
    -> (tensor<4xf32> {aicf.name = "y"}) {
  %w = aicf.relu %x : tensor<4xf32>
  %n, %m = aicf.sgd_step %w, %x, %lr : tensor<4xf32>, tensor<4xf32>, tensor<f32>
  return %n : tensor<4xf32>
}
func.func private @helper(%w: tensor<4xf32>, %g: tensor<4xf32>, %lr: tensor<f32>) -> tensor<4xf32> {
  %n, %m = aicf.sgd_step %w, %g, %lr : tensor<4xf32>, tensor<4xf32>, tensor<f32>
  return %n : tensor<4xf32>
}
