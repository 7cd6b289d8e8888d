//===- LowerViews.h - views, and primitives on views ------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_TRANSFORMS_STEPTORT_LOWERVIEWS_H
#define AICF_LIB_TRANSFORMS_STEPTORT_LOWERVIEWS_H

#include "aicf/Dialect/AICF/AICF.h"
#include "aicf/Dialect/AICFRT/AICFRT.h"
#include "lib/Base/Views.h"
#include "lib/Transforms/RT/CallUses.h"
#include "lib/Transforms/Remarks.h"

#include "mlir/IR/PatternMatch.h"

namespace aicf {

/// Adds the patterns of reshape, transpose, slice and broadcast.
void populateViewPatterns(mlir::RewritePatternSet &patterns);
/// Adds the patterns of reductions and products over any dimensions.
void populateReductionPatterns(mlir::RewritePatternSet &patterns);
void populateProductPatterns(mlir::RewritePatternSet &patterns);

/// Labels of an op's results; empty when nobody numbered them.
inline llvm::ArrayRef<int64_t> vidsOf(mlir::Operation *op) {
  auto vids = op->getAttrOfType<mlir::DenseI64ArrayAttr>(step::kVidsAttr);
  return vids ? vids.asArrayRef() : llvm::ArrayRef<int64_t>();
}
/// The label of result `i` as an array, or an empty one.
inline llvm::ArrayRef<int64_t> vidOf(mlir::Operation *op, unsigned i) {
  llvm::ArrayRef<int64_t> vids = vidsOf(op);
  return vids.empty() ? vids : vids.slice(i, 1);
}

/// A call of one primitive with these fields; all operands and results are
/// there.
template <typename Attrs>
rt::CallOp makeCalls(mlir::OpBuilder &builder, mlir::Location loc, OpKind kind,
                     const Attrs &attrs, mlir::TypeRange types,
                     llvm::ArrayRef<mlir::Value> operands,
                     llvm::ArrayRef<int64_t> vids) {
  const auto *bytes = reinterpret_cast<const uint8_t *>(&attrs);
  return rt::CallOp::create(builder, loc, types, operands,
                            makeBody(kind, {bytes, bytes + sizeof(Attrs)},
                                     std::vector<bool>(operands.size(), true),
                                     std::vector<bool>(types.size(), true)),
                            vids);
}
/// The same with one result.
template <typename Attrs>
mlir::Value makeCall(mlir::OpBuilder &builder, mlir::Location loc, OpKind kind,
                     const Attrs &attrs, mlir::Type type,
                     llvm::ArrayRef<mlir::Value> operands,
                     llvm::ArrayRef<int64_t> vids) {
  return makeCalls(builder, loc, kind, attrs, mlir::TypeRange(type), operands,
                   vids)
      .getResult(0);
}

/// A call gemm. A matrix whose columns lie together is read as rows of the
/// transposed one; operands of a higher rank are rows. Where these make no matrix,
/// or the result is read with its matrices turned (`isTurned`), it is a product in
/// batches; then it may be a view.
mlir::Value makeGemm(mlir::OpBuilder &builder, mlir::Location loc,
                     mlir::Type type, mlir::Value a, bool transA, mlir::Value b,
                     bool transB, llvm::ArrayRef<int64_t> vids,
                     bool isTurned = false);

/// A value and what is seen of it, while views are put upon each other.
class Viewed {
public:
  Viewed(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value)
      : builder(builder), loc(loc), base(rt::baseOf(value)) {
    rt::ViewOp view = rt::viewOf(value);
    seen = {rt::toTensorDesc(value.getType()),
            view ? view.getOffset() : int64_t(0)};
  }

  Viewed &reshape(llvm::ArrayRef<int64_t> shape) {
    auto made = reshaped(seen, span(shape));
    if (!made) {
      remarkCopy(shape);
      base = rt::copyOfView(builder, loc, get());
      seen = {rt::toTensorDesc(base.getType()), 0};
      made = reshaped(seen, span(shape)); // a dense tensor has every shape
    }
    seen = *made;
    return *this;
  }
  Viewed &transpose(llvm::ArrayRef<int64_t> permutation) {
    seen = transposed(seen, span(permutation));
    return *this;
  }
  Viewed &slice(llvm::ArrayRef<int64_t> begin, llvm::ArrayRef<int64_t> end,
                llvm::ArrayRef<int64_t> step) {
    seen = sliced(seen, span(begin), span(end), span(step));
    return *this;
  }
  Viewed &broadcastTo(llvm::ArrayRef<int64_t> shape) {
    seen = broadcast(seen, span(shape));
    return *this;
  }
  const TensorDesc &desc() const { return seen.desc; }

  /// The base itself where all of it is seen as it is.
  mlir::Value get() {
    mlir::Type type = rt::toTensorType(builder.getContext(), seen.desc);
    if (seen.offset == 0 && type == base.getType())
      return base;
    return rt::ViewOp::create(builder, loc, type, base, seen.offset);
  }

private:
  void remarkCopy(llvm::ArrayRef<int64_t> shape) {
    auto func = llvm::cast<mlir::func::FuncOp>(
        builder.getBlock()->getParentOp());
    if (auto remark = mlir::remark::missed(
            loc, remarkOf("LowerToRT", func.getSymName())))
      remark << "a reshape needs a copy of " + seen.desc.toString() +
                    ": no strides show it as " +
                    TensorDesc(seen.desc.dtype, span(shape)).toString();
  }
  static Span<const int64_t> span(llvm::ArrayRef<int64_t> numbers) {
    return {numbers.data(), numbers.size()};
  }

  mlir::OpBuilder &builder;
  mlir::Location loc;
  mlir::Value base;
  ViewDesc seen;
};

inline llvm::ArrayRef<int64_t> shapeOf(mlir::Value value) {
  return llvm::cast<mlir::RankedTensorType>(value.getType()).getShape();
}

} // namespace aicf

#endif // AICF_LIB_TRANSFORMS_STEPTORT_LOWERVIEWS_H
