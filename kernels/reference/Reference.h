//===- Reference.h - every primitive, plain and in f64 ----------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// For tests and the plan interpreter: obvious loops, no blocking, no threads,
// no code shared with the kernels under test. One function a kind, in
// kernels/<family>/Reference.cpp: a record without one does not link.
//===----------------------------------------------------------------------===//

#ifndef AICF_KERNELS_REFERENCE_REFERENCE_H
#define AICF_KERNELS_REFERENCE_REFERENCE_H

#include "aicf/Body.h"
#include "aicf/Span.h"
#include "aicf/TensorDesc.h"
#include "lib/Ops/OpViews.h"

#include <vector>

namespace aicf::reference {

/// Values of a tensor as f64, whatever its dtype.
struct Tensor {
  TensorDesc desc;
  std::vector<double> values;

  size_t size() const { return values.size(); }
  double operator[](size_t i) const { return values[i]; }
  double &operator[](size_t i) { return values[i]; }
  int64_t dim(size_t i) const { return desc.dims[i]; }
};
inline bool isAbsent(const Tensor &tensor) { return tensor.desc.isAbsent; }

/// A call with its values; operands by name: see OpViews.h.
using Call = BodyCall<Tensor>;

/// Computes the results of one legal call; `outs` come with their descs and as
/// many values as they have elements. Absent operands and results have an
/// absent desc.
void run(OpKind kind, const std::vector<Tensor> &ins, std::vector<Tensor> &outs,
         Span<const uint8_t> attrs);

/// A slot of a primitive of a body.
struct BodySlot {
  size_t primitive, slot;
};

/// Runs a body primitive by primitive; values inside stay f64. Operands and
/// results are those of a call that the rules accept. The slots `lost` read NaN
/// instead of their operand's values: something has overwritten them by then.
void run(const Body &body, const std::vector<Tensor> &ins,
         std::vector<Tensor> &outs, Span<const BodySlot> lost = {});

#define AICF_REFERENCE(KIND) void compute(const KIND##View<Call> &c);
AICF_KINDS(AICF_REFERENCE)
#undef AICF_REFERENCE

/// The value of an optional scalar.
inline double valueOr(const Tensor *scalar, double otherwise) {
  return scalar ? (*scalar)[0] : otherwise;
}

/// to[i] = function(i) for every element.
template <typename Function> void fill(Tensor &to, Function function) {
  for (size_t i = 0; i < to.size(); ++i)
    to[i] = function(i);
}

/// Sums over dimension `axis` of `from`.
void sumOver(const Tensor &from, int64_t axis, Tensor &to);

} // namespace aicf::reference

#endif // AICF_KERNELS_REFERENCE_REFERENCE_H
