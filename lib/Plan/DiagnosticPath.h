//===- DiagnosticPath.h - where a message is about --------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A record of a plan as "entry 0 (step), call 7". Every record of a file gets
// one; it becomes text only where something is wrong: refuse() says what.
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_PLAN_DIAGNOSTICPATH_H
#define AICF_LIB_PLAN_DIAGNOSTICPATH_H

#include "aicf/Plan.h"

#include <cstddef>
#include <ostream>
#include <string_view>

namespace aicf {

struct DiagnosticPath {
  const char *noun = "plan";
  size_t index = kNone;
  const DiagnosticPath *parent = nullptr; ///< outlives this; null: stands alone
  std::string_view name = {};             ///< of the record

  static constexpr size_t kNone = size_t(-1);

  friend std::ostream &operator<<(std::ostream &os,
                                  const DiagnosticPath &place) {
    if (place.parent)
      os << *place.parent << ", ";
    os << place.noun;
    if (place.index != kNone)
      os << " " << place.index;
    if (!place.name.empty())
      os << " (" << place.name << ")";
    return os;
  }
};

namespace verifier {
/// What is wrong with a plan: "[code] entry 0 train, call 3: ...".
template <typename... Args>
Status refuse(PlanError error, const Args &...args) {
  return makeError(StatusCode::InvalidPlan, "[", nameOf(error), "] ", args...);
}
} // namespace verifier

} // namespace aicf

#endif // AICF_LIB_PLAN_DIAGNOSTICPATH_H
