//===- RuleCall.h - a call that rules look at -------------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// What the functions in kernels/<family>/Rules.cpp are given and what they say
// things with. A rule returns what is wrong in words; checkCall() puts the op
// and the constraint's number in front of them. Knows no MLIR and no plan.
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_OPS_RULECALL_H
#define AICF_LIB_OPS_RULECALL_H

#include "aicf/Body.h"
#include "aicf/Status.h"
#include "aicf/TensorDesc.h"
#include "lib/Ops/OpViews.h"

#include <vector>

namespace aicf::rules {

/// One operand or result slot of a primitive.
struct Operand {
  const TensorDesc *desc; ///< null: absent
  size_t slot;
  bool isResult;
  std::string_view name;

  const TensorDesc *operator->() const { return desc; }
  const TensorDesc &operator*() const { return *desc; }
  /// "operand 1 (b)"
  std::string text() const {
    return (isResult ? "result " : "operand ") + std::to_string(slot) + " (" +
           std::string(name) + ")";
  }
};
inline bool isAbsent(const Operand &operand) { return !operand.desc; }

/// A call under check, or one that a family is asked about: a body and the
/// types of its values. Counts, presence, element types and fields are right
/// before the first constraint is asked.
class Call : public BodyCall<const TensorDesc> {
public:
  /// `types` by the body's numbers (see describeValues()); those that are not
  /// known yet may be missing at the end. Both must outlive the call.
  using BodyCall::BodyCall;

  /// What holds for every record: which operands are there, of which elements.
  Status checkOperands(PrimitivePosition at) const;
  /// True if an operand or a result is of `dtype`.
  bool computesIn(DType dtype, PrimitivePosition at) const;
  /// What is reduced along `axis` inside the body, on the way to `x`: the nearest
  /// one, or null.
  const TensorDesc *reducedOnTheWayTo(const Operand &x, int64_t axis) const;
  /// The results' types follow from the operands' as the record says.
  Status checkResults(PrimitivePosition at) const;
  /// Elements of the results that are there.
  double elementsMade(PrimitivePosition at) const;

private:
  template <typename> friend class aicf::CallView;
  Status checkResult(PrimitivePosition at, const Operand &result,
                     const ResultInfo &info) const;
  /// The desc of a value, null where it is absent.
  const TensorDesc *descOf(int64_t value) const;
  CallSlots slotsOf(PrimitivePosition at) const;
  Operand in(PrimitivePosition at, size_t slot) const;
  Operand out(PrimitivePosition at, size_t slot) const;
  static std::optional<Operand> ifPresent(Operand operand) {
    return isAbsent(operand) ? std::nullopt : std::optional(operand);
  }
  std::optional<Operand> optionalIn(PrimitivePosition at, size_t slot) const {
    return ifPresent(in(at, slot));
  }
  std::optional<Operand> optionalOut(PrimitivePosition at, size_t slot) const {
    return ifPresent(out(at, slot));
  }
};

/// Checks the primitive at `at` of a call whose values up to its results are
/// known: presence, element types, fields, the numbered constraints, the types
/// of the results.
Status checkPrimitive(const Call &call, const Primitive &primitive,
                      PrimitivePosition at);

inline bool isHalf(DType dtype) {
  return dtype == DType::F16 || dtype == DType::BF16;
}

/// What sums over `dtype` are kept in outside of kernels: at least f32.
inline DType wide(DType dtype) { return isHalf(dtype) ? DType::F32 : dtype; }

// Each returns an error that names the operand and both values.

Status hasRank(const Operand &operand, size_t rank);
Status hasRankAtLeast(const Operand &operand, size_t rank);
/// Rank 1 or more.
Status hasLastDimension(const Operand &operand);
Status isScalar(const Operand &operand);
Status hasElement(const Operand &operand, DType dtype);
Status hasShape(const Operand &operand, const TensorDesc &like);
Status hasShape(const Operand &operand, Span<const int64_t> shape);
/// Shape and element type.
Status hasType(const Operand &operand, const TensorDesc &like);
/// The type of `like`, or its shape and 16 bits where `like` is f32.
Status hasTypeOrIsNarrower(const Operand &operand, const Operand &like);
Status isNumber(const char *field, double value, bool isLegal,
                const char *expected);
/// The fields `min` and `max`.
Status areInOrder(double min, double max);
/// Where `of` holds integers, a number that its type has. Elsewhere any.
Status isNumberOf(const Operand &of, const char *field, double value);
/// Returns ok for an operand that is absent.
template <typename Rule, typename... Args>
Status ifThere(const std::optional<Operand> &operand, Rule rule,
               const Args &...args) {
  return operand ? rule(*operand, args...) : Status();
}

/// x's shape without its last dimension, if it has one.
TensorDesc rowsOf(const TensorDesc &x);
/// x's last dimension; x has one.
inline int64_t widthOf(const TensorDesc &x) { return x.dims[x.rank - 1]; }

// The numbered constraints: see the records in Family.td.
#define AICF_DECLARE_RULE(OP, VIEW, N)                                         \
  Status OP##_c##N(const VIEW##View<Call> &c);
AICF_CONSTRAINTS(AICF_DECLARE_RULE)
#undef AICF_DECLARE_RULE
#define AICF_DECLARE_DEFAULT(OP, VIEW, FIELD)                                  \
  double default_##OP##_##FIELD(const VIEW##View<Call> &c);
AICF_COMPUTED_DEFAULTS(AICF_DECLARE_DEFAULT)
#undef AICF_DECLARE_DEFAULT
// Types of results that may stand inside a body; operands need not be checked.
#define AICF_DECLARE_INFERENCE(OP, VIEW, RESULT)                               \
  TensorDesc infer_##OP##_##RESULT(const VIEW##View<Call> &c);
AICF_INFERRED_RESULTS(AICF_DECLARE_INFERENCE)
#undef AICF_DECLARE_INFERENCE
// Floating-point operations of a call whose values are known.
#define AICF_DECLARE_FLOPS(OP, VIEW)                                           \
  double flops_##OP(const VIEW##View<Call> &c);
AICF_COUNTED_FLOPS(AICF_DECLARE_FLOPS)
#undef AICF_DECLARE_FLOPS
/// Floating-point operations of the primitive at `at`: as its record says, the
/// elements that it makes, none, or what a function of its family counts.
double flopsOf(const Call &call, const Primitive &primitive,
               PrimitivePosition at);
/// The result that has as many elements as are read of operand `slot`, where
/// some of many are looked up.
std::optional<size_t> resultLookedUpIn(OpKind kind, size_t slot);

} // namespace aicf::rules

#endif // AICF_LIB_OPS_RULECALL_H
