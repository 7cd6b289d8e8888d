//===- RowGraph.h - graphs with reductions, step by step --------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// What a kernel of a graph with reductions computes: elementwise steps, sums,
// means and maxima over one dimension, and repetitions of what is left of them.
// Primitives that are defined by rows, such as softmax, are spelled out. What
// they compute on the way is in the type that is computed in, f32 for 16-bit
// elements. A maximum is a step alone: the primitive that has it says where it
// is, too.
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_OPS_ROWGRAPH_H
#define AICF_LIB_OPS_ROWGRAPH_H

#include "lib/Ops/Graphs.h"

#include <optional>

namespace aicf {

enum class RowStep : uint8_t { Elementwise, Sum, Mean, Max, Repeat };

struct RowGraph {
  /// Each primitive makes one value. What a reduction is, its step says, not
  /// its kind. Operands and results are those of the call, in its order.
  Body body;
  std::vector<RowStep> steps;    ///< of each primitive
  std::vector<Extent> extents;   ///< of each value
  std::vector<TensorDesc> types; ///< of each value, as graphTypes() gives them
  /// All reductions are over the middle of [outer, size, inner].
  int64_t outer = 0, size = 0, inner = 0;

  uint32_t valueOf(size_t primitive) const {
    return body.numOperands + uint32_t(primitive);
  }
  bool isReduction(size_t primitive) const {
    return steps[primitive] != RowStep::Elementwise &&
           steps[primitive] != RowStep::Repeat;
  }
};

/// True for a primitive whose definition is one of rows.
bool isDefinedByRows(OpKind kind);
/// True for such a primitive of one result: it may be part of a graph with
/// reductions.
bool isRowwise(OpKind kind);

/// The steps of a body: one with the pattern of a graph with reductions, or one
/// of primitives that are defined by rows and of elementwise ones. `types` are
/// those of its values. Returns nothing if they do not go together: shapes
/// differ, or what is reduced does, or what is left of it is not dense.
std::optional<RowGraph> rowGraphOf(const Body &body,
                                   Span<const TensorDesc> types);

} // namespace aicf

#endif // AICF_LIB_OPS_ROWGRAPH_H
