//===- Tensors.h - loops over tensors as linalg ops -------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// What the lowerings of all families are written in. Numbers are computed in
// the widest float type among operands and results, f32 at least, and rounded
// once where a result is narrower: as in the body of a call (DESIGN.md, 4).
//===----------------------------------------------------------------------===//
#ifndef AICF_CONVERSION_AICFTOLINALG_TENSORS_H
#define AICF_CONVERSION_AICFTOLINALG_TENSORS_H

#include "aicf/Dialect/AICF/AICF.h"
#include "lib/Transforms/Scalar/Scalar.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/DialectConversion.h"

namespace aicf::linalg_bridge {
using namespace mlir;
using namespace aicf::step;
using namespace aicf::scalars;

using Tensor = TypedValue<RankedTensorType>;
using Scalars = SmallVector<Scalar>;

/// An operand and which of the loops its dimensions follow, outermost first.
struct Read {
  Tensor tensor;
  SmallVector<int64_t> loops;
};

class TensorBuilder {
public:
  TensorBuilder(OpBuilder &builder, Location loc)
      : builder(builder), loc(loc) {}

  OpBuilder &builder;
  const Location loc;

  /// One loop a dimension of the first result; results have the same shape.
  using Body = function_ref<Scalars(ArrayRef<Scalar>)>;
  SmallVector<Value> map(ArrayRef<Read> operands,
                         ArrayRef<RankedTensorType> results, Body body);
  Tensor map(ArrayRef<Read> operands, RankedTensorType result,
             function_ref<Scalar(ArrayRef<Scalar>)> body);

  /// Over loops of `extents`, of which `kept` are those of the result; `body`
  /// gets what is accumulated and the operands. The result, in the type that
  /// is computed in, f64 with `inDouble`, starts at `init`.
  using Combine = function_ref<Scalar(Scalar, ArrayRef<Scalar>)>;
  Tensor reduce(ArrayRef<Read> operands, ArrayRef<int64_t> extents,
                ArrayRef<int64_t> kept, double init, Combine body,
                bool inDouble = false);
  /// Goes on where `init` stands.
  Tensor reduce(ArrayRef<Read> operands, ArrayRef<int64_t> extents,
                ArrayRef<int64_t> kept, Tensor init, Combine body);

  /// All of a tensor; its last dimension left out, or alone; one value.
  static Read all(Value tensor);
  static Read rows(Value tensor, int64_t rank);
  static Read columns(Value tensor, int64_t rank);
  static Read one(Value tensor) { return {cast<Tensor>(tensor), {}}; }

  /// The number of the innermost loop but `dim`, as `type`; in a body only.
  Scalar index(int64_t dim, Type type);
  Scalar read(Tensor tensor, ValueRange at);
  Scalar constant(Type type, double number);

  Tensor filled(RankedTensorType type, double number);
  Tensor empty(RankedTensorType type);
  /// Each element rounded to `type`'s.
  Tensor convert(Tensor tensor, Type element);
  /// Dimensions of 1 more or less; or all but the last in one.
  Tensor reshape(Tensor tensor, ArrayRef<int64_t> shape);
  /// a · b, with `transA` or `transB`, on top of `init`.
  Tensor product(Tensor a, Tensor b, bool transA, bool transB, Tensor init);

  /// What is computed in for these.
  Type computeType(TypeRange types);

private:
  linalg::GenericOp generic(ArrayRef<Read> operands, ValueRange inits,
                            ArrayRef<int64_t> initLoops, int64_t numLoops,
                            function_ref<void(Location, ValueRange)> body);
  Scalars widened(ValueRange arguments, Type compute);
};

inline RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}
inline RankedTensorType ofElement(RankedTensorType type, Type element) {
  return type.clone(element);
}

/// The pattern of an op: its overload of lower(TensorBuilder &, Op, Adaptor)
/// gives a value a result, null where one is absent.
template <typename Op> struct Lower : OpConversionPattern<Op> {
  using OpConversionPattern<Op>::OpConversionPattern;
  LogicalResult
  matchAndRewrite(Op op, typename Op::Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    TensorBuilder tensors(rewriter, op.getLoc());
    rewriter.replaceOp(op, SmallVector<Value>(lower(tensors, op, adaptor)));
    return success();
  }
};
template <typename... Ops> void addLowerings(RewritePatternSet &patterns) {
  patterns.add<Lower<Ops>...>(patterns.getContext());
}

/// Word `word` (0 to 3) of Philox4x32-10 under `key`, of the counter (low,
/// high). All are i64; words are numbers below 2^32.
Scalar philoxWord(Scalar low, Scalar high, uint64_t key, Scalar word);
/// The number of this element in row-major order, as i64; in a body only.
Scalar elementOf(TensorBuilder &t, RankedTensorType type);

// A function a family, in a file of its own.
void addAttention(RewritePatternSet &patterns);
void addPointwise(RewritePatternSet &patterns);
void addSums(RewritePatternSet &patterns);
void addLosses(RewritePatternSet &patterns);
void addCounters(RewritePatternSet &patterns);
void addOptimizers(RewritePatternSet &patterns);
void addLoops(RewritePatternSet &patterns);
void addRows(RewritePatternSet &patterns);
void addLookups(RewritePatternSet &patterns);
void addViews(RewritePatternSet &patterns);

} // namespace aicf::linalg_bridge

#endif // AICF_CONVERSION_AICFTOLINALG_TENSORS_H
