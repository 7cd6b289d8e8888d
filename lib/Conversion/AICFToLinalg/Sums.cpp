//===- Sums.cpp - linear layers, norms and softmax to linalg --------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// The formulas are those of the records' texts. Statistics of a row stay in the
// type that is computed in.
//===----------------------------------------------------------------------===//

#include "lib/Conversion/AICFToLinalg/Tensors.h"

#include <limits>

namespace aicf::linalg_bridge {
/// x as the matrix of its rows.
static Tensor matrixOf(TensorBuilder &t, Value x) {
  RankedTensorType type = typeOf(x);
  int64_t columns = type.getShape().back();
  return t.reshape(cast<Tensor>(x), {type.getNumElements() / columns, columns});
}

static Scalar plus(Scalar sum, ArrayRef<Scalar> in) { return sum + in[0]; }

static SmallVector<Value> lower(TensorBuilder &t, LinearOp op,
                                LinearOp::Adaptor adaptor) {
  RankedTensorType type = typeOf(op.getY());
  Tensor x = matrixOf(t, adaptor.getX());
  Type compute = t.computeType(type);
  auto wide = RankedTensorType::get(
      {x.getType().getDimSize(0), type.getShape().back()}, compute);
  Tensor init = adaptor.getBias()
                    ? t.map({TensorBuilder::columns(adaptor.getBias(), 2)},
                            wide, [](ArrayRef<Scalar> in) { return in[0]; })
                    : t.filled(wide, 0);
  Tensor y = t.product(x, cast<Tensor>(adaptor.getWeight()), false,
                       op.getTransW(), init);
  return {t.reshape(t.convert(y, type.getElementType()), type.getShape())};
}

static SmallVector<Value> lower(TensorBuilder &t, LinearBwdOp op,
                                LinearBwdOp::Adaptor adaptor) {
  Tensor dy = matrixOf(t, adaptor.getDy());
  Type compute = t.computeType(dy.getType());
  SmallVector<Value> results(3);
  bool transW = op.getTransW();
  auto product = [&](Value result, Tensor a, Value b, bool transA,
                     bool transB) {
    RankedTensorType type = typeOf(result);
    int64_t columns = type.getShape().back();
    Tensor init =
        t.filled(RankedTensorType::get(
                     {type.getNumElements() / columns, columns}, compute),
                 0);
    Tensor c = t.product(a, cast<Tensor>(b), transA, transB, init);
    return t.reshape(t.convert(c, type.getElementType()), type.getShape());
  };
  Tensor x = matrixOf(t, adaptor.getX());
  if (!op.getDx().use_empty())
    results[0] =
        product(op.getDx(), dy, adaptor.getWeight(), false, /*transB=*/!transW);
  if (!op.getDweight().use_empty())
    results[1] = product(op.getDweight(), transW ? dy : x, transW ? x : dy,
                         /*transA=*/true, /*transB=*/false);
  if (!op.getDbias().use_empty())
    results[2] = t.convert(t.reduce({TensorBuilder::all(dy)},
                                    dy.getType().getShape(), {1}, 0, plus),
                           dy.getType().getElementType());
  return results;
}

namespace {
/// What rows of `x` have in common; `kept` are all loops but the last.
struct Rows {
  TensorBuilder &t;
  RankedTensorType type;
  int64_t rank, width;
  SmallVector<int64_t> outer, columns;

  Rows(TensorBuilder &t, Value x)
      : t(t), type(typeOf(x)), rank(type.getRank()),
        width(type.getShape().back()),
        outer(llvm::to_vector(llvm::seq<int64_t>(0, rank - 1))),
        columns{rank - 1} {}

