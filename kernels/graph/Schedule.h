//===- Schedule.h - how graphs with reductions inside go --------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// It decides bits: see kernels/Schedule.h.
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_GRAPH_SCHEDULE_H
#define AICF_KERNELS_GRAPH_SCHEDULE_H

#include "kernels/Schedule.h"
#include "lib/Ops/RowGraph.h"

#include <algorithm>

namespace aicf::families {

/// How a GPU goes over a graph with reductions inside: a block is one or more
/// groups of threads, and a group has all that is reduced together, of a row or
/// of some columns. Shapes alone say it.
struct GroupPlan {
  /// The most of a block: 512 leaves 128 registers for a thread.
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
    const bool areMany = plan.outer * strips >= kMultiprocessors;
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

} // namespace aicf::families

#endif // AICF_KERNELS_GRAPH_SCHEDULE_H
