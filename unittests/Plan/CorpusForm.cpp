//===- CorpusForm.cpp - files that are not plans --------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "unittests/Plan/CorpusBuilder.h"
#include "unittests/Plan/FlatPlans.h"

namespace aicf::test {

void CorpusBuilder::addOuterForm() {
  std::vector<uint8_t> good = makeTrainPlan().serialize();
  addBytes(PlanError::TooSmall, "empty", {});
  addBytes(PlanError::TooSmall, "trailer-only", {good.end() - 16, good.end()});
  addBytes(PlanError::BadMagic, "cut-off", {good.begin(), good.end() - 1});
  std::vector<uint8_t> flipped = good;
  flipped[good.size() / 2] ^= 1;
  addBytes(PlanError::BadChecksum, "one-bit", flipped);
  std::vector<uint8_t> body(good.begin(), good.end() - 16);
  std::vector<uint8_t> half(body.begin(), body.begin() + long(body.size() / 2));
  addBytes(PlanError::BadFlatBuffer, "half", withTrailer(half));
  std::vector<uint8_t> identifier = body;
  identifier[4] = 'X';
  addBytes(PlanError::BadFlatBuffer, "identifier", withTrailer(identifier));
  addBytes(PlanError::BadVersion, "major", build([](FlatBufferBuilder &b) {
             return fb::CreatePlan(b, kPlanMajor + 1, 0);
           }),
           "a newer AICF made the plan");
  addBytes(PlanError::BadVersion, "minor", build([](FlatBufferBuilder &b) {
             return fb::CreatePlan(b, kPlanMajor, kPlanMinor + 1);
           }));
  addBytes(PlanError::BadVersion, "old-minor", build([](FlatBufferBuilder &b) {
             return fb::CreatePlan(b, kOldPlanMajor, kOldPlanMinor + 1);
           }));
  addBytes(PlanError::BadVersion, "older", build([](FlatBufferBuilder &b) {
             return fb::CreatePlan(b, kOldPlanMajor - 1, 0);
           }),
           "compile it again");
  addBytes(PlanError::EntryParts, "old-minor", build([](FlatBufferBuilder &b) {
             auto calls =
                 b.CreateVector(std::vector<flatbuffers::Offset<fb::Call>>());
             std::vector<flatbuffers::Offset<fb::Part>> parts = {
                 fb::CreatePart(b, 1, 2)};
             PlanFields plan = PlanFields::empty(b);
             std::vector<flatbuffers::Offset<fb::Entry>> entries = {
                 fb::CreateEntry(b, b.CreateString("e"), 0, 0, 0, calls, 0, 0,
                                 plan.buffers, plan.values,
                                 b.CreateVector(parts))};
             plan.entries = b.CreateVector(entries);
             plan.minor = 4;
             return plan.create(b);
           }),
           "has parts, which a plan of version 4.4 has not");
  addBytes(PlanError::BadDevice, "number", build([](FlatBufferBuilder &b) {
             PlanFields plan = PlanFields::empty(b);
             plan.device = 200;
             return plan.create(b);
           }));
}

/// Many offsets to one vector or string: a small file, a huge plan.
void CorpusBuilder::addShared() {
  addBytes(PlanError::Oversized, "shared-attrs",
           build([](FlatBufferBuilder &b) {
             return planOfCalls(b, {}, 0, {bodyOf(b, 1000, 4096)});
           }));
  addBytes(
      PlanError::BadFlatBuffer, "shared-body", build([](FlatBufferBuilder &b) {
        return planOfCalls(
            b, {}, 0,
            std::vector<flatbuffers::Offset<fb::Body>>(20, bodyOf(b, 100, 0)));
      }));
  addBytes(PlanError::Oversized, "shared-operands",
           build([](FlatBufferBuilder &b) {
             auto numbers = b.CreateVector(std::vector<uint32_t>(4096));
             auto none = b.CreateVector(std::vector<uint32_t>());
             auto call = fb::CreateCall(b, 0, b.CreateString("k"), numbers,
                                        none, -1, 0, 0, none, none);
             return planOfCalls(
                 b, std::vector<flatbuffers::Offset<fb::Call>>(1000, call));
           }));
  // One long text for many calls.
  auto sharedText = [](FlatBufferBuilder &b, size_t kid, size_t location) {
    auto call = emptyCall(b, kid);
    auto text = b.CreateString(std::string(location, 'x'));
    return planOfCalls(b,
                       std::vector<flatbuffers::Offset<fb::Call>>(1000, call),
                       debugOf(b, 0, 1000, text));
  };
  addBytes(PlanError::Oversized, "shared-location",
           build([=](FlatBufferBuilder &b) { return sharedText(b, 1, 4000); }));
  addBytes(PlanError::Oversized, "shared-kid",
           build([=](FlatBufferBuilder &b) { return sharedText(b, 4000, 1); }));
}

/// Version 3 has tensors where version 4 has buffers and values.
void CorpusBuilder::addOldTensors() {
  addBytes(PlanError::ValueShape, "old-tensor", build([](FlatBufferBuilder &b) {
             std::vector<flatbuffers::Offset<fb::Tensor>> tensors = {
                 fb::CreateTensor(b, b.CreateString("w"), 0, 0,
                                  b.CreateVector(std::vector<uint32_t>(
                                      4, uint32_t(INT32_MAX))))};
             std::vector<flatbuffers::Offset<fb::Body>> bodies;
             std::vector<flatbuffers::Offset<fb::Entry>> entries;
             return fb::CreatePlan(
                 b, kOldPlanMajor, kOldPlanMinor, 0, 0, b.CreateVector(tensors),
                 b.CreateVector(bodies), b.CreateVector(entries));
           }),
           "up to 70368744177664 bytes");
  addBytes(PlanError::CallValue, "old-number", build([](FlatBufferBuilder &b) {
             std::vector<flatbuffers::Offset<fb::Tensor>> tensors;
             auto none = b.CreateVector(std::vector<uint32_t>());
             std::vector<flatbuffers::Offset<fb::Call>> calls = {fb::CreateCall(
                 b, 0, b.CreateString("k"),
                 b.CreateVector(std::vector<uint32_t>{UINT32_MAX - 15}), none,
                 -1, 0, 0, none, none)};
             std::vector<flatbuffers::Offset<fb::Body>> bodies = {
                 bodyOf(b, 1, 1)};
             std::vector<flatbuffers::Offset<fb::Entry>> entries = {
                 fb::CreateEntry(b, b.CreateString("e"), 0, 0,
                                 b.CreateVector(tensors),
                                 b.CreateVector(calls))};
             return fb::CreatePlan(
                 b, kOldPlanMajor, kOldPlanMinor, 0, 0, b.CreateVector(tensors),
                 b.CreateVector(bodies), b.CreateVector(entries));
           }));
}

void CorpusBuilder::addTables() {
  auto missing = [&](const char *what, auto make) {
    addBytes(PlanError::MissingField, what, build(make),
             (std::string("no ") + what).c_str());
  };
  auto without = [&](const char *what, auto member) {
    missing(what, [=](FlatBufferBuilder &b) {
      PlanFields plan = PlanFields::empty(b);
      plan.*member = 0;
      return plan.create(b);
    });
  };
  without("bodies", &PlanFields::bodies);
  without("buffers", &PlanFields::buffers);
  without("values", &PlanFields::values);
  without("entries", &PlanFields::entries);
  auto withEntry = [](FlatBufferBuilder &b, flatbuffers::Offset<fb::Entry> e) {
    PlanFields plan = PlanFields::empty(b);
    std::vector<flatbuffers::Offset<fb::Entry>> entries = {e};
    plan.entries = b.CreateVector(entries);
    return plan.create(b);
  };
  missing("calls",
          [=](FlatBufferBuilder &b) { return withEntry(b, entryOf(b, 0)); });
  missing("name", [=](FlatBufferBuilder &b) {
    return withEntry(b, fb::CreateEntry(b));
  });
  missing("persistent", [](FlatBufferBuilder &b) { // of version 3
    PlanFields plan = PlanFields::empty(b);
    plan.major = kOldPlanMajor;
    plan.minor = kOldPlanMinor;
    return plan.create(b);
  });
  const char *ofCalls[] = {"kid", "ins", "outs", "waits", "signals"};
  for (size_t i = 0; i < 5; ++i)
    missing(ofCalls[i], [=](FlatBufferBuilder &b) {
      auto kid = b.CreateString("k");
      auto numbers = b.CreateVector(std::vector<uint32_t>());
      auto unless = [&](size_t field) { return i == field ? 0 : numbers; };
      return planOfCalls(
          b, {fb::CreateCall(b, 0, i == 0 ? 0 : kid, unless(1), unless(2), -1,
                             0, 0, unless(3), unless(4))});
    });
  const char *ofBodies[] = {"attrs", "operands", "primitives", "results"};
  for (size_t i = 0; i < 4; ++i)
    missing(ofBodies[i], [=](FlatBufferBuilder &b) {
      auto attrs = b.CreateVector(std::vector<uint8_t>());
      auto operands = b.CreateVector(std::vector<int32_t>());
      std::vector<flatbuffers::Offset<fb::Primitive>> primitives = {
          fb::CreatePrimitive(b, 0, i == 0 ? 0 : attrs, i == 1 ? 0 : operands)};
      auto all = b.CreateVector(primitives);
      auto results = b.CreateVector(std::vector<uint32_t>());
      return planOfCalls(
          b, {}, 0,
          {fb::CreateBody(b, 0, i == 2 ? 0 : all, i == 3 ? 0 : results)});
    });
  addBytes(PlanError::CallBody, "number", build([](FlatBufferBuilder &b) {
             auto numbers = b.CreateVector(std::vector<uint32_t>());
             return planOfCalls(
                 b, {fb::CreateCall(b, 1, b.CreateString("k"), numbers, numbers,
                                    -1, 0, 0, numbers, numbers)});
           }));
  addShared();
  addDebug();
  add(PlanError::NoEntries, "none", [](Plan &p) { p.entries.clear(); });
  add(PlanError::EntryName, "empty", [](Plan &p) { p.entries[0].name = ""; });
  add(PlanError::EntryName, "malformed",
      [](Plan &p) { p.entries[0].name = "f\xff"; });
  add(PlanError::EntryName, "twice",
      [](Plan &p) { p.entries[1].name = "train"; });
  add(PlanError::EntryBatches, "no-entry",
      [](Plan &p) { p.entries[0].accumulate = 2; });
  auto accumulates = [](Plan &p, uint32_t batches) {
    p.entries.push_back(p.entries[0]);
    p.entries.back().name = "train.accumulate";
    p.entries[0].accumulate = batches;
  };
  add(PlanError::EntryBatches, "one", [=](Plan &p) { accumulates(p, 1); });
  add(PlanError::EntryBatches, "many",
      [=](Plan &p) { accumulates(p, uint32_t(INT32_MAX) + 1); });
  auto inParts = [&](PlanError expected, const char *what,
                     std::vector<PlanPart> parts, const char *text) {
    add(expected, what, [=](Plan &p) { p.entries[0].parts = parts; }, text);
  };
  const auto all = uint32_t(makeTrainPlan().entries[0].calls.size());
  inParts(PlanError::EntryParts, "too-few", {{1, 2}},
          "its parts have 1 calls, and it has");
  inParts(PlanError::EntryParts, "too-many", {{all, 1}, {1, 1}}, "and it has");
  inParts(PlanError::EntryParts, "no-calls", {{0, 1}, {all, 1}},
          "part 0: 1 times 0 calls");
  inParts(PlanError::EntryParts, "no-runs", {{all, 0}}, "part 0: 0 times");
  inParts(PlanError::EntryParts, "for-ever", {{all, UINT32_MAX}},
          "at most 16777216 calls in a run");
  inParts(PlanError::PartTemp, "of-two", {{1, 1}, {all - 1, 9}},
          "is accessed in the parts 0 and 1");
  add(PlanError::EntryOutputs, "unknown",
      [](Plan &p) { p.entries[0].outputForm = OutputForm(kNumOutputForms); });
  add(PlanError::EntryOutputs, "none", [](Plan &p) {
    p.entries[0].outputForm = OutputForm::Tuple;
    auto &buffers = p.entries[0].buffers;
    buffers.erase(std::remove_if(buffers.begin(), buffers.end(),
                                 [](const PlanBuffer &b) {
                                   return b.role == Role::Output;
                                 }),
                  buffers.end());
  });
}

/// The debug table of a plan with one entry, without values and calls.
void CorpusBuilder::addDebug() {
  auto counts = [&](const char *what, auto make, const char *text = "") {
    addBytes(PlanError::DebugCounts, what, build([=](FlatBufferBuilder &b) {
               return planOfCalls(b, {}, make(b));
             }),
             text);
  };
  counts(
      "values", [](FlatBufferBuilder &b) { return debugOf(b, 1, 0); },
      "has 1 labels of values, the plan has 0");
  counts("calls", [](FlatBufferBuilder &b) { return debugOf(b, 0, 1); });
  counts("persistent", [](FlatBufferBuilder &b) {
    return fb::CreateDebug(b, b.CreateVector(std::vector<int32_t>(1)));
  });
  counts("no-values", [](FlatBufferBuilder &b) { return fb::CreateDebug(b); });
  counts("no-entries", [](FlatBufferBuilder &b) {
    return fb::CreateDebug(b, b.CreateVector(std::vector<int32_t>()));
  });
  // One long list of labels for many calls: small file, huge plan.
  addBytes(
      PlanError::Oversized, "shared-labels", build([](FlatBufferBuilder &b) {
        auto labels = b.CreateVector(std::vector<int32_t>(4096));
        auto text = b.CreateString("");
        auto call = emptyCall(b);
        std::vector<flatbuffers::Offset<fb::CallDebug>> calls(
            1000, fb::CreateCallDebug(b, labels, labels, text));
        auto none = b.CreateVector(std::vector<int32_t>());
        std::vector<flatbuffers::Offset<fb::EntryDebug>> entries = {
            fb::CreateEntryDebug(b, 0, 0, 0, none, b.CreateVector(calls))};
        auto debug = fb::CreateDebug(b, none, b.CreateVector(entries));
        return planOfCalls(
            b, std::vector<flatbuffers::Offset<fb::Call>>(1000, call), debug);
      }));
}

} // namespace aicf::test
