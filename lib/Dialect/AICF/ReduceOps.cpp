//===- ReduceOps.cpp - reductions over any axes, and products -------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "aicf/Dialect/AICF/GradientBuilder.h"
#include "lib/Dialect/AICF/Inference.h"

using namespace mlir;
using namespace aicf;
using namespace aicf::step;

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// C1: dimensions of a tensor of that rank, in order and once each.
static LogicalResult checkAxes(Report report, ArrayRef<int64_t> axes,
                               StringRef of, ArrayRef<int64_t> shape) {
  int64_t last = -1;
  for (int64_t axis : axes) {
    if (axis <= last || axis >= int64_t(shape.size()))
      return report() << "C1: axes are [" << axes
                      << "], expected different dimensions of " << of << ", ["
                      << shape << "], in order";
    last = axis;
  }
  return success();
}

/// `shape` without the axes, or with them as 1. Wrong ones are C1's.
static SmallVector<int64_t> reduced(ArrayRef<int64_t> shape,
                                    ArrayRef<int64_t> axes, bool keeps) {
  SmallVector<int64_t> left;
  for (auto [i, size] : llvm::enumerate(shape)) {
    bool isReduced = llvm::is_contained(axes, int64_t(i));
    if (!isReduced || keeps)
      left.push_back(isReduced ? 1 : size);
  }
  return left;
}

template <typename Op>
static LogicalResult inferReduced(std::optional<Location> loc,
                                  typename Op::Adaptor a,
                                  SmallVectorImpl<Type> &types) {
  auto x = dyn_cast<RankedTensorType>(a.getX().getType());
  auto axes = attrForInference(a, a.getAxesAttr(), "axes");
  auto keepdim = attrForInference(a, a.getKeepdimAttr(), "keepdim");
  if (!x || !axes || failed(checkOperands<Op>(loc, a)))
    return failure();
  types.push_back(x.clone(
      reduced(x.getShape(), axes.asArrayRef(), keepdim && keepdim.getValue())));
  return success();
}

#define AICF_REDUCTION(OP)                                                     \
  LogicalResult OP::check(Adaptor a, Report report) {                          \
    return checkAxes(                                                          \
        report, attrForInference(a, a.getAxesAttr(), "axes").asArrayRef(),     \
        "x", typeOf(a.getX()).getShape());                                     \
  }                                                                            \
  LogicalResult OP::verify() { return checkOperands(*this); }
AICF_REDUCTION(ReduceSumOp)
AICF_REDUCTION(ReduceMeanOp)
AICF_REDUCTION(ReduceMaxOp)
AICF_REDUCTION(ReduceMinOp)
#undef AICF_REDUCTION

LogicalResult ReduceSumOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location> loc,
                                            Adaptor a,
                                            SmallVectorImpl<Type> &types) {
  return inferReduced<ReduceSumOp>(loc, a, types);
}
LogicalResult ReduceMeanOp::inferReturnTypes(MLIRContext *,
                                             std::optional<Location> loc,
                                             Adaptor a,
                                             SmallVectorImpl<Type> &types) {
  return inferReduced<ReduceMeanOp>(loc, a, types);
}

/// The position has the shape of the value.
template <typename Op>
static LogicalResult inferExtremum(std::optional<Location> loc,
                                   typename Op::Adaptor a,
                                   SmallVectorImpl<Type> &types) {
  if (failed(inferReduced<Op>(loc, a, types)))
    return failure();
  auto y = cast<RankedTensorType>(types.front());
  types.push_back(y.clone(IntegerType::get(y.getContext(), 32)));
  return success();
}
LogicalResult ReduceMaxOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location> loc,
                                            Adaptor a,
                                            SmallVectorImpl<Type> &types) {
  return inferExtremum<ReduceMaxOp>(loc, a, types);
}
LogicalResult ReduceMinOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location> loc,
                                            Adaptor a,
                                            SmallVectorImpl<Type> &types) {
  return inferExtremum<ReduceMinOp>(loc, a, types);
}

