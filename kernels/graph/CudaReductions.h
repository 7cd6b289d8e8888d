//===- CudaReductions.h - writes a graph with reductions inside  -*- C++
//-*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// For CudaReductions.cpp, which says how a group goes through its elements, and
// CudaKept.cpp, which says where they are meanwhile.
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_GRAPH_CUDAREDUCTIONS_H
#define AICF_KERNELS_GRAPH_CUDAREDUCTIONS_H

#include "kernels/graph/CudaElements.h"
#include "kernels/graph/CudaProgram.h"
#include "kernels/graph/Family.h"

namespace aicf::cuda {

using families::GroupPlan;
using rules::wide;

class ReductionsWriter {
public:
  /// `values` by the graph's numbers.
  ReductionsWriter(const RowGraph &graph, Span<const TensorView> values,
                   const GroupPlan &plan, const DeviceLimits &limits)
      : graph(graph), body(graph.body), plan(plan), limits(limits),
        writer(graph.body, values, graph.extents), phaseOf(graph.types.size()) {
    for (size_t p = 0; p < body.primitives.size(); ++p)
      for (int32_t operand : body.primitives[p].operands)
        phaseOf[valueOf(p)] =
            std::max(phaseOf[valueOf(p)],
                     phaseOf[size_t(operand)] + (graph.isReduction(p) ? 1 : 0));
  }
  StatusOr<GraphKernel> run();

private:
  uint32_t valueOf(size_t primitive) const { return graph.valueOf(primitive); }
  const Primitive &makerOf(uint32_t value) const {
    return body.primitives[value - body.numOperands];
  }
  RowStep stepOf(uint32_t value) const {
    return graph.steps[value - body.numOperands];
  }
  bool isRepeated(uint32_t value) const {
    return value >= body.numOperands && stepOf(value) == RowStep::Repeat;
  }
  bool isWhole(uint32_t value) const {
    return graph.extents[value] == Extent::Whole;
  }
  DType typeOf(uint32_t value) const { return graph.types[value].dtype; }
  DType reducedIn(uint32_t value) const {
    return wide(typeOf(uint32_t(makerOf(value).operands[0])));
  }
  /// Elements of what is left that a thread knows.
  int64_t numLeft() const { return plan.inner == 1 ? 1 : plan.vector; }

  template <typename... Args> void line(const Args &...args) {
    writer.line(args...);
  }
  static std::string text(int64_t n) { return std::to_string(n); }
  std::string wideRegister() { return writer.newRegister(true); }
  std::string word() { return writer.newRegister(false); }
  std::string predicate() { return "%aq" + text(numPredicates++); }
  std::string label() { return "$A" + text(numLabels++); }

  void findPlace();
  std::vector<uint32_t> sumsOf(size_t phase) const;
  void beginSums(const std::vector<uint32_t> &sums);
  Status phase(size_t number);
  Status loop(size_t number);
  /// The vectors of a thread at a time, and a predicate each: it is there.
  /// None, where all are.
  struct Turn {
    std::string isThere;
    ElementWriter::Elements elements;
    std::string along; ///< where it begins along what is reduced, 64 bits
  };
  bool areAllThere() const;
  void beginVector(size_t k, const std::string &at);
  void goTo(const Turn &one);
  Status turns(size_t number, const std::string &at);
  Status turn(size_t number);
  std::vector<uint32_t> wantedIn(size_t phase) const;
  void findOperandsOf(uint32_t value, std::vector<bool> &isSeen) const;
  void planKept();
  int64_t groupBytes() const;
  bool isKept(uint32_t operand) const { return kept[operand].bytes > 0; }
  ElementWriter::Slot slotOf(uint32_t operand, size_t vector);
  void keepLoaded(size_t number, size_t vector);
  void beginSlots();
  void beginLoads(size_t number, size_t vector);
  Status need(uint32_t value);
  Status addTo(uint32_t sum);
  Status addUp(const std::vector<std::string *> &terms, DType type, bool isMax);
  Status sumUp(const std::vector<uint32_t> &sums);
  Status finish(uint32_t sum);
  Status computeLeft(size_t phase);
  Status storeLeft();
  int64_t blocksTogether();

  const RowGraph &graph;
  const Body &body;
  const GroupPlan plan;
  const DeviceLimits limits;
  ElementWriter writer;
  /// The phase in which a value can be computed: a sum behind that of what it
  /// adds.
  std::vector<size_t> phaseOf;
  size_t lastPhase = 0;
  size_t numPredicates = 0, numLabels = 0;

  // Registers: where the thread's first elements begin, and what is left of
  // them, in 64 bits; where along what is reduced it begins.
  std::string base, left, along;
  // In 64 bits: which of the outer ones it has, and its first column.
  std::string outerIndex, firstColumn;
  /// Predicates: it is of a group, and stores what is left of it.
  std::string exists, storesLeft;
  std::vector<Turn> all;

  // Operands that more than one phase loads stay in shared memory, for the
  // first `keptTurns` vectors of each thread.
  struct Kept {
    size_t phase = 0;  ///< that loads it from memory
    int64_t bytes = 0; ///< of a vector; 0: not kept
    int64_t start = 0; ///< of its slots in the block's shared memory
  };
  std::vector<Kept> kept; ///< by operand
  int64_t keptTurns = 0, keptBytes = 0;
  std::string keptBase;      ///< where the block's slots begin, 64 bits
  std::string slot, hasSlot; ///< the number of the thread's slot in this turn
  std::vector<std::vector<std::string>> partial; ///< by value: of each sum
};

} // namespace aicf::cuda

#endif // AICF_KERNELS_GRAPH_CUDAREDUCTIONS_H