  Tensor sum(ArrayRef<Read> operands,
             function_ref<Scalar(ArrayRef<Scalar>)> term,
             ArrayRef<int64_t> kept) {
    return t.reduce(
        operands, type.getShape(), kept, 0,
        [&](Scalar sum, ArrayRef<Scalar> in) { return sum + term(in); });
  }
  Tensor mean(ArrayRef<Read> operands,
              function_ref<Scalar(ArrayRef<Scalar>)> term) {
    Tensor total = sum(operands, term, outer);
    return t.map({TensorBuilder::all(total)}, total.getType(),
                 [&](ArrayRef<Scalar> in) { return in[0] / width; });
  }
  Read row(Value tensor) const { return TensorBuilder::rows(tensor, rank); }
  Read column(Value tensor) const {
    return TensorBuilder::columns(tensor, rank);
  }
};
} // namespace

static SmallVector<Value> lower(TensorBuilder &t, LayerNormOp op,
                                LayerNormOp::Adaptor adaptor) {
  Rows rows(t, adaptor.getX());
  Read x = TensorBuilder::all(adaptor.getX());
  Tensor mean = rows.mean({x}, [](ArrayRef<Scalar> in) { return in[0]; });
  Tensor variance = rows.mean({x, rows.row(mean)}, [](ArrayRef<Scalar> in) {
    Scalar d = in[0] - in[1];
    return d * d;
  });
  double eps = op.getEps().convertToDouble();
  Tensor rstd =
      t.map({TensorBuilder::all(variance)}, variance.getType(),
            [&](ArrayRef<Scalar> in) { return 1 / sqrt(in[0] + eps); });
  Value y =
      t.map({x, rows.row(mean), rows.row(rstd), rows.column(adaptor.getGamma()),
             rows.column(adaptor.getBeta())},
            rows.type, [](ArrayRef<Scalar> in) {
              return (in[0] - in[1]) * in[2] * in[3] + in[4];
            });
  Type element = rows.type.getElementType();
  return {y, t.convert(mean, element), t.convert(rstd, element)};
}

static SmallVector<Value> lower(TensorBuilder &t, LayerNormBwdOp op,
                                LayerNormBwdOp::Adaptor adaptor) {
  Rows rows(t, adaptor.getX());
  SmallVector<Read> in = {
      TensorBuilder::all(adaptor.getDy()), TensorBuilder::all(adaptor.getX()),
      rows.row(adaptor.getMean()), rows.row(adaptor.getRstd())};
  auto normal = [](ArrayRef<Scalar> in) { return (in[1] - in[2]) * in[3]; };
  auto share = [&](ArrayRef<Scalar> in) { return in[0] * normal(in); };
  Tensor dgamma = rows.sum(in, share, rows.columns);
  Tensor dbeta = rows.sum(
      {in[0]}, [](ArrayRef<Scalar> in) { return in[0]; }, rows.columns);
  in.push_back(rows.column(adaptor.getGamma()));
  Tensor meanG =
      rows.mean(in, [](ArrayRef<Scalar> in) { return in[0] * in[4]; });
  Tensor meanGH = rows.mean(
      in, [&](ArrayRef<Scalar> in) { return in[0] * in[4] * normal(in); });
  in.push_back(rows.row(meanG));
  in.push_back(rows.row(meanGH));
  Value dx = t.map(in, rows.type, [&](ArrayRef<Scalar> in) {
    return in[3] * (in[0] * in[4] - in[5] - normal(in) * in[6]);
  });
  Type element = rows.type.getElementType();
  return {dx, t.convert(dgamma, element), t.convert(dbeta, element)};
}

static SmallVector<Value> lower(TensorBuilder &t, SoftmaxOp op,
                                SoftmaxOp::Adaptor adaptor) {
  Rows rows(t, adaptor.getX());
  Read x = TensorBuilder::all(adaptor.getX());
  Tensor most = t.reduce(
      {x}, rows.type.getShape(), rows.outer,
      -std::numeric_limits<double>::infinity(),
      [](Scalar most, ArrayRef<Scalar> in) { return maximum(most, in[0]); });
  Type compute = t.computeType(rows.type);
  Tensor e = t.map({x, rows.row(most)}, ofElement(rows.type, compute),
                   [](ArrayRef<Scalar> in) { return exp(in[0] - in[1]); });
  Tensor sum = rows.sum(
      {TensorBuilder::all(e)}, [](ArrayRef<Scalar> in) { return in[0]; },
      rows.outer);
  return {t.map({TensorBuilder::all(e), rows.row(sum)}, rows.type,
                [](ArrayRef<Scalar> in) { return in[0] / in[1]; })};
}

static SmallVector<Value> lower(TensorBuilder &t, SoftmaxBwdOp op,
                                SoftmaxBwdOp::Adaptor adaptor) {
  Rows rows(t, adaptor.getDy());
  Read dy = TensorBuilder::all(adaptor.getDy()),
       y = TensorBuilder::all(adaptor.getY());
  Tensor sum = rows.sum(
      {dy, y}, [](ArrayRef<Scalar> in) { return in[0] * in[1]; }, rows.outer);
  return {t.map({dy, y, rows.row(sum)}, rows.type,
                [](ArrayRef<Scalar> in) { return in[1] * (in[0] - in[2]); })};
}

static SmallVector<Value> lower(TensorBuilder &t, LogSoftmaxOp op,
                                LogSoftmaxOp::Adaptor adaptor) {
  Rows rows(t, adaptor.getX());
  Read x = TensorBuilder::all(adaptor.getX());
  Tensor most = t.reduce(
      {x}, rows.type.getShape(), rows.outer,
      -std::numeric_limits<double>::infinity(),
      [](Scalar most, ArrayRef<Scalar> in) { return maximum(most, in[0]); });
  Tensor sum = rows.sum(
      {x, rows.row(most)},
      [](ArrayRef<Scalar> in) { return exp(in[0] - in[1]); }, rows.outer);
  return {t.map({x, rows.row(most), rows.row(sum)}, rows.type,
                [](ArrayRef<Scalar> in) { return in[0] - in[1] - log(in[2]); })};
}

static SmallVector<Value> lower(TensorBuilder &t, LogSoftmaxBwdOp op,
                                LogSoftmaxBwdOp::Adaptor adaptor) {
  Rows rows(t, adaptor.getDy());
  Read dy = TensorBuilder::all(adaptor.getDy()),
       y = TensorBuilder::all(adaptor.getY());
  Tensor sum = rows.sum(
      {dy}, [](ArrayRef<Scalar> in) { return in[0]; }, rows.outer);
  return {t.map({dy, y, rows.row(sum)}, rows.type, [](ArrayRef<Scalar> in) {
    return in[0] - exp(in[1]) * in[2];
  })};
}

void addSums(RewritePatternSet &patterns) {
  addLowerings<LinearOp, LinearBwdOp, LayerNormOp, LayerNormBwdOp, SoftmaxOp,
               SoftmaxBwdOp, LogSoftmaxOp, LogSoftmaxBwdOp>(patterns);
}

} // namespace aicf::linalg_bridge
