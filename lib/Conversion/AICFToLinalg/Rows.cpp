//===- Rows.cpp - what moves or draws by number, to linalg ----------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// gather_rows, record, argmax; shuffle and dropout, whose integers are those of
// the records' texts bit for bit.
//===----------------------------------------------------------------------===//

#include "lib/Conversion/AICFToLinalg/Tensors.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

#include <array>
#include <cmath>
#include <limits>

namespace aicf::linalg_bridge {

/// A counter or a row's number as i64; a negative one counts as 0.
static Scalar counterAsI64(TensorBuilder &t, Scalar step) {
  Scalar wide = step.to(t.builder.getI64Type());
  return maximum(wide, wide.constant(0));
}

static SmallVector<Value> lower(TensorBuilder &t, GatherRowsOp op,
                                GatherRowsOp::Adaptor adaptor) {
  RankedTensorType type = typeOf(op.getRows());
  auto data = cast<Tensor>(adaptor.getData());
  int64_t last = data.getType().getDimSize(0) - 1;
  return {t.map({{cast<Tensor>(adaptor.getIndex()), {0}}}, type,
                [&](ArrayRef<Scalar> in) {
                  Scalar row = counterAsI64(t, in[0]);
                  row = minimum(row, row.integer(last));
                  SmallVector<Value> at = {arith::IndexCastOp::create(
                      t.builder, t.loc, t.builder.getIndexType(), row.get())};
                  for (int64_t dim = 1; dim < type.getRank(); ++dim)
                    at.push_back(
                        linalg::IndexOp::create(t.builder, t.loc, dim));
                  return t.read(data, at);
                })};
}

static SmallVector<Value> lower(TensorBuilder &t, RecordOp op,
                                RecordOp::Adaptor adaptor) {
  RankedTensorType type = typeOf(op.getHistoryOut());
  Read value = {cast<Tensor>(adaptor.getValue()),
                llvm::to_vector(llvm::seq<int64_t>(1, type.getRank()))};
  return {t.map({TensorBuilder::all(adaptor.getHistory()), value,
                 TensorBuilder::one(adaptor.getStep())},
                type, [&](ArrayRef<Scalar> in) {
                  Scalar step = counterAsI64(t, in[2]);
                  Scalar row = step % step.integer(type.getDimSize(0));
                  return (t.index(0, row.type()) == row).pick(in[1], in[0]);
                })};
}

static SmallVector<Value> lower(TensorBuilder &t, ArgmaxOp op,
                                ArgmaxOp::Adaptor adaptor) {
  RankedTensorType x = typeOf(adaptor.getX());
  Read all = TensorBuilder::all(adaptor.getX());
  int64_t rank = x.getRank();
  auto rows = llvm::to_vector(llvm::seq<int64_t>(0, rank - 1));
  // The largest first, NaN where there is one; then the first that is it.
  Tensor most = t.reduce(
      {all}, x.getShape(), rows, -std::numeric_limits<double>::infinity(),
      [](Scalar most, ArrayRef<Scalar> in) { return maximum(most, in[0]); });
  Tensor none = t.filled(typeOf(op.getIndex()),
                         double(std::numeric_limits<int32_t>::max()));
  return {t.reduce({all, TensorBuilder::rows(most, rank)}, x.getShape(), rows,
                   none, [&](Scalar found, ArrayRef<Scalar> in) {
                     Scalar here = t.index(rank - 1, found.type());
                     Scalar isIt = (in[0] == in[1]) |
                                   ((in[0] != in[0]) & (in[1] != in[1]));
                     return isIt.pick(minimum(found, here), found);
                   })};
}

static SmallVector<Value> lower(TensorBuilder &t, TopKOp op,
                                TopKOp::Adaptor adaptor) {
  RankedTensorType x = typeOf(adaptor.getX());
  int64_t rank = x.getRank();
  auto some = [&](std::initializer_list<int64_t> behind) {
    auto dims = llvm::to_vector(llvm::seq<int64_t>(0, rank - 1));
    dims.append(behind);
    return dims;
  };
  auto wholeRowBehind = [&](RankedTensorType type) {
    auto shape = llvm::to_vector(type.getShape());
    shape.push_back(x.getShape().back());
    return shape;
  };
  Type i32 = t.builder.getI32Type();
  // For each element how many of its row are before it, then for each place which
  // element has as many.
  auto operand = cast<Tensor>(adaptor.getX());
  Read mine{operand, some({rank - 1})}, other{operand, some({rank})};
  Tensor before = t.reduce(
      {mine, other}, wholeRowBehind(x), some({rank - 1}),
      t.filled(x.clone(i32), 0), [&](Scalar count, ArrayRef<Scalar> in) {
        Scalar isNaN = in[0] != in[0], otherIsNaN = in[1] != in[1];
        Scalar isFirst = t.index(rank, i32) < t.index(rank - 1, i32);
        Scalar isBefore = isNaN.pick(
            otherIsNaN & isFirst,
            otherIsNaN | (in[1] > in[0]) | ((in[1] == in[0]) & isFirst));
        return isBefore.pick(count + count.integer(1), count);
      });
  RankedTensorType index = typeOf(op.getIndex());
  return {t.reduce({Read{before, some({rank})}}, wholeRowBehind(index),
                   some({rank - 1}), t.filled(index, 0), [&](Scalar found, ArrayRef<Scalar> in) {
                     Scalar isIt = in[0] == t.index(rank - 1, i32);
                     return isIt.pick(t.index(rank, i32), found);
                   })};
}

Scalar philoxWord(Scalar low, Scalar high, uint64_t key, Scalar word) {
  auto low32 = [](Scalar x) { return x & x.integer(0xffffffff); };
  std::array<Scalar, 4> c = {low32(low), low.shr(32), low32(high),
                             high.shr(32)};
  uint32_t key0 = uint32_t(key), key1 = uint32_t(key >> 32);
  for (int round = 0; round < 10; ++round) {
    Scalar even = c[0].integer(0xd2511f53) * c[0],
           odd = c[2].integer(0xcd9e8d57) * c[2];
    c = {odd.shr(32) ^ c[1] ^ c[1].integer(key0), low32(odd),
         even.shr(32) ^ c[3] ^ c[3].integer(key1), low32(even)};
    key0 += 0x9e3779b9u;
    key1 += 0xbb67ae85u;
  }
  auto is = [&](int64_t i) { return word == word.integer(i); };
  return is(0).pick(c[0], is(1).pick(c[1], is(2).pick(c[2], c[3])));
}

Scalar elementOf(TensorBuilder &t, RankedTensorType type) {
  Type i64 = t.builder.getI64Type();
  Scalar element = t.constant(i64, 0);
  for (auto [dim, size] : llvm::enumerate(type.getShape()))
    element = element * element.integer(size) + t.index(dim, i64);
  return element;
}

static SmallVector<Value> lower(TensorBuilder &t, UniformOp op,
                                UniformOp::Adaptor adaptor) {
  RankedTensorType type = typeOf(op.getY());
  Type dtype = type.getElementType();
  int bits = dtype.isF64() ? 32 : dtype.isF32() ? 24 : dtype.isF16() ? 11 : 8;
  double low = op.getLow().convertToDouble(),
         high = op.getHigh().convertToDouble();
  // The greatest number of the type below `high`, for what is rounded to that.
  APFloat below = op.getHigh();
  bool isInexact = false;
  below.convert(cast<FloatType>(dtype).getFloatSemantics(),
                APFloat::rmTowardNegative, &isInexact);
  if (!isInexact)
    below.next(/*nextDown=*/true);
  double most = std::max(low, below.convertToDouble());
  return {t.map({TensorBuilder::one(adaptor.getStep())}, type,
                [&](ArrayRef<Scalar> in) {
                  Scalar i = elementOf(t, type);
                  Scalar word = philoxWord(i.shr(2), in[0].to(i.type()),
                                           op.getSeed(), i & i.integer(3));
                  Scalar u = word.shr(32 - bits).to(t.builder.getF64Type()) *
                             std::ldexp(1.0, -bits);
                  Scalar y = low + u * (high - low);
                  return minimum(y, y.constant(most));
                })};
}

static SmallVector<Value> lower(TensorBuilder &t, NormalOp op,
                                NormalOp::Adaptor adaptor) {
  RankedTensorType type = typeOf(op.getY());
  double mean = op.getMean().convertToDouble(),
         deviation = op.getStd().convertToDouble();
  return {t.map(
      {TensorBuilder::one(adaptor.getStep())}, type, [&](ArrayRef<Scalar> in) {
        Type f64 = t.builder.getF64Type();
        Scalar i = elementOf(t, type), step = in[0].to(i.type());
        auto word = [&](int64_t ofPair) {
          Scalar k = (i & i.integer(2)) + i.integer(ofPair);
          return philoxWord(i.shr(2), step, op.getSeed(), k).to(f64);
        };
        Scalar u = (word(0) + 0.5) * 0x1p-32;
        Scalar angle = word(1) * (6.283185307179586 * 0x1p-32);
        Scalar radius = sqrt(log(u) * -2.0);
        Scalar isFirst = (i & i.integer(1)) == i.integer(0);
        return mean + radius * isFirst.pick(cos(angle), sin(angle)) * deviation;
      })};
}

static SmallVector<Value> lower(TensorBuilder &t, DropoutOp op,
                                DropoutOp::Adaptor adaptor) {
  RankedTensorType type = typeOf(op.getY());
  double p = op.getP().convertToDouble();
  return {t.map({TensorBuilder::all(adaptor.getX()),
                 TensorBuilder::one(adaptor.getStep())},
                type, [&](ArrayRef<Scalar> in) {
                  Type i64 = t.builder.getI64Type();
                  Scalar step = in[1].to(i64), element = elementOf(t, type);
                  Scalar word = philoxWord(element.shr(2), step, op.getSeed(),
                                           element & element.constant(3));
                  Scalar isDropped = word < word.integer(int64_t(p * 0x1p32));
                  return isDropped.pick(in[0].constant(0), in[0] / (1 - p));
                })};
}

/// A round trip through the Feistel network: a permutation of the numbers below
/// 2^(2·halfBits).
static Scalar permuted(Scalar x, Scalar key, unsigned halfBits) {
  int64_t mask = (int64_t(1) << halfBits) - 1;
  auto low32 = [](Scalar x) { return x & x.integer(0xffffffff); };
  Scalar left = x.shr(halfBits), right = x & x.integer(mask);
  for (uint32_t round = 0; round < 6; ++round) {
    Scalar word = low32(key.shr(round % 2 * 32));
    Scalar product =
        x.integer(0xd2511f53) * (right ^ word ^ x.integer(round * 0x9e3779b9u));
    Scalar mixed = product.shr(32) ^ low32(product);
    Scalar next = left ^ ((mixed ^ mixed.shr(halfBits)) & x.integer(mask));
    left = right;
    right = next;
  }
  return left.shl(halfBits) | right;
}

static SmallVector<Value> lower(TensorBuilder &t, ShuffleOp op,
                                ShuffleOp::Adaptor adaptor) {
  RankedTensorType type = typeOf(op.getIndex());
  int64_t size = op.getSize(), seed = op.getSeed();
  unsigned halfBits = 1;
  while (halfBits < 16 && (int64_t(1) << (2 * halfBits)) < size)
    ++halfBits;
  return {t.map(
      {TensorBuilder::one(adaptor.getStep())}, type, [&](ArrayRef<Scalar> in) {
        Scalar step = counterAsI64(t, in[0]);
        Type i64 = step.type();
        Scalar position =
            step * step.integer(type.getNumElements()) + t.index(0, i64);
        Scalar count = step.integer(size);
        Scalar epoch = position / count;
        Scalar key = (epoch.integer(seed) ^
                      epoch * epoch.integer(int64_t(0x9e3779b97f4a7c15))) *
                     epoch.integer(int64_t(0xbf58476d1ce4e5b9));
        key = key ^ key.shr(31);
        // Cycle walking: again until it lands below `size`.
        auto loop = scf::WhileOp::create(
            t.builder, t.loc, TypeRange(i64), (position % count).get(),
            [&](OpBuilder &b, Location loc, ValueRange x) {
              Scalar next = permuted(Scalar(b, loc, x[0]),
                                     Scalar(b, loc, key.get()), halfBits);
              Scalar limit(b, loc, count.get());
              Value again = arith::CmpIOp::create(
                  b, loc, arith::CmpIPredicate::sge, next.get(), limit.get());
              scf::ConditionOp::create(b, loc, again, next.get());
            },
            [](OpBuilder &b, Location loc, ValueRange x) {
              scf::YieldOp::create(b, loc, x);
            });
        return step.with(loop.getResult(0));
      })};
}

void addRows(RewritePatternSet &patterns) {
  addLowerings<GatherRowsOp, RecordOp, ArgmaxOp, ShuffleOp, DropoutOp,
               UniformOp, NormalOp, TopKOp>(
      patterns);
}

} // namespace aicf::linalg_bridge
