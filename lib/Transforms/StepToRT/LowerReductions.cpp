//===- LowerReductions.cpp - primitives on views of their operands --------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Reductions see their operand with the axes as one dimension; products see
// matrices that are transposed as they lie, with a flag, and what broadcasts
// with a stride of 0.
//===----------------------------------------------------------------------===//

#include "lib/Transforms/StepToRT/LowerViews.h"

using namespace mlir;
using namespace aicf;
using namespace aicf::step;

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

namespace {
/// How a tensor lies where `axes` of it are one dimension, `axis`, of a shape
/// that the primitives know.
struct ReducedShape {
  SmallVector<int64_t> permutation; ///< empty: dimensions stay in order
  SmallVector<int64_t> shape;       ///< then, with the axes as one
  int64_t axis = 0;
  bool keeps = false;        ///< the result has dimension `axis`, as 1
  bool dropsLeading = false; ///< it lacks those in front of `axis`, too

  ReducedShape(ArrayRef<int64_t> shape, ArrayRef<int64_t> axes, bool keepdim);
  /// The shape that the primitive gives.
  SmallVector<int64_t> result() const {
    SmallVector<int64_t> left(shape);
    if (keeps)
      left[axis] = 1;
    else
      left.erase(left.begin() + (dropsLeading ? 0 : axis),
                 left.begin() + axis + 1);
    return left;
  }
};
} // namespace

ReducedShape::ReducedShape(ArrayRef<int64_t> whole, ArrayRef<int64_t> axes,
                           bool keepdim) {
  shape.assign(whole.begin(), whole.end());
  bool isLeading = llvm::equal(axes, llvm::seq<int64_t>(0, axes.size()));
  if (isLeading && !axes.empty() && !keepdim) {
    axis = axes.back();
    dropsLeading = true;
    return;
  }
  int64_t size = 1;
  for (int64_t i : axes)
    size *= whole[i];
  bool isRun =
      axes.empty() || axes.back() - axes.front() + 1 == int64_t(axes.size());
  shape.clear();
  if (isRun && !axes.empty()) {
    for (auto [i, extent] : llvm::enumerate(whole))
      if (!llvm::is_contained(axes, int64_t(i)))
        shape.push_back(extent);
    axis = axes.front();
    shape.insert(shape.begin() + axis, size);
    if (keepdim) { // the other axes stay in front of what follows, as 1
      shape.insert(shape.begin() + axis + 1, axes.size() - 1, 1);
      keeps = true;
    }
    return;
  }
  for (int64_t i = 0; i < int64_t(whole.size()); ++i)
    if (!llvm::is_contained(axes, i)) {
      permutation.push_back(i);
      shape.push_back(whole[i]);
    }
  axis = int64_t(shape.size());
  permutation.append(axes.begin(), axes.end());
  shape.push_back(size);
}

/// x with the axes as one dimension.
static Value viewReduced(OpBuilder &builder, Location loc, Value x,
                         const ReducedShape &reduced) {
  Viewed viewed(builder, loc, x);
  if (!reduced.permutation.empty())
    viewed.transpose(reduced.permutation);
  return viewed.reshape(reduced.shape).get();
}

namespace {
/// A reduction is its primitive, of kind `kind` with attrs Attrs, on x with the
/// axes as one dimension; its results get the op's shape.
template <typename Op, OpKind kind, typename Attrs>
struct LowerReduction : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    ReducedShape reduced(shapeOf(op.getX()), op.getAxes(), op.getKeepdim());
    SmallVector<Type> types;
    for (Type type : op->getResultTypes())
      types.push_back(cast<RankedTensorType>(type).clone(reduced.result()));
    rt::CallOp call =
        makeCalls(rewriter, loc, kind, Attrs{reduced.axis}, types,
                  {viewReduced(rewriter, loc, op.getX(), reduced)}, vidsOf(op));
    SmallVector<Value> results;
    for (auto [made, wanted] :
         llvm::zip_equal(call.getResults(), op->getResults()))
      results.push_back(
          Viewed(rewriter, loc, made).reshape(shapeOf(wanted)).get());
    rewriter.replaceOp(op, results);
    return success();
  }
};

/// The other way round: dx as the primitive makes it, seen in its own shape.
struct LowerExtremumBwd : OpRewritePattern<ExtremumBwdOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ExtremumBwdOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    ReducedShape reduced(op.getShape(), op.getAxes(), /*keepdim=*/false);
    SmallVector<int64_t> small = reduced.result();
    auto type = cast<RankedTensorType>(op.getDx().getType());
    Value dx =
        makeCall(rewriter, loc, OpKind::ExtremumBwd,
                 ExtremumBwdAttrs{reduced.axis}, type.clone(reduced.shape),
                 {Viewed(rewriter, loc, op.getDy()).reshape(small).get(),
                  Viewed(rewriter, loc, op.getIndex()).reshape(small).get()},
                 vidsOf(op));
    Viewed whole(rewriter, loc, dx);
    if (reduced.permutation.empty()) {
      whole.reshape(op.getShape());
    } else {
      SmallVector<int64_t> permuted, inverse(reduced.permutation.size());
      for (auto [i, from] : llvm::enumerate(reduced.permutation)) {
        permuted.push_back(op.getShape()[from]);
        inverse[from] = int64_t(i);
      }
      whole.reshape(permuted).transpose(inverse);
    }
    rewriter.replaceOp(op, whole.get());
    return success();
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

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

bool aicf::isReadTurned(Value value) {
  int64_t rank = cast<ShapedType>(value.getType()).getRank();
  auto turned = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  if (rank < 3 || value.use_empty())
    return false;
  std::swap(turned[rank - 2], turned[rank - 1]);
  return llvm::all_of(value.getUsers(), [&](Operation *user) {
    auto transpose = dyn_cast<TransposeOp>(user);
    return transpose && llvm::equal(transpose.getPermutation(), turned);
  });
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
/// The operands of a gemm one of which is no matrix of rows, but many: the same
/// products as a batch need no copy of it.
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
  /// Of two dimensions, or with rows that lie as those of such a matrix.
  static bool isMatrix(Value value) {
    TensorDesc desc = rt::toTensorDesc(value.getType());
    return desc.rank == 2 || desc.hasRows();
  }
  SmallVector<int64_t> front() const {
    const TensorDesc &desc = a.desc();
    return SmallVector<int64_t>(desc.dims, desc.dims + desc.rank - 2);
  }
  /// The products apart have at most twice the elements of what would be copied.
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

void aicf::populateReductionPatterns(RewritePatternSet &patterns) {
  patterns
      .add<LowerMatmul, LowerExtremumBwd,
           LowerReduction<ReduceSumOp, OpKind::ReduceSum, ReduceSumAttrs>,
           LowerReduction<ReduceMeanOp, OpKind::ReduceMean, ReduceMeanAttrs>,
           LowerReduction<ReduceMaxOp, OpKind::ReduceMax, ReduceMaxAttrs>,
           LowerReduction<ReduceMinOp, OpKind::ReduceMin, ReduceMinAttrs>>(
          patterns.getContext());
}
