//===- InterpreterTest.cpp - the interpreter against the executor ---------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Interpreter/Interpreter.h"
#include "aicf/Executor.h"
#include "lib/Base/Element.h"
#include "unittests/Common/SamplePlans.h"
#include "unittests/Common/SharedOperands.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

using namespace aicf;
using namespace aicf::test;

namespace {

std::shared_ptr<const Plan> share(Plan plan) {
  return std::make_shared<const Plan>(std::move(plan));
}

/// Numbers up to 1; positive where a square root or a division may follow.
std::vector<double> inputValues(const TensorInfo &t, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<double> values(size_t(t.desc.elements()));
  for (double &v : values)
    v = isFloat(t.desc.dtype) ? double(random() % 64 + 1) / 64
                              : double(random() % (t.desc.dtype == DType::I1 ? 2 : 3));
  return values;
}

std::vector<uint8_t> encode(const TensorDesc &desc,
                            const std::vector<double> &values) {
  std::vector<uint8_t> bytes(desc.spanBytes());
  for (size_t i = 0; i < values.size(); ++i)
    storeElement(desc.dtype, bytes.data() + i * sizeOf(desc.dtype), values[i]);
  return bytes;
}

/// Everything that a run of the first entry is to leave, by name.
using Values = std::vector<std::pair<std::string, std::vector<double>>>;

Values interpretSteps(std::shared_ptr<const Plan> plan, size_t steps,
                      InterpreterOptions options) {
  Interpreter interpreter(plan, options);
  const PlanEntry &entry = plan->entries[0];
  uint32_t seed = 1;
  for (const TensorInfo &t : plan->tensors())
    if (t.role == Role::Hyper) {
      EXPECT_TRUE(interpreter.write("", t.name, {0.25}).ok());
    }
  for (const TensorInfo &t : plan->tensors(entry))
    if (t.role == Role::Input) {
      EXPECT_TRUE(
          interpreter.write(entry.name, t.name, inputValues(t, seed++)).ok());
    }
  for (size_t i = 0; i < steps; ++i) {
    Status status = interpreter.run(entry.name);
    EXPECT_TRUE(status.ok()) << status.toString();
  }
  Values values;
  for (const TensorInfo &t : plan->tensors())
    values.emplace_back(t.name, *interpreter.read("", t.name));
  for (const TensorInfo &t : plan->tensors(entry))
    if (t.role == Role::Output)
      values.emplace_back(t.name, *interpreter.read(entry.name, t.name));
  return values;
}

Values executeSteps(std::shared_ptr<const Plan> plan, size_t steps) {
  auto made = Executor::create(plan, createCPUDevice({1}), {});
  EXPECT_TRUE(made.ok());
  Executor &executor = **made;
  const PlanEntry &entry = plan->entries[0];
  auto write = [&](const std::string &name, const TensorInfo &t,
                   const std::vector<double> &values) {
    std::vector<uint8_t> bytes = encode(t.desc, values);
    EXPECT_TRUE(executor.write(name, bytes.data(), bytes.size()).ok());
  };
  uint32_t seed = 1;
  for (const TensorInfo &t : plan->tensors())
    if (t.role == Role::Hyper)
      write(t.name, t, {0.25});
  for (const TensorInfo &t : plan->tensors(entry))
    if (t.role == Role::Input)
      write(entry.name + "/" + t.name, t, inputValues(t, seed++));
  for (size_t i = 0; i < steps; ++i) {
    Status status = executor.run(entry.name);
    EXPECT_TRUE(status.ok()) << status.toString();
  }
  Values values;
  auto read = [&](const std::string &name, const TensorInfo &t) {
    std::vector<uint8_t> bytes(t.desc.spanBytes());
    EXPECT_TRUE(executor.read(name, bytes.data(), bytes.size()).ok());
    values.emplace_back(t.name, std::vector<double>());
    for (size_t at = 0; at < bytes.size(); at += sizeOf(t.desc.dtype))
      values.back().second.push_back(
          loadElement(t.desc.dtype, bytes.data() + at));
  };
  for (const TensorInfo &t : plan->tensors())
    read(t.name, t);
  for (const TensorInfo &t : plan->tensors(entry))
    if (t.role == Role::Output)
      read(entry.name + "/" + t.name, t);
  return values;
}

void expectClose(const Values &a, const Values &b, double tolerance,
                 const std::string &where) {
  ASSERT_EQ(a.size(), b.size()) << where;
  for (size_t i = 0; i < a.size(); ++i)
    for (size_t j = 0; j < a[i].second.size(); ++j) {
      double x = a[i].second[j], y = b[i].second[j];
      bool isSame = x == y || (std::isnan(x) && std::isnan(y));
      EXPECT_TRUE(isSame ||
                  std::fabs(x - y) <= tolerance * (std::fabs(x) + 1))
          << where << ": " << a[i].first << "[" << j << "]: " << x << ", " << y;
    }
}

TEST(Interpreter, AgreesWithTheExecutorOnEveryCPUSample) {
  for (const auto &[name, sample] : samplePlans()) {
    if (sample.device != DeviceKind::CPU)
      continue;
    auto plan = share(sample);
    bool isHalf = name.find("mixed") != std::string::npos ||
                  name.find("cast") != std::string::npos ||
                  name.find("to-f32") != std::string::npos;
    expectClose(interpretSteps(plan, 2, {}), executeSteps(plan, 2),
                isHalf ? 1e-2 : 1e-5, name);
  }
}

/// A kind means the same on every device: its sample's CUDA plan, interpreted,
/// gives what the CPU plan gives, bit for bit.
TEST(Interpreter, RunsCUDAPlans) {
  std::vector<NamedPlan> samples = samplePlans();
  size_t compared = 0, interpreted = 0;
  for (const auto &[name, plan] : samples) {
    if (plan.device != DeviceKind::CUDA)
      continue;
    Values values = interpretSteps(share(plan), 2, {});
    ++interpreted;
    for (const auto &[tensor, numbers] : values)
      for (double v : numbers)
        EXPECT_FALSE(std::isnan(v)) << name << ": " << tensor;
    for (const auto &[other, cpu] : samples)
      if (other == "cpu" + name.substr(4)) {
        EXPECT_EQ(values, interpretSteps(share(cpu), 2, {})) << name;
        ++compared;
      }
  }
  EXPECT_GT(interpreted, 60u);
  EXPECT_GT(compared, 40u);
}

TEST(Interpreter, EveryLegalOrderGivesTheSameBits) {
  for (Plan plan : {makeTrainPlan(), makeTwoStreamPlan()}) {
    auto shared = share(plan);
    Values reference = interpretSteps(shared, 3, {});
    for (uint64_t seed = 0; seed < 20; ++seed) {
      InterpreterOptions options;
      options.orderSeed = seed;
      EXPECT_EQ(interpretSteps(shared, 3, options), reference) << seed;
    }
  }
}

/// What the loader would refuse, the interpreter shows: without the event the
/// branches race, and without their own bytes they overwrite each other.
TEST(Interpreter, ShowsRacesAndOverlaps) {
  Values reference = interpretSteps(share(makeTwoStreamPlan()), 1, {});
  Plan race = makeTwoStreamPlan();
  race.entries[0].calls[1].signals.clear();
  race.entries[0].calls[2].waits.clear();
  bool differs = false;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    InterpreterOptions options;
    options.orderSeed = seed;
    differs |= interpretSteps(share(race), 1, options) != reference;
  }
  EXPECT_TRUE(differs);
  Plan overlap = makeTrainPlan(); // dW over y, which mse_grad still reads
  overlap.entries[0].buffers[4].offset = 0;
  EXPECT_NE(interpretSteps(share(overlap), 2, {}),
            interpretSteps(share(makeTrainPlan()), 2, {}));
}

