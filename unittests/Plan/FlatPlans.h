//===- FlatPlans.h - FlatBuffers that no plan serializes to -----*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_UNITTESTS_PLAN_FLATPLANS_H
#define AICF_UNITTESTS_PLAN_FLATPLANS_H

#include "unittests/Plan/Corpus.h"

#include "plan_generated.h"

#include <functional>

namespace aicf::test {

using flatbuffers::FlatBufferBuilder;

/// A FlatBuffer that no Plan struct serializes to.
inline std::vector<uint8_t>
build(const std::function<flatbuffers::Offset<fb::Plan>(FlatBufferBuilder &)>
          &make) {
  FlatBufferBuilder b;
  fb::FinishPlanBuffer(b, make(b));
  return withTrailer(std::vector<uint8_t>(b.GetBufferPointer(),
                                          b.GetBufferPointer() + b.GetSize()));
}

/// `primitives` times one primitive, with a blob of so many bytes.
inline flatbuffers::Offset<fb::Body>
bodyOf(FlatBufferBuilder &b, size_t primitives, size_t attrBytes) {
  auto primitive =
      fb::CreatePrimitive(b, 0, b.CreateVector(std::vector<uint8_t>(attrBytes)),
                          b.CreateVector(std::vector<int32_t>()));
  std::vector<flatbuffers::Offset<fb::Primitive>> all(primitives, primitive);
  return fb::CreateBody(b, 0, b.CreateVector(all),
                        b.CreateVector(std::vector<uint32_t>()));
}

/// A call with a KID of so many letters and nothing else.
inline flatbuffers::Offset<fb::Call> emptyCall(FlatBufferBuilder &b,
                                               size_t kid = 1) {
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
inline flatbuffers::Offset<fb::Entry>
entryOf(FlatBufferBuilder &b,
        flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<fb::Call>>>
            calls) {
  PlanFields none = PlanFields::empty(b);
  return fb::CreateEntry(b, b.CreateString("e"), 0, 0, 0, calls, 0, 0,
                         none.buffers, none.values);
}

/// A plan of `calls`, without buffers.
inline flatbuffers::Offset<fb::Plan>
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
inline flatbuffers::Offset<fb::Debug>
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

} // namespace aicf::test

#endif // AICF_UNITTESTS_PLAN_FLATPLANS_H
