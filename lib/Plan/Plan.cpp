//===- Plan.cpp - reading and writing plan files --------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// The outer form: trailer, FlatBuffers, decoding into owned structs. What the
// structs mean is checked in PlanVerifier.cpp.
//===----------------------------------------------------------------------===//

#include "aicf/Plan.h"
#include "aicf/EntryNames.h"
#include "lib/Base/BadAlloc.h"
#include "lib/Base/File.h"
#include "lib/Plan/Fields.h"
#include "lib/Plan/Order.h"
#include "lib/Plan/Place.h"

#include "plan_generated.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <map>
#include <unordered_map>

namespace aicf {

std::string_view nameOf(PlanError error) {
  static constexpr std::string_view names[] = {
#define AICF_PLAN_ERROR(NAME) #NAME,
      AICF_PLAN_ERRORS(AICF_PLAN_ERROR)
#undef AICF_PLAN_ERROR
  };
  return names[static_cast<uint8_t>(error)];
}

Span<const PlanError> allPlanErrors() {
  static constexpr PlanError errors[] = {
#define AICF_PLAN_ERROR(NAME) PlanError::NAME,
      AICF_PLAN_ERRORS(AICF_PLAN_ERROR)
#undef AICF_PLAN_ERROR
  };
  return {errors, sizeof(errors) / sizeof(errors[0])};
}

namespace {

template <typename... Args>
Status refuse(PlanError error, const Args &...args) {
  return makeError(StatusCode::InvalidPlan, "[", nameOf(error), "] ", args...);
}

uint64_t readU64(const uint8_t *at) {
  uint64_t value = 0;
  for (int i = 7; i >= 0; --i)
    value = value << 8 | at[i];
  return value;
}

/// The FlatBuffer part of a file, after the trailer was checked.
StatusOr<Span<const uint8_t>> checkTrailer(Span<const uint8_t> bytes,
                                           bool verifyChecksum) {
  if (bytes.size() <= kPlanTrailerBytes)
    return refuse(PlanError::TooSmall, "the file has ", bytes.size(),
                  " bytes, a plan has more than ", kPlanTrailerBytes);
  size_t size = bytes.size() - kPlanTrailerBytes;
  const uint8_t *trailer = bytes.data() + size;
  if (std::memcmp(trailer, kPlanMagic, 8) != 0)
    return refuse(PlanError::BadMagic, "the trailer does not hold ", kPlanMagic,
                  ": not a plan, or cut off");
  if (verifyChecksum) {
    uint64_t stored = readU64(trailer + 8);
    uint64_t computed = XXH3_64bits(bytes.data(), size);
    if (stored != computed)
      return refuse(PlanError::BadChecksum, "the trailer says ", stored,
                    ", the bytes give ", computed);
  }
  return Span<const uint8_t>(bytes.data(), size);
}

constexpr const char *kFromNewer = ": a newer AICF made the plan";

/// Enumerators are append-only.
//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// What an enumerator that this reader does not know is refused as.
template <typename Enum> struct EnumRules;
template <> struct EnumRules<DType> {
  static constexpr int kNumKnown = kNumDTypes;
  static constexpr PlanError kError = PlanError::TensorDType;
};
template <> struct EnumRules<Role> {
  static constexpr int kNumKnown = kNumRoles;
  static constexpr PlanError kError = PlanError::TensorRole;
};
template <> struct EnumRules<InitKind> {
  static constexpr int kNumKnown = kNumInitKinds;
  static constexpr PlanError kError = PlanError::TensorInit;
};
template <> struct EnumRules<Layout> {
  static constexpr int kNumKnown = kNumLayouts;
  static constexpr PlanError kError = PlanError::TensorLayout;
};
template <> struct EnumRules<DeviceKind> {
  static constexpr int kNumKnown = kNumDeviceKinds;
  static constexpr PlanError kError = PlanError::BadDevice;
};
template <> struct EnumRules<OutputForm> {
  static constexpr int kNumKnown = kNumOutputForms;
  static constexpr PlanError kError = PlanError::EntryOutputs;
};
template <> struct EnumRules<OpKind> {
  static constexpr int kNumKnown = kNumOpKinds;
  static constexpr PlanError kError = PlanError::BodyKind;
};

/// What the records of a vector are called in messages.
const char *nounOf(const PlanTensor &) { return "tensor"; }
const char *nounOf(const PlanCall &) { return "call"; }
const char *nounOf(const PlanEntry &) { return "entry"; }
const char *nounOf(const BodyStep &) { return "primitive"; }

/// Reads each field by its type. `where` names the record.
class Decoder {
public:
  explicit Decoder(uint64_t fileBytes)
      : budget(fileBytes), sharedBudget(8 * fileBytes) {}

