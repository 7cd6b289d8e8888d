//===- SharedOperands.h - calls whose slots read one value ------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// From a sample of several primitives, every call that differs from it in what
// one operand is: another operand of its type, or a value of the body. The
// families' patterns do not forbid the first and must refuse the second.
//===----------------------------------------------------------------------===//
#ifndef AICF_UNITTESTS_COMMON_SHAREDOPERANDS_H
#define AICF_UNITTESTS_COMMON_SHAREDOPERANDS_H

#include "unittests/Common/SampleCalls.h"

namespace aicf::test {

/// The row's call of several primitives, and where its rules allow it the same
/// with fewer dimensions, down to scalars: more of its operands are of one type
/// then. Empty for a row of one primitive.
std::vector<Sample> samplesForSharing(const KindRow &row, DType dtype);

/// A call in which operands `first` and `second` of another one are one value.
struct SharedSample {
  Sample sample;
  uint32_t first, second;
  /// What each operand of the other one is called here.
  std::vector<uint32_t> numberOf;
};
/// Every pair of operands of the same type, made one value.
std::vector<SharedSample> withSharedOperands(const Sample &sample);

/// Every slot that reads an operand of the call, made to read a value that an
/// earlier primitive of the body makes. In normal form, but without types. None
/// of a graph, which reads what it likes inside.
std::vector<Body> withReadsInside(const Body &body);

/// Every slot that reads what another slot reads, or what the body makes, made
/// to read an operand of its own. Without types, and maybe with values that
/// nobody reads. None of a graph, which binds no slots.
std::vector<Body> withOperandsApart(const Body &body);

} // namespace aicf::test

#endif // AICF_UNITTESTS_COMMON_SHAREDOPERANDS_H
