// RUN: aicf-opt %s --aicf-set-target | FileCheck %s --check-prefix=CPU
// RUN: aicf-opt %s "--aicf-set-target=target=cuda costs=a100 math=tf32" | FileCheck %s
// RUN: aicf-opt %s --aicf-phase-lower=target=cuda | FileCheck %s --check-prefix=PHASE
// RUN: not aicf-opt %s --aicf-set-target=target=tpu 2>&1 | FileCheck %s --check-prefix=TPU
// RUN: not aicf-opt %s --aicf-set-target=costs=h200 2>&1 | FileCheck %s --check-prefix=COSTS
// RUN: not aicf-opt %s --aicf-set-target=math=f16 2>&1 | FileCheck %s --check-prefix=MATH
// RUN: not aicf-opt %s "--lower-to-backend=target=cuda costs=b200" 2>&1 | FileCheck %s --check-prefix=PIPE

// RUN: aicf-plan costs h200 | FileCheck %s --check-prefix=PRINTED
// RUN: aicf-plan costs | FileCheck %s --check-prefix=ALL
// RUN: not aicf-plan costs b200 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not aicf-opt %s "--lower-to-backend=target=cpu" 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: aicf-opt %s "--aicf-phase-check" | FileCheck %s --check-prefix=CPU

// TPU: --target option: Cannot find option named 'tpu'!
// COSTS: error: #aicf.target: no profile of cpu is named "h200", known are cpu
// MATH: --math option: Cannot find option named 'f16'!
// PRINTED: h200, a profile of cuda: measured on an NVIDIA H200
// PRINTED: multiprocessors = 132: blocks that run at a time
// PRINTED-NOT: a profile of
// ALL: cpu, a profile of cpu
// ALL: a100, a profile of cuda
// UNKNOWN: aicf-plan: no profile is named "b200", known are cpu h200 h100 a100 rtx4090
// OTHER: error: entry @own is for cuda, but the target is cpu
// PIPE: error: #aicf.target: no profile of cuda is named "b200", known are h200, h100, a100, rtx4090

// Tests an entry that says none: it gets the one of the options. Each phase sets it.
// CPU-LABEL: func.func @silent
// CPU-SAME: attributes {aicf.target = #aicf.target<cpu>}
// CHECK-LABEL: func.func @silent
// CHECK-SAME: attributes {aicf.target = #aicf.target<cuda, costs = "a100", math = "tf32">}
// PHASE-LABEL: func.func @silent
// PHASE-SAME: aicf.target = #aicf.target<cuda>
func.func @silent(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4xf32> {aicf.name = "y"}) {
  %y = aicf.relu %x : tensor<4xf32>
  return %y : tensor<4xf32>
}

// Tests one that says its own: the options are for others.
// CHECK-LABEL: func.func @own
// CHECK-SAME: attributes {aicf.target = #aicf.target<cuda, costs = "h100">}
// PHASE-LABEL: func.func @own
// PHASE-SAME: aicf.target = #aicf.target<cuda, costs = "h100">
func.func @own(%x: tensor<4xf32> {aicf.role = "input", aicf.name = "x"})
    -> (tensor<4xf32> {aicf.name = "y"})
    attributes {aicf.target = #aicf.target<cuda, costs = "h100">} {
  %y = aicf.relu %x : tensor<4xf32>
  return %y : tensor<4xf32>
}

// Tests that a function which is not an entry stays as it is.
// CHECK: func.func private @helper(tensor<4xf32>) -> tensor<4xf32>{{$}}
func.func private @helper(tensor<4xf32>) -> tensor<4xf32>
