//===- aicf-tblgen.cpp - the ABI from the records of primitives -----------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Generates, from the `Primitive` records, what is not MLIR:
//   -gen-abi-header     include/aicf/Ops.h
//   -gen-op-views       lib/Ops/OpViews.h
//   -gen-functors       kernels/pointwise/Functors.h
//   -gen-python-table   python/aicf/op_attrs.py
// and from the `KernelFamily` and `BodyPattern` records
//   -gen-patterns            lib/Ops/Patterns.inc
//   -gen-primitive-doc       the page Primitives.md
//   -gen-kernel-rows         kernels/Rows.def
//   -gen-kernel-definitions  kernels/Definitions.inc
//   -gen-test-records        test/python/fuzz/records.py
// and from the ops of the aicf dialect (PythonOps.cpp)
//   -gen-python-ops          python/aicf/ops.py
// All are committed; the test abi-up-to-date compares them. Ops themselves come
// from mlir-tblgen.
//===----------------------------------------------------------------------===//

#include "mlir/Tools/mlir-tblgen/MlirTblgenMain.h"

int main(int argc, char **argv) { return mlir::MlirTblgenMain(argc, argv); }
