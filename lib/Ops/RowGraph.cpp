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

  // The primitives that are defined by rows.
  void softmax(const Primitive &primitive);
  void softmaxBwd(const Primitive &primitive);
  void logSoftmaxBwd(const Primitive &primitive);
  void layerNorm(const Primitive &primitive);

private:
  using Value = uint32_t;

  bool add(const Primitive &primitive);
  void addAsItIs(const Primitive &primitive);
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
  Value reduce(RowStep kind, Value x) {
    const int64_t size = graph.types[x].width();
    takeExtents(graph.types[x].elements() / size, size, 1);
    return step(kind, OpKind::ReduceSum, {x}, rules::rowsOf(wideLike(x)),
                Extent::Reduced);
  }
  Value repeat(Value left, Value like) {
    return step(RowStep::Repeat, OpKind::Expand, {left}, wideLike(like),
                Extent::Whole);
  }
  Value whole(OpKind kind, std::vector<Value> operands) {
    const TensorDesc type = wideLike(operands[0]);
    return step(RowStep::Elementwise, kind, std::move(operands), type,
                Extent::Whole);
  }
  Value left(OpKind kind, Value x, std::vector<uint8_t> attrs = {}) {
    return step(RowStep::Elementwise, kind, {x}, graph.types[x],
                Extent::Reduced, std::move(attrs));
  }
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

/// y = exp(x - max) / sum, or x - max - log(sum).
void Builder::softmax(const Primitive &primitive) {
  const Value x = operand(primitive, 0);
  const Value less =
      whole(OpKind::Sub, {x, repeat(reduce(RowStep::Max, x), x)});
  const Value power = whole(OpKind::Exp, {less});
  const Value sum = reduce(RowStep::Sum, power);
  if (primitive.kind == OpKind::LogSoftmax)
    finish(0, whole(OpKind::Sub, {less, repeat(left(OpKind::Log, sum), x)}));
  else
    finish(0, whole(OpKind::Mul,
                    {power, repeat(left(OpKind::Reciprocal, sum), x)}));
}

/// dx = y (dy - sum(dy y)).
void Builder::softmaxBwd(const Primitive &primitive) {
  const Value dy = operand(primitive, 0), y = operand(primitive, 1);
  const Value sum = reduce(RowStep::Sum, whole(OpKind::Mul, {dy, y}));
  finish(0, whole(OpKind::Mul, {y, whole(OpKind::Sub, {dy, repeat(sum, dy)})}));
}

/// dx = dy - exp(y) sum(dy).
void Builder::logSoftmaxBwd(const Primitive &primitive) {
  const Value dy = operand(primitive, 0), y = operand(primitive, 1);
  const Value sum = repeat(reduce(RowStep::Sum, dy), dy);
  const Value less = whole(OpKind::Mul, {whole(OpKind::Exp, {y}), sum});
  finish(0, whole(OpKind::Sub, {dy, less}));
}

/// y = (x - mean) rstd gamma + beta, mean, rstd.
void Builder::layerNorm(const Primitive &primitive) {
  const Value x = operand(primitive, 0);
  for (size_t slot : {1, 2}) { // each is a row, which all rows read
    TensorDesc &row = graph.types[operand(primitive, slot)];
    int64_t strides[kMaxRank] = {};
    strides[graph.types[x].rank - 1] = row.stride(0);
    if (graph.types[x].rank > row.rank)
      row = TensorDesc::strided(row.dtype, graph.types[x].shape(),
                                {strides, graph.types[x].rank});
  }
  const Value mean = reduce(RowStep::Mean, x);
  const Value distance = whole(OpKind::Sub, {x, repeat(mean, x)});
  const Value variance =
      reduce(RowStep::Mean, whole(OpKind::Mul, {distance, distance}));
  const double eps = std::get<double>(
      decodeField(infoOf(primitive.kind).fields[0], primitive.attrs));
  std::vector<uint8_t> attrs(infoOf(OpKind::AddScalar).attrBytes);
  encodeField(infoOf(OpKind::AddScalar).fields[0], eps, attrs);
  const Value rstd =
      left(OpKind::Rsqrt, left(OpKind::AddScalar, variance, std::move(attrs)));
  const Value normal = whole(OpKind::Mul, {distance, repeat(rstd, x)});
  finish(0, whole(OpKind::Add,
                  {whole(OpKind::Mul, {normal, operand(primitive, 1)}),
                   operand(primitive, 2)}));
  finish(1, mean);
  finish(2, rstd);
}

/// The primitives that are defined by rows.
struct Definition {
  OpKind kind;
  void (Builder::*add)(const Primitive &primitive);
};
constexpr Definition kDefinitions[] = {
    {OpKind::Softmax, &Builder::softmax},
    {OpKind::LogSoftmax, &Builder::softmax},
    {OpKind::SoftmaxBwd, &Builder::softmaxBwd},
    {OpKind::LogSoftmaxBwd, &Builder::logSoftmaxBwd},
    {OpKind::LayerNorm, &Builder::layerNorm},
};
const Definition *definitionOf(OpKind kind) {
  for (const Definition &definition : kDefinitions)
    if (definition.kind == kind)
      return &definition;
  return nullptr;
}

bool Builder::add(const Primitive &primitive) {
  if (const Definition *definition = definitionOf(primitive.kind))
    return (this->*definition->add)(primitive), true;
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
