//===- aicf-translate.cpp - aicf_rt.plan to plan files --------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "aicf/Target/PlanTranslation.h"

#include "mlir/Tools/mlir-translate/MlirTranslateMain.h"

int main(int argc, char **argv) {
  mlir::aicf::registerToPlanTranslation();
  return failed(mlir::mlirTranslateMain(argc, argv, "AICF translation"));
}
