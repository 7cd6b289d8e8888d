//===- Register.cpp - the dialects of AICF --------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "aicf/Dialect/AICF/AICF.h"
#include "aicf/Dialect/AICFRT/AICFRT.h"

#include "mlir/Dialect/Func/Extensions/InlinerExtension.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

void aicf::registerAllDialects(mlir::DialectRegistry &registry) {
  registry
      .insert<step::AICFDialect, rt::AICFRTDialect, mlir::func::FuncDialect>();
  mlir::func::registerInlinerExtension(registry);
}
