//===- AttentionParts.cpp - what an attention by hand is made of ----------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Transforms/Step/AttentionParts.h"

#include <cmath>
#include <limits>
#include <utility>

using namespace mlir;
using namespace aicf;
using namespace aicf::step;

/// The most elements of a head that the op takes.
static constexpr int64_t kMostHeadSize = 1024;

static Type elementOf(Value value) { return getElementTypeOrSelf(value.getType()); }

/// What is repeated, or the value itself.
static Value repeatedBy(Value value) {
  auto broadcast = value.getDefiningOp<BroadcastOp>();
  return broadcast ? Value(broadcast.getX()) : value;
}

/// The elements of a constant that may be repeated, or null.
static DenseElementsAttr constantIn(Value value) {
  auto constant = repeatedBy(value).getDefiningOp<ConstantOp>();
  return constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : nullptr;
}

/// Whether softmax gives 0 for a score of this number beside those that are seen. f16 has
/// none that is lower.
static bool hides(double number) { return number <= -65504; }

/// Whether it is added like a bias: far from what hides.
static bool isModerate(double number) { return std::abs(number) <= 1e4; }

std::optional<std::pair<double, Value>> aicf::step::factorOf(Operation *op) {
  if (auto scale = dyn_cast_or_null<ScaleOp>(op))
    return std::make_pair(scale.getFactor().convertToDouble(), Value(scale.getX()));
  if (auto div = dyn_cast_or_null<DivScalarOp>(op)) // 0 gives an infinite factor
    return std::make_pair(1 / div.getValue().convertToDouble(), Value(div.getX()));
  return std::nullopt;
}

SmallVector<bool> Hidden::seen() const {
  return llvm::map_to_vector(mask.getValues<bool>(),
                             [&](bool is) { return is == seenIf; });
}

bool Hidden::showsAKeyInEachRow() const {
  const SmallVector<bool> all = seen();
  for (size_t at = 0; at < all.size(); at += size_t(keys()))
    if (!llvm::is_contained(ArrayRef(all).slice(at, size_t(keys())), true))
      return false;
  return true;
}

std::optional<int64_t> Hidden::diagonal(int64_t numQueries, int64_t numKeys) const {
  ArrayRef<int64_t> shape = mask.getType().getShape();
  if (shape.size() < 2 || shape.drop_back().back() != numQueries || keys() != numKeys)
    return std::nullopt;
  const SmallVector<bool> all = seen();
  const int64_t offset =
      llvm::count(ArrayRef(all).take_front(size_t(numKeys)), true) - 1;
  for (auto [at, isSeen] : llvm::enumerate(all)) {
    const int64_t query = int64_t(at) / numKeys % numQueries; // of any batch
    if (isSeen != (int64_t(at) % numKeys <= query + offset))
      return std::nullopt;
  }
  return offset;
}

std::optional<Hidden> aicf::step::hiddenBy(Value condition, bool seenIf) {
  condition = repeatedBy(condition);
  while (auto negated = condition.getDefiningOp<LogicalNotOp>()) {
    condition = repeatedBy(negated.getX());
    seenIf = !seenIf;
  }
  const DenseElementsAttr constant = constantIn(condition);
  return constant ? std::optional<Hidden>({constant, seenIf}) : std::nullopt;
}

bool AttentionParts::find() {
  Value weights = passed(product.getA());
  if ((dropout = weights.getDefiningOp<DropoutOp>()))
    weights = passed(dropout.getX());
  softmax = weights.getDefiningOp<SoftmaxOp>();
  if (!softmax || product.getTransA())
    return false;
  areWeightsRead = std::exchange(isReadByOthers, false);
  Value value = softmax.getX();
  return passMasks(value) && passScores(value) && fits();
}

/// Scores and weights have 32 bits or more inside of the op, so casts from floats to floats
/// are passed. Nothing else may read what is passed on the way.
Value AttentionParts::passed(Value value) {
  isReadByOthers |= !value.hasOneUse();
  for (auto cast = value.getDefiningOp<CastOp>();
       cast && isa<FloatType>(elementOf(cast)) && isa<FloatType>(elementOf(cast.getX()));
       cast = value.getDefiningOp<CastOp>()) {
    value = cast.getX();
    isReadByOthers |= !value.hasOneUse();
  }
  return value;
}

/// Passes factors, and returns their product.
double AttentionParts::passFactors(Value &value) {
  double factor = 1;
  value = passed(value);
  for (auto found = factorOf(value.getDefiningOp()); found;
       found = factorOf(value.getDefiningOp())) {
    factor *= found->first;
    value = passed(found->second);
  }
  return factor;
}

bool AttentionParts::passMasks(Value &value) {
  for (value = passed(value);; value = passed(value)) {
    if (auto add = value.getDefiningOp<AddOp>()) {
      if (!addMask(add, value))
        return false;
    } else if (auto where = value.getDefiningOp<WhereOp>()) {
      if (!passWhere(where, value))
        return false;
    } else if (auto fill = value.getDefiningOp<MaskedFillOp>()) {
      if (!hide(fill.getMask(), fill.getInverted(), fill.getValue().convertToDouble()))
        return false;
      value = fill.getX();
    } else {
      return true;
    }
  }
}

