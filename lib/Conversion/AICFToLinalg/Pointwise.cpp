//===- Pointwise.cpp - pointwise ops, casts, copies to linalg -------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// What an op with a scalar definition computes comes from its record.
//===----------------------------------------------------------------------===//

#include "lib/Conversion/AICFToLinalg/Tensors.h"

namespace aicf::linalg_bridge {

#include "lib/Transforms/Scalar/Definitions.h.inc"

/// Any op of PointwiseOps; others have an overload of their own.
template <typename Op>
static SmallVector<Value> lower(TensorBuilder &t, Op op,
                                typename Op::Adaptor adaptor) {
  SmallVector<Read> operands;
  for (Value operand : adaptor.getOperands())
    operands.push_back(TensorBuilder::all(operand));
  return {t.map(operands, typeOf(op->getResult(0)),
                [&](ArrayRef<Scalar> in) { return definitionOf(op, in); })};
}

// Values are values: a copy of one is the same one.
static SmallVector<Value> lower(TensorBuilder &, CopyOp,
                                CopyOp::Adaptor adaptor) {
  return {adaptor.getX()};
}
static SmallVector<Value> lower(TensorBuilder &, SaveOp,
                                SaveOp::Adaptor adaptor) {
  return {adaptor.getX()};
}
static SmallVector<Value> lower(TensorBuilder &, StopGradientOp,
                                StopGradientOp::Adaptor adaptor) {
  return {adaptor.getX()};
}

static SmallVector<Value> lower(TensorBuilder &, StraightThroughOp,
                                StraightThroughOp::Adaptor adaptor) {
  return {adaptor.getValue()};
}

static SmallVector<Value> lower(TensorBuilder &t, CastOp op,
                                CastOp::Adaptor adaptor) {
  return {t.convert(cast<Tensor>(adaptor.getX()),
                    typeOf(op.getY()).getElementType())};
}

template <typename... Ops>
static void addAll(RewritePatternSet &patterns, std::tuple<Ops...> *) {
  addLowerings<Ops...>(patterns);
}

void addPointwise(RewritePatternSet &patterns) {
  addAll(patterns, static_cast<PointwiseOps *>(nullptr));
  addLowerings<CopyOp, SaveOp, StopGradientOp, StraightThroughOp, CastOp>(patterns);
}

} // namespace aicf::linalg_bridge
