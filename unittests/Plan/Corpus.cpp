//===- Corpus.cpp - plans that must be refused, and why -------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "unittests/Plan/Corpus.h"
#include "aicf/OpCall.h"
#include "lib/Ops/BodyRules.h"
#include "unittests/Common/SamplePlans.h"

#include "plan_generated.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cmath>
#include <functional>
#include <limits>

namespace aicf::test {

std::vector<uint8_t> withTrailer(std::vector<uint8_t> body) {
  uint64_t hash = XXH3_64bits(body.data(), body.size());
  body.insert(body.end(), kPlanMagic, kPlanMagic + 8);
  for (int i = 0; i < 8; ++i)
    body.push_back(uint8_t(hash >> (8 * i)));
  return body;
}

namespace {

using flatbuffers::FlatBufferBuilder;

/// A FlatBuffer that no Plan struct serializes to.
std::vector<uint8_t>
build(const std::function<flatbuffers::Offset<fb::Plan>(FlatBufferBuilder &)>
          &make) {
  FlatBufferBuilder b;
  fb::FinishPlanBuffer(b, make(b));
  return withTrailer(std::vector<uint8_t>(b.GetBufferPointer(),
                                          b.GetBufferPointer() + b.GetSize()));
}

/// `steps` times one step, with a blob of so many bytes.
flatbuffers::Offset<fb::Body> bodyOf(FlatBufferBuilder &b, size_t steps,
                                     size_t attrBytes) {
  auto step =
      fb::CreateStep(b, 0, b.CreateVector(std::vector<uint8_t>(attrBytes)),
                     b.CreateVector(std::vector<int32_t>()));
  std::vector<flatbuffers::Offset<fb::Step>> all(steps, step);
  return fb::CreateBody(b, 0, b.CreateVector(all),
                        b.CreateVector(std::vector<uint32_t>()));
}

/// A call with a KID of so many letters and nothing else.
flatbuffers::Offset<fb::Call> emptyCall(FlatBufferBuilder &b, size_t kid = 1) {
  auto numbers = b.CreateVector(std::vector<uint32_t>());
  return fb::CreateCall(b, 0, b.CreateString(std::string(kid, 'k')), numbers,
                        numbers, -1, 0, 0, numbers, numbers);
}

/// Creates a plan of the current version with these fields; null ones are left
/// out.
struct PlanFields {
  uint16_t major = kPlanMajor, minor = kPlanMinor;
  uint8_t device = 0;
  flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<fb::Buffer>>>
      buffers;
  flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<fb::Value>>>
      values;
  flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<fb::Body>>>
      bodies;
  flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<fb::Entry>>>
      entries;
  flatbuffers::Offset<fb::Debug> debug;

  /// Without buffers, values and bodies.
  static PlanFields empty(FlatBufferBuilder &b) {
    PlanFields fields;
    fields.buffers =
        b.CreateVector(std::vector<flatbuffers::Offset<fb::Buffer>>());
    fields.values =
        b.CreateVector(std::vector<flatbuffers::Offset<fb::Value>>());
    fields.bodies =
        b.CreateVector(std::vector<flatbuffers::Offset<fb::Body>>());
    return fields;
  }
  flatbuffers::Offset<fb::Plan> create(FlatBufferBuilder &b) const {
    return fb::CreatePlan(b, major, minor, device, 0, 0, bodies, entries, debug,
                          buffers, values);
  }
};

/// An entry without buffers and values.
flatbuffers::Offset<fb::Entry>
entryOf(FlatBufferBuilder &b,
        flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<fb::Call>>>
            calls) {
  PlanFields none = PlanFields::empty(b);
  return fb::CreateEntry(b, b.CreateString("e"), 0, 0, 0, calls, 0, 0,
                         none.buffers, none.values);
}

/// A plan of `calls`, without buffers.
flatbuffers::Offset<fb::Plan>
planOfCalls(FlatBufferBuilder &b,
            const std::vector<flatbuffers::Offset<fb::Call>> &calls,
            flatbuffers::Offset<fb::Debug> debug = 0,
            std::vector<flatbuffers::Offset<fb::Body>> bodies = {}) {
  if (bodies.empty())
    bodies = {bodyOf(b, 1, 1)};
  std::vector<flatbuffers::Offset<fb::Entry>> entries = {
      entryOf(b, b.CreateVector(calls))};
  PlanFields plan = PlanFields::empty(b);
  plan.bodies = b.CreateVector(bodies);
  plan.entries = b.CreateVector(entries);
  plan.debug = debug;
  return plan.create(b);
}

/// A debug table of one entry with as many values and calls.
flatbuffers::Offset<fb::Debug>
debugOf(FlatBufferBuilder &b, size_t values, size_t numCalls,
        flatbuffers::Offset<flatbuffers::String> location = 0) {
  auto none = b.CreateVector(std::vector<int32_t>());
  if (location.IsNull())
    location = b.CreateString("");
  std::vector<flatbuffers::Offset<fb::CallDebug>> calls(
      numCalls, fb::CreateCallDebug(b, none, none, location));
  std::vector<flatbuffers::Offset<fb::EntryDebug>> entries = {
      fb::CreateEntryDebug(b, 0, 0, 0,
                           b.CreateVector(std::vector<int32_t>(values)),
                           b.CreateVector(calls))};
  return fb::CreateDebug(b, none, b.CreateVector(entries));
}

class CorpusBuilder {
public:
  std::vector<CorpusCase> cases;

