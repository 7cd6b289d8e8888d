//===- BodyRules.cpp - which bodies a call may have -----------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Ops/BodyRules.h"
#include "lib/Ops/RuleCall.h"
#include "lib/Ops/Rules.h"

namespace aicf {
namespace {

template <typename... Args>
Status refuse(const Body &body, size_t primitive, const Args &...args) {
  return makeError(StatusCode::InvalidArgument, "primitive ", primitive, " (",
                   nameOf(body.primitives[primitive].kind), "): ", args...);
}

/// Kind, attrs and counts of one primitive.
Status checkPrimitive(const Body &body, size_t index) {
  const Primitive &primitive = body.primitives[index];
  if (!isKnown(primitive.kind))
    return makeError(StatusCode::InvalidArgument, "primitive ", index,
                     " has kind ", int(primitive.kind), ", which is unknown");
  const OpInfo &info = infoOf(primitive.kind);
  if (primitive.attrs.size() != info.attrBytes)
    return makeError(StatusCode::BadAttrSize, "primitive ", index, " (",
                     info.name, "): attr blob has ", primitive.attrs.size(),
                     " bytes, expected ", info.attrBytes);
  std::optional<CallSlots> slots =
      CallSlots::of(info, primitive.operands.size());
  if (!slots)
    return refuse(body, index, "got ", primitive.operands.size(),
                  " operands, expected ", info.numOperands,
                  info.hasVariadic ? " or more" : "");
  for (size_t slot = 0; slot < primitive.operands.size(); ++slot)
    if (primitive.operands[slot] == kAbsentValue &&
        info.operands[slots->operandAt(slot)].presence != Presence::Optional)
      return refuse(body, index, "operand ", slot, " (",
                    info.operands[slots->operandAt(slot)].name, ") is absent");
  return {};
}

/// How often each value is read, and that operands are numbered by first use.
class UseChecker {
public:
  explicit UseChecker(const Body &body)
      : body(body), isUsed(body.numValues()), made(body.numOperands) {}

  Status primitive(size_t index) {
    const Primitive &primitive = body.primitives[index];
    for (int32_t value : primitive.operands) {
      if (value == kAbsentValue)
        continue;
      if (uint32_t(value) >= made) // or negative
        return refuse(body, index, "reads value ", value,
                      ", but the values before it are 0 to ",
                      int64_t(made) - 1);
      bool isOperand = uint32_t(value) < body.numOperands;
      bool isFresh = isOperand && !isUsed[uint32_t(value)];
      if (isFresh && uint32_t(value) != firstUses++)
        return refuse(body, index, "operand ", value,
                      " of the call is used before operand ", firstUses - 1);
      if (!isFresh && body.primitives.size() == 1)
        return refuse(body, index, "operand ", value,
                      " of the call is used at two slots, expected one");
      isUsed[uint32_t(value)] = true;
    }
    made += primitive.numResults();
    return {};
  }

  Status finish() {
    if (firstUses != body.numOperands)
      return makeError(StatusCode::InvalidArgument, "the call has ",
                       body.numOperands, " operands, its body reads ",
                       firstUses);
    int64_t last = -1;
    for (uint32_t result : body.results) {
      if (result < body.numOperands || result >= made || result <= last)
        return makeError(StatusCode::InvalidArgument, "yields value ", result,
                         ", expected one of ", body.numOperands, " to ",
                         int64_t(made) - 1, ", in order, once each");
      last = result;
      isUsed[result] = true;
    }
    return checkUnused();
  }

private:
  /// An optional result is absent where nobody uses it.
  Status checkUnused() const {
    uint32_t next = body.numOperands;
    for (size_t i = 0; i < body.primitives.size(); ++i) {
      const Primitive &primitive = body.primitives[i];
      for (uint32_t r = 0; r < primitive.numResults(); ++r)
        if (!isUsed[next++] &&
            infoOf(primitive.kind).results[r].presence != Presence::Optional)
          return refuse(body, i, "result ", r,
                        " is neither read nor a result of the call");
    }
    return {};
  }

  const Body &body;
  std::vector<bool> isUsed;
  uint32_t made, firstUses = 0;
};

/// A result whose type a function of its family gives.
struct InferredResult {
  OpKind kind;
  std::string_view result;
  TensorDesc (*infer)(const rules::Call &, PrimitivePosition);
};
constexpr InferredResult kInferredResults[] = {
#define AICF_ENTRY(OP, VIEW, RESULT)                                           \
  {OpKind::VIEW, #RESULT, [](const rules::Call &call, PrimitivePosition at) {  \
     return rules::infer_##OP##_##RESULT({call, at});                          \
   }},
    AICF_INFERRED_RESULTS(AICF_ENTRY)
#undef AICF_ENTRY
};

/// The type of an inner value: `values` are those before the primitive's
/// results.
StatusOr<TensorDesc> infer(const Body &body, PrimitivePosition at, size_t slot,
                           Span<const TensorDesc> values) {
  const Primitive &primitive = body.primitives[at.primitive];
  CallSlots slots =
      *CallSlots::of(infoOf(primitive.kind), primitive.operands.size());
  const ResultInfo &result = infoOf(primitive.kind).results[slot];
  int32_t of = primitive.operands[slots.slotOf(result.of)];
  if (auto type =
          typeByRule(result.rule, of == kAbsentValue ? TensorDesc::absent()
                                                     : values[size_t(of)]))
    // An inner value lies nowhere, whatever lies how.
    return type->layout == Layout::Strided ? type->dense() : *type;
  rules::Call call(body, values);
  for (const InferredResult &inferred : kInferredResults)
    if (std::pair(inferred.kind, inferred.result) ==
        std::pair(primitive.kind, result.name))
      if (TensorDesc type = inferred.infer(call, at); !type.isAbsent)
        return type;
  return refuse(body, at.primitive, "its result ", result.name,
                " must be a result of the call: nothing else gives its type");
}

} // namespace

