//===- SampleCalls.cpp - legal calls of every kind ------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "unittests/Common/SampleCalls.h"
#include "lib/Ops/Graphs.h"

#include <algorithm>

namespace aicf::test {

// In kernels/<family>/test/Samples.cpp: a family without samples does not link.
#define AICF_FAMILY(family) std::vector<KindRow> family##Samples();
#include "kernels/Families.inc" // made by CMake

KindRow uniformRow(std::string name, OpKind kind, DType dtype,
                   std::vector<uint8_t> attrs) {
  auto make = [=](int64_t m, int64_t n) {
    Sample sample;
    sample.ins.assign(infoOf(kind).numOperands, {dtype, {m, n}});
    sample.outs = {{dtype, {m, n}}};
    sample.attrs = attrs;
    return sample;
  };
  return KindRow{std::move(name), kind, make}.wide();
}

namespace {

/// Operands and result of one shape and type, as most pointwise functions have:
/// the record says all that a sample needs.
KindRow uniformRow(OpKind kind) {
  auto make = [kind](int64_t m, int64_t n) {
    Sample sample;
    sample.ins.assign(infoOf(kind).numOperands, f({m, n}));
    sample.outs = {f({m, n})};
    return sample;
  };
  return {std::string(nameOf(kind)), kind, make};
}

std::vector<KindRow> makeRows() {
  std::vector<KindRow> all;
#define AICF_FAMILY(family)                                                    \
  for (KindRow &row : family##Samples())                                       \
    all.push_back(std::move(row));
#include "kernels/Families.inc" // made by CMake
  for (uint16_t k = 0; k < kNumOpKinds; ++k)
    if (isUniform(OpKind(k)) &&
        std::none_of(all.begin(), all.end(), [&](const KindRow &row) {
          return row.name == nameOf(OpKind(k));
        }))
      all.push_back(uniformRow(OpKind(k)));
  return all;
}

/// Made when first asked for: other tables are made of it before main().
const std::vector<KindRow> &rows() {
  static const std::vector<KindRow> all = makeRows();
  return all;
}

} // namespace

bool isUniform(OpKind kind) {
  const OpInfo &info = infoOf(kind);
  if (!isKnown(kind) || info.numConstraints + info.numFields != 0 ||
      info.numResults != 1 || info.results[0].rule != TypeRule::Like ||
      info.results[0].of != 0)
    return false;
  for (size_t i = 0; i < info.numOperands; ++i) {
    const OperandInfo &operand = info.operands[i];
    if (operand.presence != Presence::Plain ||
        (i == 0 ? operand.elementTypes != ElementTypes::Float &&
                      operand.elementTypes != ElementTypes::Number
                : operand.like != 0))
      return false;
  }
  return true;
}

Span<const KindRow> sampleCallRows() { return rows(); }

const KindRow &sampleCallRow(std::string_view name) {
  return *std::find_if(rows().begin(), rows().end(),
                       [&](const KindRow &row) { return row.name == name; });
}

/// The slot of the record's operand `name`; of a variadic one "grad[1]".
static size_t slotOf(const OpInfo &info, size_t numSlots,
                     std::string_view name) {
  size_t bracket = name.find('['), index = 0;
  if (bracket != std::string_view::npos)
    index = size_t(name[bracket + 1] - '0');
  for (size_t i = 0; i < info.numOperands; ++i)
    if (info.operands[i].name == name.substr(0, bracket))
      return CallSlots::of(info, numSlots)->slotOf(i) + index;
  std::abort();
}

TensorDesc &Sample::in(std::string_view name) {
  return ins.at(slotOf(infoOf(kind), ins.size(), name));
}

TensorDesc &Sample::out(std::string_view name) {
  const OpInfo &info = infoOf(kind);
  for (size_t i = 0; i < outs.size(); ++i)
    if (info.results[i].name == name)
      return outs[i];
  std::abort();
}

const OperandInfo &operandInfo(const Sample &sample, size_t operand) {
  if (!sample.body) {
    const OpInfo &info = infoOf(sample.kind);
    CallSlots slots = *CallSlots::of(info, sample.ins.size());
    return info.operands[slots.operandAt(operand)];
  }
  for (const Primitive &primitive : sample.body->primitives)
    for (size_t slot = 0; slot < primitive.operands.size(); ++slot)
      if (primitive.operands[slot] == int32_t(operand))
        return infoOf(primitive.kind).operands[slot];
  std::abort();
}

Sample makeSample(const KindRow &row, int64_t m, int64_t n, DType dtype) {
  auto roundUp = [&](int64_t size) {
    return (size + row.multiple - 1) / row.multiple * row.multiple;
  };
  Sample sample = row.make(roundUp(std::max(m, row.leastRows)),
                           roundUp(std::max(n, row.leastColumns)));
  sample.kind = row.kind;
  const OpInfo &info = infoOf(row.kind);
  const bool saysItsType =
      row.kind != OpKind::Cast && elementwiseKind(row.kind) == OpKind::Cast;
  if (saysItsType && !sample.body)
    return sample;
  if (!info.hasVariadic &&
      !sample.body) // what is left out at the end is absent
    sample.ins.resize(std::max(sample.ins.size(), info.numOperands),
                      TensorDesc::absent());
  auto retype = [&](TensorDesc &desc, ElementTypes types) {
    const bool staysWide = types == ElementTypes::Wide && sizeOf(dtype) == 2;
    if (types != ElementTypes::F32 && !staysWide && isFloat(desc.dtype) &&
        (!row.isMixed || desc.dtype == DType::F16))
      desc.dtype = dtype;
  };
  for (size_t i = 0; i < sample.ins.size(); ++i)
    retype(sample.ins[i], operandInfo(sample, i).elementTypes);
  for (size_t i = 0; i < sample.outs.size(); ++i)
    retype(sample.outs[i],
           sample.body ? ElementTypes::Any : info.results[i].elementTypes);
  return sample;
}

Sample toCall(const Sample &sample) {
  if (sample.body)
    return sample;
  std::vector<bool> hasOperand, hasResult;
  Sample call;
  for (const TensorDesc &desc : sample.ins) {
    hasOperand.push_back(!desc.isAbsent);
    if (!desc.isAbsent)
      call.ins.push_back(desc);
  }
  for (const TensorDesc &desc : sample.outs) {
    hasResult.push_back(!desc.isAbsent);
    if (!desc.isAbsent)
      call.outs.push_back(desc);
  }
  call.kind = sample.kind;
  call.body = std::make_shared<Body>(
      makeBody(sample.kind, sample.attrs, hasOperand, hasResult));
  return call;
}

StatusOr<TypedBody> typedBodyOf(const Sample &sample) {
  Sample call = toCall(sample);
  return TypedBody::create(call.body, call.ins, call.outs);
}

} // namespace aicf::test
