//===- Initializer.h - how a persistent tensor starts -----------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_DIALECT_AICF_INITIALIZER_H
#define AICF_LIB_DIALECT_AICF_INITIALIZER_H

#include "aicf/Types.h"

#include "mlir/IR/Attributes.h"

namespace aicf::step {

/// How a persistent tensor starts.
struct Initializer {
  InitKind kind = InitKind::None;
  double value = 0; ///< the constant, or the standard deviation of Normal
  bool operator==(const Initializer &o) const {
    return kind == o.kind && value == o.value;
  }
};

/// What `aicf.init` says; nothing if it is malformed.
std::optional<Initializer> parseInitializer(mlir::Attribute attr);

} // namespace aicf::step

#endif // AICF_LIB_DIALECT_AICF_INITIALIZER_H
