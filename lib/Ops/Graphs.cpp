//===- Graphs.cpp - graphs of elementwise primitives ----------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Ops/Graphs.h"
#include "lib/Ops/Fields.h"
#include "lib/Ops/RowGraph.h"
#include "lib/Ops/Rules.h"

#include <algorithm>

namespace aicf {
namespace {

// clang-format off
#define AICF_SPREAD_TABLE
#include "lib/Ops/Patterns.inc"
// clang-format on

/// Every slot that is repeated reads an operand of the call that nothing else
/// reads, but for slots with the same fields.
bool spreadsAreApart(const Body &body) {
  // The primitive that repeats each operand, or none of it.
  constexpr size_t kNobody = ~size_t(0), kElementwise = kNobody - 1;
  std::vector<size_t> readers(body.numOperands, kNobody);
  for (size_t p = 0; p < body.primitives.size(); ++p) {
    const Primitive &primitive = body.primitives[p];
    const SpreadInfo *spread = spreadOf(primitive.kind);
    for (size_t slot = 0; slot < primitive.operands.size(); ++slot) {
      auto value = uint32_t(primitive.operands[slot]);
      bool isSpread = spread && slot == spread->operand;
      if (value >= body.numOperands) {
        if (isSpread)
          return false;
        continue;
      }
      size_t &reader = readers[value];
      bool isAlike =
          reader == kNobody ||
          (isSpread ? reader < body.primitives.size() &&
                          body.primitives[reader].kind == primitive.kind &&
                          (!spread->hasAxis() ||
                           body.primitives[reader].attrs == primitive.attrs)
                    : reader == kElementwise);
      if (!isAlike)
        return false;
      reader = isSpread ? p : kElementwise;
    }
  }
  return true;
}

} // namespace

const SpreadInfo *spreadOf(OpKind kind) {
  for (const SpreadInfo &spread : kSpreads)
    if (spread.kind == kind)
      return &spread;
  return nullptr;
}

bool mayBeInGraph(OpKind kind) {
  return infoOf(kind).isElementwise || spreadOf(kind);
}

bool mayBeInSomeGraph(OpKind kind) {
  return mayBeInGraph(kind) || infoOf(kind).isSum() || isRepeat(kind) ||
         isRowwise(kind);
}

bool isProductOfGraph(OpKind kind) {
  for (const PatternInfo &pattern : allPatterns())
    if (pattern.graph && !pattern.nodes.empty() &&
        pattern.nodes[0].kind == kind)
      return true;
  return false;
}

std::optional<size_t> positionOfProduct(const Body &body) {
  for (size_t p = 0; p < body.primitives.size(); ++p)
    if (isProductOfGraph(body.primitives[p].kind))
      return p;
  return std::nullopt;
}

/// The type that the record of `kind` gives to what it converts: a float,
/// whatever that is.
static std::optional<DType> typeThatIsSaid(OpKind kind) {
  const auto type =
      typeByRule(infoOf(kind).results[0].rule, TensorDesc(DType::I1, {}));
  return type && isFloat(type->dtype) ? std::optional(type->dtype)
                                      : std::nullopt;
}

OpKind elementwiseKind(OpKind kind) {
  if (typeThatIsSaid(kind))
    return OpKind::Cast;
  const SpreadInfo *spread = spreadOf(kind);
  return spread ? spread->as : kind;
}

std::optional<OpKind> conversionTo(DType dtype) {
  for (uint16_t kind = 0; kind < kNumOpKinds; ++kind)
    if (isKnown(OpKind(kind)) && typeThatIsSaid(OpKind(kind)) == dtype)
      return OpKind(kind);
  return std::nullopt;
}

bool isSumOf(const Body &body, uint32_t value) {
  // Each primitive of a graph makes one value.
  return value >= body.numOperands &&
         value - body.numOperands < body.primitives.size() &&
         infoOf(body.primitives[value - body.numOperands].kind).isSum();
}

bool readsItsSums(const Body &body) {
  for (const Primitive &primitive : body.primitives)
    for (int32_t operand : primitive.operands)
      if (isSumOf(body, uint32_t(operand)))
        return true;
  return false;
}

bool isRepeat(OpKind kind) { return kind == OpKind::Expand; }

bool reducesInside(const Body &body) {
  return readsItsSums(body) ||
         std::any_of(body.primitives.begin(), body.primitives.end(),
                     [](const Primitive &primitive) {
                       return isRepeat(primitive.kind) ||
                              isRowwise(primitive.kind);
                     });
}

namespace {
/// Values that have one shape are one set (union by path halving: Tarjan and
/// van Leeuwen, "Worst-Case Analysis of Set Union Algorithms", 1984).
class ShapeSets {
public:
  explicit ShapeSets(size_t count) : parents(count) {
    for (size_t i = 0; i < count; ++i)
      parents[i] = i;
  }
  size_t find(size_t i) {
    for (; parents[i] != i; i = parents[i])
      parents[i] = parents[parents[i]];
    return i;
  }
  void join(size_t a, size_t b) { parents[find(a)] = find(b); }

private:
  std::vector<size_t> parents;
};
} // namespace

std::optional<std::vector<Extent>> extentsOf(const Body &body) {
  const size_t whole = body.numValues(), reduced = whole + 1;
  ShapeSets sets(whole + 2);
  for (size_t p = 0; p < body.primitives.size(); ++p) {
    const Primitive &primitive = body.primitives[p];
    const size_t result = body.numOperands + p; // each makes one value
    const bool isSum = infoOf(primitive.kind).isSum();
    const bool repeats = isRepeat(primitive.kind);
    const bool isOfRows = isRowwise(primitive.kind);
    for (int32_t operand : primitive.operands)
      if (operand != kAbsentValue)
        sets.join(size_t(operand), isSum || isOfRows ? whole
                                   : repeats         ? reduced
                                                     : result);
    // The number of an element is its place in the whole.
    if (isSum || repeats || isOfRows || knowsNumbers(primitive.kind))
      sets.join(result, isSum ? reduced : whole);
  }
  if (sets.find(whole) == sets.find(reduced))
    return std::nullopt;
  std::vector<Extent> extents;
  for (size_t value = 0; value < whole; ++value) {
    const bool isWhole = sets.find(value) == sets.find(whole);
    if (!isWhole && sets.find(value) != sets.find(reduced))
      return std::nullopt;
    extents.push_back(isWhole ? Extent::Whole : Extent::Reduced);
  }
  return extents;
}

std::vector<Extent> graphExtents(const Body &body) {
  if (reducesInside(body))
    return *extentsOf(body);
  std::vector<Extent> extents(body.numValues(), Extent::Whole);
  for (uint32_t value = body.numOperands; value < extents.size(); ++value)
    if (isSumOf(body, value))
      extents[value] = Extent::Reduced;
  if (auto product = positionOfProduct(body))
    for (int32_t factor : body.primitives[*product].operands)
      extents[size_t(factor)] = Extent::Factor;
  return extents;
}

/// There are as many sums as the graph's pattern wants, and something inside
/// reads one where they are inside, nothing elsewhere. What is defined by rows
/// has its own.
static bool sumsAreInPlace(const GraphInfo &graph, const Body &body) {
  size_t numSums = 0, numOfRows = 0;
  for (const Primitive &primitive : body.primitives) {
    numSums += infoOf(primitive.kind).isSum();
    numOfRows += isRowwise(primitive.kind);
  }
  if (graph.maxReductions)
    return (numOfRows > 0 || readsItsSums(body)) &&
           numSums + numOfRows <= graph.maxReductions && extentsOf(body);
  if (reducesInside(body))
    return false;
  return graph.maxSums ? numSums > 0 && numSums <= graph.maxSums : numSums == 0;
}

/// The body has the products that the pattern names: one or none. It multiplies
/// operands of the call that nothing else reads, and something reads it.
static bool productIsInPlace(const PatternInfo &pattern, const Body &body) {
  auto isProduct = [](const Primitive &primitive) {
    return isProductOfGraph(primitive.kind);
  };
  const auto count = size_t(std::count_if(body.primitives.begin(),
                                          body.primitives.end(), isProduct));
  if (count != pattern.nodes.size() || count == 0)
    return count == pattern.nodes.size();
  const size_t position = *positionOfProduct(body);
  const Primitive &product = body.primitives[position];
  if (product.kind != pattern.nodes[0].kind)
    return false;
  for (int32_t factor : product.operands)
    if (factor >= int32_t(body.numOperands))
      return false;
  bool isRead = false;
  for (const Primitive &primitive : body.primitives)
    for (int32_t operand : primitive.operands) {
      isRead |= operand == int32_t(body.numOperands + position);
      if (&primitive != &product &&
          std::count(product.operands.begin(), product.operands.end(), operand))
        return false;
    }
  return isRead;
}

bool isGraph(const PatternInfo &pattern, const Body &body) {
  const GraphInfo &graph = *pattern.graph;
  if (body.primitives.size() < 2 ||
      body.primitives.size() > graph.maxPrimitives ||
      body.numOperands > graph.maxOperands ||
      body.results.size() > graph.maxResults)
    return false;
  for (const Primitive &primitive : body.primitives)
    if (!mayBeInSomeGraph(primitive.kind) &&
        !isProductOfGraph(primitive.kind))
      return false;
  return productIsInPlace(pattern, body) && sumsAreInPlace(graph, body) &&
         spreadsAreApart(body) &&
         inGraphOrder(body).body == body;
}

std::vector<TensorDesc> graphTypes(const Body &body,
                                   Span<const TensorDesc> types) {
  std::vector<TensorDesc> all(types.begin(), types.end());
  for (const Primitive &primitive : body.primitives) {
    const SpreadInfo *spread = spreadOf(primitive.kind);
    if (!spread)
      continue;
    const TensorDesc &like = types[size_t(primitive.operands[0])];
    auto operand = size_t(primitive.operands[spread->operand]);
    int64_t strides[kMaxRank] = {};
    if (spread->hasAxis()) {
      auto axis = std::get<int64_t>(
          decodeField(infoOf(primitive.kind).fields[0], primitive.attrs));
      strides[axis < 0 ? like.rank - 1 : axis] = types[operand].stride(0);
    }
    all[operand] = TensorDesc::strided(types[operand].dtype, like.shape(),
                                       {strides, like.rank});
  }
  return all;
}

std::vector<TensorView> graphTensors(const Body &body,
                                     Span<const TensorView> values) {
  std::vector<TensorDesc> types;
  for (const TensorView &value : values)
    types.push_back(value.desc);
  types = graphTypes(body, types);
  std::vector<TensorView> tensors;
  for (size_t i = 0; i < types.size(); ++i)
    tensors.push_back({values[i].start(), types[i]});
  return tensors;
}

bool isCopy(OpKind kind) {
  return kind == OpKind::Copy || kind == OpKind::CopySaved;
}

/// The primitives of `body`, by position, as a walk from the results meets
/// them.
static std::vector<size_t> graphOrder(const Body &body) {
  std::vector<size_t> makerOf;
  for (size_t p = 0; p < body.primitives.size(); ++p)
    makerOf.insert(makerOf.end(), body.primitives[p].numResults(), p);
  std::vector<size_t> order;
  std::vector<bool> isMet(body.primitives.size());
  // A primitive, and the slot of it that is looked at next.
  std::vector<std::pair<size_t, size_t>> path;
  auto meet = [&](int64_t value) {
    if (value < int64_t(body.numOperands)) // or absent
      return;
    size_t maker = makerOf[size_t(value) - body.numOperands];
    if (!isMet[maker])
      path.push_back({maker, 0});
    isMet[maker] = true;
  };
  for (uint32_t result : body.results)
    for (meet(result); !path.empty();) {
      auto [primitive, slot] = path.back();
      const std::vector<int32_t> &operands =
          body.primitives[primitive].operands;
      if (slot < operands.size()) {
        ++path.back().second;
        meet(operands[slot]);
        continue;
      }
      order.push_back(primitive);
      path.pop_back();
    }
  return order;
}

GraphForm inGraphOrder(const Body &body) {
  GraphForm graph;
  graph.primitives = graphOrder(body);
  constexpr uint32_t kNone = ~uint32_t(0);
  // Operands by first use, then what the primitives make.
  std::vector<uint32_t> newNumber(body.numValues(), kNone);
  for (size_t p : graph.primitives)
    for (int32_t value : body.primitives[p].operands)
      if (value != kAbsentValue && uint32_t(value) < body.numOperands &&
          newNumber[size_t(value)] == kNone) {
        newNumber[size_t(value)] = uint32_t(graph.operands.size());
        graph.operands.push_back(uint32_t(value));
      }
  graph.body.numOperands = uint32_t(graph.operands.size());
  uint32_t next = graph.body.numOperands;
  for (size_t p : graph.primitives) {
    Primitive primitive = body.primitives[p];
    for (int32_t &value : primitive.operands)
      if (value != kAbsentValue)
        value = int32_t(newNumber[size_t(value)]);
    uint32_t first = body.firstResultOf(p);
    for (uint32_t r = 0; r < primitive.numResults(); ++r)
      newNumber[first + r] = next++;
    graph.body.primitives.push_back(std::move(primitive));
  }
  for (uint32_t result : body.results)
    graph.body.results.push_back(newNumber[result]);
  return graph;
}

} // namespace aicf
