//===- PlanWriter.cpp - writing plan files --------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "aicf/Plan.h"
#include "lib/Plan/Fields.h"

#include "plan_generated.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <map>
#include <unordered_map>

namespace aicf {
namespace {

/// Writes each field by its type, children before their parents.
class Encoder {
public:
  std::vector<uint8_t> encode(const Plan &plan, bool withDebug);

private:
  template <typename Number,
            typename = std::enable_if_t<std::is_arithmetic_v<Number>>>
  Number field(Number value) {
    return value;
  }
  template <typename Enum, typename = std::enable_if_t<std::is_enum_v<Enum>>,
            typename = void>
  std::underlying_type_t<Enum> field(Enum value) {
    return static_cast<std::underlying_type_t<Enum>>(value);
  }
  auto field(const std::string &text) { return b.CreateSharedString(text); }
  auto field(const std::vector<uint8_t> &bytes) {
    auto [it, isFresh] = attrs.try_emplace(bytes);
    if (isFresh)
      it->second = b.CreateVector(bytes);
    return it->second;
  }
  auto field(const std::vector<uint32_t> &numbers) {
    return b.CreateVector(numbers);
  }
  auto field(const std::vector<int32_t> &numbers) {
    return b.CreateVector(numbers);
  }
  /// Events; they are 64 bits in memory only.
  auto field(const std::vector<int64_t> &numbers) {
    return b.CreateVector(
        std::vector<uint32_t>(numbers.begin(), numbers.end()));
  }
  auto field(const TensorDesc &desc) {
    return b.CreateVector(
        std::vector<uint32_t>(desc.shape().begin(), desc.shape().end()));
  }
  /// Returns no vector for what is not a constant.
  flatbuffers::Offset<flatbuffers::Vector<uint8_t>>
  field(const PlanData &data) {
    return data.bytes.empty() ? 0 : field(data.bytes);
  }
  /// Returns no vector for a tensor without strides.
  flatbuffers::Offset<flatbuffers::Vector<uint32_t>>
  field(const Strides &strides) {
    std::vector<uint32_t> halves;
    for (int64_t stride : strides.all()) {
      halves.push_back(uint32_t(stride));
      halves.push_back(uint32_t(uint64_t(stride) >> 32));
    }
    return halves.empty() ? 0 : b.CreateVector(halves);
  }
  uint32_t field(const std::shared_ptr<const Body> &body) {
    if (!body)
      return UINT32_MAX; // which no reader takes
    auto [first, last] = byHash.equal_range(hashOf(*body));
    auto known = std::find_if(first, last, [&](const auto &entry) {
      return *entry.second.first == *body;
    });
    if (known != last)
      return known->second.second;
    auto number = uint32_t(bodies.size());
    byHash.emplace(hashOf(*body), std::pair(body.get(), number));
    bodies.push_back(record(*body));
    return number;
  }
  static uint64_t hashOf(const Body &body) {
    uint64_t hash = body.numOperands;
    auto add = [&](const auto &numbers) {
      hash = XXH3_64bits_withSeed(numbers.data(),
                                  numbers.size() * sizeof(numbers[0]), hash);
    };
    for (const Primitive &primitive : body.primitives) {
      hash += uint64_t(primitive.kind);
      add(primitive.operands);
      add(primitive.attrs);
    }
    add(body.results);
    return hash;
  }
  template <typename Record> auto field(const std::vector<Record> &records) {
    std::vector<decltype(record(records[0]))> offsets;
    for (const Record &r : records)
      offsets.push_back(record(r));
    return b.CreateVector(offsets);
  }

// Everything below a table is written before the table is begun.
#define AICF_PREPARE(NAME, MEMBER) auto NAME##_ = field(from.MEMBER);
#define AICF_ADD(NAME, MEMBER) table.add_##NAME(NAME##_);
#define AICF_RECORD(STRUCT, TABLE, FIELDS)                                     \
  flatbuffers::Offset<fb::TABLE> record(const STRUCT &from) {                  \
    FIELDS(AICF_PREPARE)                                                       \
    fb::TABLE##Builder table(b);                                               \
    FIELDS(AICF_ADD)                                                           \
    return table.Finish();                                                     \
  }
  AICF_RECORD(PlanBuffer, Buffer, AICF_BUFFER_FIELDS)
  AICF_RECORD(PlanValue, Value, AICF_VALUE_FIELDS)
  AICF_RECORD(Primitive, Primitive, AICF_PRIMITIVE_FIELDS)
  AICF_RECORD(Body, Body, AICF_BODY_FIELDS)
  AICF_RECORD(PlanCall, Call, AICF_CALL_FIELDS)
  AICF_RECORD(PlanPart, Part, AICF_PART_FIELDS)
#define AICF_ALL_ENTRY_FIELDS(X) AICF_ENTRY_FIELDS(X) AICF_MEMORY_FIELDS(X)
  AICF_RECORD(PlanEntry, Entry, AICF_ALL_ENTRY_FIELDS)
#undef AICF_ALL_ENTRY_FIELDS
#undef AICF_RECORD

