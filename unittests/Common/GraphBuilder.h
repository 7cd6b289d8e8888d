//===- GraphBuilder.h - graphs of elementwise primitives --------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// For tests: values are added in any order, and finish() makes the body that a
// kernel takes. Types of what the primitives make follow from their records.
//===----------------------------------------------------------------------===//
#ifndef AICF_UNITTESTS_COMMON_GRAPHBUILDER_H
#define AICF_UNITTESTS_COMMON_GRAPHBUILDER_H

#include "lib/Ops/Graphs.h"
#include "lib/Ops/Rules.h"
#include "unittests/Common/SampleCalls.h"

namespace aicf::test {

class GraphBuilder {
public:
  struct Value {
    bool isOperand;
    uint32_t number; ///< among the operands, or among the primitives
  };

  Value operand(const TensorDesc &desc) {
    operands.push_back(desc);
    return {true, uint32_t(operands.size() - 1)};
  }
  /// The result's type: `given`, or what the record's rule says.
  Value add(OpKind kind, const std::vector<Value> &ins,
            std::vector<uint8_t> attrs = {},
            std::optional<TensorDesc> given = {}) {
    const ResultInfo &result = infoOf(kind).results[0];
    TensorDesc type =
        given ? *given
              : typeByRule(result.rule, descOf(ins[result.of]))->dense();
    primitives.push_back({kind, std::move(attrs), ins});
    made.push_back(type);
    return {false, uint32_t(made.size() - 1)};
  }
  const TensorDesc &descOf(Value value) const {
    return value.isOperand ? operands[value.number] : made[value.number];
  }

  /// The call that gives `results`, in the order in which they were added, and
  /// what they need.
  Sample finish(std::vector<Value> results) const {
    Body all;
    all.numOperands = uint32_t(operands.size());
    auto numberOf = [&](Value value) {
      return value.number + (value.isOperand ? 0 : all.numOperands);
    };
    for (const Added &added : primitives) {
      Primitive primitive{added.kind, added.attrs, {}};
      for (Value in : added.ins)
        primitive.operands.push_back(int32_t(numberOf(in)));
      all.primitives.push_back(std::move(primitive));
    }
    std::sort(results.begin(), results.end(),
              [](Value a, Value b) { return a.number < b.number; });
    Sample sample;
    for (Value result : results) {
      all.results.push_back(numberOf(result));
      sample.outs.push_back(descOf(result));
    }
    GraphForm graph = inGraphOrder(all);
    for (uint32_t operand : graph.operands)
      sample.ins.push_back(operands[operand]);
    sample.kind = graph.body.primitives.front().kind;
    sample.body = std::make_shared<Body>(std::move(graph.body));
    return sample;
  }

private:
  struct Added {
    OpKind kind;
    std::vector<uint8_t> attrs;
    std::vector<Value> ins;
  };
  std::vector<TensorDesc> operands, made;
  std::vector<Added> primitives;
};

} // namespace aicf::test

#endif // AICF_UNITTESTS_COMMON_GRAPHBUILDER_H
