//===- Decision.h - may it be done, and if not, why -------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_TRANSFORMS_RT_DECISION_H
#define AICF_LIB_TRANSFORMS_RT_DECISION_H

#include "llvm/ADT/StringRef.h"

#include <cassert>
#include <functional>
#include <optional>
#include <string>

namespace aicf::rt {

/// Yes, or no with a reason. The reason becomes words only where somebody asks,
/// so a pass that tries many things pays for none of them. What a reason speaks
/// of must still be there then.
class Decision {
public:
  /// Yes.
  Decision() = default;
  static Decision no(std::function<std::string()> why) {
    Decision decision;
    decision.reason = std::move(why);
    return decision;
  }
  static Decision no(llvm::StringLiteral why) {
    return no([why] { return why.str(); });
  }
  explicit operator bool() const { return !reason; }
  /// The words; "" of a yes.
  std::string why() const { return reason ? reason() : std::string(); }

private:
  std::function<std::string()> reason;
};

/// A value, or why there is none.
template <typename T> class Decided {
public:
  Decided(T value) : value(std::move(value)) {}
  Decided(Decision no) : decision(std::move(no)) {
    assert(!decision && "a yes comes with a value");
  }
  explicit operator bool() const { return value.has_value(); }
  T *operator->() { return &*value; }
  T &operator*() { return *value; }
  const Decision &asDecision() const { return decision; }

private:
  std::optional<T> value;
  Decision decision;
};

} // namespace aicf::rt

#endif // AICF_LIB_TRANSFORMS_RT_DECISION_H
