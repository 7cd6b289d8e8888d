// RUN: aicf-opt %s --aicf-number-values --aicf-keep-values=mode=grad | FileCheck %s --check-prefixes=CHECK,GRAD
// RUN: aicf-opt %s --aicf-number-values --aicf-keep-values=mode=all | FileCheck %s --check-prefixes=CHECK,ALL
// RUN: not aicf-opt %s --aicf-keep-values=mode=all 2>&1 | FileCheck %s --check-prefix=NOLABEL
// RUN: not aicf-opt %s --aicf-keep-values=mode=some 2>&1 | FileCheck %s --check-prefix=MODE
// RUN: not aicf-opt %s --aicf-number-values --aicf-keep-values --aicf-keep-values 2>&1 | FileCheck %s --check-prefix=TAKEN

// NOLABEL: 'aicf.relu' op has no 'aicf.vids': run --aicf-number-values first
// MODE: --mode option: Cannot find option named 'some'!
// TAKEN: cannot keep a value as output "grad:w": the name is taken

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