Status checkForm(const Body &body) {
  if (body.primitives.empty() || body.primitives.size() > kMaxBodyPrimitives)
    return makeError(StatusCode::InvalidArgument, "the body has ",
                     body.primitives.size(), " primitives, expected 1 to ",
                     kMaxBodyPrimitives);
  for (size_t i = 0; i < body.primitives.size(); ++i)
    AICF_RETURN_IF_ERROR(checkPrimitive(body, i));
  size_t slots = 0;
  for (const Primitive &primitive : body.primitives)
    slots += primitive.operands.size();
  // Before anything is as large as the number says.
  if (body.numOperands > slots)
    return makeError(StatusCode::InvalidArgument, "the call has ",
                     body.numOperands, " operands, its body has room for ",
                     slots);
  UseChecker uses(body);
  for (size_t i = 0; i < body.primitives.size(); ++i)
    AICF_RETURN_IF_ERROR(uses.primitive(i));
  return uses.finish();
}

/// By number: whether a primitive reads it.
static std::vector<bool> readValuesOf(const Body &body) {
  std::vector<bool> isRead(body.numValues());
  for (const Primitive &primitive : body.primitives)
    for (int32_t value : primitive.operands)
      if (value != kAbsentValue)
        isRead[uint32_t(value)] = true;
  return isRead;
}

std::vector<uint32_t> valuesMade(const Body &body) {
  std::vector<bool> isUsed = readValuesOf(body);
  for (uint32_t result : body.results)
    isUsed[result] = true;
  std::vector<uint32_t> made;
  for (uint32_t value = body.numOperands; value < isUsed.size(); ++value)
    if (isUsed[value])
      made.push_back(value);
  return made;
}

StatusOr<std::vector<TensorDesc>> describeValues(const Body &body,
                                                 Span<const TensorDesc> ins,
                                                 Span<const TensorDesc> outs) {
  if (ins.size() != body.numOperands || outs.size() != body.results.size())
    return makeError(StatusCode::InvalidArgument, "got ", ins.size(),
                     " operands and ", outs.size(),
                     " results for a body that takes ", body.numOperands,
                     " and gives ", body.results.size());
  std::vector<TensorDesc> values;
  values.reserve(body.numValues());
  values.assign(ins.begin(), ins.end());
  const std::vector<bool> isRead = readValuesOf(body);
  std::vector<const TensorDesc *> given(isRead.size()); // by number
  for (size_t r = 0; r < outs.size(); ++r)
    given[body.results[r]] = &outs[r];
  for (size_t i = 0; i < body.primitives.size(); ++i) {
    const Primitive &primitive = body.primitives[i];
    PrimitivePosition at{i, uint32_t(values.size())};
    for (size_t slot = 0; slot < primitive.numResults(); ++slot) {
      size_t number = values.size();
      if (given[number]) {
        values.push_back(*given[number]);
        continue;
      }
      if (!isRead[number]) {
        values.push_back(TensorDesc::absent());
        continue;
      }
      AICF_ASSIGN_OR_RETURN(
          TensorDesc inner,
          infer(body, at, slot, {values.data(), size_t(at.firstResult)}));
      if (!checkedBytes(inner))
        return makeError(StatusCode::ShapeMismatch, nameOf(primitive.kind),
                         ": result ", slot, " would be ", inner.toString(),
                         ", expected a rank up to ", kMaxRank,
                         ", dimensions up to ", INT32_MAX, " and up to ",
                         kMaxTensorBytes, " bytes");
      values.push_back(inner);
    }
    Status fits =
        rules::checkPrimitive(rules::Call(body, values), primitive, at);
    if (!fits.ok())
      return fits.withContext(std::string(nameOf(primitive.kind)));
  }
  return values;
}

std::string primitiveNames(const Body &body) {
  std::string names;
  for (const Primitive &primitive : body.primitives)
    names += (names.empty() ? "" : ", ") + std::string(nameOf(primitive.kind));
  return names;
}

std::string describeOperand(const Body &body, size_t operand) {
  std::string text = "operand " + std::to_string(operand);
  for (const Primitive &primitive : body.primitives)
    for (size_t slot = 0; slot < primitive.operands.size(); ++slot)
      if (primitive.operands[slot] == int32_t(operand)) {
        const OpInfo &info = infoOf(primitive.kind);
        CallSlots slots = *CallSlots::of(info, primitive.operands.size());
        return text + " (" +
               std::string(info.operands[slots.operandAt(slot)].name) + ")";
      }
  return text;
}

std::string describeResult(const Body &body, size_t result) {
  auto [primitive, slot] = body.makerOf(body.results[result]);
  const OpInfo &info = infoOf(body.primitives[primitive].kind);
  return "result " + std::to_string(result) + " (" +
         std::string(info.results[slot].name) + ")";
}

} // namespace aicf
