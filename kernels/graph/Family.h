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

/// How a GPU goes over a graph with reductions inside: a block is one or more groups
/// of threads, and a group has all that is reduced together, of a row or of some
/// columns. Shapes alone say it.
struct GroupPlan {
  static constexpr int64_t kMostThreads = 1024; ///< of a block
  int64_t outer, size, inner; ///< the reductions are over `size`
  int64_t vector;             ///< elements side by side that a thread has
  int64_t across;             ///< threads of a group over columns; 1 for rows
  int64_t along;              ///< threads of a group over `size`
  int64_t threads;            ///< of a block
  int64_t strips() const {
    return (inner + across * vector - 1) / (across * vector);
  }
  /// Elements that the threads of a group have along `size` at a time.
  int64_t step() const { return inner == 1 ? along * vector : along; }
  int64_t turns() const { return (size + step() - 1) / step(); }
  /// Vectors of a thread whose elements it has in registers side by side.
  int64_t turnsAtATime() const {
    return std::min<int64_t>(turns(), threads == kMostThreads ? 2 : 4);
  }
  bool staysInRegisters() const { return turns() == turnsAtATime(); }
  int64_t groups() const { return outer * strips(); }
  int64_t blocks() const {
    const int64_t inBlock = threads / (across * along);
    return (groups() + inBlock - 1) / inBlock;
  }
};

inline GroupPlan groupPlanOf(const SumExtents &e, DType dtype) {
  constexpr int64_t kMost = GroupPlan::kMostThreads, kFew = 256;
  GroupPlan plan{e.outer, e.size, e.inner, 1, 1, kMost, kMost};
  const auto widest = int64_t(16 / sizeOf(dtype));
  if (plan.inner == 1) {
    plan.vector = plan.size % widest ? 1 : widest;
    for (int64_t along : {int64_t(512), kFew, int64_t(32), int64_t(8)})
      if (4 * along * plan.vector >= plan.size)
        plan.along = along;
    plan.threads = std::max(plan.along, kFew);
    return plan;
  }
  plan.vector = plan.inner % widest ? 1 : widest;
  // A sector of memory at least, more where columns are many.
  const int64_t strips = plan.inner / (8 * plan.vector);
  const bool areMany = plan.outer * strips >= h200::kMultiprocessors;
  plan.across = areMany || plan.vector == 1 ? 8 : 2;
  if (plan.size <= 4 * kFew / plan.across)
    plan.threads = kFew;
  plan.along = plan.threads / plan.across;
  return plan;
}

/// The plan of a body. Nothing, if the values have not the shapes that it wants, or if
/// there are too few groups for what each would have to do.
inline std::optional<GroupPlan> groupPlan(const Body &body,
                                          Span<const TensorDesc> values) {
  const std::vector<TensorDesc> types = graphTypes(body, values);
  const std::vector<Extent> extents = *extentsOf(body);
  std::optional<SumExtents> all;
  DType dtype{};
  for (size_t p = 0; p < body.primitives.size(); ++p) {
    const Primitive &primitive = body.primitives[p];
    const bool isSum = infoOf(primitive.kind).isSum();
    if (!isSum && !isRepeat(primitive.kind))
      continue;
    const TensorDesc &x = types[size_t(primitive.operands[0])];
    const TensorDesc &y = types[body.numOperands + p];
    const SumExtents own(isSum ? x : y, isSum ? y : x,
                         std::get<int64_t>(decodeField(
                             infoOf(primitive.kind).fields[0], primitive.attrs)));
    if (all && (own.outer != all->outer || own.size != all->size ||
                own.inner != all->inner))
      return std::nullopt;
    if (isSum && !all)
      dtype = x.dtype;
    all = own;
  }
  const TensorDesc *whole = nullptr;
  for (size_t value = 0; value < types.size(); ++value) {
    const TensorDesc &type = types[value];
    if (extents[value] == Extent::Reduced) {
      if (!type.isDense() || type.elements() != all->outer * all->inner)
        return std::nullopt;
      continue;
    }
    if ((whole && !type.sameShape(*whole)) ||
        type.elements() != all->outer * all->size * all->inner)
      return std::nullopt;
    whole = &type;
  }
  const GroupPlan plan = groupPlanOf(*all, dtype);
  constexpr int64_t kMostTurns = 64;
  const bool isEnough =
      plan.staysInRegisters() ||
      (plan.turns() <= kMostTurns && plan.blocks() >= h200::kMultiprocessors);
  if (all->size < 2 || !isEnough || plan.groups() > INT32_MAX)
    return std::nullopt;
  return plan;
}
inline std::optional<GroupPlan> groupPlan(const GraphView<rules::Call> &c) {
  return groupPlan(c.body(), c.values());
}

} // namespace aicf::families

#endif // AICF_KERNELS_GRAPH_FAMILY_H
