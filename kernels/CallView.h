//===- CallView.h - a call seen through its record --------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// The base of the views in OpViews.h, which name operands, results and fields.
// A call (what a kernel is launched with, what a rule checks, what a reference
// computes) keeps its lists to itself and befriends CallView: whoever wants an
// operand asks for it by name.
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_CALLVIEW_H
#define AICF_KERNELS_CALLVIEW_H

#include "kernels/Fields.h"

namespace aicf {

/// `Call` has the private members ins, outs (lists of slots) and attrs (bytes),
/// and isAbsent(slot) says which slots are empty. The call must outlive its
/// views. What the call's kind is, the caller knows.
template <typename Call> class CallView {
public:
  CallView(const Call &call) : viewed(&call) {}
  /// The call's own members.
  const Call *operator->() const { return viewed; }

protected:
  size_t numIns() const { return viewed->ins.size(); }
  auto &inAt(size_t slot) const { return viewed->ins[slot]; }
  auto &outAt(size_t slot) const { return viewed->outs[slot]; }
  auto *optionalInAt(size_t slot) const { return present(viewed->ins, slot); }
  auto *optionalOutAt(size_t slot) const { return present(viewed->outs, slot); }
  template <typename Attrs> Attrs decode() const {
    return decodeAttrs<Attrs>(viewed->attrs);
  }

private:
  template <typename Slots> static auto *present(Slots &slots, size_t slot) {
    return slot < slots.size() && !isAbsent(slots[slot]) ? &slots[slot]
                                                         : nullptr;
  }
  const Call *viewed;
};

} // namespace aicf

#endif // AICF_KERNELS_CALLVIEW_H