  flatbuffers::Offset<fb::CallDebug> debug(const PlanCall &from) {
    AICF_CALL_DEBUG_FIELDS(AICF_PREPARE)
    fb::CallDebugBuilder table(b);
    AICF_CALL_DEBUG_FIELDS(AICF_ADD)
    return table.Finish();
  }
  flatbuffers::Offset<fb::EntryDebug> debug(const PlanEntry &from) {
    AICF_ENTRY_DEBUG_FIELDS(AICF_PREPARE)
    std::vector<flatbuffers::Offset<fb::CallDebug>> each;
    for (const PlanCall &call : from.calls)
      each.push_back(debug(call));
    auto calls = b.CreateVector(each);
    auto vids = labels(from.values);
    fb::EntryDebugBuilder table(b);
    AICF_ENTRY_DEBUG_FIELDS(AICF_ADD)
    table.add_vids(vids);
    table.add_calls(calls);
    return table.Finish();
  }
  flatbuffers::Offset<fb::Debug> debug(const Plan &plan) {
    std::vector<flatbuffers::Offset<fb::EntryDebug>> entries;
    for (const PlanEntry &entry : plan.entries)
      entries.push_back(debug(entry));
    auto persistent = labels(plan.values);
    return fb::CreateDebug(b, persistent, b.CreateVector(entries));
  }
  flatbuffers::Offset<flatbuffers::Vector<int32_t>>
  labels(const std::vector<PlanValue> &values) {
    std::vector<int32_t> vids;
    for (const PlanValue &value : values)
      vids.push_back(value.vid);
    return b.CreateVector(vids);
  }

  flatbuffers::FlatBufferBuilder b;
  std::map<std::vector<uint8_t>,
           flatbuffers::Offset<flatbuffers::Vector<uint8_t>>>
      attrs;
  std::unordered_multimap<uint64_t, std::pair<const Body *, uint32_t>> byHash;
  std::vector<flatbuffers::Offset<fb::Body>> bodies;
};

std::vector<uint8_t> Encoder::encode(const Plan &from, bool withDebug) {
  AICF_PLAN_FIELDS(AICF_PREPARE)
  AICF_MEMORY_FIELDS(AICF_PREPARE)
  auto table_ = b.CreateVector(bodies);
  auto debug_ = withDebug ? debug(from) : flatbuffers::Offset<fb::Debug>();
  fb::PlanBuilder table(b);
  table.add_major(kPlanMajor);
  table.add_minor(kPlanMinor);
  AICF_PLAN_FIELDS(AICF_ADD)
  AICF_MEMORY_FIELDS(AICF_ADD)
  table.add_bodies(table_);
  table.add_debug(debug_);
  fb::FinishPlanBuffer(b, table.Finish());
  return {b.GetBufferPointer(), b.GetBufferPointer() + b.GetSize()};
}
#undef AICF_PREPARE
#undef AICF_ADD

} // namespace

std::vector<uint8_t> Plan::serialize(bool withDebug) const {
  std::vector<uint8_t> bytes = Encoder().encode(*this, withDebug);
  uint64_t hash = XXH3_64bits(bytes.data(), bytes.size());
  bytes.insert(bytes.end(), kPlanMagic, kPlanMagic + 8);
  for (int i = 0; i < 8; ++i)
    bytes.push_back(static_cast<uint8_t>(hash >> (8 * i)));
  return bytes;
}

} // namespace aicf
