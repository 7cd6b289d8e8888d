//===- SampleCalls.h - legal calls of every kind ----------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// The one table of sample calls: KernelTest runs them, RulesTest breaks their
// rules one at a time, samplePlans() puts them into plans. No data here.
//===----------------------------------------------------------------------===//
#ifndef AICF_UNITTESTS_COMMON_SAMPLECALLS_H
#define AICF_UNITTESTS_COMMON_SAMPLECALLS_H

#include "aicf/Ops.h"
#include "aicf/Span.h"
#include "aicf/TensorDesc.h"

#include <functional>
#include <string_view>
#include <vector>

namespace aicf::test {

/// One call without data. Float operands are described as F32 here and become
/// the dtype under test.
struct Sample {
  std::vector<TensorDesc> ins, outs;
  std::vector<uint8_t> attrs;
  OpKind kind = OpKind::Gemm; ///< set by makeSample()

  /// By the record's name, "g[1]" in group 1; it must be there. A rounded copy
  /// of a parameter is "copy[i]".
  TensorDesc &in(std::string_view name);
  TensorDesc &out(std::string_view name);
};

struct KindRow {
  const char *name;
  OpKind kind;
  /// Makes the call for a leading size m and a width n.
  std::function<Sample(int64_t m, int64_t n)> make;
  /// Relative error ||a-ref||/||ref|| allowed in f32; other types: toleranceOf.
  double tolerance = 1e-5;
  /// Operands described as F16 become the 16-bit type under test, those
  /// described as F32 stay.
  bool isMixed = false;
  /// For f32 and f64 only.
  bool isWide = false;
};

/// At least one row of every kind.
Span<const KindRow> sampleCallRows();
/// The row called `name`, which must be there.
const KindRow &sampleCallRow(std::string_view name);

/// A row's call for a leading size m and a width n, with the dtype under test
/// put in.
Sample makeSample(const KindRow &row, int64_t m, int64_t n, DType dtype);

/// What the record calls the operand at `slot`.
std::string_view operandName(OpKind kind, size_t numSlots, size_t slot);

/// True when result `result` of such a call may take operand `operand`'s
/// storage.
bool mayShareStorage(OpKind kind, const Sample &sample, size_t result,
                     size_t operand);

} // namespace aicf::test

#endif // AICF_UNITTESTS_COMMON_SAMPLECALLS_H
