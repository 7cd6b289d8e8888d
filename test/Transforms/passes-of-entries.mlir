// Tests that passes of entries leave other functions alone, and that an entry
// that is not in their form fails the pass and not only reports an error.
// RUN: split-file %s %t
// RUN: aicf-opt %t/helper.mlir --aicf-set-target=target=cuda --aicf-rt-batch-calls --aicf-rt-fuse-calls --aicf-rt-annotate-inplace | FileCheck %s
// RUN: not aicf-opt %t/illegal.mlir --aicf-rt-batch-calls 2>&1 | FileCheck %s --check-prefix=ILLEGAL
// RUN: not aicf-opt %t/illegal.mlir --aicf-rt-fuse-calls 2>&1 | FileCheck %s --check-prefix=ILLEGAL
// RUN: not aicf-opt %t/illegal.mlir --aicf-rt-annotate-inplace 2>&1 | FileCheck %s --check-prefix=ILLEGAL
// RUN: not aicf-opt %t/illegal.mlir --aicf-rt-eliminate-saves 2>&1 | FileCheck %s --check-prefix=ILLEGAL
// RUN: not aicf-opt %t/illegal.mlir --aicf-rt-assign-streams=streams=2 2>&1 | FileCheck %s --check-prefix=ILLEGAL
// RUN: not aicf-opt %t/type.mlir --aicf-rt-annotate-inplace 2>&1 | FileCheck %s --check-prefix=TYPE
// RUN: aicf-opt %t/unsafe.mlir --aicf-check-capture-safety | FileCheck %s --check-prefix=UNSAFE
// RUN: aicf-opt %t/illegal.mlir --aicf-return-gradients | FileCheck %s --check-prefix=NONE
// RUN: not aicf-opt %t/blocks.mlir --aicf-return-gradients 2>&1 | FileCheck %s --check-prefix=BLOCKS
// RUN: not aicf-opt %t/blocks.mlir --aicf-hoist-constants 2>&1 | FileCheck %s --check-prefix=BLOCKS
// RUN: not aicf-opt %t/blocks.mlir --aicf-autodiff 2>&1 | FileCheck %s --check-prefix=BLOCKS
// RUN: not aicf-opt %t/blocks.mlir --aicf-append-optimizer 2>&1 | FileCheck %s --check-prefix=BLOCKS
// RUN: not aicf-opt %t/blocks.mlir --aicf-mixed-precision 2>&1 | FileCheck %s --check-prefix=BLOCKS
// RUN: not aicf-opt %t/blocks.mlir --aicf-split-step 2>&1 | FileCheck %s --check-prefix=BLOCKS
// RUN: not aicf-opt %t/blocks.mlir --aicf-expand-history 2>&1 | FileCheck %s --check-prefix=BLOCKS
// RUN: not aicf-opt %t/blocks.mlir --aicf-keep-values=mode=grad 2>&1 | FileCheck %s --check-prefix=BLOCKS
// RUN: not aicf-opt %t/blocks.mlir --aicf-verify-entries 2>&1 | FileCheck %s --check-prefix=BLOCKS

//--- helper.mlir
// CHECK-LABEL: func.func private @helper
// CHECK-NEXT: gemm(%{{.*}}, %{{.*}}) :
// CHECK-NEXT: bias_add(%{{.*}}, %{{.*}}) :
// CHECK-NEXT: sgd_step({{.*}}) :
// CHECK-NEXT: sgd_step({{.*}}) :
// CHECK-NEXT: return
func.func private @helper(%x: tensor<4x4xf32>, %b: tensor<4xf32>, %lr: tensor<f32>)
    -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4xf32>) {
  %0 = aicf_rt.call gemm(%x, %x) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = aicf_rt.call bias_add(%0, %b) : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
  %2 = aicf_rt.call sgd_step(%x, %1, %lr) : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %3 = aicf_rt.call sgd_step(%b, %b, %lr) : (tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %1, %2, %3 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4xf32>
}

//--- illegal.mlir
// NONE: -> (tensor<4xf32> {aicf.name = "y"})
// ILLEGAL: 'aicf.relu' op is not an aicf_rt.call: run --aicf-lower-to-rt first
func.func @step(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4xf32> {aicf.name = "y"}) {
  %y = aicf.relu %x : tensor<4xf32>
  return %y : tensor<4xf32>
}

//--- type.mlir
// TYPE: error: {{.*}}argument 0
func.func @step(%x: tensor<?xf32> {aicf.role = "input", aicf.name = "x"}) {
  return
}

//--- unsafe.mlir
// UNSAFE: func.func private @helper
func.func private @helper(%t: tensor<i64>) -> tensor<2xf32> {
  %bc = aicf.bias_corr %t : tensor<i64>
  return %bc : tensor<2xf32>
}

//--- blocks.mlir
// BLOCKS: entry @step must have one block that ends in func.return, got 2 blocks
// BLOCKS-NOT: error:
func.func @step(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4xf32> {aicf.name = "y"}) attributes {aicf.outputs = ["grad_norm"]} {
  cf.br ^end
^end:
  return %x : tensor<4xf32>
}
