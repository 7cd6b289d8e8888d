//===- RuleCases.h - a call and what is wrong with it -----------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// For kernels/<family>/test/Rules.cpp: one thing that is wrong with a legal
// call, and the rule that must say so.
//===----------------------------------------------------------------------===//
#ifndef AICF_UNITTESTS_KERNELS_RULECASES_H
#define AICF_UNITTESTS_KERNELS_RULECASES_H

#include "unittests/Common/SampleCalls.h"

#include <cmath>
#include <cstring>

namespace aicf::test {

using Change = std::function<void(Sample &)>;
using Code = StatusCode;

/// The operand (or with `out`, result) `name` gets another dtype or shape.
inline Change in(const char *name, DType dtype) {
  return [=](Sample &s) { s.in(name).dtype = dtype; };
}
inline Change out(const char *name, DType dtype) {
  return [=](Sample &s) { s.out(name).dtype = dtype; };
}
inline Change in(const char *name, std::vector<int64_t> shape) {
  return [=](Sample &s) { s.in(name) = TensorDesc(s.in(name).dtype, shape); };
}
inline Change out(const char *name, std::vector<int64_t> shape) {
  return [=](Sample &s) { s.out(name) = TensorDesc(s.out(name).dtype, shape); };
}
/// Every operand and result gets one dtype.
inline Change all(DType dtype) {
  return [=](Sample &s) {
    for (auto *descs : {&s.ins, &s.outs})
      for (TensorDesc &desc : *descs)
        desc.dtype = dtype;
  };
}
inline Change both(Change a, Change b) {
  return [=](Sample &s) {
    a(s);
    b(s);
  };
}
inline Change addOut(TensorDesc desc) {
  return [=](Sample &s) { s.outs.push_back(desc); };
}
inline Change addIn(TensorDesc desc) {
  return [=](Sample &s) { s.ins.push_back(desc); };
}
/// One field of the attr blob.
template <typename Attrs, typename Field, typename Value>
Change attr(Field Attrs::*field, Value value) {
  return [=](Sample &s) {
    Attrs attrs;
    std::memcpy(&attrs, s.attrs.data(), sizeof(attrs));
    // By bytes: a packed struct's field may be misaligned.
    Field changed = static_cast<Field>(value);
    std::memcpy(&(attrs.*field), &changed, sizeof(changed));
    std::memcpy(s.attrs.data(), &attrs, sizeof(attrs));
  };
}

struct RuleCase {
  const char *row; ///< of sampleCallRows(), with m = 3 and n = 6 (K = 5)
  const char *id;  ///< the constraint; empty for what every record has
  StatusCode code;
  Change change;
  std::string text = {}; ///< also in the message, where the id is not enough
};

inline constexpr DType F16 = DType::F16, F32 = DType::F32, F64 = DType::F64,
                       BF16 = DType::BF16, I32 = DType::I32, I64 = DType::I64, I1 = DType::I1;
inline const TensorDesc kFlag(I32, {}), kScalar(F32, {});

} // namespace aicf::test

#endif // AICF_UNITTESTS_KERNELS_RULECASES_H
