//===- Family.h - which graphs the kernels take -----------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_GRAPH_FAMILY_H
#define AICF_KERNELS_GRAPH_FAMILY_H

#include "kernels/gemm/Family.h"
#include "kernels/graph/Schedule.h"
#include "kernels/norm/Family.h"
#include "lib/Ops/RowGraph.h"
#include "lib/Ops/RuleCall.h"

#include <optional>

namespace aicf::families {

/// Two parts of a graph that share no value may have different shapes: no rule
/// of a primitive compares them.
inline bool haveOneShape(const GraphView<rules::Call> &c) {
  const std::vector<TensorDesc> types = graphTypes(c.body(), c.values());
  const std::vector<Extent> extents = graphExtents(c.body());
  const TensorDesc *like = nullptr;
  for (uint32_t value = 0; value < types.size(); ++value) {
    if (extents[value] != Extent::Whole)
      continue;
    if (like && !types[value].sameShape(*like))
      return false;
    like = &types[value];
  }
  return true;
}

/// The first factor and the result of a graph's product.
inline std::pair<const TensorDesc &, const TensorDesc &>
productOf(const GraphView<rules::Call> &c) {
  const size_t position = *positionOfProduct(c.body());
  const auto a = size_t(c.body().primitives[position].operands[0]);
  return {c.values()[a], c.values()[c.body().numOperands + position]};
}
/// The kernels give what they read the type of.
inline bool productKeepsType(const GraphView<rules::Call> &c) {
  const auto &[factor, made] = productOf(c);
  return made.dtype == factor.dtype;
}
/// The product is one for the kernels of small products.
inline bool hasSmallProduct(const GraphView<rules::Call> &c,
                            const Costs &costs) {
  const auto &[factor, made] = productOf(c);
  return made.dtype == DType::F64 ||
         isSmallProduct(made.rows(), made.width(),
                        factor.elements() / made.rows(), costs);
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
    const ReductionPlan own(x, y, axis, /*perMultiprocessor=*/8);
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

/// How many of the first vectors of each thread keep their operands in shared
/// memory: all, or a multiple of turnsAtATime(). `bytes` are those of the kept
/// operands of one vector, `ownBytes` what else a block has there, and `limit`
/// what it may ask for (DeviceLimits). Three blocks on a multiprocessor, or
/// two, keep memory busier than one. One has more room. On an H200, two are
/// better as long as two thirds fit.
inline int64_t keptTurns(const GroupPlan &plan, int64_t bytes, int64_t ownBytes,
                         int64_t limit) {
  const int64_t turns = plan.turns(), atATime = plan.turnsAtATime();
  // Each block costs 1 KiB, and the limit is that of one block.
  auto turnsOf = [&](int64_t blocks) {
    const int64_t room = (limit + 2048) / blocks - 1024 - ownBytes;
    const int64_t most = std::max<int64_t>(0, room / (bytes * plan.threads));
    return most < turns ? most / atATime * atATime : turns;
  };
  const int64_t ofTwo = turnsOf(2);
  return turnsOf(3) == turns || 3 * ofTwo >= 2 * turns ? ofTwo : turnsOf(1);
}

/// The plan of a body with these values. Nothing, if they do not go together,
/// or if the text would take ptxas longer than some 20 seconds: nobody waits
/// longer for a plan from elsewhere.
inline std::optional<GroupPlan>
groupPlan(const std::optional<RowGraph> &graph) {
  constexpr int64_t kMostOfText = 16 * 1024;
  if (!graph)
    return std::nullopt;
  const GroupPlan plan = groupPlanOf(*graph);
  // The kernels number groups, and columns of strips, in 32 bits.
  if (functionsOf(*graph, plan) > kMostOfText || plan.groups() > INT32_MAX ||
      plan.strips() * plan.across > UINT32_MAX)
    return std::nullopt;
  return plan;
}
/// True if there are enough groups for what each has to do, and if ptxas
/// compiles the text in less than a second.
inline bool groupsPay(const GraphView<rules::Call> &c, const Costs &costs) {
  const RowGraph graph = *rowGraphOf(c.body(), c.values());
  const GroupPlan plan = groupPlanOf(graph);
  const bool areEnough =
      plan.staysInRegisters() ||
      (plan.turns() <= costs.groupTurns &&
       plan.blocks() >= costs.multiprocessors);
  return areEnough && functionsOf(graph, plan) <= costs.groupFunctions &&
         reductionsOf(graph) <= costs.groupReductions;
}
/// A CPU goes over the rows of a graph some at a time. What it computes on the
/// way has room for one of them at least: every value that exists inside, and
/// once more in the type that is computed in.
inline constexpr int64_t kMostOfCpuRow = 8192;
inline constexpr size_t kCpuRegisterBytes = 512 << 10;
/// The elements of a row, of a body with reductions, where pieces are to be
/// whole rows. Nothing where they do not go together, or over something else,
/// or where a row is too long.
inline std::optional<int64_t> cpuRowOf(const Body &body,
                                       Span<const TensorDesc> values) {
  int64_t size = 0, inner = 0;
  if (reducesInside(body)) {
    const std::optional<RowGraph> graph = rowGraphOf(body, values);
    if (!graph)
      return std::nullopt;
    size = graph->size;
    inner = graph->inner;
  } else if (const std::optional<ReductionPlan> plan = sumsPlan(body, values)) {
    size = plan->size;
    inner = plan->inner;
  }
  size_t places = body.results.size(), widest = 0;
  bool hasHalf = false;
  for (const TensorDesc &type : values) {
    hasHalf |= type.dtype != rules::wide(type.dtype);
    places += type.dtype == rules::wide(type.dtype) ? 1 : 2;
    widest = std::max(widest, sizeOf(rules::wide(type.dtype)));
  }
  places += hasHalf; // for what a kernel computes before it is rounded
  if (inner != 1 || size > kMostOfCpuRow ||
      places * widest * size_t(size) > kCpuRegisterBytes)
    return std::nullopt;
  return size;
}
inline bool hasRows(const GraphView<rules::Call> &c) {
  return cpuRowOf(c.body(), c.values()).has_value();
}

inline bool hasGroups(const GraphView<rules::Call> &c) {
  return groupPlan(rowGraphOf(c.body(), c.values())).has_value();
}
/// The same for a primitive that has a kernel of its own, which is as fast
/// where little is moved, and need not be loaded.
inline bool largeGroupsPay(const GraphView<rules::Call> &c,
                           const Costs &costs) {
  return c.values()[0].elements() > costs.groupElements &&
         groupsPay(c, costs);
}

} // namespace aicf::families

#endif // AICF_KERNELS_GRAPH_FAMILY_H
