//===- Attention.cpp - attention and its gradients to linalg --------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// As its definition says: all scores of a call are one tensor. Loops over heads are two,
// over those of k and over the heads of q that share one.
//===----------------------------------------------------------------------===//

#include "lib/Conversion/AICFToLinalg/Tensors.h"

#include <cmath>
#include <limits>

namespace aicf::linalg_bridge {
namespace {

/// The loops, in the order of the scores' dimensions; the last one is over a head's
/// elements.
enum Loop : int64_t { B, Shared, Group, I, J, D };

constexpr double kHidden = -std::numeric_limits<double>::infinity();

/// What a call computes with, tensors with their heads as two dimensions.
template <typename Op> class AttentionLoops {
public:
  AttentionLoops(TensorBuilder &t, Op op, typename Op::Adaptor adaptor)
      : t(t), op(op), adaptor(adaptor) {
    RankedTensorType qType = typeOf(adaptor.getQ()), kType = typeOf(adaptor.getK());
    batches = qType.getDimSize(0), queries = qType.getDimSize(1);
    shared = kType.getDimSize(2), group = qType.getDimSize(2) / shared;
    keys = kType.getDimSize(1), size = qType.getDimSize(3);
    sizeOfValues = typeOf(adaptor.getV()).getDimSize(3);
    compute = qType.getElementType().isF64() ? t.builder.getF64Type()
                                             : t.builder.getF32Type();
  }

  RankedTensorType scoresType() const {
    return RankedTensorType::get({batches, shared, group, queries, keys}, compute);
  }
  SmallVector<int64_t> extents(int64_t ofHead) const {
    return {batches, shared, group, queries, keys, ofHead};
  }
  /// One of q's shape, or of y's.
  Read ofQueries(Value value) const {
    auto tensor = cast<Tensor>(value);
    SmallVector<int64_t> shape{batches, queries, shared, group,
                               tensor.getType().getDimSize(3)};
    Value split = tensor::ExpandShapeOp::create(
        t.builder, t.loc, tensor.getType().clone(shape), tensor,
        SmallVector<ReassociationIndices>{{0}, {1}, {2, 3}, {4}});
    return {cast<Tensor>(split), {B, I, Shared, Group, D}};
  }
  Read ofKeys(Value value) const {
    return {cast<Tensor>(value), {B, J, Shared, D}};
  }
  /// A number for each query of each head.
  Read ofRows(Tensor tensor) const { return {tensor, {B, Shared, Group, I}}; }
  Read ofLse(Value lse) const {
    Value split = tensor::ExpandShapeOp::create(
        t.builder, t.loc,
        typeOf(lse).clone({batches, shared, group, queries}), lse,
        SmallVector<ReassociationIndices>{{0}, {1, 2}, {3}});
    return ofRows(cast<Tensor>(split));
  }
  Read ofScores(Tensor scores) const { return {scores, {B, Shared, Group, I, J}}; }
  /// What has the dimensions of y, with its heads as one again, as `element`.
  Value joined(Tensor tensor, RankedTensorType type) const {
    Value whole = tensor::CollapseShapeOp::create(
        t.builder, t.loc, tensor.getType().clone(type.getShape()), tensor,
        type.getRank() == 4
            ? SmallVector<ReassociationIndices>{{0}, {1}, {2, 3}, {4}}
            : SmallVector<ReassociationIndices>{{0}, {1, 2}, {3}});
    return t.convert(cast<Tensor>(whole), type.getElementType());
  }

  Tensor products(Read a, Read b, int64_t ofHead) const {
    return t.reduce({a, b}, extents(ofHead), {B, Shared, Group, I, J},
                    t.filled(scoresType(), 0),
                    [](Scalar sum, ArrayRef<Scalar> in) { return sum + in[0] * in[1]; });
  }

  /// Scores, with -inf for what is hidden; and with `slope`, that of the softcap.
  Tensor scores(Tensor *slope = nullptr) const {
    Tensor product = products(ofQueries(adaptor.getQ()), ofKeys(adaptor.getK()), size);
    SmallVector<Read> reads{ofScores(product)};
    if (adaptor.getMask())
      reads.push_back(ofMask(adaptor.getMask()));
    if (adaptor.getSegments()) {
      reads.push_back({cast<Tensor>(adaptor.getSegments()), {B, I}});
      reads.push_back({cast<Tensor>(adaptor.getSegments()), {B, J}});
    }
    const double scale = op.getScale()
                             ? op.getScale()->convertToDouble()
                             : 1 / std::sqrt(double(size));
    const double cap = op.getSoftcap().convertToDouble();
    if (slope && cap > 0)
      *slope = t.map({ofScores(product)}, scoresType(), [&](ArrayRef<Scalar> in) {
        Scalar bent = tanh(in[0] * (scale / cap));
        return 1 - bent * bent;
      });
    return t.map(reads, scoresType(), [&](ArrayRef<Scalar> in) {
      Scalar score = in[0] * scale;
      if (cap > 0)
        score = tanh(score / cap) * cap;
      Scalar hidden = score.constant(kHidden);
      size_t next = 1;
      if (adaptor.getMask()) {
        Scalar mask = in[next++];
        score = typeOf(adaptor.getMask()).getElementType().isInteger(1)
                    ? mask.pick(score, hidden)
                    : score + mask;
      }
      if (adaptor.getSegments())
        score = (in[next] == in[next + 1]).pick(score, hidden);
      Type i64 = t.builder.getI64Type();
      Scalar key = t.index(J, i64), at = t.index(I, i64);
      at = at + at.integer(op.getOffset());
      if (int64_t left = op.getWindowLeft(); left >= 0)
        score = (at - at.integer(left) <= key).pick(score, hidden);
      if (int64_t right = op.getWindowRight(); right >= 0)
        score = (key <= at + at.integer(right)).pick(score, hidden);
      return score;
    });
  }

  /// `weight` of an element of the scores, dropped or scaled.
  Scalar dropped(Scalar weight, ArrayRef<Scalar> step) const {
    const double p = op.getP().convertToDouble();
    if (p == 0)
      return weight;
    Scalar element = elementOf(t, scoresType());
    Scalar word = philoxWord(element.shr(2), step[0].to(element.type()), op.getSeed(),
                             element & element.constant(3));
    Scalar isDropped = word < word.integer(int64_t(p * 0x1p32));
    return isDropped.pick(weight.constant(0), weight / (1 - p));
  }
  void addStep(SmallVectorImpl<Read> &reads) const {
    if (op.getP().convertToDouble() != 0)
      reads.push_back(TensorBuilder::one(adaptor.getStep()));
  }

  /// Sums over keys, of a tensor like the scores.
  template <typename Body>
  Tensor overKeys(Tensor scores, double init, Body body) const {
    return t.reduce({ofScores(scores)}, scoresType().getShape(),
                    {B, Shared, Group, I}, init, body);
  }

  /// Dimensions that the mask has, of the scores.
  SmallVector<int64_t> loopsOf(RankedTensorType mask) const {
    SmallVector<int64_t> loops;
    if (mask.getDimSize(0) == batches)
      loops.push_back(B);
    if (mask.getDimSize(1) == shared * group)
      loops.append({Shared, Group});
    if (mask.getDimSize(2) == queries)
      loops.push_back(I);
    if (mask.getDimSize(3) == keys)
      loops.push_back(J);
    return loops;
  }
  Read ofMask(Value mask) const {
    SmallVector<int64_t> loops = loopsOf(typeOf(mask)), shape, joinedShape;
    for (int64_t loop : loops)
      shape.push_back(extents(0)[loop]);
    for (int64_t dim : typeOf(mask).getShape())
      if (dim != 1)
        joinedShape.push_back(dim);
    // Without dimensions of 1, then with those of the loops.
    Tensor dense = t.reshape(cast<Tensor>(mask), joinedShape);
    return {t.reshape(dense, shape), loops};
  }

  TensorBuilder &t;
  // Accessors of ops change nothing and are not const.
  mutable Op op;
  mutable typename Op::Adaptor adaptor;
  int64_t batches, queries, shared, group, keys, size, sizeOfValues;
  Type compute;
};

/// The gradient of a call's scores, and the weights of values.
struct Slopes {
  Tensor weights, slopes;
};

/// With `bend`, also the slopes of the softcap, where there is one.
template <typename Op>
Slopes slopesOf(const AttentionLoops<Op> &loops, Tensor *bend = nullptr) {
  TensorBuilder &t = loops.t;
  auto adaptor = loops.adaptor;
  Tensor scores = loops.scores(bend);
  Tensor products = loops.products(loops.ofQueries(adaptor.getDy()),
                                   loops.ofKeys(adaptor.getV()), loops.sizeOfValues);
  RankedTensorType rows = loops.scoresType().clone(
      loops.scoresType().getShape().drop_back());
  Read dy = loops.ofQueries(adaptor.getDy()), y = loops.ofQueries(adaptor.getY());
  dy.loops.back() = y.loops.back() = J; // no loop is over keys
  Tensor mean = t.reduce(
      {dy, y},
      {loops.batches, loops.shared, loops.group, loops.queries, loops.sizeOfValues},
      {B, Shared, Group, I}, t.filled(rows, 0),
      [](Scalar sum, ArrayRef<Scalar> in) { return sum + in[0] * in[1]; });
  SmallVector<Read> reads{loops.ofScores(scores), loops.ofLse(adaptor.getLse()),
                          loops.ofScores(products), loops.ofRows(mean)};
  loops.addStep(reads);
  auto both = t.map(
      reads, {loops.scoresType(), loops.scoresType()}, [&](ArrayRef<Scalar> in) {
        Scalar isHidden = in[0] == in[0].constant(kHidden);
        Scalar none = in[0].constant(0);
        Scalar weight = isHidden.pick(none, exp(in[0] - in[1]));
        Scalar kept = loops.dropped(weight, in.drop_front(4));
        Scalar slope = kept * in[2] - weight * in[3];
        return Scalars{kept, (weight == none).pick(none, slope)};
      });
  return {cast<Tensor>(both[0]), cast<Tensor>(both[1])};
}

} // namespace

static SmallVector<Value> lower(TensorBuilder &t, AttentionOp op,
                         AttentionOp::Adaptor adaptor) {
  AttentionLoops<AttentionOp> loops(t, op, adaptor);
  Tensor scores = loops.scores();
  Tensor most = loops.overKeys(scores, kHidden, [](Scalar most, ArrayRef<Scalar> in) {
    return maximum(most, in[0]);
  });
  Tensor base = t.map({TensorBuilder::all(most)}, most.getType(),
                      [](ArrayRef<Scalar> in) {
                        Scalar isNone = in[0] == in[0].constant(kHidden);
                        return isNone.pick(in[0].constant(0), in[0]);
                      });
  Tensor powers =
      t.map({loops.ofScores(scores), loops.ofRows(base)}, loops.scoresType(),
            [](ArrayRef<Scalar> in) { return exp(in[0] - in[1]); });
  Tensor total = loops.overKeys(powers, 0, [](Scalar sum, ArrayRef<Scalar> in) {
    return sum + in[0];
  });
  SmallVector<Read> reads{loops.ofScores(powers), loops.ofRows(total)};
  loops.addStep(reads);
  Tensor weights = t.map(reads, loops.scoresType(), [&](ArrayRef<Scalar> in) {
    Scalar weight = (in[1] == in[1].constant(0)).pick(in[0].constant(0), in[0] / in[1]);
    return loops.dropped(weight, in.drop_front(2));
  });
  RankedTensorType y = loops.scoresType().clone(
      {loops.batches, loops.queries, loops.shared, loops.group, loops.sizeOfValues});
  Tensor sums = t.reduce(
      {loops.ofScores(weights), loops.ofKeys(adaptor.getV())},
      loops.extents(loops.sizeOfValues), {B, I, Shared, Group, D}, t.filled(y, 0),
      [](Scalar sum, ArrayRef<Scalar> in) { return sum + in[0] * in[1]; });
  Tensor lse = t.map({TensorBuilder::all(base), TensorBuilder::all(total)},
                     base.getType(), [](ArrayRef<Scalar> in) {
                       return in[0] + log(in[1]); // -inf of no key
                     });
  return {loops.joined(sums, typeOf(op.getY())),
          loops.joined(lse, typeOf(op.getLse()))};
}

static SmallVector<Value> lower(TensorBuilder &t, AttentionBwdOp op,
                         AttentionBwdOp::Adaptor adaptor) {
  AttentionLoops<AttentionBwdOp> loops(t, op, adaptor);
  Tensor bend;
  auto [weights, slopes] = slopesOf(loops, &bend);
  const double scale = op.getScale() ? op.getScale()->convertToDouble()
                                     : 1 / std::sqrt(double(loops.size));
  SmallVector<Read> reads{loops.ofScores(slopes)};
  if (bend)
    reads.push_back(loops.ofScores(bend));
  Tensor ofProducts = t.map(reads, loops.scoresType(), [&](ArrayRef<Scalar> in) {
    return (in.size() > 1 ? in[0] * in[1] : in[0]) * scale;
  });
  auto sum = [](Scalar sum, ArrayRef<Scalar> in) { return sum + in[0] * in[1]; };
  auto ofKeys = [&](Tensor scores, Value other, Value like) {
    RankedTensorType type = typeOf(like);
    Tensor made = t.reduce({loops.ofScores(scores), loops.ofQueries(other)},
                           loops.extents(type.getDimSize(3)), {B, J, Shared, D},
                           t.filled(ofElement(type, loops.compute), 0), sum);
    return Value(t.convert(made, type.getElementType()));
  };
  RankedTensorType dq = loops.scoresType().clone(
      {loops.batches, loops.queries, loops.shared, loops.group, loops.size});
  Tensor sums = t.reduce(
      {loops.ofScores(ofProducts), loops.ofKeys(adaptor.getK())},
      loops.extents(loops.size), {B, I, Shared, Group, D}, t.filled(dq, 0), sum);
  return {loops.joined(sums, typeOf(op.getDq())),
          ofKeys(ofProducts, adaptor.getQ(), op.getDk()),
          ofKeys(weights, adaptor.getDy(), op.getDv())};
}

static SmallVector<Value> lower(TensorBuilder &t, AttentionMaskBwdOp op,
                         AttentionMaskBwdOp::Adaptor adaptor) {
  AttentionLoops<AttentionMaskBwdOp> loops(t, op, adaptor);
  RankedTensorType type = typeOf(op.getDmask());
  SmallVector<int64_t> kept = loops.loopsOf(type), joined;
  Tensor sums = t.reduce(
      {loops.ofScores(slopesOf(loops).slopes)}, loops.scoresType().getShape(), kept,
      0, [](Scalar sum, ArrayRef<Scalar> in) { return sum + in[0]; });
  for (int64_t dim : type.getShape())
    if (dim != 1)
      joined.push_back(dim);
  Tensor dense = t.reshape(t.reshape(sums, joined), type.getShape());
  return {t.convert(dense, type.getElementType())};
}

void addAttention(RewritePatternSet &patterns) {
  addLowerings<AttentionOp, AttentionBwdOp, AttentionMaskBwdOp>(patterns);
}

} // namespace aicf::linalg_bridge
