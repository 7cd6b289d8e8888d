//===- LowerProducts.cpp - products of matrices to gemm and batches -------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Products see matrices that are transposed as they lie, with a flag, and what
// broadcasts with a stride of 0. Which of them are one gemm, and which are batches.
//===----------------------------------------------------------------------===//

#include "lib/Transforms/Step/KeptValues.h"
#include "lib/Transforms/StepToRT/LowerViews.h"

using namespace mlir;
using namespace aicf;
using namespace aicf::step;

/// Matrices whose columns lie together are rows of the transposed ones.
static Viewed viewMatrices(OpBuilder &builder, Location loc, Value value,
                           bool &isTransposed) {
  Viewed viewed(builder, loc, value);
  const TensorDesc &desc = viewed.desc();
  size_t rows = desc.rank - 2u, columns = desc.rank - 1u;
  if (desc.isDense() || desc.stride(rows) != 1)
    return viewed;
  auto permutation = llvm::to_vector(llvm::seq<int64_t>(0, desc.rank));
  std::swap(permutation[rows], permutation[columns]);
  isTransposed = !isTransposed;
  viewed.transpose(permutation);
  return viewed;
}

/// A batched product of operands that repeat along the result's dimensions in
/// front of the matrices.
static Value makeBatchedGemm(OpBuilder &builder, Location loc, Type type,
                             Viewed a, bool transA, Viewed b, bool transB,
                             ArrayRef<int64_t> vids) {
  ArrayRef<int64_t> result = cast<RankedTensorType>(type).getShape();
  for (Viewed *operand : {&a, &b}) {
    SmallVector<int64_t> shape(result.drop_back(2));
    const TensorDesc &desc = operand->desc();
    shape.append({desc.dims[desc.rank - 2], desc.dims[desc.rank - 1]});
    operand->broadcastTo(shape);
  }
  return makeCall(builder, loc, OpKind::BatchedGemm,
                  BatchedGemmAttrs{transA, transB}, type, {a.get(), b.get()},
                  vids);
}

/// c as a view of cᵀ = op(b)ᵀ · op(a)ᵀ.
static Value makeTurnedGemm(OpBuilder &builder, Location loc,
                            RankedTensorType type, Viewed a, bool transA,
                            Viewed b, bool transB, ArrayRef<int64_t> vids) {
  SmallVector<int64_t> shape(type.getShape());
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
  for (SmallVectorImpl<int64_t> *list :
       {static_cast<SmallVectorImpl<int64_t> *>(&shape),
        static_cast<SmallVectorImpl<int64_t> *>(&order)})
    std::swap((*list)[list->size() - 2], list->back());
  Value turned = makeBatchedGemm(builder, loc, type.clone(shape), b, !transB, a,
                                 !transA, vids);
  return Viewed(builder, loc, turned).transpose(order).get();
}

namespace {
/// The operands of a gemm, one of which is many matrices and not one matrix of
/// rows: the same products as a batch need no copy of it.
class ManyMatrices {
public:
  /// `isTurned`: the result is read with its matrices turned.
  ManyMatrices(OpBuilder &builder, Location loc, RankedTensorType type, Value a,
               bool transA, Value b, bool transB, bool isTurned)
      : builder(builder), loc(loc), type(type), transA(transA), transB(transB),
        isTurned(isTurned), a(viewMatrices(builder, loc, a, this->transA)),
        b(viewMatrices(builder, loc, b, this->transB)) {
    size_t rank = shapeOf(a).size();
    bool isTurnedEach = isTurned && rank > 2 && !transA;
    bool isOf = rank > 2 && (isTurnedEach || !(isMatrix(a) && isMatrix(b))) &&
                this->a.desc().hasMatrices() && this->b.desc().hasMatrices() &&
                type.getElementType() == getElementTypeOrSelf(a);
    areApart = isOf && !transA;
    areSummed = isOf && transA && !transB && shapeOf(b).size() == rank &&
                isWorthSumming(a, b);
  }
  explicit operator bool() const { return areApart || areSummed; }

