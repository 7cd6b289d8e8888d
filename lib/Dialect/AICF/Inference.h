//===- Inference.h - result types of ops without a record -------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// What composites share: the same check() runs when result types are inferred
// and when an op is verified.
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_DIALECT_AICF_INFERENCE_H
#define AICF_LIB_DIALECT_AICF_INFERENCE_H

#include "aicf/Dialect/AICF/AICF.h"

#include "mlir/IR/Builders.h"

namespace aicf::step {
using namespace mlir;

/// Starts the diagnostic of a violated constraint.
using Report = llvm::function_ref<InFlightDiagnostic()>;

inline RankedTensorType typeOf(Value v) {
  return cast<RankedTensorType>(v.getType());
}

/// An attribute while types are inferred: the parser infers while the
/// attributes are still a dictionary, builders and the verifier when they are
/// properties.
template <typename Adaptor, typename Attr>
Attr attrForInference(Adaptor adaptor, Attr property, StringRef name) {
  if (property)
    return property;
  DictionaryAttr attrs = adaptor.getAttributes();
  return attrs ? attrs.getAs<Attr>(name) : Attr();
}

/// An attribute that inference cannot do without. Where it is missing, says so:
/// ODS looks for it only later, at an op that has its types.
template <typename Op, typename Attr>
Attr requiredAttr(std::optional<Location> loc, typename Op::Adaptor adaptor,
                  Attr property, StringRef name) {
  Attr attr = attrForInference(adaptor, property, name);
  if (!attr)
    (void)emitOptionalError(loc, "'", Op::getOperationName(),
                            "' op requires attribute '", name, "'");
  return attr;
}

/// The number that a trait of ODS, such as OpTrait::NOperands, says of Op; 0
/// where none does.
template <typename Op, template <unsigned> class Trait, unsigned... N>
constexpr unsigned countByTrait(std::integer_sequence<unsigned, N...>) {
  unsigned count = 0;
  (void)((Op::template hasTrait<Trait<N + 2>::template Impl>()
              ? (count = N + 2, true)
              : false) ||
         ...);
  return count;
}

/// Whether there are as many operands as the op takes, in the words of MLIR's
/// verifiers.
template <typename Op>
LogicalResult checkOperandCount(std::optional<Location> location,
                                ValueRange operands) {
  // As many as the largest record has, and more.
  constexpr std::make_integer_sequence<unsigned, 30> counts;
  constexpr bool isOne = Op::template hasTrait<OpTrait::OneOperand>();
  constexpr unsigned exactly =
      isOne ? 1 : countByTrait<Op, OpTrait::NOperands>(counts);
  constexpr unsigned atLeast =
      std::max({exactly, countByTrait<Op, OpTrait::AtLeastNOperands>(counts),
                unsigned(Op::template hasTrait<
                         OpTrait::AtLeastNOperands<1>::template Impl>())});
  static_assert(atLeast || Op::template hasTrait<OpTrait::ZeroOperands>() ||
                    Op::template hasTrait<OpTrait::VariadicOperands>(),
                "an op of more operands than `counts` has");
  if (operands.size() < atLeast || (exactly && operands.size() > exactly))
    return emitOptionalError(
        location, "'", Op::getOperationName(), "' op expected ", atLeast,
        exactly ? "" : " or more", atLeast == 1 ? " operand" : " operands",
        ", but found ", operands.size());
  return success();
}

/// Inference asks for the operands' shapes. MLIR's parser says nothing of its
/// own where inference fails.
inline LogicalResult checkRanked(std::optional<Location> location, StringRef op,
                                 ValueRange operands) {
  for (auto [i, type] : llvm::enumerate(operands.getTypes()))
    if (!isa<RankedTensorType>(type))
      return emitOptionalError(location, "'", op, "' op operand #", i,
                               " must be a ranked tensor, but got ", type);
  return success();
}

/// The checks on operands, while result types are inferred from them.
template <typename Op>
LogicalResult checkOperands(std::optional<Location> loc,
                            typename Op::Adaptor a) {
  if (!loc || !llvm::all_of(a.getOperands().getTypes(), isAbiTensor))
    return success();
  return Op::check(a, [&] {
    return emitError(*loc) << "'" << Op::getOperationName() << "' op ";
  });
}

/// The same checks on an op.
template <typename Op> LogicalResult checkOperands(Op op) {
  return Op::check(typename Op::Adaptor(op), [&] { return op.emitOpError(); });
}

/// The shape of a tensor, as an attribute.
inline DenseI64ArrayAttr shapeAttrOf(OpBuilder &builder, Value v) {
  return builder.getDenseI64ArrayAttr(typeOf(v).getShape());
}
/// The shape of `x` with `axes` as 1.
inline SmallVector<int64_t> keptShapeOf(Value x, ArrayRef<int64_t> axes) {
  SmallVector<int64_t> shape(typeOf(x).getShape());
  for (int64_t axis : axes)
    shape[axis] = 1;
  return shape;
}

/// C1 of what has a `shape`: up to 8 numbers in [1, 2^31).
LogicalResult checkShapeAttr(Report report, ArrayRef<int64_t> shape);

/// The gradients of a matmul.
LogicalResult matmulGradients(MatmulOp op, GradientBuilder &g);
/// The gradients of attention. Its lse has none.
LogicalResult attentionGradients(AttentionOp op, GradientBuilder &g);

} // namespace aicf::step

#endif // AICF_LIB_DIALECT_AICF_INFERENCE_H
