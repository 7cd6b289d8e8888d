//===- RowGraph.cpp - graphs with reductions, step by step ----------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Ops/RowGraph.h"
#include "lib/Ops/RuleCall.h"

#include <algorithm>

namespace aicf {
namespace {

/// One step of a definition by rows.
struct RowNode {
  RowStep step;
  OpKind kind;
  int8_t operands[2] = {}; ///< a node, or -1 - an operand of the primitive
  uint8_t numOperands;
  int8_t field = -1; ///< of the primitive, which the step's one field is
  bool isOfEachRow = false; ///< no step: the operand is a row that all rows read
};
/// A primitive that is defined by rows: its steps, and which are its results.
struct RowDefinition {
  OpKind kind;
  Span<const RowNode> nodes;
  Span<const int8_t> results;
};
// clang-format off
#define AICF_ROW_TABLE
#include "lib/Ops/Patterns.inc"
// clang-format on
const RowDefinition *definitionOf(OpKind kind) {
  for (const RowDefinition &definition : kRowDefinitions)
    if (definition.kind == kind)
      return &definition;
  return nullptr;
}

/// Adds the steps of primitives, in order.
class Builder {
public:
  Builder(const Body &body, std::vector<TensorDesc> types)
      : source(body), sourceTypes(std::move(types)),
        sourceExtents(sourceTypes.size(), Extent::Whole) {}

  std::optional<RowGraph> run() {
    // A primitive of several results has its extents by definition.
    if (std::all_of(source.primitives.begin(), source.primitives.end(),
                    [](const Primitive &p) { return p.numResults() == 1; })) {
      auto known = extentsOf(source);
      if (!known)
        return std::nullopt;
      sourceExtents = std::move(*known);
    }
    graph.body.numOperands = source.numOperands;
    for (uint32_t i = 0; i < source.numOperands; ++i) {
      numberOf.push_back(i);
      graph.types.push_back(sourceTypes[i]);
      graph.extents.push_back(sourceExtents[i]);
    }
    for (const Primitive &primitive : source.primitives) {
      if (!add(primitive))
        return std::nullopt;
      next += primitive.numResults();
    }
    for (uint32_t result : source.results)
      graph.body.results.push_back(numberOf[result]);
    if (!goTogether())
      return std::nullopt;
    return std::move(graph);
  }

private:
  using Value = uint32_t;

  bool add(const Primitive &primitive);
  void addAsItIs(const Primitive &primitive);
  void addByRows(const Primitive &primitive, const RowDefinition &definition);
  Value addNode(const Primitive &primitive, const RowNode &node,
                std::vector<Value> operands);
  bool goTogether();

  Value operand(const Primitive &primitive, size_t slot) const {
    return numberOf[size_t(primitive.operands[slot])];
  }
  const TensorDesc &resultType(size_t slot) const {
    return sourceTypes[number() + slot];
  }
  uint32_t number() const { return source.numOperands + next; }
  /// Result `slot` of the primitive at hand.
  void define(size_t slot, Value value) {
    numberOf.resize(std::max<size_t>(numberOf.size(), number() + slot + 1));
    numberOf[number() + slot] = value;
  }

  Value step(RowStep step, OpKind kind, std::vector<Value> operands,
             const TensorDesc &type, Extent extent,
             std::vector<uint8_t> attrs = {}) {
    Primitive made;
    made.kind = kind;
    made.attrs = std::move(attrs);
    made.operands.assign(operands.begin(), operands.end());
    graph.body.primitives.push_back(std::move(made));
    graph.steps.push_back(step);
    graph.types.push_back(type);
    graph.extents.push_back(extent);
    return Value(graph.types.size() - 1);
  }
  /// Gives x's shape, in the type that is computed in.
  TensorDesc wideLike(Value x) const {
    return {rules::wide(graph.types[x].dtype), graph.types[x].shape()};
  }
  bool isLeft(Value x) const { return graph.extents[x] == Extent::Reduced; }
  /// What result `slot` is, rounded to its type.
  void finish(size_t slot, Value value) {
    const TensorDesc &type = resultType(slot);
    if (graph.extents[value] == Extent::Whole)
      graph.types[value] = type; // its step rounds
    else if (graph.types[value].dtype != type.dtype)
      value = step(RowStep::Elementwise, OpKind::Cast, {value}, type,
                   Extent::Reduced);
    define(slot, value);
  }

  void takeExtents(int64_t outer, int64_t size, int64_t inner) {
    differ |= graph.size != 0 && (graph.outer != outer || graph.size != size ||
                                  graph.inner != inner);
    graph.outer = outer;
    graph.size = size;
    graph.inner = inner;
  }

