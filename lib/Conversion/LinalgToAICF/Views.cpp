//===- Views.cpp - views of linalg and tensor to aicf ---------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Conversion/LinalgToAICF/LinalgToAICF.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace aicf;
using namespace aicf::step;
using namespace aicf::linalg_bridge;

/// The view or concat that an op of another dialect is, or null.
static Value convertedView(IRRewriter &rewriter, Operation *op) {
  Location loc = op->getLoc();
  rewriter.setInsertionPoint(op);
  auto shape = rewriter.getDenseI64ArrayAttr(
      cast<RankedTensorType>(op->getResult(0).getType()).getShape());
  if (auto transpose = dyn_cast<linalg::TransposeOp>(op))
    return TransposeOp::create(
        rewriter, loc, transpose.getInput(),
        rewriter.getDenseI64ArrayAttr(transpose.getPermutation()));
  if (isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(op))
    return ReshapeOp::create(rewriter, loc, op->getOperand(0), shape);
  if (auto concat = dyn_cast<tensor::ConcatOp>(op))
    return ConcatOp::create(
        rewriter, loc, concat.getInputs(),
        rewriter.getI64IntegerAttr(int64_t(concat.getDim())));
  auto slice = cast<tensor::ExtractSliceOp>(op);
  auto isStatic = [](ArrayRef<int64_t> numbers) {
    return llvm::none_of(numbers, ShapedType::isDynamic);
  };
  if (!isStatic(slice.getStaticOffsets()) ||
      !isStatic(slice.getStaticSizes()) ||
      !isStatic(slice.getStaticStrides()) ||
      llvm::any_of(slice.getStaticStrides(), [](int64_t s) { return s < 1; }))
    return {};
  SmallVector<int64_t> end;
  for (auto [offset, size, stride] :
       llvm::zip(slice.getStaticOffsets(), slice.getStaticSizes(),
                 slice.getStaticStrides()))
    end.push_back(offset + (size - 1) * stride + 1);
  Value part =
      SliceOp::create(rewriter, loc, slice.getSource(),
                      rewriter.getDenseI64ArrayAttr(slice.getStaticOffsets()),
                      rewriter.getDenseI64ArrayAttr(end),
                      rewriter.getDenseI64ArrayAttr(slice.getStaticStrides()));
  return rewriter.createOrFold<ReshapeOp>(loc, part, shape);
}

void linalg_bridge::convertView(IRRewriter &rewriter, Operation *op) {
  bool isOurs = llvm::all_of(op->getOperandTypes(), isAbiTensor) &&
                llvm::all_of(op->getResultTypes(), isAbiTensor);
  if (Value view = isOurs ? convertedView(rewriter, op) : Value())
    rewriter.replaceOp(op, view);
  else
    op->emitRemark()
        << "stays: expected offsets, sizes and strides that are constants, "
           "and tensors of types that aicf has";
}

bool linalg_bridge::isViewOp(Operation *op) {
  return isa<linalg::TransposeOp, tensor::CollapseShapeOp,
             tensor::ExpandShapeOp, tensor::ExtractSliceOp, tensor::ConcatOp>(
      op);
}

/// Whoever takes one float for an operand takes it from the constant itself.
bool linalg_bridge::isTable(Operation *op) {
  auto constant = dyn_cast<arith::ConstantOp>(op);
  auto elements = constant ? dyn_cast<DenseElementsAttr>(constant.getValue())
                           : DenseElementsAttr();
  bool isOneFloat = elements && elements.isSplat() &&
                    isa<FloatType>(elements.getElementType());
  return elements && !isOneFloat && isAbiTensor(elements.getType());
}

void linalg_bridge::convertTable(IRRewriter &rewriter, Operation *op) {
  auto elements =
      cast<DenseElementsAttr>(cast<arith::ConstantOp>(op).getValue());
  if (elements.getRawData().size() > kMaxConstantBytes) {
    op->emitRemark() << "stays: it has " << elements.getRawData().size()
                     << " bytes, the limit for a constant of a plan is "
                     << kMaxConstantBytes;
    return;
  }
  rewriter.setInsertionPoint(op);
  rewriter.replaceOp(op, ConstantOp::create(rewriter, op->getLoc(), elements));
}
