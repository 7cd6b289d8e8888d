//===- Rules.cpp - asks a call the rules of its record --------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// The order: attr layout, counts, presence, element types, fields, the numbered
// constraints, the types of results. A later rule may rely on the earlier ones.
//===----------------------------------------------------------------------===//

#include "kernels/Rules.h"
#include "kernels/RuleCall.h"
#include "lib/Base/Element.h"

#include <algorithm>
#include <cmath>

namespace aicf {
namespace rules {

Call::Call(CallSlots slots, Span<const TensorDesc> operands,
           Span<const TensorDesc> results, Span<const uint8_t> attrs) {
  Step step{slots, {}, {}, attrs};
  step.ins.reserve(operands.size());
  for (size_t i = 0; i < operands.size(); ++i)
    step.ins.push_back({operands[i].isAbsent ? nullptr : &operands[i], i, false,
                        slots.info->operands[slots.operandAt(i)].name});
  step.outs.reserve(results.size());
  for (size_t i = 0; i < results.size(); ++i)
    step.outs.push_back({results[i].isAbsent ? nullptr : &results[i], i, true,
                         slots.info->results[i].name});
  steps.push_back(std::move(step));
}

Call::Call(const Body &body, Span<const TensorDesc> values) {
  steps.reserve(body.steps.size());
  uint32_t next = body.numOperands;
  for (const BodyStep &from : body.steps) {
    const OpInfo &info = infoOf(from.kind);
    Step step{*CallSlots::of(info, from.operands.size()), {}, {}, from.attrs};
    for (size_t i = 0; i < from.operands.size(); ++i)
      step.ins.push_back(
          {from.operands[i] == kAbsentValue ? nullptr
                                            : &values[size_t(from.operands[i])],
           i, false, info.operands[step.slots.operandAt(i)].name});
    for (size_t i = 0; i < info.numResults; ++i, ++next)
      step.outs.push_back({values[next].isAbsent ? nullptr : &values[next], i,
                           true, info.results[i].name});
    steps.push_back(std::move(step));
  }
}

namespace {

Status hasElements(const Operand &operand, Elements elements) {
  DType dtype = operand->dtype;
  bool isInt = dtype == DType::I32 || dtype == DType::I64;
  const char *expected = nullptr;
  if (elements == Elements::Float && !isFloat(dtype))
    expected = "f16, bf16, f32 or f64";
  if (elements == Elements::Int && !isInt)
    expected = "i32 or i64";
  if (elements == Elements::I32 && dtype != DType::I32)
    expected = "i32";
  if (!expected)
    return {};
  return makeError(StatusCode::DTypeMismatch, operand.text(),
                   " has element type ", nameOf(dtype), ", expected ",
                   expected);
}

Status isThere(const Operand &operand) {
  if (!isAbsent(operand))
    return {};
  return makeError(StatusCode::InvalidArgument, operand.text(), " is absent");
}

} // namespace

Status Call::checkOperands() const {
  const auto &[slots, ins, outs, attrs] = steps.front();
  for (const Operand &operand : ins) {
    const OperandInfo &info =
        slots.info->operands[slots.operandAt(operand.slot)];
    if (info.presence != Presence::Optional)
      AICF_RETURN_IF_ERROR(isThere(operand));
    if (!isAbsent(operand))
      AICF_RETURN_IF_ERROR(hasElements(operand, info.elements));
    if (info.like >= 0) // both are plain, and `like` stands before it
      AICF_RETURN_IF_ERROR(
          hasType(operand, *ins[slots.slotOf(size_t(info.like))]));
  }
  for (const Operand &result : outs) {
    const ResultInfo &info = slots.info->results[result.slot];
    if (info.presence != Presence::Optional)
      AICF_RETURN_IF_ERROR(isThere(result));
    if (!isAbsent(result))
      AICF_RETURN_IF_ERROR(hasElements(result, info.elements));
  }
  return {};
}

Status Call::checkResult(const Operand &result, const ResultInfo &info) const {
  if (info.rule == TypeRule::Checked) // by the numbered constraints
    return {};
  if (info.rule == TypeRule::Flag)
    return hasType(result, TensorDesc(DType::I32, {}));
  const Step &step = steps.front();
  const Operand &of = step.ins[step.slots.slotOf(info.of)];
  if (isAbsent(of) != isAbsent(result))
    return makeError(StatusCode::InvalidArgument, result.text(), " is ",
                     isAbsent(result) ? "absent" : "there", ", but ", of.text(),
                     " is ", isAbsent(of) ? "absent" : "there");
  if (isAbsent(of))
    return {};
  if (info.rule == TypeRule::ScalarOf)
    return hasType(result, TensorDesc(of->dtype, {}));
  if (info.rule == TypeRule::WideScalarOf)
    return hasType(result, TensorDesc(wide(of->dtype), {}));
  return hasType(result, info.rule == TypeRule::RowsOf ? rowsOf(*of) : *of);
}

Status Call::checkResults() const {
  const Step &step = steps.front();
  for (const Operand &result : step.outs)
    AICF_RETURN_IF_ERROR(
        checkResult(result, step.slots.info->results[result.slot]));
  return {};
}

Status hasRank(const Operand &operand, size_t rank) {
  if (operand->rank == rank)
    return {};
  return makeError(StatusCode::ShapeMismatch, operand.text(), " is ",
                   operand->toString(), " of rank ", int(operand->rank),
                   ", expected rank ", rank);
}

Status hasRankAtLeast(const Operand &operand, size_t rank) {
  if (operand->rank >= rank)
    return {};
  return makeError(StatusCode::ShapeMismatch, operand.text(), " is ",
                   operand->toString(), " of rank ", int(operand->rank),
                   ", expected rank ", rank, " or more");
}

Status hasLastDimension(const Operand &operand) {
  return hasRankAtLeast(operand, 1);
}

Status isScalar(const Operand &operand) { return hasRank(operand, 0); }

Status hasElement(const Operand &operand, DType dtype) {
  if (operand->dtype == dtype)
    return {};
  return makeError(StatusCode::DTypeMismatch, operand.text(),
                   " has element type ", nameOf(operand->dtype), ", expected ",
                   nameOf(dtype));
}

Status hasShape(const Operand &operand, const TensorDesc &like) {
  if (operand->sameShape(like))
    return {};
  return makeError(StatusCode::ShapeMismatch, operand.text(), " is ",
                   operand->toString(), ", expected ",
                   TensorDesc(operand->dtype, like.shape()).toString());
}

Status hasShape(const Operand &operand, Span<const int64_t> shape) {
  return hasShape(operand, TensorDesc(operand->dtype, shape));
}

Status hasType(const Operand &operand, const TensorDesc &like) {
  AICF_RETURN_IF_ERROR(hasShape(operand, like));
  return hasElement(operand, like.dtype);
}

Status hasTypeOrIsNarrower(const Operand &operand, const Operand &like) {
  if (isHalf(operand->dtype) && like->dtype == DType::F32)
    return hasShape(operand, *like);
  return hasType(operand, *like);
}

Status isNumber(const char *field, double value, bool isLegal,
                const char *expected) {
  if (isLegal)
    return {};
  return makeError(StatusCode::InvalidArgument, field, " is ",
                   formatNumber(value), ", expected ", expected);
}

TensorDesc rowsOf(const TensorDesc &x) {
  return TensorDesc(x.dtype,
                    {x.dims, size_t(std::max(x.rank, uint8_t(1))) - 1});
}

} // namespace rules

Status checkRange(const char *name, double value, Range range) {
  auto isIt = [&](bool isLegal, const char *expected) {
    return rules::isNumber(name, value, isLegal, expected);
  };
  switch (range) {
  case Range::Any:
    return {};
  case Range::Finite:
    return isIt(std::isfinite(value), "a finite number");
  case Range::NonNegative:
    return isIt(value >= 0 && std::isfinite(value), "a finite number >= 0");
  case Range::AtLeastOne:
    return isIt(value >= 1 && std::isfinite(value), "a finite number >= 1");
  case Range::BelowOne:
    return isIt(value >= 0 && value < 1, "a number in [0, 1)");
  case Range::Fraction:
    return isIt(value > 0 && value <= 1, "a number in (0, 1]");
  case Range::Positive31:
    return isIt(value >= 1 && value <= INT32_MAX, "a number in [1, 2^31)");
  case Range::ZeroOrOne:
    return isIt(value == 0 || value == 1, "0 or 1");
  }
  return {};
}

namespace rules {
namespace {

/// `isDouble`: the call computes in f64, else in f32, where a number that f64
/// holds may be infinite.
Status checkField(const FieldInfo &field, Span<const uint8_t> attrs,
                  bool isDouble) {
  FieldValue value = decodeField(field, attrs);
  bool isReal = std::holds_alternative<double>(value);
  double v =
      isReal ? std::get<double>(value) : double(std::get<int64_t>(value));
  std::string name(field.name);
  AICF_RETURN_IF_ERROR(checkRange(name.c_str(), v, field.range));
  bool isHeld =
      isDouble || !isReal || !std::isfinite(v) || isFiniteAs(DType::F32, v);
  return isNumber(name.c_str(), v, isHeld, "a number that f32 holds");
}

/// The first numbered constraint that does not hold.
Status checkConstraints(OpKind kind, const Call &call) {
#define AICF_ASK(OP, VIEW, N)                                                  \
  if (kind == OpKind::VIEW)                                                    \
    if (Status status = OP##_c##N(call); !status.ok())                         \
      return status.withContext("C" #N);
  AICF_CONSTRAINTS(AICF_ASK)
#undef AICF_ASK
  return {};
}

Status checkCounts(const OpInfo &info, std::optional<CallSlots> slots,
                   size_t numIns, size_t numOuts) {
  if (!slots)
    return makeError(StatusCode::InvalidArgument, "got ", numIns,
                     " operands, expected ", info.numOperands,
                     info.hasVariadic ? " or more" : "");
  if (numOuts != info.numResults)
    return makeError(StatusCode::InvalidArgument, "got ", numOuts,
                     " results, expected ", info.numResults);
  return {};
}

} // namespace
} // namespace rules

Status checkRecord(OpKind kind, Span<const TensorDesc> ins,
                   Span<const TensorDesc> outs, Span<const uint8_t> attrs) {
  const OpInfo &info = infoOf(kind);
  std::optional<CallSlots> slots = CallSlots::of(info, ins.size());
  AICF_RETURN_IF_ERROR(
      rules::checkCounts(info, slots, ins.size(), outs.size()));
  rules::Call call(*slots, ins, outs, attrs);
  AICF_RETURN_IF_ERROR(call.checkOperands());
  auto isF64 = [](const TensorDesc &desc) {
    return !desc.isAbsent && desc.dtype == DType::F64;
  };
  bool isDouble = std::any_of(ins.begin(), ins.end(), isF64) ||
                  std::any_of(outs.begin(), outs.end(), isF64);
  for (size_t i = 0; i < info.numFields; ++i)
    AICF_RETURN_IF_ERROR(rules::checkField(info.fields[i], attrs, isDouble));
  AICF_RETURN_IF_ERROR(rules::checkConstraints(kind, call));
  return call.checkResults();
}

Status checkCall(OpKind kind, Span<const TensorDesc> ins,
                 Span<const TensorDesc> outs, uint32_t schema,
                 Span<const uint8_t> attrs) {
  const OpInfo &info = infoOf(kind);
  std::string op(info.name);
  if (schema != info.schema)
    return makeError(StatusCode::BadSchema, op, ": attr schema is ", schema,
                     ", expected ", info.schema);
  if (attrs.size() != info.attrBytes)
    return makeError(StatusCode::BadAttrSize, op, ": attr blob has ",
                     attrs.size(), " bytes, expected ", info.attrBytes);
  return checkRecord(kind, ins, outs, attrs).withContext(op);
}

std::optional<FieldValue> fieldDefault(OpKind kind, size_t field,
                                       Span<const TensorDesc> ins) {
  const OpInfo &info = infoOf(kind);
  const FieldInfo &f = info.fields[field];
  if (f.hasDefault)
    return f.format == 'd' ? FieldValue(f.defaultValue)
                           : FieldValue(int64_t(f.defaultValue));
  std::optional<CallSlots> slots = CallSlots::of(info, ins.size());
  if (!slots)
    return std::nullopt;
  rules::Call call(*slots, ins, {}, {});
#define AICF_ASK(OP, VIEW, FIELD)                                              \
  if (kind == OpKind::VIEW && f.name == #FIELD)                                \
    return rules::default_##OP##_##FIELD(call);
  AICF_COMPUTED_DEFAULTS(AICF_ASK)
#undef AICF_ASK
  return std::nullopt;
}

} // namespace aicf
