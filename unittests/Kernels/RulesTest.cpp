//===- RulesTest.cpp - every rule of every primitive, violated once -------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Rows of kernels/<family>/test/Rules.cpp: a legal call (SampleCalls), one
// thing wrong with it, and the rule that must say so. Each row is asked of
// checkCall, of the plan loader on both devices (CUDA's rows need no CUDA
// build), and of op_call where the CPU has a kernel. scripts/lint_tests.py
// demands a row for every numbered constraint of the page of primitives; `make
// mutants` shows that no single check goes untested.
//===----------------------------------------------------------------------===//

#include "lib/Ops/Rules.h"
#include "aicf/Device.h"
#include "lib/Ops/KernelTable.h"
#include "unittests/Common/SamplePlans.h"
#include "unittests/Kernels/RuleCases.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <memory>

using namespace aicf;
using namespace aicf::test;

// In kernels/<family>/test/Rules.cpp: a family without them does not link.
namespace aicf::test {
#define AICF_FAMILY(family) std::vector<RuleCase> family##RuleCases();
#include "kernels/Families.inc" // made by CMake
} // namespace aicf::test

namespace {

/// What every primitive refuses whose operands and result are of one shape and
/// type: another element type, or another shape, of any of them.
void addUniformCases(const KindRow &row, std::vector<RuleCase> &cases) {
  const OpInfo &info = infoOf(row.kind);
  const char *name = row.name.c_str();
  DType wrong = info.operands[0].elementTypes == ElementTypes::Number ? I1 : I32;
  cases.push_back({name, "", Code::DTypeMismatch, all(wrong), "operand 0"});
  for (size_t i = 1; i < info.numOperands; ++i) {
    const char *operand = info.operands[i].name.data();
    std::string text = "operand " + std::to_string(i) + " (" + operand + ")";
    cases.push_back({name, "", Code::DTypeMismatch, in(operand, F64), text});
    cases.push_back({name, "", Code::ShapeMismatch, in(operand, {6, 3}), text});
  }
  const char *result = info.results[0].name.data();
  cases.push_back(
      {name, "", Code::DTypeMismatch, out(result, F64), "result 0"});
  cases.push_back(
      {name, "", Code::ShapeMismatch, out(result, {18}), "result 0"});
}

std::vector<RuleCase> makeCases() {
  std::vector<RuleCase> cases;
#define AICF_FAMILY(family)                                                    \
  for (RuleCase &each : family##RuleCases())                                   \
    cases.push_back(std::move(each));
#include "kernels/Families.inc" // made by CMake
  for (const KindRow &row : sampleCallRows())
    if (isUniform(row.kind) && row.name == nameOf(row.kind))
      addUniformCases(row, cases);
  return cases;
}
const std::vector<RuleCase> kCases = makeCases();

Sample goodSample(const KindRow &row) {
  return makeSample(row, 3, 6, row.usualType());
}

Status check(OpKind kind, const Sample &s) {
  return checkCall(kind, s.ins, s.outs, infoOf(kind).schema, s.attrs);
}

/// "gemm: C1: ", or for what has no number "gemm: operand 0 (a)".
std::string expectedText(OpKind kind, const RuleCase &c) {
  std::string op(nameOf(kind));
  return op + ": " + (*c.id ? std::string(c.id) + ": " : c.text);
}

class OpRules : public testing::TestWithParam<size_t> {};

TEST_P(OpRules, CheckCallRefuses) {
  const RuleCase &c = kCases[GetParam()];
  const KindRow &row = sampleCallRow(c.row);
  Sample sample = goodSample(row);
  ASSERT_TRUE(check(row.kind, sample).ok());
  c.change(sample);
  Status status = check(row.kind, sample);
  EXPECT_EQ(status.code(), c.code) << status.toString();
  EXPECT_NE(status.message().find(expectedText(row.kind, c)), std::string::npos)
      << status.toString();
  EXPECT_NE(status.message().find(c.text), std::string::npos)
      << status.toString();
}

/// A plan with the broken call is refused for that rule, whatever the device:
/// the loader knows CUDA's kernels on machines without CUDA.
TEST_P(OpRules, LoaderRefuses) {
  const RuleCase &c = kCases[GetParam()];
  const KindRow &row = sampleCallRow(c.row);
  size_t devices = 0;
  for (DeviceKind device : kDeviceKinds) {
    Sample sample = goodSample(row);
    StatusOr<TypedBody> typed = typedBodyOf(sample);
    ASSERT_TRUE(typed.ok()) << typed.status().toString();
    const KernelRow *kernel = selectKernel(device, *typed);
    if (!kernel)
      continue;
    ++devices;
    Plan good = makeCallPlan(sample, device);
    ASSERT_TRUE(Plan::parse(good.serialize()).ok());
    c.change(sample);
    Plan bad = makeCallPlan(sample, device);
    bad.entries[0].calls[0].kid = std::string(kernel->kid);
    Status status = Plan::parse(bad.serialize()).status();
    // What is wrong with presence or counts shows in the body already.
    bool isBody = status.message().find("[BodyForm]") != std::string::npos;
    EXPECT_TRUE(isBody ||
                status.message().find("[CallRules]") != std::string::npos)
        << status.toString();
    EXPECT_TRUE(isBody ? !*c.id
                       : status.message().find(expectedText(row.kind, c)) !=
                             std::string::npos)
        << status.toString();
  }
  EXPECT_GT(devices, 0u);
}

TEST_P(OpRules, OpCallRefuses) {
  const RuleCase &c = kCases[GetParam()];
  const KindRow &row = sampleCallRow(c.row);
  Sample sample = goodSample(row);
  c.change(sample);
  // Never touched: the rules come first.
  std::vector<uint8_t> memory(kTensorAlignment * 16);
  auto views = [&](const std::vector<TensorDesc> &descs) {
    std::vector<TensorView> made;
    for (const TensorDesc &desc : descs)
      made.push_back({desc.isAbsent ? nullptr : memory.data(), desc});
    return made;
  };
  auto device = createCPUDevice({1});
  std::vector<TensorView> ins = views(sample.ins), outs = views(sample.outs);
  auto stream = device->createStream();
  Status status = opCall(*device, row.kind, ins, outs, infoOf(row.kind).schema,
                         sample.attrs, **stream);
  EXPECT_EQ(status.code(), c.code) << status.toString();
  EXPECT_NE(status.message().find(expectedText(row.kind, c)), std::string::npos)
      << status.toString();
}

std::string caseName(const testing::TestParamInfo<size_t> &info) {
  std::string name = std::to_string(info.param) + "_" + kCases[info.param].row +
                     "_" + kCases[info.param].id;
  for (char &ch : name)
    if (!std::isalnum(static_cast<unsigned char>(ch)))
      ch = '_';
  return name;
}
INSTANTIATE_TEST_SUITE_P(All, OpRules, testing::Range<size_t>(0, kCases.size()),
                         caseName);

/// What every kind has: schema, blob size, the number of operands and results.
TEST(OpRulesOfEveryKind, OuterForm) {
  for (const KindRow &row : sampleCallRows()) {
    const OpInfo &info = infoOf(row.kind);
    Sample s = goodSample(row);
    EXPECT_EQ(
        checkCall(row.kind, s.ins, s.outs, info.schema + 1, s.attrs).code(),
        Code::BadSchema)
        << row.name;
    s.attrs.push_back(0);
    EXPECT_EQ(check(row.kind, s).code(), Code::BadAttrSize) << row.name;
    s = goodSample(row);
    s.ins.clear();
    EXPECT_EQ(check(row.kind, s).code(), Code::InvalidArgument) << row.name;
    s = goodSample(row);
    s.outs.clear();
    EXPECT_EQ(check(row.kind, s).code(), Code::InvalidArgument) << row.name;
    if (info.hasVariadic)
      continue;
    s = goodSample(row);
    s.ins.resize(info.numOperands + 1, kScalar);
    EXPECT_EQ(check(row.kind, s).code(), Code::InvalidArgument) << row.name;
    s = goodSample(row);
    s.outs.resize(info.numResults + 1, kScalar);
    EXPECT_EQ(check(row.kind, s).code(), Code::InvalidArgument) << row.name;
  }
}

/// Whatever is not optional must be there, and an optional operand may go.
TEST(OpRulesOfEveryKind, Presence) {
  for (const KindRow &row : sampleCallRows()) {
    const OpInfo &info = infoOf(row.kind);
    const Sample good = goodSample(row);
    const auto slots = *CallSlots::of(info, good.ins.size());
    for (size_t i = 0; i < good.ins.size(); ++i) {
      Sample s = good;
      s.ins[i] = TensorDesc::absent();
      const OperandInfo &operand = info.operands[slots.operandAt(i)];
      bool isOptional = operand.presence == Presence::Optional;
      Status status = check(row.kind, s);
      bool isAbsent = status.message().find("operand " + std::to_string(i) +
                                            " (" + std::string(operand.name) +
                                            ") is absent") != std::string::npos;
      EXPECT_EQ(isAbsent, !isOptional) << row.name << ": " << status.toString();
    }
    for (size_t i = 0; i < good.outs.size(); ++i) {
      Sample s = good;
      s.outs[i] = TensorDesc::absent();
      EXPECT_EQ(check(row.kind, s).ok(), good.outs[i].isAbsent)
          << row.name << " result " << i;
    }
  }
}

/// The borders of the ranges are legal.
TEST(OpRulesOfEveryKind, BordersAreLegal) {
  auto isLegal = [](const char *name, const Change &change) {
    const KindRow &row = sampleCallRow(name);
    Sample s = goodSample(row);
    change(s);
    Status status = check(row.kind, s);
    EXPECT_TRUE(status.ok()) << name << ": " << status.toString();
  };
  isLegal("bias_add last", attr(&BiasAddAttrs::axis, 1));
  isLegal("layer_norm", attr(&LayerNormAttrs::eps, 0));
  isLegal("loss_scale_update", attr(&LossScaleUpdateAttrs::growth_factor, 1));
  isLegal("loss_scale_update", attr(&LossScaleUpdateAttrs::backoff_factor, 1));
  isLegal("loss_scale_update", attr(&LossScaleUpdateAttrs::growth_interval, 1));
  isLegal("loss_scale_update",
          attr(&LossScaleUpdateAttrs::growth_interval, INT32_MAX));
  isLegal("bias_corr", attr(&BiasCorrAttrs::beta1, 0));
  isLegal("adam_step", attr(&AdamStepAttrs::eps, 0));
  isLegal("shuffle", attr(&ShuffleAttrs::size, 1));
  isLegal("shuffle", attr(&ShuffleAttrs::size, INT32_MAX));
  isLegal("reduce_sum 1", out("y", {3}));
  isLegal("gemm to f32", out("c", BF16));
  isLegal("gemm to f32", both(in("a", F16), in("b", F16)));
  isLegal("mse_loss mixed", both(in("target", BF16), out("loss", BF16)));
  isLegal("scale", both(all(F64), attr(&ScaleAttrs::factor, 1e39)));
  isLegal("scale", both(all(I64), attr(&ScaleAttrs::factor, 0x1p40)));
  // Where an operand alone, or a result alone, is of f64.
  isLegal("less_scalar",
          both(in("x", F64), attr(&LessScalarAttrs::value, 1e39)));
  isLegal("uniform", both(out("y", F64), attr(&UniformAttrs::high, 1e39)));
}

TEST(OpRulesOfEveryKind, DefaultsOfFields) {
  std::vector<TensorDesc> x = {TensorDesc(F32, {3, 6}), TensorDesc(F32, {3, 6}),
                               TensorDesc::absent()};
  auto isDefault = [&](OpKind kind, size_t field, FieldValue value) {
    auto found =
        fieldDefault(kind, field, {x.data(), infoOf(kind).numOperands});
    return found && *found == value;
  };
  EXPECT_TRUE(isDefault(OpKind::BiasCorr, 0, 0.9));
  EXPECT_TRUE(isDefault(OpKind::BiasAdd, 0, int64_t(-1)));
  EXPECT_TRUE(isDefault(OpKind::MseGrad, 0, 2.0 / 18));
  EXPECT_FALSE(fieldDefault(OpKind::Shuffle, 0, {x.data(), 1}))
      << "size has none";
  EXPECT_FALSE(fieldDefault(OpKind::MseGrad, 0, {x.data(), 2}))
      << "of operands that it does not take";
  x[0] = TensorDesc::absent();
  EXPECT_FALSE(fieldDefault(OpKind::MseGrad, 0, {x.data(), 3}))
      << "of an operand that is absent";
}

TEST(OpRulesOfEveryKind, NumbersOfOperandsAreSaid) {
  TensorDesc x(F32, {3});
  auto message = [&](OpKind kind, size_t size) {
    std::vector<TensorDesc> ins(size, x);
    return checkRecord(kind, ins, {&x, 1}, {}).message();
  };
  EXPECT_EQ(message(OpKind::Relu, 2), "got 2 operands, expected 1");
  EXPECT_EQ(message(OpKind::AllFinite, 0),
            "got 0 operands, expected 1 or more");
}

/// What no tensor may be, whatever the op: each limit, and the last legal
/// value.
TEST(OpRulesOfEveryKind, CheckedBytesKnowsTheLimits) {
  const int64_t k22 = int64_t(1) << 22, most = INT32_MAX;
  EXPECT_EQ(checkedBytes(TensorDesc(F32, {})), 4u);
  EXPECT_EQ(checkedBytes(TensorDesc(F32, {most})), 4 * uint64_t(most));
  EXPECT_EQ(checkedBytes(TensorDesc(F32, {k22, k22})), kMaxTensorBytes);
  EXPECT_EQ(checkedBytes(TensorDesc(F32, {1, 1, 1, 1, 1, 1, 1, 1})), 4u);
  EXPECT_FALSE(checkedBytes(TensorDesc(F32, {0})));
  EXPECT_FALSE(checkedBytes(TensorDesc(F32, {2, -1})));
  EXPECT_FALSE(checkedBytes(TensorDesc(F32, {-2, -2})));
  EXPECT_FALSE(checkedBytes(TensorDesc(F32, {most + 1})));
  EXPECT_FALSE(checkedBytes(TensorDesc(F32, {k22, k22, 2})));
  // 2^64 bytes: the product is 0 again.
  EXPECT_FALSE(checkedBytes(TensorDesc(F32, {k22, k22, int64_t(1) << 18})));
  // What stands behind the dimensions would pass for one more.
  static TensorDesc deep[2];
  deep[0] = TensorDesc(F32, {1, 1, 1, 1, 1, 1, 1, 1});
  deep[0].rank = kMaxRank + 1;
  deep[1].dtype = I64;
  EXPECT_FALSE(checkedBytes(deep[0]));
}

} // namespace
