//===- Optimizer.h - what an optimizer's step is built from -----*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Included by AICF.h before the attributes that are optimizers and schedules.
//===----------------------------------------------------------------------===//
#ifndef AICF_DIALECT_AICF_OPTIMIZER_H
#define AICF_DIALECT_AICF_OPTIMIZER_H

#include "aicf/OpInfo.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"

namespace aicf::step {

/// One step of one parameter.
struct ParameterStep {
  mlir::Value param;
  mlir::Value grad; ///< of param's shape; f16 or bf16 is possible for f32
  mlir::Value rate; ///< 0-d, of param's element type; or a group's numbers, of f32
  llvm::SmallVector<mlir::Value> states; ///< as getStateNames() lists them
  mlir::Value shared;                    ///< of buildShared(), or null
  mlir::Value gradFactor; ///< multiplies grad: 1/loss scale, 1/batches, clipping;
                          ///< 0-d of param's element type, or null for 1
  mlir::Value ok;         ///< 0-d i32, 0: nothing changes; null for 1
  double weightDecay;
};

/// A number of an attribute, as a record's field: format 'd' f64, 'q' whole,
/// 'i' a flag.
struct FieldOfAttr {
  llvm::StringRef name;
  aicf::Range range;
  char format;
  std::optional<double> defaultValue;
};

/// The number called `name`: as given, or its default.
double numberOf(mlir::DictionaryAttr given, llvm::ArrayRef<FieldOfAttr> fields,
                llvm::StringRef name);
/// `<name = value, ...>`; null with a diagnostic at what is wrong. With
/// `takesRate` there must be an `lr` too: the name of a hyper or a schedule.
mlir::DictionaryAttr parseFields(mlir::AsmParser &parser,
                                 llvm::StringRef mnemonic,
                                 llvm::ArrayRef<FieldOfAttr> fields,
                                 bool takesRate);
void printFields(mlir::AsmPrinter &printer, mlir::DictionaryAttr given);

} // namespace aicf::step

#endif // AICF_DIALECT_AICF_OPTIMIZER_H
