//===- Remarks.h - what a pass did, and why not more ------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// MLIR's optimization remarks, all of the category "aicf": aicf-opt shows them
// with --remarks-filter=aicf, aicf-compile with --remarks, an embedder with an
// engine of his own. Without one they cost a null test, so that what is said
// must be worked out behind `if (auto remark = ...)`.
//
// Counts are remarks too: Pass::Statistic has another size in Debian's MLIR
// than in a debug build of ours, and is off there.
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_TRANSFORMS_REMARKS_H
#define AICF_LIB_TRANSFORMS_REMARKS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Remarks.h"

namespace aicf {

inline constexpr llvm::StringLiteral kRemarkCategory = "aicf";

/// What a remark called `name` about an entry starts with.
inline mlir::remark::RemarkOpts remarkOf(llvm::StringRef name,
                                         llvm::StringRef entry) {
  return mlir::remark::RemarkOpts::name(name)
      .category(kRemarkCategory)
      .function(entry);
}

/// What a pass has done to an entry, as an analysis remark at the entry.
inline void remarkCounts(
    mlir::func::FuncOp func, llvm::StringRef pass,
    std::initializer_list<std::pair<llvm::StringRef, int64_t>> counts) {
  auto remark =
      mlir::remark::analysis(func.getLoc(), remarkOf(pass, func.getSymName()));
  for (auto [what, count] : counts)
    remark << mlir::remark::metric(what, count);
}

} // namespace aicf

#endif // AICF_LIB_TRANSFORMS_REMARKS_H
