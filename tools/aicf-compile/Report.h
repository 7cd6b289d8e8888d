//===- Report.h - aicf-compile --report -------------------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// What a compilation did, on one screen: kernels with their costs, memory, what
// the passes did and left, with reasons. Remarks are counted by their words;
// --remarks shows each at its line instead.
//===----------------------------------------------------------------------===//
#ifndef AICF_TOOLS_AICF_COMPILE_REPORT_H
#define AICF_TOOLS_AICF_COMPILE_REPORT_H

#include "aicf/Plan.h"

#include "mlir/IR/Diagnostics.h"
#include <map>

namespace aicf {

class Report {
public:
  /// Counts a remark of the passes; failure for any other diagnostic.
  mlir::LogicalResult take(mlir::Diagnostic &diagnostic);
  /// At most 60 lines of 120 columns. `plan` may be null: no plan was made.
  std::string toString(const Plan *plan) const;

private:
  struct Seen {
    size_t count = 0;
    std::string first; ///< place of the first one
  };
  void addEntries(const Plan &plan, std::vector<std::string> &lines) const;

  /// By "pass: words". What passes did, what they left, and their counts.
  std::map<std::string, Seen> done, left;
  std::map<std::string, std::map<std::string, size_t>> counts;
};

} // namespace aicf

#endif // AICF_TOOLS_AICF_COMPILE_REPORT_H
