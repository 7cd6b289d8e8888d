//===- SharedOperands.cpp - calls whose slots read one value --------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "unittests/Common/SharedOperands.h"
#include "lib/Ops/BodyRules.h"

#include <algorithm>

namespace aicf::test {
namespace {

constexpr uint32_t kGone = UINT32_MAX;

/// Numbers the operands by first use and drops those that nobody reads; the new
/// number of each, or kGone.
std::vector<uint32_t> renumberOperands(Body &body) {
  std::vector<uint32_t> numberOf(body.numOperands, kGone);
  uint32_t next = 0;
  for (const Primitive &primitive : body.primitives)
    for (int32_t value : primitive.operands)
      if (value >= 0 && value < int32_t(body.numOperands) &&
          numberOf[size_t(value)] == kGone)
        numberOf[size_t(value)] = next++;
  int32_t dropped = int32_t(body.numOperands - next);
  for (Primitive &primitive : body.primitives)
    for (int32_t &value : primitive.operands)
      if (value >= int32_t(body.numOperands))
        value -= dropped;
      else if (value >= 0)
        value = int32_t(numberOf[size_t(value)]);
  for (uint32_t &value : body.results)
    value -= uint32_t(dropped);
  body.numOperands = next;
  return numberOf;
}

/// Without the first dimension of every tensor whose first dimension is
/// `leading`, or without any.
Sample withoutDimensions(const Sample &sample, int64_t leading) {
  Sample less = sample;
  for (std::vector<TensorDesc> *descs : {&less.ins, &less.outs})
    for (TensorDesc &desc : *descs) {
      Span<const int64_t> shape = desc.shape();
      if (leading == 0)
        desc = TensorDesc(desc.dtype, {});
      else if (desc.rank > 0 && shape[0] == leading)
        desc = TensorDesc(
            desc.dtype, Span<const int64_t>(shape.begin() + 1, desc.rank - 1));
    }
  return less;
}

} // namespace

static bool isGraph(const Body &body) {
  const PatternInfo *pattern = patternOf(factsOf(body).pattern.value_or(0));
  return pattern && pattern->graph;
}

std::vector<Sample> samplesForSharing(const KindRow &row, DType dtype) {
  // A square, so that the operands of a product are of the type of its result.
  Sample square = makeSample(row, 16, 16, dtype);
  if (!square.body || square.body->primitives.size() < 2)
    return {};
  std::vector<Sample> samples = {square};
  for (int64_t leading : {24, 0}) {
    Sample less = withoutDimensions(makeSample(row, 24, 40, dtype), leading);
    if (typedBodyOf(less).ok())
      samples.push_back(less);
  }
  return samples;
}

std::vector<SharedSample> withSharedOperands(const Sample &sample) {
  std::vector<SharedSample> shared;
  for (uint32_t first = 0; first < sample.ins.size(); ++first)
    for (uint32_t second = first + 1; second < sample.ins.size(); ++second) {
      if (sample.ins[first] != sample.ins[second])
        continue;
      Body body = *sample.body;
      for (Primitive &primitive : body.primitives)
        std::replace(primitive.operands.begin(), primitive.operands.end(),
                     int32_t(second), int32_t(first));
      SharedSample s{sample, first, second, renumberOperands(body)};
      s.numberOf[second] = s.numberOf[first];
      for (size_t i = 0; i < sample.ins.size(); ++i)
        s.sample.ins[s.numberOf[i]] = sample.ins[i];
      s.sample.ins.resize(body.numOperands);
      s.sample.body = std::make_shared<Body>(std::move(body));
      shared.push_back(std::move(s));
    }
  return shared;
}

std::vector<Body> withOperandsApart(const Body &body) {
  if (isGraph(body))
    return {};
  std::vector<size_t> uses(body.numValues());
  for (const Primitive &primitive : body.primitives)
    for (int32_t value : primitive.operands)
      if (value != kAbsentValue)
        ++uses[size_t(value)];
  std::vector<Body> bodies;
  for (size_t primitive = 0; primitive < body.primitives.size(); ++primitive)
    for (size_t slot = 0; slot < body.primitives[primitive].operands.size();
         ++slot) {
      int32_t value = body.primitives[primitive].operands[slot];
      if (value == kAbsentValue ||
          (value < int32_t(body.numOperands) && uses[size_t(value)] == 1))
        continue;
      Body changed = body;
      for (Primitive &s : changed.primitives) // a number for the new operand
        for (int32_t &v : s.operands)
          v += v >= int32_t(body.numOperands);
      for (uint32_t &v : changed.results)
        ++v;
      changed.primitives[primitive].operands[slot] =
          int32_t(changed.numOperands++);
      renumberOperands(changed);
      bodies.push_back(std::move(changed));
    }
  return bodies;
}

std::vector<Body> withReadsInside(const Body &body) {
  if (isGraph(body))
    return {};
  std::vector<Body> bodies;
  for (size_t primitive = 0; primitive < body.primitives.size(); ++primitive)
    for (size_t slot = 0; slot < body.primitives[primitive].operands.size();
         ++slot) {
      int32_t value = body.primitives[primitive].operands[slot];
      if (value == kAbsentValue || value >= int32_t(body.numOperands))
        continue;
      for (uint32_t inner = body.numOperands;
           inner < body.firstResultOf(primitive); ++inner) {
        Body changed = body;
        changed.primitives[primitive].operands[slot] = int32_t(inner);
        renumberOperands(changed);
        bodies.push_back(std::move(changed));
      }
    }
  return bodies;
}

} // namespace aicf::test
