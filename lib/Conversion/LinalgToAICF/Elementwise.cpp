//===- Elementwise.cpp - operands of a generic op's body ------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Conversion/LinalgToAICF/Elementwise.h"

#include "aicf/Dialect/AICF/AICF.h"

using namespace mlir;
using namespace aicf::step;

namespace aicf::linalg_bridge {

std::optional<double> constantOf(Value value) {
  if (auto fill = value.getDefiningOp<linalg::FillOp>())
    return constantOf(fill.getInputs()[0]);
  return scalars::numberOf(value);
}

Value expanded(OpBuilder &builder, Location loc, Value x,
               ArrayRef<int64_t> loops, ArrayRef<int64_t> shape) {
  if (loops.size() == shape.size())
    return x;
  // In its own dimensions, as far in front as the first of them, and 1
  // elsewhere.
  SmallVector<int64_t> kept;
  for (int64_t loop = loops.empty() ? int64_t(shape.size()) : loops.front();
       loop < int64_t(shape.size()); ++loop)
    kept.push_back(llvm::is_contained(loops, loop) ? shape[loop] : 1);
  x = builder.createOrFold<ReshapeOp>(loc, x,
                                      builder.getDenseI64ArrayAttr(kept));
  return builder.createOrFold<BroadcastOp>(loc, x,
                                           builder.getDenseI64ArrayAttr(shape));
}

/// The vector that `value` repeats over its rows, or null.
static Value biasIn(Value value) {
  auto broadcast = value.getDefiningOp<BroadcastOp>();
  if (!broadcast || cast<ShapedType>(broadcast.getX().getType()).getShape() !=
                        broadcast.getShape().take_back(1))
    return {};
  return broadcast.getX();
}

Value sumOf(OpBuilder &builder, Location loc, Value a, Value b) {
  for (auto [product, other] : {std::pair{a, b}, std::pair{b, a}}) {
    auto linear = product.getDefiningOp<LinearOp>();
    Value bias = biasIn(other);
    // Its users are the op that is being converted and the copy of it that is
    // read here; with another op there would be two products. (A body that
    // reads it twice still makes two.)
    if (linear && bias && !linear.getBias() && !linear.getY().hasNUsesOrMore(3))
      return LinearOp::create(builder, loc, linear.getX(), linear.getWeight(),
                              bias, linear.getTransWAttr());
  }
  return AddOp::create(builder, loc, a, b);
}

Value BodyTranslator::operand(BlockArgument argument) {
  OpOperand &use = op->getOpOperand(argument.getArgNumber());
  if (!isa<RankedTensorType>(use.get().getType()))
    return fail("its body reads a scalar from outside");
  SmallVector<int64_t> loops;
  for (AffineExpr result : op.getMatchingIndexingMap(&use).getResults()) {
    auto dim = dyn_cast<AffineDimExpr>(result);
    if (!dim || llvm::is_contained(loops, int64_t(dim.getPosition())))
      return fail("an operand whose dimensions are not different loops");
    loops.push_back(dim.getPosition());
  }
  Value x = use.get();
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, loops.size()));
  llvm::sort(order, [&](int64_t a, int64_t b) { return loops[a] < loops[b]; });
  if (!llvm::is_sorted(loops))
    x = TransposeOp::create(builder, op.getLoc(), x,
                            builder.getDenseI64ArrayAttr(order));
  llvm::sort(loops);
  return expanded(builder, op.getLoc(), x, loops, shape);
}

bool BodyTranslator::reads(BlockArgument argument) {
  return (argument.getArgNumber() < op.getNumDpsInputs() ||
          !argument.use_empty()) &&
         !constantOf(op->getOperand(argument.getArgNumber()));
}

Value BodyTranslator::sum(Location loc, Value a, Value b) {
  return sumOf(builder, loc, a, b);
}

} // namespace aicf::linalg_bridge