LogicalResult ExtremumBwdOp::inferReturnTypes(MLIRContext *,
                                              std::optional<Location> loc,
                                              Adaptor a,
                                              SmallVectorImpl<Type> &types) {
  auto shape = requiredAttr<ExtremumBwdOp>(loc, a, a.getShapeAttr(), "shape");
  auto axes = requiredAttr<ExtremumBwdOp>(loc, a, a.getAxesAttr(), "axes");
  if (!shape || !axes ||
      failed(checkRanked(loc, getOperationName(), a.getOperands())) ||
      failed(checkOperands<ExtremumBwdOp>(loc, a)))
    return failure();
  types.push_back(typeOf(a.getDy()).clone(shape.asArrayRef()));
  return success();
}

LogicalResult ExtremumBwdOp::check(Adaptor a, Report report) {
  ArrayRef<int64_t> shape =
      attrForInference(a, a.getShapeAttr(), "shape").asArrayRef();
  ArrayRef<int64_t> axes =
      attrForInference(a, a.getAxesAttr(), "axes").asArrayRef();
  if (failed(checkShapeAttr(report, shape)) ||
      failed(checkAxes(report, axes, "dx", shape)))
    return failure();
  ArrayRef<int64_t> dy = typeOf(a.getDy()).getShape();
  bool isReduced = dy == ArrayRef(reduced(shape, axes, /*keeps=*/false)) ||
                   dy == ArrayRef(reduced(shape, axes, /*keeps=*/true));
  if (isReduced && typeOf(a.getIndex()).getShape() == dy)
    return success();
  return report() << "C2: dy and index are " << a.getDy().getType() << " and "
                  << a.getIndex().getType() << ", expected the shape of ["
                  << shape << "] reduced over axes [" << axes << "]";
}

LogicalResult ExtremumBwdOp::verify() { return checkOperands(*this); }

//===----------------------------------------------------------------------===//
// matmul
//===----------------------------------------------------------------------===//

/// The dimensions in front of the matrices, broadcast; nothing where they do
/// not.
static std::optional<SmallVector<int64_t>> broadcastBatch(ArrayRef<int64_t> a,
                                                          ArrayRef<int64_t> b) {
  a = a.drop_back(2);
  b = b.drop_back(2);
  SmallVector<int64_t> batch(a.size() > b.size() ? a : b);
  ArrayRef<int64_t> shorter = a.size() > b.size() ? b : a;
  for (auto [to, from] :
       llvm::zip(llvm::reverse(batch), llvm::reverse(shorter))) {
    if (to != from && to != 1 && from != 1)
      return std::nullopt;
    to = std::max(to, from);
  }
  return batch;
}

template <typename Adaptor>
static std::pair<bool, bool> transposesOf(Adaptor op) {
  auto a = attrForInference(op, op.getTransAAttr(), "transA");
  auto b = attrForInference(op, op.getTransBAttr(), "transB");
  return {a && a.getValue(), b && b.getValue()};
}

/// Whether `x` is a tensor of rank 2 or more.
static bool hasMatrices(Value x) {
  auto type = dyn_cast<RankedTensorType>(x.getType());
  return type && type.getRank() >= 2;
}

/// [rows, columns] of the matrices of a tensor of rank 2 or more.
static std::pair<int64_t, int64_t> matrixOf(ArrayRef<int64_t> shape,
                                            bool isTransposed) {
  int64_t rows = shape[shape.size() - 2], columns = shape.back();
  return isTransposed ? std::pair(columns, rows) : std::pair(rows, columns);
}

LogicalResult MatmulOp::inferReturnTypes(MLIRContext *,
                                         std::optional<Location> loc,
                                         Adaptor op,
                                         SmallVectorImpl<Type> &types) {
  if (failed(checkOperands<MatmulOp>(loc, op)))
    return failure();
  if (!hasMatrices(op.getA()) || !hasMatrices(op.getB())) {
    // The parser would say nothing. The verifier refuses such operands.
    types.push_back(op.getA().getType());
    return success();
  }
  RankedTensorType a = typeOf(op.getA()), b = typeOf(op.getB());
  auto [transA, transB] = transposesOf(op);
  SmallVector<int64_t> shape = broadcastBatch(a.getShape(), b.getShape())
                                   .value_or(SmallVector<int64_t>());
  shape.append({matrixOf(a.getShape(), transA).first,
                matrixOf(b.getShape(), transB).second});
  types.push_back(a.clone(shape));
  return success();
}

