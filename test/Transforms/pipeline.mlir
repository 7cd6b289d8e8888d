// RUN: aicf-opt %s --lower-to-backend > %t.whole
// RUN: aicf-opt %s --aicf-phase-check --aicf-phase-lower --aicf-phase-fuse --aicf-phase-updates --aicf-phase-inplace --aicf-phase-kernels --aicf-phase-streams --aicf-phase-plan --aicf-phase-memory > %t.phases
// RUN: diff %t.whole %t.phases
// RUN: aicf-opt %s --aicf-phase-check --cse --canonicalize --aicf-phase-lower --cse --canonicalize --aicf-phase-fuse --cse --canonicalize --aicf-phase-updates --cse --canonicalize --aicf-phase-inplace --cse --canonicalize --aicf-phase-kernels --cse --canonicalize --aicf-phase-streams --cse --canonicalize --aicf-phase-plan --cse --canonicalize --aicf-phase-memory --cse --canonicalize > %t.cleaned
// RUN: diff %t.whole %t.cleaned
// RUN: aicf-opt %s --lower-to-backend --lower-to-backend > %t.twice
// RUN: diff %t.whole %t.twice
// RUN: aicf-opt %s --lower-to-backend=keep=grad | FileCheck %s --check-prefix=GRAD
// RUN: aicf-opt %s --lower-to-backend=keep=all | FileCheck %s --check-prefix=ALL
// RUN: aicf-opt %s --lower-to-backend=require-inplace=true -o /dev/null
// RUN: aicf-opt %s --lower-to-backend=target=cuda | FileCheck %s --check-prefix=CUDA
// RUN: not aicf-opt %s --lower-to-backend=target=tpu 2>&1 | FileCheck %s --check-prefix=TPU
// RUN: not aicf-opt %s --lower-to-backend=mixed-precision=f8 2>&1 | FileCheck %s --check-prefix=F8
// RUN: not aicf-opt %s --lower-to-backend=keep=most 2>&1 | FileCheck %s --check-prefix=KEEP
// RUN: not aicf-opt %s --lower-to-backend=opt-level=3 2>&1 | FileCheck %s --check-prefix=LEVEL
// RUN: not aicf-compile %s -o %t.plan --opt-level=-1 2>&1 | FileCheck %s --check-prefix=MINUS

// Tests that the phases one by one, with clean-ups after each, give the same.
// GRAD: aicf_rt.alloc output "grad:w"
// ALL: aicf_rt.alloc output "v004"
// CUDA: aicf_rt.plan cuda
// TPU: --target option: Cannot find option named 'tpu'!
// F8: --mixed-precision option: Cannot find option named 'f8'!
// LEVEL: --opt-level option: Cannot find option named '3'!
// MINUS: --opt-level option: Cannot find option named '-1'!
// KEEP: --keep option: Cannot find option named 'most'!
func.func @train(%x: tensor<2x4xf32> {aicf.role = "input", aicf.name = "x"},
                 %w: tensor<3x4xf32> {aicf.role = "param", aicf.name = "w"},
                 %t: tensor<2x3xf32> {aicf.role = "input", aicf.name = "t"},
                 %lr: tensor<f32> {aicf.role = "hyper", aicf.name = "lr"})
    -> (tensor<3x4xf32> {aicf.updates = "w"}) {
  %y = aicf.linear %x, %w : tensor<2x4xf32>, tensor<3x4xf32>
  %d = aicf.mse_grad %y, %t : tensor<2x3xf32>, tensor<2x3xf32>
  %dx, %dw, %db = aicf.linear_bwd %d, %x, %w : tensor<2x3xf32>, tensor<2x4xf32>, tensor<3x4xf32>
  %n, %m = aicf.sgd_step %w, %dw, %lr : tensor<3x4xf32>, tensor<3x4xf32>, tensor<f32>
  return %n : tensor<3x4xf32>
}
