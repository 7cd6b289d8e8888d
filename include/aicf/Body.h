//===- Body.h - what a call computes ----------------------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A call is one launch decision; its body says what it computes: one primitive
// or more, in order. IR, plan files, kernels and references all hold this
// struct. Types are never part of it: they follow from the call's operands and
// results. Which bodies are legal, lib/Ops/BodyRules.h says.
//===----------------------------------------------------------------------===//
#ifndef AICF_BODY_H
#define AICF_BODY_H

#include "aicf/Ops.h"

#include <memory>
#include <utility>
#include <vector>

namespace aicf {

/// Stands where an optional operand of a primitive is absent.
inline constexpr int32_t kAbsentValue = -1;

/// One primitive of a body.
struct Primitive {
  OpKind kind = OpKind::Gemm;
  /// Its fields: the blob that infoOf(kind).schema names.
  std::vector<uint8_t> attrs;
  /// A value number for each slot of the record, or kAbsentValue.
  std::vector<int32_t> operands;

  /// Each slot of a result takes a value number, also one that is absent.
  uint32_t numResults() const { return uint32_t(infoOf(kind).numResults); }
  bool operator==(const Primitive &o) const {
    return kind == o.kind && attrs == o.attrs && operands == o.operands;
  }
};

/// Values are numbered: the call's operands first, then the results of the
/// primitives in order. A primitive reads values of lower numbers only.
struct Body {
  uint32_t numOperands = 0;
  std::vector<Primitive> primitives;
  std::vector<uint32_t> results; ///< value numbers of the call's results

  bool operator==(const Body &o) const {
    return numOperands == o.numOperands && primitives == o.primitives &&
           results == o.results;
  }
  bool operator!=(const Body &o) const { return !(*this == o); }

  /// The number of the first result of the primitive at position `primitive`.
  uint32_t firstResultOf(size_t primitive) const {
    uint32_t number = numOperands;
    for (size_t i = 0; i < primitive; ++i)
      number += primitives[i].numResults();
    return number;
  }
  uint32_t numValues() const { return firstResultOf(primitives.size()); }
  /// The primitive that makes value `number`, and at which of its results.
  std::pair<size_t, size_t> makerOf(uint32_t number) const {
    size_t primitive = 0, slot = number - numOperands;
    while (slot >= primitives[primitive].numResults())
      slot -= primitives[primitive++].numResults();
    return {primitive, slot};
  }
  /// True for a call of one primitive, of `kind`.
  bool isOnly(OpKind kind) const {
    return primitives.size() == 1 && primitives.front().kind == kind;
  }
};

/// A body with one T for each of its values, by number: their types, or their
/// memory. Owns both.
template <typename T> class BodyValues {
public:
  BodyValues() = default;
  BodyValues(std::shared_ptr<const Body> body, std::vector<T> values)
      : shared(std::move(body)), all(std::move(values)) {}

  const Body &body() const { return *shared; }
  const std::shared_ptr<const Body> &sharedBody() const { return shared; }
  const std::vector<T> &values() const { return all; }
  /// The value at an operand or a result of the call.
  const T &operand(size_t i) const { return all[i]; }
  const T &result(size_t i) const { return all[shared->results[i]]; }

private:
  std::shared_ptr<const Body> shared;
  std::vector<T> all;
};

/// A body of one primitive. `hasOperand` and `hasResult` say for each slot of
/// the call whether something stands there.
inline Body makeBody(OpKind kind, std::vector<uint8_t> attrs,
                     const std::vector<bool> &hasOperand,
                     const std::vector<bool> &hasResult) {
  Body body;
  Primitive primitive;
  primitive.kind = kind;
  primitive.attrs = std::move(attrs);
  for (bool isThere : hasOperand)
    primitive.operands.push_back(isThere ? int32_t(body.numOperands++)
                                         : kAbsentValue);
  for (uint32_t i = 0; i < hasResult.size(); ++i)
    if (hasResult[i])
      body.results.push_back(body.numOperands + i);
  body.primitives.push_back(std::move(primitive));
  return body;
}

} // namespace aicf

#endif // AICF_BODY_H
