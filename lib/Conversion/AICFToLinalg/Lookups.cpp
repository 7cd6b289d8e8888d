//===- Lookups.cpp - lookups and running sums to linalg --------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Conversion/AICFToLinalg/Tensors.h"

#include <limits>

namespace aicf::linalg_bridge {

/// Loops 0 to n - 1.
static SmallVector<int64_t> loopsUpTo(int64_t n) {
  return llvm::to_vector(llvm::seq<int64_t>(0, n));
}

/// What `read` gives of a position in [0, size), else NaN.
static Scalar inRange(TensorBuilder &t, Scalar index, int64_t size,
                      function_ref<Scalar(Value)> read) {
  Scalar at = index.to(t.builder.getI64Type());
  Scalar last = at.integer(size - 1), zero = at.integer(0);
  // A position outside is not read: that would be undefined.
  Scalar inside = minimum(maximum(at, zero), last);
  Scalar found = read(arith::IndexCastOp::create(
      t.builder, t.loc, t.builder.getIndexType(), inside.get()));
  return (at == inside)
      .pick(found, found.constant(std::numeric_limits<double>::quiet_NaN()));
}

static SmallVector<Value> lower(TensorBuilder &t, PickOp op,
                                PickOp::Adaptor adaptor) {
  auto x = cast<Tensor>(adaptor.getX());
  RankedTensorType type = typeOf(op.getY());
  return {t.map({TensorBuilder::all(adaptor.getIndex())}, type,
                [&](ArrayRef<Scalar> in) {
                  return inRange(t, in[0], x.getType().getShape().back(),
                                 [&](Value last) {
                    SmallVector<Value> at;
                    for (int64_t dim = 0; dim < type.getRank(); ++dim)
                      at.push_back(
                          linalg::IndexOp::create(t.builder, t.loc, dim));
                    at.push_back(last);
                    return t.read(x, at);
                  });
                })};
}

static SmallVector<Value> lower(TensorBuilder &t, PickBwdOp op,
                                PickBwdOp::Adaptor adaptor) {
  RankedTensorType type = typeOf(op.getDx());
  int64_t last = type.getRank() - 1;
  return {t.map({{cast<Tensor>(adaptor.getDy()), loopsUpTo(last)},
                 {cast<Tensor>(adaptor.getIndex()), loopsUpTo(last)}},
                type, [&](ArrayRef<Scalar> in) {
                  Type i64 = t.builder.getI64Type();
                  return (t.index(last, i64) == in[1].to(i64))
                      .pick(in[0], in[0].constant(0));
                })};
}

static SmallVector<Value> lower(TensorBuilder &t, EmbeddingOp op,
                                EmbeddingOp::Adaptor adaptor) {
  auto table = cast<Tensor>(adaptor.getTable());
  RankedTensorType type = typeOf(op.getY());
  int64_t last = type.getRank() - 1;
  return {t.map({{cast<Tensor>(adaptor.getIndex()), loopsUpTo(last)}}, type,
                [&](ArrayRef<Scalar> in) {
                  return inRange(t, in[0], table.getType().getDimSize(0),
                                 [&](Value row) {
                    return t.read(table, {row, linalg::IndexOp::create(
                                                   t.builder, t.loc, last)});
                  });
                })};
}

/// Every row of the table looks at every index.
static SmallVector<Value> lower(TensorBuilder &t, EmbeddingBwdOp op,
                                EmbeddingBwdOp::Adaptor adaptor) {
  RankedTensorType type = typeOf(op.getDtable()),
                   index = typeOf(adaptor.getIndex());
  SmallVector<int64_t> extents(type.getShape()), loops;
  extents.append(index.getShape().begin(), index.getShape().end());
  for (int64_t i = 0; i < index.getRank(); ++i)
    loops.push_back(2 + i);
  SmallVector<int64_t> ofDy = loops;
  ofDy.push_back(1);
  Tensor sum = t.reduce(
      {{cast<Tensor>(adaptor.getDy()), ofDy},
       {cast<Tensor>(adaptor.getIndex()), loops}},
      extents, {0, 1}, 0, [&](Scalar sum, ArrayRef<Scalar> in) {
        Scalar row = t.index(0, t.builder.getI64Type());
        Scalar counts = (row == in[1].to(row.type())) &
                        (row != row.integer(int64_t(op.getPadding())));
        return counts.pick(sum + in[0], sum);
      });
  return {t.convert(sum, type.getElementType())};
}

static SmallVector<Value> lower(TensorBuilder &t, CumsumOp op,
                                CumsumOp::Adaptor adaptor) {
  RankedTensorType type = typeOf(op.getY());
  int64_t rank = type.getRank(), axis = int64_t(op.getAxis());
  SmallVector<int64_t> extents(type.getShape()), loops = loopsUpTo(rank);
  extents.push_back(type.getDimSize(axis));
  loops[axis] = rank;
  Type element = type.getElementType();
  Type wide = isa<FloatType>(element) ? Type(t.builder.getF64Type()) : element;
  Tensor sum = t.reduce(
      {{cast<Tensor>(adaptor.getX()), loops}}, extents, loopsUpTo(rank),
      t.filled(ofElement(type, wide), 0),
      [&](Scalar sum, ArrayRef<Scalar> in) {
        Scalar at = t.index(axis, t.builder.getI64Type()),
               other = t.index(rank, t.builder.getI64Type());
        Scalar counts = op.getReversed() ? at <= other : other <= at;
        return counts.pick(sum + in[0].to(wide), sum);
      });
  return {t.convert(sum, element)};
}

void addLookups(RewritePatternSet &patterns) {
  addLowerings<PickOp, PickBwdOp, EmbeddingOp, EmbeddingBwdOp, CumsumOp>(
      patterns);
}

} // namespace aicf::linalg_bridge