  Value multiply(ArrayRef<int64_t> vids) {
    if (areApart && isTurned)
      return makeTurnedGemm(builder, loc, type, a, transA, b, transB, vids);
    if (areApart)
      return makeBatchedGemm(builder, loc, type, a, transA, b, transB, vids);
    SmallVector<int64_t> shape = front();
    int64_t count = llvm::product_of(shape);
    llvm::append_range(shape, type.getShape());
    Value products = makeBatchedGemm(builder, loc, type.clone(shape), a, transA,
                                     b, transB, {});
    SmallVector<int64_t> all{count};
    llvm::append_range(all, type.getShape());
    return makeCall(builder, loc, OpKind::ReduceSum, ReduceSumAttrs{0}, type,
                    {Viewed(builder, loc, products).reshape(all).get()}, vids);
  }

private:
  /// Returns true for a tensor of two dimensions, or with rows that lie as those of
  /// such a matrix.
  static bool isMatrix(Value value) {
    TensorDesc desc = rt::toTensorDesc(value.getType());
    return desc.rank == 2 || desc.hasRows();
  }
  SmallVector<int64_t> front() const {
    const TensorDesc &desc = a.desc();
    return SmallVector<int64_t>(desc.dims, desc.dims + desc.rank - 2);
  }
  /// Returns true if the products apart have at most twice the elements of what would
  /// be copied.
  bool isWorthSumming(Value x, Value y) const {
    int64_t copied = 0;
    for (Value operand : {x, y})
      if (!isMatrix(operand))
        copied += rt::toTensorDesc(operand.getType()).elements();
    return llvm::product_of(front()) * type.getNumElements() <= 2 * copied;
  }

  OpBuilder &builder;
  Location loc;
  RankedTensorType type;
  bool transA, transB, isTurned;
  Viewed a, b;
  bool areApart = false;  ///< each matrix of a gives rows of the result
  bool areSummed = false; ///< each pair of matrices gives a part of a sum
};
} // namespace

Value aicf::makeGemm(OpBuilder &builder, Location loc, Type type, Value a,
                     bool transA, Value b, bool transB,
                     ArrayRef<int64_t> vids, bool isTurned) {
  if (ManyMatrices many{builder, loc, cast<RankedTensorType>(type), a, transA,
                        b,       transB, isTurned})
    return many.multiply(vids);
  auto viewed = [&](Value &matrix, bool &isTransposed) {
    if (shapeOf(matrix).size() == 2)
      matrix = viewMatrices(builder, loc, matrix, isTransposed).get();
  };
  viewed(a, transA);
  viewed(b, transB);
  return makeCall(builder, loc, OpKind::Gemm, GemmAttrs{transA, transB}, type,
                  {a, b}, vids);
}

namespace {
/// One matrix with rows of a, which are those of one matrix, is a gemm; else a
/// batched one, of operands that have the same dimensions in front.
struct LowerMatmul : OpRewritePattern<MatmulOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MatmulOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    bool transA = op.getTransA(), transB = op.getTransB();
    Viewed a = viewMatrices(rewriter, loc, op.getA(), transA);
    Viewed b = viewMatrices(rewriter, loc, op.getB(), transB);
    ArrayRef<int64_t> result = shapeOf(op.getC());
    bool isOne = result.size() == 2 ||
                 (b.desc().rank == 2 && !transA && a.desc().hasRows());
    if (isOne) {
      rewriter.replaceOp(op, makeGemm(rewriter, loc, op.getC().getType(),
                                      a.get(), transA, b.get(), transB,
                                      vidsOf(op)));
      return success();
    }
    if (isReadTurned(op.getC()))
      rewriter.replaceOp(op, makeTurnedGemm(rewriter, loc,
                                            cast<RankedTensorType>(
                                                op.getC().getType()),
                                            a, transA, b, transB, vidsOf(op)));
    else
      rewriter.replaceOp(op, makeBatchedGemm(rewriter, loc,
                                             op.getC().getType(), a, transA, b,
                                             transB, vidsOf(op)));
    return success();
  }
};
} // namespace

void aicf::populateProductPatterns(RewritePatternSet &patterns) {
  patterns.add<LowerMatmul>(patterns.getContext());
}
