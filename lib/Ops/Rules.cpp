//===- Rules.cpp - asks a call the rules of its record --------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// The order: attr layout, counts, presence, element types, fields, the numbered
// constraints, the types of results. A later rule may rely on the earlier ones.
//===----------------------------------------------------------------------===//

#include "lib/Ops/Rules.h"
#include "lib/Base/Element.h"
#include "lib/Ops/Fields.h"
#include "lib/Ops/RuleCall.h"

#include <algorithm>
#include <cmath>

namespace aicf {
namespace rules {

const TensorDesc *Call::descOf(int64_t value) const {
  return value != kAbsentValue && !values[size_t(value)].isAbsent
             ? &values[size_t(value)]
             : nullptr;
}

CallSlots Call::slotsOf(PrimitivePosition at) const {
  const Primitive &primitive = primitiveAt(at);
  return *CallSlots::of(infoOf(primitive.kind), primitive.operands.size());
}

Operand Call::in(PrimitivePosition at, size_t slot) const {
  CallSlots slots = slotsOf(at);
  return {descOf(primitiveAt(at).operands[slot]), slot, false,
          slots.info->operands[slots.operandAt(slot)].name};
}

Operand Call::out(PrimitivePosition at, size_t slot) const {
  return {descOf(int64_t(at.firstResult + slot)), slot, true,
          infoOf(primitiveAt(at).kind).results[slot].name};
}

namespace {

Status hasElements(const Operand &operand, ElementTypes types) {
  DType dtype = operand->dtype;
  bool isInt = dtype == DType::I32 || dtype == DType::I64;
  const char *expected = nullptr;
  if (types == ElementTypes::Float && !isFloat(dtype))
    expected = "f16, bf16, f32 or f64";
  if (types == ElementTypes::Int && !isInt)
    expected = "i32 or i64";
  if (types == ElementTypes::I32 && dtype != DType::I32)
    expected = "i32";
  if (types == ElementTypes::F32 && dtype != DType::F32)
    expected = "f32";
  if (types == ElementTypes::Wide && dtype != DType::F32 && dtype != DType::F64)
    expected = "f32 or f64";
  if (types == ElementTypes::Bool && dtype != DType::I1)
    expected = "i1";
  if (types == ElementTypes::Number && dtype == DType::I1)
    expected = "f16, bf16, f32, f64, i32 or i64";
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

Status Call::checkOperands(PrimitivePosition at) const {
  CallSlots slots = slotsOf(at);
  for (size_t i = 0; i < primitiveAt(at).operands.size(); ++i) {
    Operand operand = in(at, i);
    const OperandInfo &info = slots.info->operands[slots.operandAt(i)];
    if (info.presence != Presence::Optional)
      AICF_RETURN_IF_ERROR(isThere(operand));
    if (!isAbsent(operand))
      AICF_RETURN_IF_ERROR(hasElements(operand, info.elementTypes));
    if (info.like >= 0) // both are plain, and `like` stands before it
      AICF_RETURN_IF_ERROR(
          hasType(operand, *in(at, slots.slotOf(size_t(info.like)))));
  }
  for (size_t i = 0; i < slots.info->numResults; ++i) {
    Operand result = out(at, i);
    const ResultInfo &info = slots.info->results[i];
    if (info.presence != Presence::Optional)
      AICF_RETURN_IF_ERROR(isThere(result));
    if (!isAbsent(result))
      AICF_RETURN_IF_ERROR(hasElements(result, info.elementTypes));
  }
  return {};
}

bool Call::computesIn(DType dtype, PrimitivePosition at) const {
  const Primitive &primitive = primitiveAt(at);
  auto isOfType = [&](const Operand &operand) {
    return !isAbsent(operand) && operand->dtype == dtype;
  };
  for (size_t i = 0; i < primitive.operands.size(); ++i)
    if (isOfType(in(at, i)))
      return true;
  for (size_t i = 0; i < primitive.numResults(); ++i)
    if (isOfType(out(at, i)))
      return true;
  return false;
}

const TensorDesc *Call::reducedOnTheWayTo(const Operand &x,
                                          int64_t axis) const {
  std::vector<bool> isOnTheWay(values.size());
  isOnTheWay[size_t(x.desc - values.begin())] = true;
  std::vector<uint32_t> firstResults;
  uint32_t next = body->numOperands;
  for (const Primitive &primitive : body->primitives) {
    firstResults.push_back(next);
    next += primitive.numResults();
  }
  for (size_t p = body->primitives.size(); p-- > 0;) {
    const Primitive &primitive = body->primitives[p];
    const OpInfo &info = infoOf(primitive.kind);
    bool isMet = false;
    for (uint32_t r = 0; r < primitive.numResults(); ++r)
      isMet |= firstResults[p] + r < isOnTheWay.size() &&
               isOnTheWay[firstResults[p] + r];
    if (!isMet)
      continue;
    if (!info.isSum()) {
      for (int32_t operand : primitive.operands)
        if (operand != kAbsentValue)
          isOnTheWay[size_t(operand)] = true;
    } else if (std::get<int64_t>(
                   decodeField(info.fields[0], primitive.attrs)) == axis) {
      return &values[size_t(primitive.operands[0])];
    }
  }
  return nullptr;
}

Status Call::checkResult(PrimitivePosition at, const Operand &result,
                         const ResultInfo &info) const {
  if (info.rule == TypeRule::Checked) // by the numbered constraints
    return {};
  Operand of = in(at, slotsOf(at).slotOf(info.of));
  if (isAbsent(of) != isAbsent(result))
    return makeError(StatusCode::InvalidArgument, result.text(), " is ",
                     isAbsent(result) ? "absent" : "present", ", but ",
                     of.text(), " is ", isAbsent(of) ? "absent" : "present");
  if (isAbsent(of))
    return {};
  return hasType(result, *typeByRule(info.rule, *of));
}

Status Call::checkResults(PrimitivePosition at) const {
  const OpInfo &info = infoOf(primitiveAt(at).kind);
  for (size_t i = 0; i < info.numResults; ++i)
    AICF_RETURN_IF_ERROR(checkResult(at, out(at, i), info.results[i]));
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

Status areInOrder(double min, double max) {
  if (min <= max)
    return {};
  return makeError(StatusCode::InvalidArgument, "min is ", formatNumber(min),
                   ", expected at most max, which is ", formatNumber(max));
}

Status isNumberOf(const Operand &of, const char *field, double value) {
  if (isFloat(of->dtype))
    return {};
  double bound = of->dtype == DType::I64 ? 0x1p63 : 0x1p31;
  if (value == std::trunc(value) && value >= -bound && value < bound)
    return {};
  return makeError(StatusCode::InvalidArgument, field, " is ",
                   formatNumber(value), ", expected a whole number that ",
                   nameOf(of->dtype), " holds, the element type of ",
                   of.text());
}

TensorDesc rowsOf(const TensorDesc &x) {
  return TensorDesc(x.dtype,
                    {x.dims, size_t(std::max(x.rank, uint8_t(1))) - 1});
}

} // namespace rules

std::optional<TensorDesc> typeByRule(TypeRule rule, const TensorDesc &of) {
  switch (rule) {
  case TypeRule::Like:
    return of;
  case TypeRule::ScalarOf:
    return TensorDesc(of.dtype, {});
  case TypeRule::WideScalarOf:
    return TensorDesc(rules::wide(of.dtype), {});
  case TypeRule::RowsOf:
    return rules::rowsOf(of);
  case TypeRule::BoolLike:
    return TensorDesc(DType::I1, of.shape());
  case TypeRule::ScalarI32:
    return TensorDesc(DType::I32, {});
  case TypeRule::F32Like:
    return TensorDesc(DType::F32, of.shape());
  case TypeRule::F16Like:
    return TensorDesc(DType::F16, of.shape());
  case TypeRule::BF16Like:
    return TensorDesc(DType::BF16, of.shape());
  case TypeRule::F64Like:
    return TensorDesc(DType::F64, of.shape());
  case TypeRule::Checked:
    break;
  }
  return std::nullopt;
}

Status checkRange(const char *name, double value, Range range) {
  auto isIt = [&](bool isLegal, const char *expected) {
    return rules::isNumber(name, value, isLegal, expected);
  };
  switch (range) {
  case Range::Any:
    return {};
  case Range::NotNaN:
    return isIt(!std::isnan(value), "a number or an infinity");
  case Range::Finite:
    return isIt(std::isfinite(value), "a finite number");
  case Range::Positive:
    return isIt(value > 0 && std::isfinite(value), "a finite number > 0");
  case Range::NonNegative:
    return isIt(value >= 0 && std::isfinite(value), "a finite number >= 0");
  case Range::AtLeastOne:
    return isIt(value >= 1 && std::isfinite(value), "a finite number >= 1");
  case Range::BelowOne:
    return isIt(value >= 0 && value < 1, "a number in [0, 1)");
  case Range::Fraction:
    return isIt(value > 0 && value <= 1, "a number in (0, 1]");
  case Range::NonNegative31:
    return isIt(value >= 0 && value <= INT32_MAX, "a number in [0, 2^31)");
  case Range::AtLeastMinusOne31:
    return isIt(value >= -1 && value <= INT32_MAX, "a number in [-1, 2^31)");
  case Range::Below31:
    return isIt(std::fabs(value) <= INT32_MAX, "a number in (-2^31, 2^31)");
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
  bool isHeld = isDouble || std::isinf(v) || isFiniteAs(DType::F32, v);
  return isNumber(name.c_str(), v, isHeld, "a number that f32 holds");
}

/// One numbered constraint of a record.
struct NumberedRule {
  OpKind kind;
  const char *name; ///< "C1"
  Status (*check)(const Call &, PrimitivePosition);
};
constexpr NumberedRule kNumberedRules[] = {
#define AICF_ENTRY(OP, VIEW, N)                                                \
  {OpKind::VIEW, "C" #N, [](const Call &call, PrimitivePosition at) {          \
     return OP##_c##N({call, at});                                             \
   }},
    AICF_CONSTRAINTS(AICF_ENTRY)
#undef AICF_ENTRY
};

/// The first numbered constraint that does not hold.
Status checkConstraints(OpKind kind, const Call &call, PrimitivePosition at) {
  // They stand by kind, in order.
  const auto *rule = std::lower_bound(
      std::begin(kNumberedRules), std::end(kNumberedRules), kind,
      [](const NumberedRule &r, OpKind kind) { return r.kind < kind; });
  for (; rule != std::end(kNumberedRules) && rule->kind == kind; ++rule)
    if (Status status = rule->check(call, at); !status.ok())
      return status.withContext(rule->name);
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

/// One default that a rule computes.
struct ComputedDefault {
  OpKind kind;
  std::string_view field;
  double (*compute)(const Call &);
};
constexpr ComputedDefault kComputedDefaults[] = {
#define AICF_ENTRY(OP, VIEW, FIELD)                                            \
  {OpKind::VIEW, #FIELD,                                                       \
   [](const Call &call) { return default_##OP##_##FIELD(call); }},
    AICF_COMPUTED_DEFAULTS(AICF_ENTRY)
#undef AICF_ENTRY
};

/// Operations that a function of the family counts; null: there are none.
struct CountedFlops {
  OpKind kind;
  double (*count)(const Call &, PrimitivePosition);
};
constexpr CountedFlops kCountedFlops[] = {
#define AICF_ENTRY(OP, VIEW)                                                   \
  {OpKind::VIEW, [](const Call &call, PrimitivePosition at) {                  \
     return flops_##OP({call, at});                                            \
   }},
    AICF_COUNTED_FLOPS(AICF_ENTRY)
#undef AICF_ENTRY
#define AICF_ENTRY(VIEW) {OpKind::VIEW, nullptr},
        AICF_WITHOUT_FLOPS(AICF_ENTRY)
#undef AICF_ENTRY
};

} // namespace

double flopsOf(const Call &call, const Primitive &primitive,
               PrimitivePosition at) {
  for (const CountedFlops &counted : kCountedFlops)
    if (counted.kind == primitive.kind)
      return counted.count ? counted.count(call, at) : 0;
  return call.elementsMade(at);
}

double Call::elementsMade(PrimitivePosition at) const {
  double elements = 0;
  for (size_t slot = 0; slot < primitiveAt(at).numResults(); ++slot)
    if (std::optional<Operand> made = optionalOut(at, slot))
      elements += double((*made)->elements());
  return elements;
}

std::optional<size_t> resultLookedUpIn(OpKind kind, size_t slot) {
#define AICF_ENTRY(VIEW, OPERAND, RESULT)                                      \
  if (kind == OpKind::VIEW && slot == OPERAND)                                 \
    return RESULT;
  AICF_LOOKED_UP(AICF_ENTRY)
#undef AICF_ENTRY
  return std::nullopt;
}

Status checkPrimitive(const Call &call, const Primitive &primitive,
                      PrimitivePosition at) {
  AICF_RETURN_IF_ERROR(call.checkOperands(at));
  const OpInfo &info = infoOf(primitive.kind);
  bool isDouble = call.computesIn(DType::F64, at);
  for (size_t i = 0; i < info.numFields; ++i)
    AICF_RETURN_IF_ERROR(checkField(info.fields[i], primitive.attrs, isDouble));
  AICF_RETURN_IF_ERROR(checkConstraints(primitive.kind, call, at));
  return call.checkResults(at);
}

} // namespace rules

/// A body of one primitive, and the types of what is there.
static std::pair<Body, std::vector<TensorDesc>>
makeTypedBody(OpKind kind, Span<const TensorDesc> ins,
              Span<const TensorDesc> outs, Span<const uint8_t> attrs) {
  std::vector<bool> hasOperand;
  std::vector<TensorDesc> types;
  for (const TensorDesc &desc : ins) {
    hasOperand.push_back(!desc.isAbsent);
    if (!desc.isAbsent)
      types.push_back(desc);
  }
  types.insert(types.end(), outs.begin(), outs.end());
  return {makeBody(kind, {attrs.begin(), attrs.end()}, hasOperand, {}),
          std::move(types)};
}

Status checkRecord(OpKind kind, Span<const TensorDesc> ins,
                   Span<const TensorDesc> outs, Span<const uint8_t> attrs) {
  const OpInfo &info = infoOf(kind);
  AICF_RETURN_IF_ERROR(rules::checkCounts(info, CallSlots::of(info, ins.size()),
                                          ins.size(), outs.size()));
  auto [body, types] = makeTypedBody(kind, ins, outs, attrs);
  rules::Call call(body, types);
  return rules::checkPrimitive(call, body.primitives.front(),
                               {0, body.numOperands});
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
  auto slots = CallSlots::of(info, ins.size());
  if (!slots)
    return std::nullopt;
  for (size_t i = 0; i < ins.size(); ++i)
    if (ins[i].isAbsent &&
        info.operands[slots->operandAt(i)].presence != Presence::Optional)
      return std::nullopt;
  auto [body, types] = makeTypedBody(kind, ins, {}, {});
  rules::Call call(body, types);
  for (const auto &computed : rules::kComputedDefaults)
    if (std::pair(computed.kind, computed.field) == std::pair(kind, f.name))
      return computed.compute(call);
  return std::nullopt;
}

} // namespace aicf
