//===- Family.h - which graphs the kernels take -----------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_GRAPH_FAMILY_H
#define AICF_KERNELS_GRAPH_FAMILY_H

#include "kernels/gemm/Family.h"
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

/// The product of a graph is one for the kernels of small products, which give
/// what they read the type of.
inline bool hasSmallProduct(const GraphView<rules::Call> &c) {
  const size_t position = *positionOfProduct(c.body());
  const auto a = size_t(c.body().primitives[position].operands[0]);
  const TensorDesc &factor = c.values()[a],
                   &made = c.values()[c.body().numOperands + position];
  return made.dtype == factor.dtype &&
         (made.dtype == DType::F64 ||
          isSmallProduct(made.rows(), made.width(),
                         factor.elements() / made.rows()));
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

/// How a GPU goes over a graph with reductions inside: a block is one or more
/// groups of threads, and a group has all that is reduced together, of a row or
/// of some columns. Shapes alone say it.
struct GroupPlan {
  /// The most of a block: a thread may have 128 registers. With 1024 threads
  /// and 64 registers, a kernel of many spilled values and calls gave wrong
  /// elements on an H200 (driver 580.159); why, we do not know.
  static constexpr int64_t kMostThreads = 512;
  int64_t outer, size, inner; ///< the reductions are over `size`
  int64_t vector;             ///< elements side by side that a thread has
  int64_t across;             ///< threads of a group over columns; 1 for rows
  int64_t along;              ///< threads of a group over `size`
  int64_t threads;            ///< of a block
  int64_t atATime; ///< vectors that a thread has in registers, at most
  int64_t strips() const {
    return (inner + across * vector - 1) / (across * vector);
  }
  /// Elements that the threads of a group have along `size` at a time.
  int64_t step() const { return inner == 1 ? along * vector : along; }
  int64_t turns() const { return (size + step() - 1) / step(); }
  int64_t turnsAtATime() const { return std::min(turns(), atATime); }
  bool staysInRegisters() const { return turns() == turnsAtATime(); }
  int64_t groups() const { return outer * strips(); }
  int64_t blocks() const {
    const int64_t inBlock = threads / (across * along);
    return (groups() + inBlock - 1) / inBlock;
  }
};

/// Functions that a kernel's text computes for one element. A step of 16 bits
/// is rounded, and read again; one of f64 is twice as long.
inline int64_t functionsOf(const RowGraph &graph) {
  int64_t count = 0;
  for (size_t p = 0; p < graph.steps.size(); ++p) {
    const size_t bytes = sizeOf(graph.types[graph.valueOf(p)].dtype);
    count += bytes == 2 ? 3 : bytes == 8 ? 2 : 1;
  }
  return count;
}
inline int64_t reductionsOf(const RowGraph &graph) {
  int64_t count = 0;
  for (size_t p = 0; p < graph.steps.size(); ++p)
    count += graph.isReduction(p);
  return count;
}
/// The functions of the whole text: for each element that a thread has at a
/// time, again in each phase of a loop.
inline int64_t functionsOf(const RowGraph &graph, const GroupPlan &plan) {
  return functionsOf(graph) * plan.vector * plan.turnsAtATime() *
         (plan.staysInRegisters() ? 1 : reductionsOf(graph) + 1);
}
/// The most functions of a text: ptxas compiles so many in less than a second.
inline constexpr int64_t kMostFunctions = 800;

inline GroupPlan groupPlanOf(const RowGraph &graph) {
  constexpr int64_t kMost = GroupPlan::kMostThreads, kFew = 256;
  // Functions for one vector, and for all that a thread has at a time: about as
  // many values are in registers.
  constexpr int64_t kMostOfVector = 300, kMostAtATime = 400;
  GroupPlan plan{graph.outer, graph.size, graph.inner, 1, 1, kMost, kMost, 4};
  size_t bytes = 8; // of an element, of the narrowest tensor
  auto see = [&](uint32_t tensor) {
    if (graph.extents[tensor] == Extent::Reduced)
      return;
    bytes = std::min(bytes, sizeOf(graph.types[tensor].dtype));
  };
  for (uint32_t i = 0; i < graph.body.numOperands; ++i)
    see(i);
  for (uint32_t result : graph.body.results)
    see(result);
  const int64_t functions = functionsOf(graph);
  auto widest = int64_t(16 / std::max<size_t>(bytes, 2));
  while (widest > 1 && functions * widest > kMostOfVector)
    widest /= 2;
  if (plan.inner == 1) {
    plan.vector = plan.size % widest ? 1 : widest;
    const int64_t vectors = plan.size / plan.vector;
    for (int64_t along : {kFew, int64_t(32), int64_t(8)})
      if (vectors <= 4 * along)
        plan.along = along;
    plan.threads = std::max(plan.along, kFew);
  } else {
    plan.vector = plan.inner % widest ? 1 : widest;
    // A sector of memory at least. More, where columns are many, and short: of
    // long ones, more of each stays in shared memory.
    const int64_t strips = plan.inner / (8 * plan.vector);
    const bool areMany = plan.outer * strips >= h200::kMultiprocessors;
    plan.across = (areMany && plan.size <= 1024) || plan.vector == 1 ? 8 : 2;
    if (plan.size <= 4 * kFew / plan.across)
      plan.threads = kFew;
    plan.along = plan.threads / plan.across;
  }
  if (plan.threads == kMost)
    plan.atATime = 8;
  while (plan.atATime > 1 &&
         (functions * plan.vector * plan.atATime > kMostAtATime ||
          functionsOf(graph, plan) > kMostFunctions))
    plan.atATime /= 2;
  return plan;
}

/// How many of the first vectors of each thread keep their operands in shared
/// memory: all, or a multiple of turnsAtATime(). Of one vector that is `bytes`.
/// A block takes `ownBytes` beside, and may ask for `limit`, as DeviceLimits
/// says. Three blocks on a multiprocessor, or two, keep memory busier than one.
/// One has more room. On an H200, two are better as long as two thirds fit.
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
/// or if there are too few groups for what each would have to do.
inline std::optional<GroupPlan>
groupPlan(const std::optional<RowGraph> &graph) {
  if (!graph)
    return std::nullopt;
  const GroupPlan plan = groupPlanOf(*graph);
  constexpr int64_t kMostTurns = 128, kMostReductions = 8;
  const bool isEnough =
      plan.staysInRegisters() ||
      (plan.turns() <= kMostTurns && plan.blocks() >= h200::kMultiprocessors);
  const bool isShort = functionsOf(*graph, plan) <= kMostFunctions &&
                       reductionsOf(*graph) <= kMostReductions;
  if (!isEnough || !isShort || plan.groups() > INT32_MAX)
    return std::nullopt;
  return plan;
}
/// A CPU goes over the rows of a graph some at a time. What it computes on the
/// way has room for one of them at least: every value that exists inside, and
/// once more in the type that is computed in.
inline constexpr int64_t kMostOfCpuRow = 8192;
inline constexpr size_t kCpuRegisterBytes = 512 << 10;
/// The elements of a row, of a body with reductions, where pieces are to be
/// whole rows. Nothing where they do not go together, or over something else, or
/// where a row is too long.
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
inline bool hasLargeGroups(const GraphView<rules::Call> &c) {
  constexpr int64_t kLargeElements = 1 << 18;
  return c.values()[0].elements() > kLargeElements && hasGroups(c);
}

} // namespace aicf::families

#endif // AICF_KERNELS_GRAPH_FAMILY_H
