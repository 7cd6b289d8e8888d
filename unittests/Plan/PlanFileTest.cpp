//===- PlanFileTest.cpp - what is in the file of a plan -------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "aicf/Plan.h"
#include "unittests/Plan/CorpusBuilder.h"
#include "unittests/Plan/FlatPlans.h"

#include <gtest/gtest.h>

#include <cstring>
#include <sys/mman.h>

using namespace aicf;
using namespace aicf::test;

namespace {

size_t numBodies(const Plan &plan) {
  std::vector<uint8_t> bytes = plan.serialize();
  return fb::GetPlan(bytes.data())->bodies()->size();
}

TEST(PlanFile, EqualBodiesAreWrittenOnce) {
  Plan plan = makeTrainPlan();
  plan.entries.resize(1);
  std::vector<PlanCall> &calls = plan.entries[0].calls;
  calls = {calls[7], calls[8], calls[8]}; // three updates, by two bodies
  ASSERT_NE(calls[0].body, calls[1].body);
  ASSERT_EQ(*calls[0].body, *calls[1].body);
  EXPECT_EQ(numBodies(plan), 1u);
  // Another body, whose hash is the same.
  setBody(calls[1], [](Body &body) {
    Primitive &primitive = body.primitives[0];
    primitive.kind = OpKind(uint16_t(primitive.kind) + 1);
    --body.numOperands;
  });
  EXPECT_EQ(numBodies(plan), 2u);
}

TEST(PlanFile, EqualAttrsAreWrittenOnce) {
  auto fileBytes = [](uint8_t last) {
    Plan plan = makeTrainPlan();
    setBody(plan.entries[0].calls[0], [&](Body &body) {
      body.primitives[0].attrs.assign(1000, 1);
      body.primitives.push_back(body.primitives[0]);
      body.primitives[1].attrs.back() = last;
    });
    return plan.serialize().size();
  };
  EXPECT_LT(fileBytes(1) + 900, fileBytes(2));
}

TEST(PlanFile, WhatIsAbsentIsNotWritten) {
  std::vector<uint8_t> bytes = makeTrainPlan().serialize();
  for (const fb::Buffer *buffer : *fb::GetPlan(bytes.data())->buffers())
    EXPECT_EQ(buffer->data(), nullptr);
  for (const fb::Value *value : *fb::GetPlan(bytes.data())->values())
    EXPECT_EQ(value->strides(), nullptr);
}

TEST(PlanFile, TheChecksumMayBeLeftUnchecked) {
  std::vector<uint8_t> bytes = makeTrainPlan().serialize();
  bytes.back() ^= 1;
  EXPECT_FALSE(Plan::parse(bytes).ok());
  PlanParseOptions options;
  options.verifyChecksum = false;
  EXPECT_TRUE(Plan::parse(bytes, options).ok());
}

/// Pages that nobody writes take no memory.
TEST(PlanFile, TwoGigabytesAreRefused) {
  const size_t size = (size_t(1) << 31) + kPlanTrailerBytes;
  void *memory = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto *bytes = static_cast<uint8_t *>(memory);
  std::memcpy(bytes + size - kPlanTrailerBytes, kPlanMagic, 8);
  PlanParseOptions options;
  options.verifyChecksum = false;
  EXPECT_EQ(Plan::parse({bytes, size}, options).status().message(),
            "[BadFlatBuffer] a FlatBuffer of 2147483648 bytes is above the "
            "limit of 2 GiB");
  munmap(memory, size);
}

/// The plan of one entry as version 3 had it: `order` lists its buffers, each
/// of which gets the label 10 + its place there.
std::vector<uint8_t> asVersion3(const Plan &plan,
                                const std::vector<uint32_t> &order) {
  const PlanEntry &entry = plan.entries[0];
  auto tensorOf = [&](uint32_t buffer) {
    return uint32_t(std::find(order.begin(), order.end(), buffer) -
                    order.begin());
  };
  auto tensorsOf = [&](std::vector<uint32_t> values) {
    for (uint32_t &value : values)
      value = tensorOf(entry.values[value].buffer);
    return values;
  };
  return build([&](FlatBufferBuilder &b) {
    std::vector<flatbuffers::Offset<fb::Tensor>> none, tensors;
    std::vector<int32_t> labels;
    for (uint32_t number : order) {
      const PlanBuffer &buffer = entry.buffers[number];
      TensorDesc desc(DType::F32, {int64_t(buffer.bytes / 4)}); // a workspace's
      for (const PlanValue &value : entry.values)
        if (value.buffer == number)
          desc = value.desc;
      labels.push_back(10 + int32_t(labels.size()));
      tensors.push_back(fb::CreateTensor(
          b, b.CreateString(buffer.name), uint8_t(desc.dtype),
          uint8_t(buffer.role),
          b.CreateVector(std::vector<uint32_t>(desc.shape().begin(),
                                               desc.shape().end())),
          buffer.offset));
    }
    std::vector<flatbuffers::Offset<fb::Body>> bodies;
    std::vector<flatbuffers::Offset<fb::Call>> calls;
    std::vector<flatbuffers::Offset<fb::CallDebug>> callLabels;
    auto events = b.CreateVector(std::vector<uint32_t>());
    for (const PlanCall &call : entry.calls) {
      const Primitive &only = call.body->primitives[0];
      std::vector<flatbuffers::Offset<fb::Primitive>> primitives = {
          fb::CreatePrimitive(b, uint16_t(only.kind),
                              b.CreateVector(only.attrs),
                              b.CreateVector(only.operands))};
      auto all = b.CreateVector(primitives);
      auto results = b.CreateVector(call.body->results);
      int32_t workspace =
          call.workspace < 0 ? -1 : int32_t(tensorOf(uint32_t(call.workspace)));
      calls.push_back(fb::CreateCall(
          b, uint32_t(bodies.size()), b.CreateString(call.kid),
          b.CreateVector(tensorsOf(call.ins)),
          b.CreateVector(tensorsOf(call.outs)), workspace, call.workspaceBytes,
          0, events, events));
      bodies.push_back(
          fb::CreateBody(b, call.body->numOperands, all, results));
      callLabels.push_back(fb::CreateCallDebug(b, b.CreateVector(call.inVids),
                                               b.CreateVector(call.vids),
                                               b.CreateString("")));
    }
    std::vector<flatbuffers::Offset<fb::Entry>> entries = {fb::CreateEntry(
        b, b.CreateString(entry.name), entry.ioBytes, entry.tempBytes,
        b.CreateVector(tensors), b.CreateVector(calls))};
    std::vector<flatbuffers::Offset<fb::EntryDebug>> entryLabels = {
        fb::CreateEntryDebug(b, 0, 0, 0, b.CreateVector(labels),
                             b.CreateVector(callLabels))};
    auto debug =
        fb::CreateDebug(b, b.CreateVector(std::vector<int32_t>()),
                        b.CreateVector(entryLabels));
    return fb::CreatePlan(b, kOldPlanMajor, kOldPlanMinor,
                          uint8_t(plan.device), 0, b.CreateVector(none),
                          b.CreateVector(bodies), b.CreateVector(entries),
                          debug);
  });
}

/// Inputs and outputs come first now, and a workspace has no value.
TEST(PlanFile, TensorsOfVersion3AreNumberedAnew) {
  Plan expected = makeWorkspacePlan();
  ASSERT_TRUE(verifyPlan(expected).ok()) << verifyPlan(expected).toString();
  StatusOr<Plan> parsed = Plan::parse(asVersion3(expected, {2, 3, 0, 1}));
  ASSERT_TRUE(parsed.ok()) << parsed.status().toString();
  const int32_t labels[] = {12, 13, 11}; // of y, x and the temp
  for (size_t i = 0; i < 3; ++i)
    expected.entries[0].values[i].vid = labels[i];
  expected.major = parsed->major;
  expected.minor = parsed->minor;
  EXPECT_EQ(diffPlans(expected, *parsed), "");
  for (size_t i = 0; i < 3; ++i)
    EXPECT_EQ(parsed->entries[0].values[i].vid, labels[i]);
}

} // namespace
