//===- Graphs.h - graphs of elementwise primitives --------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Which bodies are graphs (see GraphPattern in KernelFamily.td), and how the
// kernels of a graph read its operands. Asked by the matcher, by fusion and by
// the kernels of each device.
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_OPS_GRAPHS_H
#define AICF_LIB_OPS_GRAPHS_H

#include "aicf/TensorDesc.h"
#include "lib/Ops/Patterns.h"

#include <optional>

namespace aicf {

/// A primitive that is elementwise once one operand is repeated. bias_add is
/// `as` = add of operand 0 and of `operand` = 1, which is repeated over all
/// dimensions but that of its field `axis`. dropout is itself (`as` = dropout),
/// with a 0-d `operand`, the counter, that is repeated over all.
struct SpreadInfo {
  OpKind kind;
  uint8_t operand;
  OpKind as;
  bool hasAxis() const { return kind != as; }
};
/// Null for other kinds.
const SpreadInfo *spreadOf(OpKind kind);
inline bool hasSpreadAxis(OpKind kind) {
  const SpreadInfo *spread = spreadOf(kind);
  return spread && spread->hasAxis();
}
/// True if an element of the result depends on its number, too.
inline bool knowsNumbers(OpKind kind) {
  const SpreadInfo *spread = spreadOf(kind);
  return spread && !spread->hasAxis();
}

/// True for a primitive that may be part of a graph without sums: it is
/// elementwise, or is so with an operand that is repeated.
bool mayBeInGraph(OpKind kind);
/// True for a primitive that a graph of some kind may have, but for products.
bool mayBeInSomeGraph(OpKind kind);
/// True for a product that a graph may go on with.
bool isProductOfGraph(OpKind kind);
/// Where such a product is in a body.
std::optional<size_t> positionOfProduct(const Body &body);
/// What a graph's kernel computes for a primitive of this kind: `cast` for what
/// converts to the type that its name says.
OpKind elementwiseKind(OpKind kind);
/// The primitive that converts to `dtype` and says so, as one inside a body
/// must.
std::optional<OpKind> conversionTo(DType dtype);

/// True for a value that is the result of a sum.
bool isSumOf(const Body &body, uint32_t value);

/// True for a body in which something reads a sum.
bool readsItsSums(const Body &body);

/// True for a body that goes on with what it reduces, or repeats.
bool reducesInside(const Body &body);

/// A primitive that repeats what is left of a reduction.
bool isRepeat(OpKind kind);

/// A value of a graph with reductions has the shape of what is reduced, or of
/// what is left of it. What a product multiplies is read as a matrix.
enum class Extent : uint8_t { Whole, Reduced, Factor };
/// The extents of all values, by number. Nothing for a body where one would be
/// both, or where nothing says which one is.
std::optional<std::vector<Extent>> extentsOf(const Body &body);
/// The same for any body that is a graph: where nothing is reduced inside, all
/// is whole but the sums and what a product multiplies.
std::vector<Extent> graphExtents(const Body &body);

/// Whether the body, in normal form, is one of the pattern's, which is a graph.
bool isGraph(const PatternInfo &pattern, const Body &body);

/// The types of a body's values as a graph's kernel reads them: an operand that
/// is repeated is a view of one shape with all others. `types` are those of the
/// body's rules.
std::vector<TensorDesc> graphTypes(const Body &body,
                                   Span<const TensorDesc> types);

/// Tensors with those types, where they are.
std::vector<TensorView> graphTensors(const Body &body,
                                     Span<const TensorView> values);
/// True for a primitive whose result is its operand, bit for bit.
bool isCopy(OpKind kind);

/// A body in the order that a graph has: that of a walk from the results, in
/// order, which meets each primitive behind those whose results it reads.
struct GraphForm {
  Body body;
  /// The number before of each operand, and the position before of each
  /// primitive. What no result needs is not among them.
  std::vector<uint32_t> operands;
  std::vector<size_t> primitives;
};
/// Takes a body that is in normal form but for the numbers of its operands.
GraphForm inGraphOrder(const Body &body);

} // namespace aicf

#endif // AICF_LIB_OPS_GRAPHS_H