  Status plan(const fb::Plan &in, Plan &out);
  /// Adds what the debug table says to a decoded plan.
  Status debug(const fb::Debug &in, Plan &plan);

private:
  Status record(const fb::Tensor &in, const Place &where, PlanTensor &out);
  Status record(const fb::Step &in, const Place &where, BodyStep &out);
  Status record(const fb::Call &in, const Place &where, PlanCall &out);
  Status record(const fb::Entry &in, const Place &where, PlanEntry &out);
  Status debugRecord(const fb::CallDebug &in, const Place &where,
                     PlanCall &out);
  Status debugRecord(const fb::EntryDebug &in, const Place &where,
                     PlanEntry &out);
  Status labels(const flatbuffers::Vector<int32_t> *in, const Place &where,
                std::vector<PlanTensor> &tensors);

  template <typename Number>
  Status field(Number in, const Place &, const char *, Number &out) {
    out = in;
    return {};
  }
  template <typename Enum, typename = std::enable_if_t<std::is_enum_v<Enum>>>
  Status field(std::underlying_type_t<Enum> in, const Place &where,
               const char *name, Enum &out) {
    if (in < EnumRules<Enum>::kNumKnown) {
      out = static_cast<Enum>(in);
      return {};
    }
    return refuse(EnumRules<Enum>::kError, where, ": ", name, " is ", int(in),
                  ", this reader knows 0 to ", EnumRules<Enum>::kNumKnown - 1,
                  kFromNewer);
  }
  /// Strings and attrs are shared on purpose: they have a budget of their own.
  Status field(const flatbuffers::String *in, const Place &where,
               const char *name, std::string &out) {
    AICF_RETURN_IF_ERROR(take(in, where, name, 1, sharedBudget));
    out = in->str();
    return {};
  }
  Status field(const flatbuffers::Vector<uint8_t> *in, const Place &where,
               const char *name, std::vector<uint8_t> &out) {
    AICF_RETURN_IF_ERROR(take(in, where, name, 1, sharedBudget));
    out.assign(in->begin(), in->end());
    return {};
  }
  template <typename From, typename To>
  Status field(const flatbuffers::Vector<From> *in, const Place &where,
               const char *name, std::vector<To> &out) {
    AICF_RETURN_IF_ERROR(take(in, where, name, sizeof(From), budget));
    out.assign(in->begin(), in->end());
    return {};
  }
  Status field(const flatbuffers::Vector<uint32_t> *in, const Place &where,
               const char *name, TensorDesc &out) {
    AICF_RETURN_IF_ERROR(take(in, where, name, sizeof(uint32_t), budget));
    if (in->size() > kMaxRank)
      return refuse(PlanError::TensorShape, where, ": shape has rank ",
                    in->size(), ", the limit is ", kMaxRank);
    out.rank = uint8_t(in->size());
    std::copy(in->begin(), in->end(), out.dims);
    return {};
  }
  Status field(uint32_t in, const Place &where, const char *,
               std::shared_ptr<const Body> &out) {
    if (in >= bodies.size())
      return refuse(PlanError::CallBody, where, ": body is ", in,
                    ", there are ", bodies.size());
    out = bodies[in];
    return {};
  }
  template <typename From, typename To>
  Status field(const flatbuffers::Vector<flatbuffers::Offset<From>> *in,
               const Place &where, const char *name, std::vector<To> &out) {
    AICF_RETURN_IF_ERROR(take(in, where, name, sizeof(uint32_t), budget));
    out.resize(in->size());
    for (uint32_t i = 0; i < in->size(); ++i)
      AICF_RETURN_IF_ERROR(
          record(*in->Get(i), place(where, out[i], i), out[i]));
    return {};
  }
  /// Of the plan's own vectors, the record alone says enough.
  template <typename Record>
  static Place place(const Place &where, const Record &record, uint32_t i) {
    return {nounOf(record), i, where.index == Place::kNone ? nullptr : &where};
  }