bool hasNaN(const Values &values) {
  for (const auto &[name, numbers] : values)
    for (double v : numbers)
      if (std::isnan(v))
        return true;
  return false;
}

/// A call that overwrites an operand which another slot of its body reads, too:
/// the loader would refuse it, and here that slot finds nothing.
TEST(Interpreter, ShowsReadsOfWhatWasOverwritten) {
  size_t shown = 0, fine = 0;
  for (const KindRow &row : allCallRows())
    for (const Sample &sample : samplesForSharing(row, row.usualType())) {
      StatusOr<TypedBody> typed = typedBodyOf(sample);
      if (!typed.ok() || !selectKernel(DeviceKind::CUDA, *typed))
        continue;
      const Plan legal = makeCallPlan(sample, DeviceKind::CUDA);
      for (const SharedSample &s : withSharedOperands(sample)) {
        Plan plan = legal;
        PlanCall &call = plan.entries[0].calls[0];
        // Both are what a result overwrites, if one of them is.
        bool isFirst = std::find(call.outs.begin(), call.outs.end(),
                                 call.ins[s.first]) != call.outs.end();
        std::vector<uint32_t> ins(s.sample.ins.size());
        for (size_t i = 0; i < s.numberOf.size(); ++i)
          ins[s.numberOf[i]] = call.ins[i];
        ins[s.numberOf[s.first]] = call.ins[isFirst ? s.first : s.second];
        call.ins = ins;
        call.body = s.sample.body;
        call.inVids.clear();
        call.vids.clear();
        Status status = verifyPlan(plan);
        bool isRefused =
            status.message().find("[CallInplace]") != std::string::npos;
        ASSERT_TRUE(status.ok() || isRefused) << status.toString();
        EXPECT_EQ(hasNaN(interpretSteps(share(plan), 1, {})), isRefused)
            << row.name << ": operands " << s.first << " and " << s.second;
        ++(isRefused ? shown : fine);
      }
    }
  EXPECT_GT(shown, 200u);
  EXPECT_GT(fine, 150u);
}

