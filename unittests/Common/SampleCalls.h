//===- SampleCalls.h - legal calls of every kind ----------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Legal calls of every op, from kernels/<family>/test/Samples.cpp: KernelTest
// runs them, RulesTest breaks their rules one at a time, samplePlans() puts
// them into plans. No data here.
//===----------------------------------------------------------------------===//
#ifndef AICF_UNITTESTS_COMMON_SAMPLECALLS_H
#define AICF_UNITTESTS_COMMON_SAMPLECALLS_H

#include "aicf/Span.h"
#include "lib/Ops/KernelTable.h"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace aicf::test {

/// One call without data. Float operands are described as F32 here and become
/// the dtype under test.
struct Sample {
  /// Of one primitive: by the record's slots, absent ones too. Else those of
  /// the body.
  std::vector<TensorDesc> ins, outs;
  std::vector<uint8_t> attrs;
  OpKind kind = OpKind::Gemm;                 ///< set by makeSample()
  std::shared_ptr<const Body> body = nullptr; ///< null for one primitive

  /// Of one primitive, by the record's name; "grad[1]" is the second of a
  /// variadic one. It must be there.
  TensorDesc &in(std::string_view name);
  TensorDesc &out(std::string_view name);
};

struct KindRow {
  std::string name;
  OpKind kind; ///< of the first primitive
  /// Makes the call for a leading size m and a width n.
  std::function<Sample(int64_t m, int64_t n)> make;
  /// Relative error ||a-ref||/||ref|| allowed in f32; other types: toleranceOf.
  double tolerance = 1e-5;
  /// Operands described as F16 become the 16-bit type under test, those
  /// described as F32 stay.
  bool isMixed = false;
  /// For f32 and f64 only.
  bool isWide = false;
  /// For f16 and bf16 only.
  bool isHalf = false;
  /// m and n are rounded up to its multiples.
  int64_t multiple = 1;
  int64_t leastRows = 1;    ///< of m
  int64_t leastColumns = 1; ///< of n

  /// What the row is tried with where one type is enough.
  DType usualType() const {
    return isMixed ? DType::BF16 : isHalf ? DType::F16 : DType::F32;
  }
  KindRow mixed() const {
    KindRow row = *this;
    row.isMixed = true;
    return row;
  }
  KindRow wide() const {
    KindRow row = *this;
    row.isWide = true;
    return row;
  }
  KindRow within(double relativeError) const {
    KindRow row = *this;
    row.tolerance = relativeError;
    return row;
  }
  bool takes(DType dtype) const {
    return sizeOf(dtype) == 2 ? !isWide : !isMixed && !isHalf;
  }
};

/// Descs for samples: float ones become the dtype under test.
inline TensorDesc f(std::vector<int64_t> shape) { return {DType::F32, shape}; }
inline TensorDesc half(std::vector<int64_t> shape) {
  return {DType::F16, shape};
}
inline TensorDesc i32() { return {DType::I32, {}}; }
/// A call of one shape and type, whatever type is under test.
KindRow uniformRow(std::string name, OpKind kind, DType dtype,
                   std::vector<uint8_t> attrs = {});

/// True for a primitive without fields whose operands and result are all of one
/// shape and float type. It needs no row by hand.
bool isUniform(OpKind kind);
/// At least one row of every kind.
Span<const KindRow> sampleCallRows();
/// Those, rows of every pattern of several primitives (see SampleBodies.cpp),
/// and graphRows().
const std::vector<KindRow> &allCallRows();
/// Rows of graphs of elementwise primitives, by hand: kernels/graph/test.
std::vector<KindRow> graphRows();
/// The row called `name`, which must be there.
const KindRow &sampleCallRow(std::string_view name);

/// A row's call for a leading size m and a width n, with the dtype under test
/// put in.
Sample makeSample(const KindRow &row, int64_t m, int64_t n, DType dtype);

/// The operand of a record that stands at a slot, or for an operand of a body.
const OperandInfo &operandInfo(const Sample &sample, size_t operand);

/// The same with a body, and without absent operands and results.
Sample toCall(const Sample &sample);
StatusOr<TypedBody> typedBodyOf(const Sample &sample);

} // namespace aicf::test

#endif // AICF_UNITTESTS_COMMON_SAMPLECALLS_H
