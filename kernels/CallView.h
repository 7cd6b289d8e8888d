//===- CallView.h - a call seen through its record --------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// The bases of the views in OpViews.h, which name operands, results and fields
// of one primitive of a call, and the elements of a pattern. A call (what a
// kernel is launched with, what a rule checks, what a reference computes) keeps
// its lists to itself and befriends these: whoever wants an operand asks for it
// by name.
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_CALLVIEW_H
#define AICF_KERNELS_CALLVIEW_H

#include "kernels/Fields.h"
#include "kernels/Patterns.h"

namespace aicf {

/// One primitive of a call. `Call` has private members in(step, slot),
/// out(step, slot), numIns(step) and attrs(step), and isAbsent(slot) says which
/// slots are empty. The call must outlive its views. What kind the step is, the
/// caller knows.
template <typename Call> class CallView {
public:
  CallView(const Call &call, size_t step = 0) : viewed(&call), step(step) {}
  /// The call's own members.
  const Call *operator->() const { return viewed; }

protected:
  size_t numIns() const { return viewed->numIns(step); }
  auto &inAt(size_t slot) const { return viewed->in(step, slot); }
  auto &outAt(size_t slot) const { return viewed->out(step, slot); }
  auto *optionalInAt(size_t slot) const {
    auto &found = viewed->in(step, slot);
    return isAbsent(found) ? nullptr : &found;
  }
  auto *optionalOutAt(size_t slot) const {
    auto &found = viewed->out(step, slot);
    return isAbsent(found) ? nullptr : &found;
  }
  template <typename Attrs> Attrs decode() const {
    return decodeAttrs<Attrs>(viewed->attrs(step));
  }

private:
  const Call *viewed;
  size_t step;
};

/// A call whose body matches a pattern; `Call` also has private members
/// kindAt(step) and numSteps().
template <typename Call> class PatternView {
public:
  PatternView(const Call &call, const PatternInfo &pattern)
      : viewed(&call), form(*formOf(pattern, call.numSteps(),
                                    [&](size_t i) { return call.kindAt(i); })) {
  }
  const Call *operator->() const { return viewed; }
  size_t numGroups() const { return form.numGroups; }

protected:
  template <typename View> View element(size_t e, size_t group = 0) const {
    return View(*viewed, group * form.stride + size_t(form.stepOf[e]));
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

#endif // AICF_KERNELS_CALLVIEW_H