  /// The sample plan after `change`.
  void add(PlanError expected, const char *what,
           const std::function<void(Plan &)> &change, const char *text = "") {
    Plan plan = makeTrainPlan();
    change(plan);
    addBytes(expected, what, plan.serialize(), text);
  }
  void addBytes(PlanError expected, const char *what,
                std::vector<uint8_t> bytes, const char *text = "") {
    cases.push_back({expected, std::string(nameOf(expected)) + "-" + what,
                     std::move(bytes), text});
  }

  void addOuterForm();
  void addTables();
  void addShared();
  void addDebug();
  void addBodies();
  void addTensors();
  void addValues();
  void addSegments();
  void addCalls();
  void addOrder();
};

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
           }));
  addBytes(PlanError::BadVersion, "minor", build([](FlatBufferBuilder &b) {
             return fb::CreatePlan(b, kPlanMajor, kPlanMinor + 1);
           }));
  addBytes(PlanError::BadVersion, "old-minor", build([](FlatBufferBuilder &b) {
             return fb::CreatePlan(b, kOldPlanMajor, kOldPlanMinor + 1);
           }));
  addBytes(PlanError::BadVersion, "older", build([](FlatBufferBuilder &b) {
             return fb::CreatePlan(b, kOldPlanMajor - 1, 0);
           }));
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
  const char *ofBodies[] = {"attrs", "operands", "steps", "results"};
  for (size_t i = 0; i < 4; ++i)
    missing(ofBodies[i], [=](FlatBufferBuilder &b) {
      auto attrs = b.CreateVector(std::vector<uint8_t>());
      auto operands = b.CreateVector(std::vector<int32_t>());
      std::vector<flatbuffers::Offset<fb::Step>> steps = {
          fb::CreateStep(b, 0, i == 0 ? 0 : attrs, i == 1 ? 0 : operands)};
      auto all = b.CreateVector(steps);
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
  auto counts = [&](const char *what, auto make) {
    addBytes(PlanError::DebugCounts, what, build([=](FlatBufferBuilder &b) {
               return planOfCalls(b, {}, make(b));
             }));
  };
  counts("values", [](FlatBufferBuilder &b) { return debugOf(b, 1, 0); });
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

void CorpusBuilder::addTensors() {
  auto first = [](Plan &p) -> PlanBuffer & { return p.buffers[0]; };
  auto firstDesc = [](Plan &p) -> TensorDesc & { return p.values[0].desc; };
  add(PlanError::BufferName, "empty", [=](Plan &p) { first(p).name = ""; });
  add(PlanError::BufferName, "twice", [=](Plan &p) { first(p).name = "b"; });
  add(PlanError::BufferName, "reserved",
      [=](Plan &p) { first(p).name = "__metadata__"; });
  add(PlanError::BufferName, "not-utf8",
      [=](Plan &p) { first(p).name = "w\xff"; });
  const std::pair<const char *, const char *> malformed[] = {
      {"surrogate", "\xed\xa0\x80"},
      {"overlong-2", "\xc0\xaf"},
      {"overlong-3", "\xe0\x80\xaf"},
      {"overlong-4", "\xf0\x80\x80\xaf"},
      {"above", "\xf4\x90\x80\x80"},
      {"control", "\xc2\x9b"},
      {"cut", "w\xe2\x82"},
      {"no-continuation", "\xe2\x82w"},
      {"delete", "\x7f"},
      {"newline", "a\nb"},
      {"five-bytes", "\xf8\x88\x80\x80\x80"}};
  for (auto [what, name] : malformed)
    add(PlanError::BufferName, what,
        [=, text = std::string(name)](Plan &p) { first(p).name = text; });
  add(PlanError::BufferName, "too-long",
      [=](Plan &p) { first(p).name = std::string(1025, 'w'); });
  add(PlanError::BufferName, "like-qualified",
      [=](Plan &p) { first(p).name = "train/x"; });
  add(PlanError::BufferName, "io-like-qualified",
      [](Plan &p) { p.entries[1].buffers[0].name = "train/x"; });
  add(PlanError::BufferName, "qualified-twice", [](Plan &p) {
    p.entries[0].buffers[0].name = "a/b"; // of entry "train", and of "train/a"
    p.entries[1].name = "train/a";
    p.entries[1].buffers[0].name = "b2";
    p.entries[1].buffers[1].name = "b";
  });
  add(PlanError::BufferName, "io-unnamed",
      [](Plan &p) { p.entries[0].buffers[0].name = ""; });
  add(PlanError::BufferName, "io-like-param",
      [](Plan &p) { p.entries[0].buffers[0].name = "W"; });
  add(PlanError::ValueDType, "number",
      [=](Plan &p) { firstDesc(p).dtype = static_cast<DType>(77); });
  add(PlanError::BufferRole, "number",
      [=](Plan &p) { first(p).role = static_cast<Role>(99); });
  add(PlanError::BufferRole, "temp-as-persistent",
      [=](Plan &p) { first(p).role = Role::Temp; });
  add(PlanError::BufferRole, "param-in-entry",
      [](Plan &p) { p.entries[0].buffers[0].role = Role::Param; });
  add(PlanError::ValueShape, "zero",
      [=](Plan &p) { firstDesc(p).dims[0] = 0; });
  add(PlanError::ValueShape, "huge", [=](Plan &p) {
    firstDesc(p).dims[0] = firstDesc(p).dims[1] = INT32_MAX;
  });
  add(PlanError::ValueShape, "above-int",
      [=](Plan &p) { firstDesc(p).dims[0] = int64_t(INT32_MAX) + 1; });
  addBytes(PlanError::ValueShape, "rank-9", build([](FlatBufferBuilder &b) {
             std::vector<flatbuffers::Offset<fb::Value>> values = {
                 fb::CreateValue(b, 0, 0, 0,
                                 b.CreateVector(std::vector<uint32_t>(9, 1)))};
             PlanFields plan = PlanFields::empty(b);
             plan.values = b.CreateVector(values);
             return plan.create(b);
           }));
  add(PlanError::BufferOffset, "unaligned",
      [=](Plan &p) { first(p).offset = 4; });
  add(PlanError::BufferRange, "beyond",
      [=](Plan &p) { first(p).offset = p.persistentBytes; });
  add(PlanError::BufferRange, "overflow", [=](Plan &p) {
    first(p).offset = std::numeric_limits<uint64_t>::max() - 255;
  });
  add(PlanError::ValueLayout, "number",
      [=](Plan &p) { firstDesc(p).layout = static_cast<Layout>(3); });
  add(PlanError::ValueLayout, "strided",
      [=](Plan &p) { firstDesc(p).layout = Layout::Strided; });
  add(PlanError::ValueLayout, "param", [=](Plan &p) {
    firstDesc(p).dtype = DType::BF16;
    firstDesc(p).layout = Layout::Padded;
  });
  add(PlanError::ValueLayout, "input", [](Plan &p) {
    p.entries[0].values[0].desc.dtype = DType::F16;
    p.entries[0].values[0].desc.layout = Layout::Padded;
  });
  auto pad = [](DType dtype, Span<const int64_t> shape) {
    return
        [=, dims = std::vector<int64_t>(shape.begin(), shape.end())](Plan &p) {
          for (PlanValue &v : p.entries[0].values)
            if (p.buffer(p.entries[0], v.buffer).role == Role::Temp) {
              v.desc = TensorDesc(dtype, dims);
              v.desc.layout = Layout::Padded;
            }
        };
  };
  add(PlanError::ValueLayout, "f32", pad(DType::F32, {3, 5}));
  add(PlanError::ValueLayout, "rank-3", pad(DType::F16, {2, 3, 5}));
  add(PlanError::ValueLayout, "scalar", pad(DType::F16, {}));
  add(PlanError::ValueShape, "padded-above-int",
      pad(DType::F16, {1, INT32_MAX}));
  add(PlanError::BufferInit, "number",
      [=](Plan &p) { first(p).init = static_cast<InitKind>(50); });
  add(PlanError::BufferInit, "of-input",
      [](Plan &p) { p.entries[0].buffers[0].init = InitKind::Ones; });
  add(PlanError::BufferInit, "fan-in-of-vector",
      [](Plan &p) { p.buffers[1].init = InitKind::UniformFanIn; });
  add(PlanError::BufferInit, "normal-of-integer",
      [](Plan &p) { p.buffers[4].init = InitKind::Normal; });
  add(PlanError::BufferInit, "fan-in-of-integer",
      [=](Plan &p) { firstDesc(p).dtype = DType::I32; });
  add(PlanError::BufferInit, "negative-deviation", [=](Plan &p) {
    first(p).init = InitKind::Normal;
    first(p).initValue = -0.5;
  });
  add(PlanError::BufferInit, "fraction-of-integer", [](Plan &p) {
    p.buffers[4].init = InitKind::Constant;
    p.buffers[4].initValue = 1.5;
  });
  add(PlanError::BufferInit, "too-large-integer", [](Plan &p) {
    p.buffers[4].init = InitKind::Constant;
    p.buffers[4].initValue = 1e12;
  });
  add(PlanError::BufferInit, "nan", [=](Plan &p) {
    first(p).init = InitKind::Constant;
    first(p).initValue = NAN;
  });
  // Tensor 2 is the moment of W (tensor 0); lr is a hyper.
  auto derive = [](Plan &p, int32_t from, DType dtype) {
    p.buffers[2].derivedFrom = from;
    TensorDesc desc = p.values[2].desc;
    desc.dtype = dtype;
    retype(p.buffers[2], p.values[2], desc);
  };
  add(
      PlanError::BufferDerived, "nothing",
      [=](Plan &p) { derive(p, 99, DType::F16); }, "no such persistent buffer");
  add(
      PlanError::BufferDerived, "negative",
      [=](Plan &p) { derive(p, -2, DType::F16); }, "no such persistent buffer");
  const char *other = "the same shape and another float type";
  add(
      PlanError::BufferDerived, "same-type",
      [=](Plan &p) { derive(p, 0, DType::F32); }, other);
  add(
      PlanError::BufferDerived, "integer",
      [=](Plan &p) { derive(p, 0, DType::I32); }, other);
  add(
      PlanError::BufferDerived, "of-integer",
      [=](Plan &p) {
        derive(p, 4, DType::F16);
        retype(p.buffers[2], p.values[2], TensorDesc(DType::F16, {}));
      },
      other);
  add(
      PlanError::BufferDerived, "other-shape",
      [=](Plan &p) { derive(p, 1, DType::F16); }, other);
  add(
      PlanError::BufferDerived, "no-cast",
      [=](Plan &p) {
        derive(p, 0, DType::F16);
        TensorDesc wide = p.values[0].desc;
        wide.dtype = DType::F64;
        retype(p.buffers[0], p.values[0], wide);
      },
      "no cast between the two types");
  add(
      PlanError::BufferDerived, "itself",
      [=](Plan &p) { derive(p, 2, DType::F16); }, "derived itself");
  add(
      PlanError::BufferDerived, "hyper",
      [=](Plan &p) {
        derive(p, 5, DType::F16);
        retype(p.buffers[2], p.values[2], TensorDesc(DType::F16, {}));
      },
      "derived from a param or state");
  for (Layout layout : {Layout::Dense, Layout::Padded}) // both are legal
    add(PlanError::BufferDerived,
        layout == Layout::Dense ? "stale" : "stale-padded", [=](Plan &p) {
          // predict never writes; train writes W, and nothing its copy.
          PlanBuffer copy = p.buffers[0];
          TensorDesc desc = p.values[0].desc;
          copy.name = "W.f16";
          copy.role = Role::State;
          desc.dtype = DType::F16;
          copy.init = InitKind::None;
          copy.derivedFrom = 0;
          desc.layout = layout;
          p.buffers[5] = copy; // in place of lr, which no check needs before
          p.buffers[5].offset = 4096;
          retype(p.buffers[5], p.values[5], desc);
          p.persistentBytes = 1 << 16;
          for (PlanEntry &entry : p.entries)
            entry.calls.erase(
                std::remove_if(entry.calls.begin(), entry.calls.end(),
                               [](const PlanCall &c) {
                                 return c.body->isOnly(OpKind::SgdStep);
                               }),
                entry.calls.end());
          PlanCall write = p.entries[0].calls[4]; // dW, straight into W
          write.outs = {0};
          p.entries[0].calls.push_back(write);
        });
  add(
      PlanError::BufferDerived, "param",
      [](Plan &p) {
        TensorDesc half = p.values[0].desc;
        half.dtype = DType::F16;
        retype(p.buffers[0], p.values[0], half);
        p.buffers[0].derivedFrom = 2;
      },
      "a state is derived");
  add(PlanError::BufferDerived, "io",
      [](Plan &p) { p.entries[0].buffers[0].derivedFrom = 0; });
}

/// Two values in the buffer of the temp y (number 9) of makeTrainPlan(), at
/// these bytes; returns the first one's number.
static uint32_t addParts(Plan &p, uint64_t first, uint64_t second,
                         TensorDesc desc) {
  PlanEntry &e = p.entries[0];
  auto number = uint32_t(p.values.size() + e.values.size());
  e.values.push_back({9, first, desc});
  e.values.push_back({9, second, desc});
  return number;
}

void CorpusBuilder::addValues() {
  const TensorDesc row(DType::F32, {3});
  add(PlanError::ValueBuffer, "number",
      [](Plan &p) { p.entries[0].values[4].buffer = 99; });
  add(
      PlanError::ValueBuffer, "workspace",
      [](Plan &p) { p.entries[0].buffers[3].role = Role::Workspace; },
      "is a workspace");
  add(PlanError::BufferRole, "io-behind-temps", [](Plan &p) {
    addTensor(p, p.entries[0],
              makeTensor("late", Role::Input, TensorDesc(DType::F32, {1}), 0));
  });
  add(PlanError::ValueWhole, "persistent-count",
      [](Plan &p) { p.values.pop_back(); });
  add(PlanError::ValueWhole, "of-another-buffer",
      [](Plan &p) { p.values[0].buffer = 2; });
  add(PlanError::ValueWhole, "io-count",
      [](Plan &p) { p.entries[1].values.pop_back(); });
  add(PlanError::ValueWhole, "part",
      [](Plan &p) { p.entries[0].values[0].desc.dims[0] = 1; });
  add(PlanError::ValueRange, "beyond",
      [](Plan &p) { p.entries[0].values[4].byteOffset = 4; });
  add(PlanError::ValueRange, "overflow",
      [](Plan &p) { p.entries[0].values[4].byteOffset = UINT64_MAX - 3; });
  add(PlanError::ValueRange, "half-an-element",
      [=](Plan &p) { addParts(p, 2, 0, row); });
  add(PlanError::ValueOverlaps, "many", [](Plan &p) {
    p.entries[0].tempBytes = p.entries[0].buffers[3].bytes = 1 << 20;
    for (int64_t n = 1; n < 5000; ++n)
      p.entries[0].values.push_back({9, 0, TensorDesc(DType::F32, {n})});
  });
  add(
      PlanError::ReadBeforeWrite, "half-written",
      [=](Plan &p) { // the first row of y alone, which a later call reads
        uint32_t part = addParts(p, 0, 12, row);
        p.entries[0].calls[0] =
            makeCall(OpKind::Relu, "relu_f32_v0", {1}, {part});
      },
      "reads value 9");
  add(
      PlanError::CallInplace, "part-of-an-operand",
      [=](Plan &p) {
        uint32_t part = addParts(p, 0, 12, row);
        p.entries[0].calls.insert(p.entries[0].calls.begin() + 1,
                                  makeCall(OpKind::ReduceSum,
                                           "reduce_sum_f32_v0", {9}, {part},
                                           encodeAttrs(ReduceSumAttrs{0})));
      },
      "share bytes");
  add(PlanError::CallWrites, "overlapping-results", [](Plan &p) {
    PlanEntry &e = p.entries[0];
    e.buffers[3].bytes = 64;
    uint32_t part = addParts(p, 0, 16, TensorDesc(DType::F32, {3, 4}));
    e.calls[7].outs = {part, part + 1};
  });
  add(PlanError::CallAlignment, "vectors", [](Plan &p) {
    p = withKernelsOf(makeTwoStreamPlan(), DeviceKind::CUDA);
    PlanEntry &e = p.entries[0]; // relu_f32_vec4_v0 on a temp, 4 bytes in
    e.buffers[2].bytes = 36;
    e.values[2].byteOffset = 4;
  });
}

void CorpusBuilder::addSegments() {
  add(PlanError::SegmentBytes, "persistent",
      [](Plan &p) { p.persistentBytes = uint64_t(1) << 60; });
  add(PlanError::SegmentBytes, "temp",
      [](Plan &p) { p.entries[0].tempBytes = uint64_t(1) << 60; });
  add(PlanError::SegmentBytes, "io",
      [](Plan &p) { p.entries[0].ioBytes = uint64_t(1) << 60; });
  add(PlanError::SegmentOverlap, "persistent",
      [](Plan &p) { p.buffers[1].offset = 0; });
  add(PlanError::SegmentOverlap, "io",
      [](Plan &p) { p.entries[0].buffers[2].offset = 0; });
}

void CorpusBuilder::addCalls() {
  auto call = [](Plan &p, size_t i) -> PlanCall & {
    return p.entries[0].calls[i];
  };
  add(PlanError::CallKid, "unknown",
      [=](Plan &p) { call(p, 0).kid = "gemm_f32_magic_v0"; });
  add(PlanError::CallKid, "of-another-op",
      [=](Plan &p) { call(p, 0).kid = "relu_f32_v0"; });
  add(PlanError::CallKid, "of-another-dtype",
      [=](Plan &p) { call(p, 0).kid = "gemm_f64_blas_v0"; });
  add(PlanError::CallKid, "of-another-device",
      [](Plan &p) { p.device = DeviceKind::CUDA; });
  add(PlanError::CallValue, "operand",
      [=](Plan &p) { call(p, 0).ins[0] = 99; });
  add(PlanError::CallValue, "result",
      [=](Plan &p) { call(p, 0).outs[0] = 99; });
  add(PlanError::CallValue, "workspace",
      [=](Plan &p) { call(p, 0).workspace = 99; });
  add(PlanError::CallLabels, "operands",
      [=](Plan &p) { call(p, 0).inVids.pop_back(); });
  add(PlanError::CallLabels, "results",
      [=](Plan &p) { call(p, 0).vids.push_back(1); });
  add(PlanError::CallLabels, "operands-only",
      [=](Plan &p) { call(p, 0).vids.clear(); });
  add(PlanError::CallLabels, "results-only",
      [=](Plan &p) { call(p, 0).inVids.clear(); });
  add(PlanError::CallRules, "shape", [=](Plan &p) { call(p, 0).ins[0] = 7; });
  add(PlanError::CallBody, "operands", [=](Plan &p) {
    call(p, 0).ins.pop_back();
    call(p, 0).inVids.pop_back();
  });
  add(PlanError::CallBody, "results",
      [=](Plan &p) { call(p, 0).outs.push_back(9); });
  add(PlanError::CallWorkspace, "no-buffer",
      [=](Plan &p) { call(p, 0).workspaceBytes = 4; });
  add(PlanError::CallWorkspace, "role", [=](Plan &p) {
    call(p, 0).workspace = 9;
    call(p, 0).workspaceBytes = 4;
  });
  add(PlanError::CallWorkspace, "cap", [=](Plan &p) {
    call(p, 0).workspace = int32_t(addTensor(
        p, p.entries[0],
        makeTensor("", Role::Workspace, TensorDesc(DType::F32, {4}), 512)));
    call(p, 0).workspaceBytes = 4;
  });
  add(PlanError::CallWrites, "input", [=](Plan &p) {
    call(p, 1).outs[0] = 7; // of the same type
  });
  add(
      PlanError::CallWrites, "hyper", [=](Plan &p) { call(p, 2).outs[0] = 5; },
      "of role hyper");
  // A reduction of CUDA's that takes a workspace, with an input in its place.
  TensorDesc rows(DType::F32, {300, 401}), sums(DType::F32, {401});
  Sample sum{{rows}, {sums}, std::vector<uint8_t>(8), OpKind::ReduceSum};
  Plan reduction = makeCallPlan(sum, DeviceKind::CUDA);
  PlanCall &reduce = reduction.entries[0].calls[0];
  uint64_t pinned = reduce.workspaceBytes;
  for (auto [what, bytes] :
       {std::pair("none", uint64_t(0)), std::pair("too-much", pinned + 4),
        std::pair("half-a-word", pinned - 2)}) {
    reduce.workspaceBytes = bytes;
    addBytes(PlanError::CallWorkspace, what, reduction.serialize());
  }
  reduce.workspaceBytes = pinned;
  reduce.workspace = int32_t(reduce.ins[0]);
  addBytes(PlanError::CallWorkspace, "input", reduction.serialize());
  add(PlanError::CallWrites, "twice", [=](Plan &p) { call(p, 7).outs[1] = 0; });
  add(PlanError::CallInplace, "gemm", [](Plan &p) {
    // A square product into its own operand.
    PlanEntry &e = p.entries[1];
    for (size_t i : {0, 1})
      retype(e.buffers[i], e.values[i], TensorDesc(DType::F32, {4, 4}));
    e.calls = {makeCall(OpKind::Gemm, "gemm_f32_blas_v0", {6, 6}, {7},
                        std::vector<uint8_t>(8)),
               makeCall(OpKind::Gemm, "gemm_f32_blas_v0", {7, 6}, {7},
                        std::vector<uint8_t>(8))};
  });
}

/// Bodies that are not in normal form, or that no kernel takes.
void CorpusBuilder::addBodies() {
  // Call 0 is gemm(0, 1) -> 2, call 7 sgd_step(0, 1, 2, m = 3) -> 4, 5.
  auto change = [&](PlanError expected, const char *what, size_t call,
                    const std::function<void(Body &)> &edit,
                    const char *text = "") {
    add(
        expected, what,
        [=](Plan &p) { setBody(p.entries[0].calls[call], edit); }, text);
  };
  auto form = [&](const char *what, const std::function<void(Body &)> &edit,
                  const char *text) {
    change(PlanError::BodyForm, what, 0, edit, text);
  };
  change(PlanError::BodyKind, "number", 0,
         [](Body &b) { b.steps[0].kind = OpKind(999); });
  change(
      PlanError::BodyKind, "reserved", 0,
      [](Body &b) { b.steps[0].kind = OpKind(19); }, "which is unknown");
  form(
      "no-steps", [](Body &b) { b.steps.clear(); },
      "the body has 0 primitives");
  form(
      "too-many-steps",
      [](Body &b) { b.steps.resize(kMaxBodySteps + 1, b.steps[0]); },
      "has 1025 primitives");
  form("blob", [](Body &b) { b.steps[0].attrs.pop_back(); }, "attr blob has");
  form(
      "slots", [](Body &b) { b.steps[0].operands.pop_back(); },
      "does not take");
  form("absent", [](Body &b) { b.steps[0].operands[1] = -1; }, "is absent");
  form(
      "negative", [](Body &b) { b.steps[0].operands[1] = -2; },
      "reads value -2");
  form(
      "own-result", [](Body &b) { b.steps[0].operands[1] = 2; },
      "reads value 2");
  form(
      "order", [](Body &b) { b.steps[0].operands = {1, 0}; },
      "is used before operand 0");
  form(
      "twice", [](Body &b) { b.steps[0].operands = {0, 0}; },
      "stands at two slots");
  form(
      "too-many-operands", [](Body &b) { b.numOperands = 4294967293u; },
      "has room for 2");
  form(
      "operands-without-a-slot", [](Body &b) { b.numOperands = 3; },
      "has room for 2");
  form(
      "unused-operand",
      [](Body &b) {
        b.numOperands = 3;
        b.steps.push_back({OpKind::Add, {}, {3, 3}});
        b.results = {4};
      },
      "its body reads 2");
  form("yields-operand", [](Body &b) { b.results = {1}; }, "yields value 1");
  form("yields-nothing", [](Body &b) { b.results = {3}; }, "yields value 3");
  form("yields-twice", [](Body &b) { b.results = {2, 2}; }, "yields value 2");
  form(
      "unread-result", [](Body &b) { b.results.clear(); },
      "is neither read nor a result");
  change(
      PlanError::BodyForm, "yields-in-disorder", 7,
      [](Body &b) { std::swap(b.results[0], b.results[1]); }, "in order");
  auto pattern = [&](const char *what, size_t call,
                     const std::function<void(Body &)> &edit) {
    change(PlanError::BodyPattern, what, call, edit, "no kernel family takes");
  };
  auto addStep = [](Body &b, OpKind kind, std::vector<int32_t> operands,
                    std::vector<uint8_t> attrs = {}) {
    b.steps.push_back({kind, std::move(attrs), std::move(operands)});
  };
  pattern("other-kinds", 0, [=](Body &b) {
    addStep(b, OpKind::Relu, {2});
    b.results = {3};
  });
  pattern("other-binding", 0, [=](Body &b) { // relu_bwd's saved, not its dy
    b.numOperands = 3;
    b.results = {4};
    addStep(b, OpKind::ReluBwd, {2, 3});
  });
  pattern("yields-inner", 0, [=](Body &b) {
    b.numOperands = 3;
    b.results = {3, 4};
    addStep(b, OpKind::BiasAdd, {3, 2}, encodeAttrs(BiasAddAttrs{-1}));
  });
  // Two updates: of other fields, with other scalars, one after the other.
  auto addUpdate = [=](Body &b, std::vector<int32_t> operands) {
    operands.resize(6, kAbsentValue);
    addStep(b, OpKind::SgdStep, std::move(operands), b.steps[0].attrs);
  };
  auto twoUpdates = [=](Body &b, int32_t lr) {
    b.numOperands = lr == 2 ? 7 : 8;
    uint32_t first = b.numOperands;
    b.results = {first, first + 1, first + 2, first + 3};
    addUpdate(b, {4, 5, lr, int32_t(first) - 1});
  };
  pattern("other-fields", 7, [=](Body &b) {
    twoUpdates(b, 2);
    b.steps[1].attrs[0] ^= 1;
  });
  pattern("not-shared", 7, [=](Body &b) { twoUpdates(b, 6); });
  pattern("chained", 7, [=](Body &b) {
    b.numOperands = 6;
    b.results = {6, 7, 8, 9};
    addUpdate(b, {6, 4, 2, 5});
  });
  pattern("too-many-groups", 7, [=](Body &b) {
    b.numOperands = 4 + 3 * uint32_t(kMaxUpdateGroups);
    for (size_t i = 0; i < kMaxUpdateGroups; ++i) {
      auto next = int32_t(4 + 3 * i);
      addUpdate(b, {next, next + 1, 2, next + 2});
    }
    b.results.clear();
    for (uint32_t i = 0; i < 2 * kMaxUpdateGroups + 2; ++i)
      b.results.push_back(b.numOperands + i);
  });
}

void CorpusBuilder::addOrder() {
  auto addFork = [&](PlanError expected, const char *what,
                     const std::function<void(PlanEntry &)> &change) {
    Plan plan = makeTwoStreamPlan();
    change(plan.entries[0]);
    addBytes(expected, what, plan.serialize());
  };
  addFork(PlanError::StreamOrder, "cycle",
          [](PlanEntry &e) { std::swap(e.calls[1], e.calls[2]); });
  addFork(PlanError::StreamOrder, "unjoined",
          [](PlanEntry &e) { e.calls[2].waits.clear(); });
  addFork(PlanError::StreamOrder, "event-twice",
          [](PlanEntry &e) { e.calls[0].signals = {7}; });
  addFork(PlanError::StreamOrder, "stream-number",
          [](PlanEntry &e) { e.calls[1].stream = 64; });
  addFork(PlanError::UnorderedAccess, "write-write", [](PlanEntry &e) {
    e.calls[1].outs = {2}; // both branches write tensor 2
    e.calls[2].ins = {2, 2};
  });
  addFork(PlanError::UnorderedAccess, "write-read", [](PlanEntry &e) {
    e.calls[1].ins = {2}; // reads what the other stream writes
  });
  addFork(PlanError::UnorderedAccess, "write-part", [](PlanEntry &e) {
    e.calls[1] = makeCall(OpKind::ReduceSum, "reduce_sum_f32_v0", {0}, {3},
                          encodeAttrs(ReduceSumAttrs{0}));
    e.values[3] = {2, 16, TensorDesc(DType::F32, {})}; // in the middle of y
    e.buffers.pop_back();
    e.calls[1].stream = 1;
    e.calls[1].signals = {7};
    e.calls[2].ins = {2, 2};
  });
  addFork(PlanError::LiveOverlap, "two-streams", [](PlanEntry &e) {
    e.buffers[3].offset = 0; // branches run side by side
  });
  addFork(PlanError::UnorderedAccess, "read-write", [](PlanEntry &e) {
    // The copy of tensor 2 runs beside the call that writes it anew.
    e.calls[0].signals = {1};
    e.calls[1].ins = {2};
    e.calls[1].waits = {1};
    e.calls.insert(e.calls.begin() + 2,
                   makeCall(OpKind::Relu, "relu_f32_v0", {0}, {2}));
  });
  add(PlanError::ReadBeforeWrite, "output",
      [](Plan &p) { std::swap(p.entries[1].calls[0], p.entries[1].calls[1]); });
  for (Role role : {Role::Temp, Role::Saved})
    add(
        PlanError::ReadBeforeWrite,
        role == Role::Temp ? "temp-never-written" : "saved-never-written",
        [=](Plan &p) {
          addTensor(p, p.entries[0],
                    makeTensor("", role, TensorDesc(DType::F32, {1}), 0));
        },
        "is never written");
  add(PlanError::ReadBeforeWrite, "swapped",
      [](Plan &p) { std::swap(p.entries[0].calls[0], p.entries[0].calls[3]); });
  add(PlanError::ReadBeforeWrite, "output-never-written", [](Plan &p) {
    p.entries[0].calls.erase(p.entries[0].calls.begin() + 2);
  });
  add(PlanError::LiveOverlap, "dW-over-y", [](Plan &p) {
    p.entries[0].buffers[4].offset = 0; // dy over y, which mse_grad reads
  });
}

} // namespace

std::vector<CorpusCase> makeCorpus() {
  CorpusBuilder builder;
  builder.addOuterForm();
  builder.addTables();
  builder.addTensors();
  builder.addValues();
  builder.addSegments();
  builder.addCalls();
  builder.addBodies();
  builder.addOrder();
  return std::move(builder.cases);
}

} // namespace aicf::test
