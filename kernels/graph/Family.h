//===- Family.h - which graphs the kernels take -----------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_GRAPH_FAMILY_H
#define AICF_KERNELS_GRAPH_FAMILY_H

#include "kernels/norm/Family.h"
#include "lib/Ops/Graphs.h"
#include "lib/Ops/RuleCall.h"

#include <optional>

namespace aicf::families {

/// Two parts of a graph that share no value may have different shapes: no rule
/// of a primitive compares them.
inline bool haveOneShape(const GraphView<rules::Call> &c) {
  const std::vector<TensorDesc> types = graphTypes(c.body(), c.values());
  for (uint32_t value = 0; value < types.size(); ++value)
    if (!isSumOf(c.body(), value) && !types[value].sameShape(types[0]))
      return false;
  return true;
}

/// Sums of one graph, as PointwiseSums in Family.td says.
inline constexpr size_t kGraphSums = 2;

/// How a GPU goes over the sums of a graph. Nothing, if they do not go
/// together.
inline std::optional<ReductionPlan> sumsPlan(const Body &body,
                                             Span<const TensorDesc> values) {
  std::optional<ReductionPlan> plan;
  DType dtype{};
  for (size_t p = 0; p < body.primitives.size(); ++p) {
    const Primitive &primitive = body.primitives[p];
    if (!infoOf(primitive.kind).isSum())
      continue;
    const TensorDesc &x = values[size_t(primitive.operands[0])];
    const TensorDesc &y = values[body.numOperands + p];
    const auto axis = std::get<int64_t>(
        decodeField(infoOf(primitive.kind).fields[0], primitive.attrs));
    const ReductionPlan own(x, y, axis);
    if (!y.isDense() ||
        (plan && (own.outer != plan->outer || own.size != plan->size ||
                  own.inner != plan->inner || x.dtype != dtype)))
      return std::nullopt;
    plan = own;
    dtype = x.dtype;
  }
  return plan;
}
inline bool sumsGoTogether(const GraphView<rules::Call> &c) {
  const std::optional<ReductionPlan> plan = sumsPlan(c.body(), c.values());
  // A kernel counts the elements of a sum in 32 bits, and some beyond the last.
  return plan && plan->size <= INT64_C(0xffff0000);
}
inline uint64_t sumsOfGraphWorkspace(const GraphView<rules::Call> &c) {
  const ReductionPlan plan = *sumsPlan(c.body(), c.values());
  // A sum of f64 takes 8 bytes, every other 4: those that a kernel sums in.
  return plan.chunks < 2
             ? 0
             : kGraphSums * 8 * uint64_t(plan.chunks * plan.outer * plan.inner);
}

} // namespace aicf::families

#endif // AICF_KERNELS_GRAPH_FAMILY_H
