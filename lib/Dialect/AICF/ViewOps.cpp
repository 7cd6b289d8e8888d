//===- ViewOps.cpp - reshape, transpose, slice, broadcast -----------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Inference, verifiers and folders: a view that changes nothing is its operand,
// and two of one kind behind each other are one.
//===----------------------------------------------------------------------===//

#include "lib/Dialect/AICF/Inference.h"

using namespace mlir;
using namespace aicf;
using namespace aicf::step;

LogicalResult aicf::step::checkShapeAttr(Report report,
                                         ArrayRef<int64_t> shape) {
  if (shape.size() <= kMaxRank &&
      llvm::all_of(shape, [](int64_t d) { return d >= 1 && d <= INT32_MAX; }))
    return success();
  return report() << "C1: shape is [" << shape
                  << "], expected up to 8 numbers in [1, 2^31)";
}

static int64_t productOf(ArrayRef<int64_t> shape) {
  int64_t product = 1;
  for (int64_t d : shape)
    product = llvm::SaturatingMultiply(uint64_t(product), uint64_t(d));
  return product;
}

/// A folded view of x's own type is x.
template <typename Op> static Value foldIdentity(Op op) {
  return op.getX().getType() == op.getY().getType() ? op.getX() : Value();
}

/// The shape that an attribute says, once it is there.
template <typename Op>
static LogicalResult inferShape(std::optional<Location> loc,
                                typename Op::Adaptor a,
                                SmallVectorImpl<Type> &types) {
  auto x = dyn_cast<RankedTensorType>(a.getX().getType());
  auto shape = attrForInference(a, a.getShapeAttr(), "shape");
  if (!x || !shape || failed(checkOperands<Op>(loc, a)))
    return failure();
  types.push_back(x.clone(shape.asArrayRef()));
  return success();
}

//===----------------------------------------------------------------------===//
// reshape
//===----------------------------------------------------------------------===//

LogicalResult ReshapeOp::inferReturnTypes(MLIRContext *,
                                          std::optional<Location> loc,
                                          Adaptor a,
                                          SmallVectorImpl<Type> &types) {
  return inferShape<ReshapeOp>(loc, a, types);
}

LogicalResult ReshapeOp::check(Adaptor a, Report report) {
  ArrayRef<int64_t> shape =
      attrForInference(a, a.getShapeAttr(), "shape").asArrayRef();
  if (failed(checkShapeAttr(report, shape)))
    return failure();
  int64_t elements = typeOf(a.getX()).getNumElements();
  if (productOf(shape) == elements)
    return success();
  return report() << "C1: shape is [" << shape << "] with " << productOf(shape)
                  << " elements, expected the " << elements
                  << " elements of x, " << a.getX().getType();
}

LogicalResult ReshapeOp::verify() { return checkOperands(*this); }

OpFoldResult ReshapeOp::fold(FoldAdaptor) {
  if (auto inner = getX().getDefiningOp<ReshapeOp>()) {
    getXMutable().assign(inner.getX());
    return getY();
  }
  return foldIdentity(*this);
}

//===----------------------------------------------------------------------===//
// transpose
//===----------------------------------------------------------------------===//

LogicalResult TransposeOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location> loc,
                                            Adaptor a,
                                            SmallVectorImpl<Type> &types) {
  auto x = dyn_cast<RankedTensorType>(a.getX().getType());
  auto permutation = attrForInference(a, a.getPermutationAttr(), "permutation");
  if (!x || !permutation || failed(checkOperands<TransposeOp>(loc, a)))
    return failure();
  SmallVector<int64_t> shape;
  for (int64_t from : permutation.asArrayRef())
    shape.push_back(from >= 0 && from < x.getRank() ? x.getDimSize(from) : 1);
  types.push_back(x.clone(shape));
  return success();
}

LogicalResult TransposeOp::check(Adaptor a, Report report) {
  ArrayRef<int64_t> permutation =
      attrForInference(a, a.getPermutationAttr(), "permutation").asArrayRef();
  SmallVector<int64_t> sorted(permutation);
  llvm::sort(sorted);
  if (llvm::equal(sorted, llvm::seq<int64_t>(0, typeOf(a.getX()).getRank())))
    return success();
  return report() << "C1: permutation is [" << permutation
                  << "], expected each dimension of " << a.getX().getType()
                  << " once";
}

LogicalResult TransposeOp::verify() { return checkOperands(*this); }

