//===- CallView.h - a call seen through its record --------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// What everybody holds who looks at a call: its body and one thing for each of
// its values (their types, their memory, their numbers). And the bases of the
// views in OpViews.h, which name operands, results and fields of one primitive,
// and the elements of a pattern. A call keeps its lists to itself and befriends
// these: whoever wants an operand asks for it by name.
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_OPS_CALLVIEW_H
#define AICF_LIB_OPS_CALLVIEW_H

#include "lib/Ops/Fields.h"
#include "lib/Ops/Patterns.h"

namespace aicf {

template <typename Call> class CallView;
template <typename Call> class PatternView;

/// Where a primitive stands in a body: its step, and the number of the first
/// value that it makes.
struct StepPosition {
  size_t step;
  uint32_t firstResult;
};

/// A body and one T for each of its values, in the order of their numbers.
/// Refers to both. What isAbsent() says of a T decides whether it is there.
template <typename T> class BodyCall {
public:
  BodyCall(const Body &body, Span<T> values) : body(&body), values(values) {}

protected:
  template <typename> friend class CallView;
  template <typename> friend class PatternView;

  const BodyStep &stepAt(StepPosition at) const { return body->steps[at.step]; }
  const T *optionalIn(StepPosition at, size_t slot) const {
    int32_t value = stepAt(at).operands[slot];
    return value == kAbsentValue || isAbsent(values[size_t(value)])
               ? nullptr
               : &values[size_t(value)];
  }
  const T &in(StepPosition at, size_t slot) const {
    return values[size_t(stepAt(at).operands[slot])];
  }
  T *optionalOut(StepPosition at, size_t slot) const {
    T &value = out(at, slot);
    return isAbsent(value) ? nullptr : &value;
  }
  T &out(StepPosition at, size_t slot) const {
    return values[at.firstResult + slot];
  }
  StepPosition firstStep() const { return {0, body->numOperands}; }

  const Body *body;
  Span<T> values;
};

/// One primitive of a call, which must outlive its views. What kind the
/// primitive is, the caller knows. `Call` is a BodyCall, or gives something
/// else for a slot than its values.
template <typename Call> class CallView {
public:
  CallView(const Call &call) : CallView(call, call.firstStep()) {}
  CallView(const Call &call, StepPosition at) : viewed(&call), at(at) {}
  /// The call's own members.
  const Call *operator->() const { return viewed; }

protected:
  size_t numIns() const { return viewed->stepAt(at).operands.size(); }
  decltype(auto) inAt(size_t slot) const { return viewed->in(at, slot); }
  decltype(auto) outAt(size_t slot) const { return viewed->out(at, slot); }
  /// A pointer, or another thing that is false where nothing stands.
  auto optionalInAt(size_t slot) const { return viewed->optionalIn(at, slot); }
  auto optionalOutAt(size_t slot) const {
    return viewed->optionalOut(at, slot);
  }
  template <typename Attrs> Attrs decode() const {
    return decodeAttrs<Attrs>(viewed->stepAt(at).attrs);
  }

private:
  const Call *viewed;
  StepPosition at;
};

/// A call whose body matches a pattern.
template <typename Call> class PatternView {
public:
  PatternView(const Call &call, const PatternInfo &pattern)
      : viewed(&call), form(*formOf(pattern, *call.body)) {}
  const Call *operator->() const { return viewed; }
  size_t numGroups() const { return form.numGroups; }

protected:
  template <typename View> View element(size_t e, size_t group = 0) const {
    return View(*viewed, {form.stepAt(e, group),
                          form.firstResultOf(*viewed->body, e, group)});
  }
  template <typename View>
  std::optional<View> optionalElement(size_t e, size_t group = 0) const {
    if (form.stepOf[e] < 0)
      return std::nullopt;
    return element<View>(e, group);
  }

private:
  const Call *viewed;
  PatternForm form;
};

} // namespace aicf

#endif // AICF_LIB_OPS_CALLVIEW_H
