// RUN: aicf-opt %s "--lower-to-backend=opt-level=0" --dump-pass-pipeline 2>&1 | FileCheck %s
// RUN: aicf-opt %s "--lower-to-backend=opt-level=1" --dump-pass-pipeline 2>&1 | FileCheck %s --check-prefix=O1
// Tests that O0 has no pass that makes a plan faster: it is what the others are compared
// with.
// CHECK: aicf-autodiff
// CHECK-NOT: {{aicf-concat-pads|aicf-propagate-reshapes|aicf-rt-fuse|aicf-rt-annotate-inplace}}
// CHECK: aicf-rt-plan-memory
// O1: aicf-concat-pads
// O1: aicf-propagate-reshapes