OpFoldResult TransposeOp::fold(FoldAdaptor) {
  if (auto inner = getX().getDefiningOp<TransposeOp>()) {
    SmallVector<int64_t> both;
    for (int64_t from : getPermutation())
      both.push_back(inner.getPermutation()[from]);
    setPermutation(both);
    getXMutable().assign(inner.getX());
    return getY();
  }
  bool isIdentity = llvm::equal(getPermutation(),
                                llvm::seq<int64_t>(0, getPermutation().size()));
  return isIdentity ? getX() : Value();
}

//===----------------------------------------------------------------------===//
// slice
//===----------------------------------------------------------------------===//

static SmallVector<int64_t> stepsOf(DenseI64ArrayAttr step, size_t rank) {
  return step ? SmallVector<int64_t>(step.asArrayRef())
              : SmallVector<int64_t>(rank, 1);
}

SmallVector<int64_t> SliceOp::getSteps() {
  return stepsOf(getStepAttr(), getBegin().size());
}

LogicalResult SliceOp::inferReturnTypes(MLIRContext *,
                                        std::optional<Location> loc, Adaptor a,
                                        SmallVectorImpl<Type> &types) {
  auto x = dyn_cast<RankedTensorType>(a.getX().getType());
  auto begin = attrForInference(a, a.getBeginAttr(), "begin");
  auto end = attrForInference(a, a.getEndAttr(), "end");
  if (!x || !begin || !end || failed(checkOperands<SliceOp>(loc, a)))
    return failure();
  auto steps = stepsOf(attrForInference(a, a.getStepAttr(), "step"),
                       begin.asArrayRef().size());
  SmallVector<int64_t> shape;
  for (auto [first, last, step] :
       llvm::zip(begin.asArrayRef(), end.asArrayRef(), steps))
    shape.push_back(step > 0 && first < last ? (last - first - 1) / step + 1
                                             : 1);
  types.push_back(x.clone(shape));
  return success();
}

LogicalResult SliceOp::check(Adaptor a, Report report) {
  ArrayRef<int64_t> begin =
      attrForInference(a, a.getBeginAttr(), "begin").asArrayRef();
  ArrayRef<int64_t> end =
      attrForInference(a, a.getEndAttr(), "end").asArrayRef();
  auto steps =
      stepsOf(attrForInference(a, a.getStepAttr(), "step"), begin.size());
  size_t rank = size_t(typeOf(a.getX()).getRank());
  if (begin.size() != rank || end.size() != rank || steps.size() != rank)
    return report() << "C1: begin, end and step have " << begin.size() << ", "
                    << end.size() << " and " << steps.size()
                    << " numbers, expected one for each dimension of "
                    << a.getX().getType();
  for (size_t d = 0; d < rank; ++d)
    if (begin[d] < 0 || begin[d] >= end[d] ||
        end[d] > typeOf(a.getX()).getDimSize(d) || steps[d] < 1 ||
        steps[d] > INT32_MAX)
      return report() << "C2: dimension " << d << " goes from " << begin[d]
                      << " to " << end[d] << " in steps of " << steps[d]
                      << ", expected 0 <= begin < end <= "
                      << typeOf(a.getX()).getDimSize(d)
                      << " and a step in [1, 2^31)";
  return success();
}

LogicalResult SliceOp::verify() { return checkOperands(*this); }

/// All of it is itself.
OpFoldResult SliceOp::fold(FoldAdaptor) { return foldIdentity(*this); }

//===----------------------------------------------------------------------===//
// broadcast
//===----------------------------------------------------------------------===//

LogicalResult BroadcastOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location> loc,
                                            Adaptor a,
                                            SmallVectorImpl<Type> &types) {
  return inferShape<BroadcastOp>(loc, a, types);
}

LogicalResult BroadcastOp::check(Adaptor a, Report report) {
  ArrayRef<int64_t> shape =
      attrForInference(a, a.getShapeAttr(), "shape").asArrayRef();
  ArrayRef<int64_t> x = typeOf(a.getX()).getShape();
  if (failed(checkShapeAttr(report, shape)))
    return failure();
  if (x.size() > shape.size())
    return report() << "C1: shape is [" << shape
                    << "], expected at least as many dimensions as x, "
                    << a.getX().getType();
  for (auto [from, to] : llvm::zip(llvm::reverse(x), llvm::reverse(shape)))
    if (from != 1 && from != to)
      return report() << "C2: x is " << a.getX().getType()
                      << ", which does not broadcast to [" << shape << "]";
  return success();
}

LogicalResult BroadcastOp::verify() { return checkOperands(*this); }

OpFoldResult BroadcastOp::fold(FoldAdaptor) {
  if (auto inner = getX().getDefiningOp<BroadcastOp>()) {
    getXMutable().assign(inner.getX());
    return getY();
  }
  return foldIdentity(*this);
}