LogicalResult MatmulOp::check(Adaptor op, Report report) {
  RankedTensorType a = typeOf(op.getA()), b = typeOf(op.getB());
  for (RankedTensorType type : {a, b})
    if (type.getRank() < 2)
      return report() << "C1: an operand is " << type << " of rank "
                      << type.getRank() << ", expected rank 2 or more";
  if (a.getElementType() != b.getElementType())
    return report() << "C2: a is " << a << ", but b is " << b
                    << ", expected one element type";
  auto [transA, transB] = transposesOf(op);
  int64_t ka = matrixOf(a.getShape(), transA).second;
  int64_t kb = matrixOf(b.getShape(), transB).first;
  if (ka != kb)
    return report() << "C3: K is " << ka << " in a, " << a << ", but " << kb
                    << " in b, " << b;
  auto batch = broadcastBatch(a.getShape(), b.getShape());
  if (!batch)
    return report() << "C4: the batch dimensions of a, " << a << ", and b, "
                    << b << ", do not broadcast";
  return success();
}

LogicalResult MatmulOp::verify() { return checkOperands(*this); }

/// `product`, a gradient for each matrix of the result, as that of `operand`:
/// where it was multiplied with many, their sum.
static Value sumOfBroadcast(OpBuilder &b, Location loc, Value product,
                            Value operand) {
  ArrayRef<int64_t> from = typeOf(product).getShape();
  ArrayRef<int64_t> to = typeOf(operand).getShape();
  int64_t added = int64_t(from.size()) - int64_t(to.size());
  SmallVector<int64_t> axes;
  for (int64_t i = 0; i < int64_t(from.size()); ++i)
    if (i < added || (to[i - added] == 1 && from[i] != 1))
      axes.push_back(i);
  if (!axes.empty())
    product = ReduceSumOp::create(b, loc, product, b.getDenseI64ArrayAttr(axes),
                                  b.getBoolAttr(false))
                  .getY();
  if (product.getType() == operand.getType())
    return product;
  return ReshapeOp::create(b, loc, product, shapeAttrOf(b, operand));
}

static int64_t countRows(Value x) {
  return typeOf(x).getNumElements() / typeOf(x).getShape().back();
}

/// All rows as those of one matrix.
static Value asRows(OpBuilder &b, Location loc, Value x) {
  return ReshapeOp::create(
      b, loc, x,
      b.getDenseI64ArrayAttr({countRows(x), typeOf(x).getShape().back()}));
}

LogicalResult aicf::step::matmulGradients(MatmulOp op, GradientBuilder &g) {
  OpBuilder &b = g.builder();
  Location loc = op.getLoc();
  bool transA = op.getTransA(), transB = op.getTransB();
  auto product = [&](Value x, bool transX, Value y, bool transY) -> Value {
    return MatmulOp::create(b, loc, x, y, b.getBoolAttr(transX),
                            b.getBoolAttr(transY));
  };
  Value dc = g.cotangent(op.getC());
  if (g.isNeeded(op.getA())) {
    Value other = g.saved(op.getB());
    Value da = transA ? product(other, transB, dc, true)
                      : product(dc, false, other, !transB);
    g.add(op.getA(), sumOfBroadcast(b, loc, da, op.getA()));
  }
  if (g.isNeeded(op.getB())) {
    Value other = g.saved(op.getA());
    // One matrix for all rows of a: the sum over all of them is one product.
    if (typeOf(op.getB()).getRank() == 2 && typeOf(op.getA()).getRank() > 2 &&
        !transA &&
        countRows(other) <= INT32_MAX) { // as long as a dimension may be
      other = asRows(b, loc, other);
      dc = asRows(b, loc, dc);
    }
    Value db = transB ? product(dc, true, other, transA)
                      : product(other, !transA, dc, false);
    g.add(op.getB(), sumOfBroadcast(b, loc, db, op.getB()));
  }
  return success();
}
