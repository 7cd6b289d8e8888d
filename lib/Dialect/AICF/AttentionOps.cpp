//===- AttentionOps.cpp - types and gradients of attention ----------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Dialect/AICF/Inference.h"

using namespace mlir;
using namespace aicf;
using namespace aicf::step;

LogicalResult AttentionOp::inferTypes(std::optional<Location>, Adaptor a,
                                      SmallVectorImpl<Type> &types) {
  RankedTensorType q = typeOf(a.getQ()), v = typeOf(a.getV());
  if (q.getRank() != 4 || v.getRank() != 4) { // C1 says so
    types.append({q, q});
    return success();
  }
  ArrayRef<int64_t> shape = q.getShape();
  types.push_back(q.clone({shape[0], shape[1], shape[2], v.getDimSize(3)}));
  Type element = q.getElementType();
  Type wide = element.isF64() ? element : Float32Type::get(q.getContext());
  types.push_back(RankedTensorType::get({shape[0], shape[2], shape[1]}, wide));
  return success();
}

LogicalResult aicf::step::attentionGradients(AttentionOp op,
                                             GradientBuilder &g) {
  if (g.isUsed(op.getLse()))
    return op.emitOpError() << "the loss depends on its lse, which has no "
                               "derivative: use stop_gradient if that is "
                               "intended";
  // One after the other: C++ does not order arguments.
  SmallVector<Value> saved;
  for (Value value : {op.getQ(), op.getK(), op.getV(), op.getY(), op.getLse(),
                      op.getMask(), op.getSegments(), op.getStep()})
    saved.push_back(value ? g.saved(value) : value);
  Value dy = g.cotangent(op.getY());
  auto make = [&](auto as) {
    return decltype(as)::create(
        g.builder(), op.getLoc(), dy, saved[0], saved[1], saved[2], saved[3],
        saved[4], saved[5], saved[6], saved[7], op.getScaleAttr(),
        op.getSoftcapAttr(), op.getWindowLeftAttr(), op.getWindowRightAttr(),
        op.getOffsetAttr(), op.getPAttr(), op.getSeedAttr());
  };
  if (g.isNeeded(op.getQ()) || g.isNeeded(op.getK()) ||
      g.isNeeded(op.getV())) {
    auto bwd = make(AttentionBwdOp());
    g.add(op.getQ(), bwd.getDq());
    g.add(op.getK(), bwd.getDk());
    g.add(op.getV(), bwd.getDv());
  }
  if (op.getMask() && g.isNeeded(op.getMask()))
    g.add(op.getMask(), make(AttentionMaskBwdOp()).getDmask());
  return success();
}