/// One of its cases is the scores, and the other one a number.
bool AttentionParts::passWhere(WhereOp where, Value &value) {
  DenseElementsAttr constant = constantIn(where.getB());
  const bool isElse = constant != nullptr;
  if (!isElse)
    constant = constantIn(where.getA());
  if (!constant || !constant.isSplat() || !isa<FloatType>(constant.getElementType()))
    return false;
  value = isElse ? where.getA() : where.getB();
  return hide(where.getCondition(), isElse,
              constant.getSplatValue<APFloat>().convertToDouble());
}

bool AttentionParts::hide(Value condition, bool seenIf, double number) {
  const std::optional<Hidden> found = hiddenBy(condition, seenIf);
  if (!hides(number))
    return no("what a mask writes does not hide a key");
  if (!found)
    return no("what is hidden is known when it runs, and a query may see no key");
  return hideConstant(*found);
}

bool AttentionParts::hideConstant(const Hidden &found) {
  if (hidden)
    return no("two masks hide keys");
  // One value of any size shows all keys, or none.
  const bool isOne = found.mask.isSplat();
  if (isOne ? found.mask.getSplatValue<bool>() != found.seenIf
            : !found.showsAKeyInEachRow())
    return no("a query sees no key");
  if (!isOne)
    hidden = found;
  return true;
}

/// One operand is a constant, and the other one the scores. What hides keys is 0 elsewhere.
/// What is known when it runs may hide all keys of a query, whose weights the op's gradient
/// could not tell from the sum of their powers.
bool AttentionParts::addMask(AddOp add, Value &value) {
  const bool isFirst = !constantIn(add.getA());
  Value added = isFirst ? add.getB() : add.getA();
  value = isFirst ? add.getA() : add.getB();
  const DenseElementsAttr constant = constantIn(added);
  if (!constant) {
    passFactors(added);
    passFactors(value);
    return added.getDefiningOp<MatmulOp>() || value.getDefiningOp<MatmulOp>()
               ? no("what is added is known when it runs, and a query may see no key")
               : false;
  }
  SmallVector<bool> isHidden;
  bool isBias = true, isZero = true;
  auto see = [&](APFloat element) {
    bool losesInfo = false;
    element.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &losesInfo);
    const double number = element.convertToDouble();
    isHidden.push_back(hides(number));
    isBias &= isModerate(number);
    isZero &= hides(number) || number == 0;
  };
  if (constant.isSplat()) // of any size
    see(constant.getSplatValue<APFloat>());
  else
    llvm::for_each(constant.getValues<APFloat>(), see);
  if (isBias) {
    if (mask)
      return no("two masks are added");
    mask = repeatedBy(added);
    return true;
  }
  if (!isZero)
    return no("what is added hides keys, and changes scores of others");
  auto type = constant.getType().clone(IntegerType::get(add.getContext(), 1));
  return hideConstant({DenseElementsAttr::get(cast<ShapedType>(type), isHidden), false});
}

bool AttentionParts::passScores(Value value) {
  scale = passFactors(value);
  if (auto tanh = value.getDefiningOp<TanhOp>()) {
    softcap = scale;
    value = tanh.getX();
    scale *= passFactors(value);
  }
  scores = value.getDefiningOp<MatmulOp>();
  if (!scores && value.getDefiningOp<AddOp>())
    return no("a factor or a softcap comes behind what is added");
  return scores && !scores.getTransA();
}

/// Whether scores can be multiplied by it.
bool AttentionParts::isHeld(double number) {
  const double most = elementOf(scores.getA()).isF64() ? std::numeric_limits<double>::max()
                                                       : std::numeric_limits<float>::max();
  return std::abs(number) <= most; // neither infinite nor NaN
}

/// Products of the same batches and heads, or with one that serves several of q's.
static bool haveSameBatches(MatmulOp scores, MatmulOp product) {
  ArrayRef<int64_t> q = dimensionsOf(scores.getA()), k = dimensionsOf(scores.getB()),
                    v = dimensionsOf(product.getB()), y = dimensionsOf(product.getC());
  if (k.size() != q.size() || v.size() != q.size() || y.size() != q.size())
    return false;
  const auto front = [](ArrayRef<int64_t> shape) { return shape.drop_back(2); };
  if (front(k) != front(v) || front(y) != front(q))
    return false;
  if (q.size() < 4)
    return front(k) == front(q);
  return k[0] == q[0] && q[1] % k[1] == 0;
}

bool AttentionParts::fits() {
  const int64_t rank = int64_t(dimensionsOf(scores.getC()).size());
  if (isReadByOthers)
    return no("other ops read its scores");
  if (rank < 2 || rank > 4)
    return no("there are more dimensions than batch and heads");
  if (!haveSameBatches(scores, product))
    return no("batches or heads of queries, keys and values are repeated");
  if (hidden)
    diagonal = hidden->diagonal(dimensionsOf(scores.getC())[size_t(rank) - 2],
                                dimensionsOf(scores.getC()).back());
  if (mask && hidden && !diagonal)
    return no("one mask is added, and another one hides keys that are not a triangle");
  if (softcap < 0)
    return no("the softcap is negative");
  if (!isHeld(scale) || !isHeld(softcap))
    return no("its factors are too large");
  Type element = elementOf(scores.getA());
  if (elementOf(product.getB()) != element || elementOf(product.getC()) != element)
    return no("queries and values have different types");
  if (mask && elementOf(mask) != element && !elementOf(mask).isF32())
    return no("the mask has neither the type of queries nor f32");
  if (std::max(dimensionsOf(scores.getA()).back(),
               product.getC().getType().getShape().back()) > kMostHeadSize)
    return no("a head has more than 1024 elements");
  return true;
}