  /// The vector is there, and the copies so far fit: a file cannot hold more
  /// than its size, and so much of what is shared as its parts may refer to.
  template <typename Vector>
  Status take(const Vector *in, const Place &where, const char *name,
              uint64_t bytesEach, uint64_t &left) {
    if (!in)
      return refuse(PlanError::MissingField, where, ": no ", name);
    uint64_t bytes = uint64_t(in->size()) * bytesEach;
    if (bytes > left)
      return refuse(PlanError::Oversized, where,
                    ": the tables share vectors or strings: they decode to "
                    "more bytes than the file has");
    left -= bytes;
    return {};
  }
  template <typename Vector>
  Status checkCount(const Vector *in, size_t expected, const Place &where,
                    const char *what) const {
    if (in && in->size() == expected)
      return {};
    return refuse(PlanError::DebugCounts, where, ": the debug table has ",
                  in ? in->size() : 0, " ", what, ", the plan has ", expected);
  }

  uint64_t budget, sharedBudget; ///< bytes
  std::vector<std::shared_ptr<const Body>> bodies;
};

#define AICF_READ(NAME, MEMBER)                                                \
  AICF_RETURN_IF_ERROR(field(in.NAME(), where, #NAME, out.MEMBER));

Status Decoder::record(const fb::Tensor &in, const Place &where,
                       PlanTensor &out) {
  AICF_TENSOR_FIELDS(AICF_READ)
  return {};
}
Status Decoder::record(const fb::Step &in, const Place &where, BodyStep &out) {
  AICF_STEP_FIELDS(AICF_READ)
  return {};
}
Status Decoder::record(const fb::Call &in, const Place &where, PlanCall &out) {
  AICF_CALL_FIELDS(AICF_READ)
  return {};
}
Status Decoder::record(const fb::Entry &in, const Place &where,
                       PlanEntry &out) {
  AICF_ENTRY_FIELDS(AICF_READ)
  return {};
}

Status Decoder::labels(const flatbuffers::Vector<int32_t> *in,
                       const Place &where, std::vector<PlanTensor> &tensors) {
  AICF_RETURN_IF_ERROR(checkCount(in, tensors.size(), where, "tensors"));
  for (uint32_t i = 0; i < in->size(); ++i)
    tensors[i].vid = in->Get(i);
  return {};
}

Status Decoder::debugRecord(const fb::CallDebug &in, const Place &where,
                            PlanCall &out) {
  AICF_CALL_DEBUG_FIELDS(AICF_READ)
  return {};
}

Status Decoder::debugRecord(const fb::EntryDebug &in, const Place &where,
                            PlanEntry &out) {
  AICF_ENTRY_DEBUG_FIELDS(AICF_READ)
  AICF_RETURN_IF_ERROR(labels(in.vids(), where, out.tensors));
  AICF_RETURN_IF_ERROR(
      checkCount(in.calls(), out.calls.size(), where, "calls"));
  for (uint32_t i = 0; i < in.calls()->size(); ++i)
    AICF_RETURN_IF_ERROR(debugRecord(
        *in.calls()->Get(i), place(where, out.calls[i], i), out.calls[i]));
  return {};
}

Status Decoder::debug(const fb::Debug &in, Plan &plan) {
  AICF_RETURN_IF_ERROR(
      labels(in.persistent_vids(), {"persistent"}, plan.persistent));
  AICF_RETURN_IF_ERROR(
      checkCount(in.entries(), plan.entries.size(), {}, "entries"));
  for (uint32_t i = 0; i < in.entries()->size(); ++i)
    AICF_RETURN_IF_ERROR(debugRecord(
        *in.entries()->Get(i), place({}, plan.entries[i], i), plan.entries[i]));
  return {};
}

Status Decoder::plan(const fb::Plan &in, Plan &out) {
  if (!in.bodies())
    return refuse(PlanError::MissingField, "plan: no bodies");
  for (uint32_t i = 0; i < in.bodies()->size(); ++i) {
    auto body = std::make_shared<Body>();
    Place where{"body", i};
    const fb::Body &from = *in.bodies()->Get(i);
    auto read = [&](const fb::Body &in, Body &out) -> Status {
      AICF_BODY_FIELDS(AICF_READ)
      return {};
    };
    AICF_RETURN_IF_ERROR(read(from, *body));
    bodies.push_back(std::move(body));
  }
  const Place where;
  AICF_PLAN_FIELDS(AICF_READ)
  return in.debug() ? debug(*in.debug(), out) : Status();
}
#undef AICF_READ

StatusOr<Plan> decodePlan(const fb::Plan &in, uint64_t fileBytes) {
  if (in.major() != kPlanMajor || in.minor() > kPlanMinor)
    return refuse(PlanError::BadVersion, "the plan has version ", in.major(),
                  ".", in.minor(), ", this reader knows ", kPlanMajor, ".0 to ",
                  kPlanMajor, ".", kPlanMinor,
                  in.major() < kPlanMajor ? ": compile it again" : kFromNewer);
  Plan plan;
  plan.minor = in.minor();
  AICF_RETURN_IF_ERROR(Decoder(fileBytes).plan(in, plan));
  return plan;
}

StatusOr<Plan> parseBody(Span<const uint8_t> body) {
  if (body.size() >= FLATBUFFERS_MAX_BUFFER_SIZE)
    return refuse(PlanError::BadFlatBuffer, "a FlatBuffer of ", body.size(),
                  " bytes is above the limit of 2 GiB");
  // A copy for alignment: FlatBuffers reads 8-byte scalars in place. Every
  // table takes at least 4 bytes, which bounds their number.
  std::vector<uint64_t> aligned((body.size() + 7) / 8);
  std::memcpy(aligned.data(), body.data(), body.size());
  const auto *data = reinterpret_cast<const uint8_t *>(aligned.data());
  flatbuffers::Verifier verifier(
      data, body.size(), /*max_depth=*/16,
      static_cast<flatbuffers::uoffset_t>(body.size() / 4 + 1));
  if (!fb::VerifyPlanBuffer(verifier))
    return refuse(PlanError::BadFlatBuffer, "the FlatBuffer of ", body.size(),
                  " bytes is malformed");
  AICF_ASSIGN_OR_RETURN(Plan plan, decodePlan(*fb::GetPlan(data), body.size()));
  AICF_RETURN_IF_ERROR(verifyPlan(plan));
  return plan;
}

} // namespace

StatusOr<Plan> Plan::parse(Span<const uint8_t> bytes,
                           PlanParseOptions options) {
  AICF_ASSIGN_OR_RETURN(Span<const uint8_t> body,
                        checkTrailer(bytes, options.verifyChecksum));
  return catchBadAlloc([&] { return parseBody(body); });
}

StatusOr<Plan> Plan::load(const std::string &path) {
  AICF_ASSIGN_OR_RETURN(std::vector<uint8_t> bytes, readFile(path));
  StatusOr<Plan> plan = parse(bytes);
  if (!plan.ok())
    return plan.status().withContext("plan '" + path + "'");
  return plan;
}

//===----------------------------------------------------------------------===//
// Comparing
//===----------------------------------------------------------------------===//

namespace {
template <typename T> bool isEqual(const T &a, const T &b) { return a == b; }
bool isEqual(const std::shared_ptr<const Body> &a,
             const std::shared_ptr<const Body> &b) {
  return a && b ? *a == *b : a == b;
}
} // namespace

#define AICF_IS_EQUAL(NAME, MEMBER) &&isEqual(MEMBER, o.MEMBER)
bool PlanTensor::operator==(const PlanTensor &o) const {
  return true AICF_TENSOR_FIELDS(AICF_IS_EQUAL)
      AICF_TENSOR_DEBUG_FIELDS(AICF_IS_EQUAL);
}
bool PlanCall::operator==(const PlanCall &o) const {
  return true AICF_CALL_FIELDS(AICF_IS_EQUAL)
      AICF_CALL_LABEL_FIELDS(AICF_IS_EQUAL);
}
#undef AICF_IS_EQUAL

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

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
  uint32_t field(const std::shared_ptr<const Body> &body) {
    if (!body)
      return UINT32_MAX; // which no reader takes
    if (auto it = byPointer.find(body.get()); it != byPointer.end())
      return it->second;
    auto [first, last] = byHash.equal_range(hashOf(*body));
    auto known = std::find_if(first, last, [&](const auto &entry) {
      return *entry.second.first == *body;
    });
    uint32_t number =
        known == last ? uint32_t(bodies.size()) : known->second.second;
    if (known == last) {
      byHash.emplace(hashOf(*body), std::pair(body.get(), number));
      bodies.push_back(record(*body));
    }
    byPointer.emplace(body.get(), number);
    return number;
  }
  static uint64_t hashOf(const Body &body) {
    uint64_t hash = body.numOperands;
    auto add = [&](const auto &numbers) {
      hash = XXH3_64bits_withSeed(numbers.data(),
                                  numbers.size() * sizeof(numbers[0]), hash);
    };
    for (const BodyStep &step : body.steps) {
      hash += uint64_t(step.kind);
      add(step.operands);
      add(step.attrs);
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
  AICF_RECORD(PlanTensor, Tensor, AICF_TENSOR_FIELDS)
  AICF_RECORD(BodyStep, Step, AICF_STEP_FIELDS)
  AICF_RECORD(Body, Body, AICF_BODY_FIELDS)
  AICF_RECORD(PlanCall, Call, AICF_CALL_FIELDS)
  AICF_RECORD(PlanEntry, Entry, AICF_ENTRY_FIELDS)
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
    auto vids = labels(from.tensors);
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
    auto persistent = labels(plan.persistent);
    return fb::CreateDebug(b, persistent, b.CreateVector(entries));
  }
  flatbuffers::Offset<flatbuffers::Vector<int32_t>>
  labels(const std::vector<PlanTensor> &tensors) {
    std::vector<int32_t> vids;
    for (const PlanTensor &tensor : tensors)
      vids.push_back(tensor.vid);
    return b.CreateVector(vids);
  }

  flatbuffers::FlatBufferBuilder b;
  std::map<std::vector<uint8_t>,
           flatbuffers::Offset<flatbuffers::Vector<uint8_t>>>
      attrs;
  std::unordered_map<const Body *, uint32_t> byPointer;
  std::unordered_multimap<uint64_t, std::pair<const Body *, uint32_t>> byHash;
  std::vector<flatbuffers::Offset<fb::Body>> bodies;
};

std::vector<uint8_t> Encoder::encode(const Plan &from, bool withDebug) {
  AICF_PLAN_FIELDS(AICF_PREPARE)
  auto table_ = b.CreateVector(bodies);
  auto debug_ = withDebug ? debug(from) : flatbuffers::Offset<fb::Debug>();
  fb::PlanBuilder table(b);
  table.add_major(kPlanMajor);
  table.add_minor(kPlanMinor);
  AICF_PLAN_FIELDS(AICF_ADD)
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

const PlanEntry *Plan::findEntry(std::string_view name) const {
  for (const PlanEntry &entry : entries)
    if (entry.name == name)
      return &entry;
  return nullptr;
}

StatusOr<uint32_t> Plan::batchesPerUpdate(std::string_view name,
                                          uint32_t given) const {
  const PlanEntry *entry = findEntry(name);
  if (!entry)
    return makeError(StatusCode::InvalidArgument, "the plan has no entry \"",
                     name, "\"");
  std::string other = std::string(name) + kAccumulateSuffix;
  if (entry->accumulate == 0 && findEntry(other))
    return given;
  uint32_t batches = std::max(entry->accumulate, 1u);
  if (given == 0 || given == batches)
    return batches;
  if (batches == 1)
    return makeError(StatusCode::InvalidArgument, given,
                     " batches an update: "
                     "the plan has no entry \"",
                     other, "\": #aicf.adamw<..., accumulate = ", given,
                     "> makes one of an entry that is not split");
  return makeError(StatusCode::InvalidArgument, given,
                   " batches an update: "
                   "entry \"",
                   name, "\" was compiled for ", batches);
}

StatusOr<HappensBefore> orderOf(const PlanEntry &entry) {
  std::vector<CallOrder> orders;
  orders.reserve(entry.calls.size());
  for (const PlanCall &call : entry.calls)
    orders.push_back({call.stream, call.waits, call.signals});
  return HappensBefore::create(orders);
}

std::vector<AccessSet> accessesOf(const Plan &plan, const PlanEntry &entry,
                                  const HappensBefore &order) {
  // Not one for each persistent tensor: a plan may have many entries.
  std::vector<AccessSet> accesses(entry.tensors.size());
  auto add = [&](uint32_t tid, uint32_t call) {
    if (tid >= plan.persistent.size())
      accesses[tid - plan.persistent.size()].add(order, call);
  };
  for (uint32_t i = 0; i < entry.calls.size(); ++i) {
    const PlanCall &call = entry.calls[i];
    for (uint32_t tid : call.ins)
      add(tid, i);
    for (uint32_t tid : call.outs)
      add(tid, i);
    if (call.workspace >= 0)
      add(static_cast<uint32_t>(call.workspace), i);
  }
  return accesses;
}

DerivedStates derivedStatesOf(const Plan &plan) {
  DerivedStates derived;
  for (uint32_t tid = 0; tid < plan.persistent.size(); ++tid)
    if (plan.persistent[tid].derivedFrom >= 0)
      derived[uint32_t(plan.persistent[tid].derivedFrom)].push_back(tid);
  return derived;
}

} // namespace aicf