TEST(Interpreter, ExactResultsAreNotRounded) {
  InterpreterOptions exact;
  exact.roundToDType = false;
  auto plan = share(makeTrainPlan());
  Values rounded = interpretSteps(plan, 2, {});
  Values values = interpretSteps(plan, 2, exact);
  EXPECT_NE(values, rounded);
  expectClose(values, rounded, 1e-6, "exact");
}

TEST(Interpreter, DerivedStatesFollow) {
  Plan plan = makeInitPlan();
  plan.buffers[5].role = Role::State; // bf16, a cast of "uniform"
  plan.buffers[5].init = InitKind::None;
  plan.buffers[5].derivedFrom = 3;
  ASSERT_TRUE(verifyPlan(plan).ok()) << verifyPlan(plan).toString();
  Interpreter interpreter(share(plan));
  EXPECT_NE((*interpreter.read("", "bf16"))[0], 0);
  ASSERT_TRUE(
      interpreter.write("", "uniform", std::vector<double>(256, 1.5)).ok());
  EXPECT_EQ((*interpreter.read("", "bf16"))[255], 1.5);
  EXPECT_EQ(interpreter.write("", "bf16", std::vector<double>(256)).code(),
            StatusCode::InvalidArgument);
}

TEST(Interpreter, RefusesWrongUse) {
  Interpreter interpreter(share(makeTrainPlan()));
  auto code = [](const Status &status) { return status.code(); };
  EXPECT_EQ(code(interpreter.run("nothing")), StatusCode::InvalidArgument);
  EXPECT_EQ(code(interpreter.run("train")), StatusCode::NotInitialized);
  EXPECT_EQ(code(interpreter.write("", "lr", {1, 2})),
            StatusCode::InvalidArgument);
  EXPECT_EQ(code(interpreter.write("", "x", {1})), StatusCode::InvalidArgument);
  EXPECT_EQ(code(interpreter.write("train", "loss", {1})),
            StatusCode::InvalidArgument);
  EXPECT_EQ(code(interpreter.read("train", "loss").status()),
            StatusCode::NotInitialized);
}

} // namespace