  const Body &source;
  const std::vector<TensorDesc> sourceTypes;
  std::vector<Extent> sourceExtents;
  RowGraph graph;
  std::vector<Value> numberOf; ///< by the number in the source
  uint32_t next = 0;           ///< values that primitives before have made
  bool differ = false;
};

/// A primitive whose records and steps are one.
void Builder::addAsItIs(const Primitive &primitive) {
  const OpInfo &info = infoOf(primitive.kind);
  std::vector<Value> operands;
  for (size_t slot = 0; slot < primitive.operands.size(); ++slot)
    operands.push_back(operand(primitive, slot));
  const bool repeats = isRepeat(primitive.kind);
  RowStep kind = repeats ? RowStep::Repeat : RowStep::Elementwise;
  if (info.isSum())
    kind = info.reduction == Reduction::Mean ? RowStep::Mean : RowStep::Sum;
  if (kind != RowStep::Elementwise) {
    const TensorDesc &x = graph.types[operands[0]], &y = resultType(0);
    const TensorDesc &large = repeats ? y : x, &small = repeats ? x : y;
    const auto axis =
        std::get<int64_t>(decodeField(info.fields[0], primitive.attrs));
    int64_t inner = 1;
    for (int64_t d = axis + 1; d < large.rank; ++d)
      inner *= large.dims[d];
    takeExtents(small.elements() / inner, large.elements() / small.elements(),
                inner);
  }
  define(0, step(kind, primitive.kind, operands, resultType(0),
                 sourceExtents[number()], primitive.attrs));
}

Builder::Value Builder::addNode(const Primitive &primitive, const RowNode &node,
                                std::vector<Value> operands) {
  const Value x = operands[0], like = operand(primitive, 0);
  if (node.isOfEachRow) {
    TensorDesc &row = graph.types[x];
    int64_t strides[kMaxRank] = {};
    strides[graph.types[like].rank - 1] = row.stride(0);
    if (graph.types[like].rank > row.rank)
      row = TensorDesc::strided(row.dtype, graph.types[like].shape(),
                                {strides, graph.types[like].rank});
    return x;
  }
  if (node.step == RowStep::Repeat)
    return step(node.step, node.kind, {x}, wideLike(like), Extent::Whole);
  if (node.step != RowStep::Elementwise) {
    const int64_t size = graph.types[x].width();
    takeExtents(graph.types[x].elements() / size, size, 1);
    return step(node.step, node.kind, {x}, rules::rowsOf(wideLike(x)),
                Extent::Reduced);
  }
  const OpInfo &made = infoOf(node.kind);
  std::vector<uint8_t> attrs(made.attrBytes);
  if (node.field >= 0)
    encodeField(made.fields[0],
                std::get<double>(decodeField(
                    infoOf(primitive.kind).fields[node.field], primitive.attrs)),
                attrs);
  const bool areLeft = std::all_of(operands.begin(), operands.end(),
                                   [&](Value value) { return isLeft(value); });
  return step(node.step, node.kind, operands,
              areLeft ? graph.types[x] : wideLike(x),
              areLeft ? Extent::Reduced : Extent::Whole, std::move(attrs));
}

/// A primitive whose record defines it row by row.
void Builder::addByRows(const Primitive &primitive,
                        const RowDefinition &definition) {
  std::vector<Value> made;
  for (const RowNode &node : definition.nodes) {
    std::vector<Value> operands;
    for (int8_t from : Span<const int8_t>(node.operands, node.numOperands))
      operands.push_back(from >= 0 ? made[size_t(from)]
                                   : operand(primitive, size_t(-1 - from)));
    made.push_back(addNode(primitive, node, std::move(operands)));
  }
  for (size_t slot = 0; slot < definition.results.size(); ++slot)
    finish(slot, made[size_t(definition.results[slot])]);
}

bool Builder::add(const Primitive &primitive) {
  if (const RowDefinition *definition = definitionOf(primitive.kind))
    return addByRows(primitive, *definition), true;
  if (!mayBeInSomeGraph(primitive.kind))
    return false;
  return addAsItIs(primitive), true;
}

/// Whole values have one shape, and so many elements as the reductions say.
bool Builder::goTogether() {
  if (differ || graph.size < 2)
    return false;
  const TensorDesc *like = nullptr;
  for (size_t value = 0; value < graph.types.size(); ++value) {
    const TensorDesc &type = graph.types[value];
    if (graph.extents[value] == Extent::Reduced) {
      if (!type.isDense() || type.elements() != graph.outer * graph.inner)
        return false;
      continue;
    }
    if ((like && !type.sameShape(*like)) ||
        type.elements() != graph.outer * graph.size * graph.inner)
      return false;
    like = &type;
  }
  return true;
}

} // namespace

std::optional<RowGraph> rowGraphOf(const Body &body,
                                   Span<const TensorDesc> types) {
  return Builder(body, graphTypes(body, types)).run();
}

bool isDefinedByRows(OpKind kind) { return definitionOf(kind); }
bool isRowwise(OpKind kind) {
  return infoOf(kind).numResults == 1 && isDefinedByRows(kind);
}

} // namespace aicf
