//===- Views.cpp - views, parts and reductions over axes to linalg --------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// What moves elements reads them by the loops that they follow; slices and
// parts are those of the tensor dialect.
//===----------------------------------------------------------------------===//

#include "aicf/Dialect/Tensors.h"
#include "lib/Conversion/AICFToLinalg/Tensors.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <limits>

namespace aicf::linalg_bridge {

static SmallVector<int64_t> allLoops(int64_t rank) {
  return llvm::to_vector(llvm::seq<int64_t>(0, rank));
}

static Scalar firstOf(ArrayRef<Scalar> in) { return in[0]; }

/// Any shape of as many elements.
static Tensor reshaped(TensorBuilder &t, Value x, ArrayRef<int64_t> shape) {
  auto flat = t.reshape(cast<Tensor>(x), {typeOf(x).getNumElements()});
  return t.reshape(flat, shape);
}

/// `x` along the last of `loops`, by NumPy's rule: what repeats follows none.
static Read broadcastRead(TensorBuilder &t, Value x, ArrayRef<int64_t> extents,
                          ArrayRef<int64_t> loops) {
  SmallVector<int64_t> shape, follows;
  ArrayRef<int64_t> own = typeOf(x).getShape();
  for (auto [size, loop] : llvm::zip(own, loops.take_back(own.size())))
    if (size == extents[loop]) {
      shape.push_back(size);
      follows.push_back(loop);
    }
  return {reshaped(t, x, shape), follows};
}

static SmallVector<Value> lower(TensorBuilder &t, ReshapeOp op,
                                ReshapeOp::Adaptor adaptor) {
  return {reshaped(t, adaptor.getX(), op.getShape())};
}

static SmallVector<Value> lower(TensorBuilder &t, TransposeOp op,
                                TransposeOp::Adaptor adaptor) {
  SmallVector<int64_t> loops(op.getPermutation().size());
  for (auto [loop, dim] : llvm::enumerate(op.getPermutation()))
    loops[dim] = int64_t(loop);
  return {t.map({{cast<Tensor>(adaptor.getX()), loops}}, typeOf(op.getY()),
                firstOf)};
}

static SmallVector<OpFoldResult> sizes(TensorBuilder &t,
                                       ArrayRef<int64_t> numbers) {
  return getAsIndexOpFoldResult(t.builder.getContext(), numbers);
}

static SmallVector<Value> lower(TensorBuilder &t, SliceOp op,
                                SliceOp::Adaptor adaptor) {
  return {tensor::ExtractSliceOp::create(
      t.builder, t.loc, adaptor.getX(), sizes(t, op.getBegin()),
      sizes(t, typeOf(op.getY()).getShape()), sizes(t, op.getSteps()))};
}

static SmallVector<Value> lower(TensorBuilder &t, BroadcastOp op,
                                BroadcastOp::Adaptor adaptor) {
  RankedTensorType y = typeOf(op.getY());
  return {t.map(
      {broadcastRead(t, adaptor.getX(), y.getShape(), allLoops(y.getRank()))},
      y, firstOf)};
}

static SmallVector<Value> lower(TensorBuilder &t, PadOp op,
                                PadOp::Adaptor adaptor) {
  RankedTensorType y = typeOf(op.getY());
  SmallVector<int64_t> begin(y.getRank(), 0), step(y.getRank(), 1);
  begin[op.getAxis()] = op.getBegin();
  step[op.getAxis()] = op.getStep();
  return {tensor::InsertSliceOp::create(
      t.builder, t.loc, adaptor.getX(), t.filled(y, 0), sizes(t, begin),
      sizes(t, typeOf(adaptor.getX()).getShape()), sizes(t, step))};
}

static SmallVector<Value> lower(TensorBuilder &t, ConcatOp op,
                                ConcatOp::Adaptor adaptor) {
  RankedTensorType y = typeOf(op.getY());
  Value whole = t.empty(y);
  SmallVector<int64_t> begin(y.getRank(), 0), step(y.getRank(), 1);
  for (Value part : adaptor.getParts()) {
    ArrayRef<int64_t> shape = typeOf(part).getShape();
    whole = tensor::InsertSliceOp::create(t.builder, t.loc, part, whole,
                                          sizes(t, begin), sizes(t, shape),
                                          sizes(t, step));
    begin[op.getAxis()] += shape[op.getAxis()];
  }
  return {whole};
}

//===----------------------------------------------------------------------===//
// Reductions over axes
//===----------------------------------------------------------------------===//

static SmallVector<int64_t> loopsBeside(ArrayRef<int64_t> axes, int64_t rank) {
  return llvm::filter_to_vector(allLoops(rank), [&](int64_t loop) {
    return !llvm::is_contained(axes, loop);
  });
}

template <typename Op> static Tensor sumOf(TensorBuilder &t, Op op, Value x) {
  RankedTensorType type = typeOf(x);
  return t.reduce({TensorBuilder::all(x)}, type.getShape(),
                  loopsBeside(op.getAxes(), type.getRank()), 0,
                  [](Scalar sum, ArrayRef<Scalar> in) { return sum + in[0]; });
}

static SmallVector<Value> lower(TensorBuilder &t, ReduceSumOp op,
                                ReduceSumOp::Adaptor adaptor) {
  RankedTensorType y = typeOf(op.getY());
  Tensor sum = sumOf(t, op, adaptor.getX());
  return {reshaped(t, t.convert(sum, y.getElementType()), y.getShape())};
}

static SmallVector<Value> lower(TensorBuilder &t, ReduceMeanOp op,
                                ReduceMeanOp::Adaptor adaptor) {
  RankedTensorType y = typeOf(op.getY());
  Tensor sum = sumOf(t, op, adaptor.getX());
  double count = double(typeOf(adaptor.getX()).getNumElements()) /
                 double(y.getNumElements());
  Tensor mean = t.map({TensorBuilder::all(sum)}, sum.getType(),
                      [&](ArrayRef<Scalar> in) { return in[0] / count; });
  return {reshaped(t, t.convert(mean, y.getElementType()), y.getShape())};
}

/// Which of the elements that are compared the loops are at.
static Scalar positionAlong(TensorBuilder &t, ArrayRef<int64_t> axes,
                            ArrayRef<int64_t> shape, Type type) {
  Scalar position = t.constant(type, 0);
  for (int64_t axis : axes)
    position = position * position.integer(shape[axis]) + t.index(axis, type);
  return position;
}

/// The best value first, NaN where there is one; then the first that is it.
template <typename Op, typename Better>
static SmallVector<Value> lowerExtremum(TensorBuilder &t, Op op, Value x,
                                        double worst, Better better) {
  RankedTensorType type = typeOf(x), y = typeOf(op.getY());
  ArrayRef<int64_t> axes = op.getAxes();
  SmallVector<int64_t> kept = loopsBeside(axes, type.getRank());
  Read all = TensorBuilder::all(x);
  Tensor best = t.reduce(
      {all}, type.getShape(), kept, worst,
      [&](Scalar best, ArrayRef<Scalar> in) { return better(best, in[0]); });
  Type i32 = t.builder.getI32Type();
  Tensor none = t.filled(RankedTensorType::get(typeOf(best).getShape(), i32),
                         double(std::numeric_limits<int32_t>::max()));
  Tensor index = t.reduce(
      {all, {best, kept}}, type.getShape(), kept, none,
      [&](Scalar found, ArrayRef<Scalar> in) {
        Scalar here = positionAlong(t, axes, type.getShape(), found.type());
        Scalar isIt = (in[0] == in[1]) | ((in[0] != in[0]) & (in[1] != in[1]));
        return isIt.pick(minimum(found, here), found);
      });
  return {reshaped(t, t.convert(best, y.getElementType()), y.getShape()),
          reshaped(t, index, y.getShape())};
}

static SmallVector<Value> lower(TensorBuilder &t, ReduceMaxOp op,
                                ReduceMaxOp::Adaptor adaptor) {
  return lowerExtremum(t, op, adaptor.getX(),
                       -std::numeric_limits<double>::infinity(),
                       [](Scalar a, Scalar b) { return maximum(a, b); });
}
static SmallVector<Value> lower(TensorBuilder &t, ReduceMinOp op,
                                ReduceMinOp::Adaptor adaptor) {
  return lowerExtremum(t, op, adaptor.getX(),
                       std::numeric_limits<double>::infinity(),
                       [](Scalar a, Scalar b) { return minimum(a, b); });
}

static SmallVector<Value> lower(TensorBuilder &t, ExtremumBwdOp op,
                                ExtremumBwdOp::Adaptor adaptor) {
  RankedTensorType dx = typeOf(op.getDx());
  ArrayRef<int64_t> axes = op.getAxes();
  SmallVector<int64_t> kept = loopsBeside(axes, dx.getRank()), shape;
  for (int64_t loop : kept)
    shape.push_back(dx.getDimSize(loop));
  return {t.map({{reshaped(t, adaptor.getDy(), shape), kept},
                 {reshaped(t, adaptor.getIndex(), shape), kept}},
                dx, [&](ArrayRef<Scalar> in) {
                  Scalar here =
                      positionAlong(t, axes, dx.getShape(), in[1].type());
                  return (here == in[1]).pick(in[0], in[0].constant(0));
                })};
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// One matrix, and the rows of all of a's: a named op. Else loops over the
/// dimensions in front, then m, n and k.
static SmallVector<Value> lower(TensorBuilder &t, MatmulOp op,
                                MatmulOp::Adaptor adaptor) {
  RankedTensorType type = typeOf(op.getC()), a = typeOf(adaptor.getA());
  Type compute = t.computeType(type);
  int64_t rank = type.getRank(), columns = type.getShape().back();
  bool isOne = typeOf(adaptor.getB()).getRank() == 2 &&
               (a.getRank() == 2 || !op.getTransA()) &&
               !(op.getTransA() && op.getTransB());
  if (isOne) {
    int64_t width = a.getShape().back();
    Tensor rows = t.reshape(cast<Tensor>(adaptor.getA()),
                            {a.getNumElements() / width, width});
    Tensor init =
        t.filled(RankedTensorType::get(
                     {type.getNumElements() / columns, columns}, compute),
                 0);
    Tensor c = t.product(rows, cast<Tensor>(adaptor.getB()), op.getTransA(),
                         op.getTransB(), init);
    return {t.reshape(t.convert(c, type.getElementType()), type.getShape())};
  }
  SmallVector<int64_t> extents(type.getShape()), kept = allLoops(rank);
  extents.push_back(a.getShape()[a.getRank() - (op.getTransA() ? 2 : 1)]);
  SmallVector<int64_t> loopsA(allLoops(rank - 2)), loopsB(loopsA);
  int64_t m = rank - 2, n = rank - 1, k = rank;
  loopsA.append({op.getTransA() ? k : m, op.getTransA() ? m : k});
  loopsB.append({op.getTransB() ? n : k, op.getTransB() ? k : n});
  Tensor c = t.reduce({broadcastRead(t, adaptor.getA(), extents, loopsA),
                       broadcastRead(t, adaptor.getB(), extents, loopsB)},
                      extents, kept, 0, [](Scalar sum, ArrayRef<Scalar> in) {
                        return sum + in[0] * in[1];
                      });
  return {t.convert(c, type.getElementType())};
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

static Tensor constantOf(TensorBuilder &t, DenseElementsAttr elements) {
  return cast<Tensor>(
      arith::ConstantOp::create(t.builder, t.loc, elements).getResult());
}

static SmallVector<Value> lower(TensorBuilder &t, ConstantOp op,
                                ConstantOp::Adaptor) {
  return {constantOf(t, cast<DenseElementsAttr>(op.getValue()))};
}

static SmallVector<Value> lower(TensorBuilder &t, IotaOp op, IotaOp::Adaptor) {
  RankedTensorType type = typeOf(op.getY());
  auto axis = int64_t(op.getAxis());
  Tensor row =
      constantOf(t, countUp(RankedTensorType::get({type.getDimSize(axis)},
                                                  type.getElementType())));
  return {t.map({{row, {axis}}}, type, firstOf)};
}

void addViews(RewritePatternSet &patterns) {
  addLowerings<ReshapeOp, TransposeOp, SliceOp, BroadcastOp, PadOp, ConcatOp,
               ReduceSumOp, ReduceMeanOp, ReduceMaxOp, ReduceMinOp,
               ExtremumBwdOp, MatmulOp, ConstantOp, IotaOp>(patterns);
}

} // namespace aicf::linalg_bridge
