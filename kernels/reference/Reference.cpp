//===- Reference.cpp - every primitive, plain and in f64 ------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/reference/Reference.h"
#include "lib/Ops/BodyRules.h"

#include <cmath>

namespace aicf::reference {

static void compute(const Call &call, OpKind kind, PrimitivePosition at) {
  switch (kind) {
#define AICF_RUN(KIND)                                                         \
  case OpKind::KIND:                                                           \
    return compute(KIND##View<Call>(call, at));
    AICF_KINDS(AICF_RUN)
#undef AICF_RUN
  }
}

void run(OpKind kind, const std::vector<Tensor> &ins, std::vector<Tensor> &outs,
         Span<const uint8_t> attrs) {
  std::vector<bool> hasOperand;
  std::vector<Tensor> values;
  for (const Tensor &in : ins) {
    hasOperand.push_back(!isAbsent(in));
    if (!isAbsent(in))
      values.push_back(in);
  }
  size_t numIns = values.size();
  for (Tensor &out : outs)
    values.push_back(std::move(out));
  Body body = makeBody(kind, {attrs.begin(), attrs.end()}, hasOperand, {});
  compute(Call(body, values), kind, {0, body.numOperands});
  for (size_t i = 0; i < outs.size(); ++i)
    outs[i] = std::move(values[numIns + i]);
}

/// Every value of a body: the operands, and room for what it makes. Nothing for
/// a body that the rules refuse.
static std::vector<Tensor> makeValues(const Body &body,
                                      const std::vector<Tensor> &ins,
                                      const std::vector<Tensor> &outs) {
  std::vector<TensorDesc> in, out;
  for (const Tensor &tensor : ins)
    in.push_back(tensor.desc);
  for (const Tensor &tensor : outs)
    out.push_back(tensor.desc);
  StatusOr<std::vector<TensorDesc>> types = describeValues(body, in, out);
  if (!types.ok())
    return {};
  std::vector<Tensor> values(ins);
  for (size_t i = values.size(); i < types->size(); ++i) {
    const TensorDesc &desc = (*types)[i];
    values.push_back(
        {desc, std::vector<double>(desc.isAbsent ? 0 : size_t(desc.elements()),
                                   std::nan(""))});
  }
  return values;
}

void run(const Body &body, const std::vector<Tensor> &ins,
         std::vector<Tensor> &outs, Span<const BodySlot> lost) {
  std::vector<Tensor> values = makeValues(body, ins, outs);
  if (values.empty())
    return; // the caller says that it is
  // A slot that is lost reads a value of its own, behind the body's.
  Body reading = body;
  for (BodySlot read : lost) {
    int32_t &operand = reading.primitives[read.primitive].operands[read.slot];
    Tensor nothing = values[size_t(operand)];
    fill(nothing, [](size_t) { return std::nan(""); });
    operand = int32_t(values.size());
    values.push_back(std::move(nothing));
  }
  PrimitivePosition at{0, body.numOperands};
  for (const Primitive &primitive : reading.primitives) {
    compute(Call(reading, values), primitive.kind, at);
    at = {at.primitive + 1, at.firstResult + primitive.numResults()};
  }
  for (size_t i = 0; i < outs.size(); ++i)
    outs[i] = values[body.results[i]];
}

} // namespace aicf::reference
