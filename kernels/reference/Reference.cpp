//===- Reference.cpp - every primitive, plain and in f64 ------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/reference/Reference.h"
#include "kernels/BodyRules.h"

#include <cmath>

namespace aicf::reference {

void run(OpKind kind, const std::vector<Tensor> &ins, std::vector<Tensor> &outs,
         Span<const uint8_t> attrs) {
  Call call(ins, outs, attrs);
  switch (kind) {
#define AICF_RUN(KIND)                                                         \
  case OpKind::KIND:                                                           \
    return compute(KIND##View<Call>(call));
    AICF_KINDS(AICF_RUN)
#undef AICF_RUN
  }
}

void run(const Body &body, const std::vector<Tensor> &ins,
         std::vector<Tensor> &outs, Span<const BodySlot> lost) {
  std::vector<TensorDesc> in, out;
  for (const Tensor &tensor : ins)
    in.push_back(tensor.desc);
  for (const Tensor &tensor : outs)
    out.push_back(tensor.desc);
  StatusOr<std::vector<TensorDesc>> types = describeValues(body, in, out);
  if (!types.ok())
    return; // the caller says that it is
  std::vector<Tensor> values(ins);
  for (size_t i = values.size(); i < types->size(); ++i) {
    const TensorDesc &desc = (*types)[i];
    values.push_back(
        {desc, std::vector<double>(desc.isAbsent ? 0 : size_t(desc.elements()),
                                   std::nan(""))});
  }
  size_t next = body.numOperands;
  for (size_t index = 0; index < body.steps.size(); ++index) {
    const BodyStep &step = body.steps[index];
    std::vector<Tensor> operands, results;
    for (int32_t value : step.operands)
      operands.push_back(value == kAbsentValue
                             ? Tensor{TensorDesc::absent(), {}}
                             : values[size_t(value)]);
    for (BodySlot read : lost)
      if (read.step == index)
        fill(operands[read.slot], [](size_t) { return std::nan(""); });
    for (uint32_t r = 0; r < step.numResults(); ++r)
      results.push_back(std::move(values[next + r]));
    run(step.kind, operands, results, step.attrs);
    for (Tensor &result : results)
      values[next++] = std::move(result);
  }
  for (size_t i = 0; i < outs.size(); ++i)
    outs[i] = values[body.results[i]];
}

} // namespace aicf::reference
