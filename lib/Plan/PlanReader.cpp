//===- PlanReader.cpp - reading plan files --------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// The outer form: trailer, FlatBuffers, decoding into owned structs. What the
// structs mean is checked in PlanVerifier.cpp.
//===----------------------------------------------------------------------===//

#include "aicf/Plan.h"
#include "lib/Base/BadAlloc.h"
#include "lib/Base/File.h"
#include "lib/Plan/DiagnosticPath.h"
#include "lib/Plan/Fields.h"
#include "lib/Plan/OldTensors.h"

#include "plan_generated.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <optional>

namespace aicf {
using verifier::refuse;
namespace {

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
                  ": the file is not a plan, or it is cut off");
  if (verifyChecksum) {
    uint64_t stored = readU64(trailer + 8);
    uint64_t computed = XXH3_64bits(bytes.data(), size);
    if (stored != computed)
      return refuse(PlanError::BadChecksum, "the checksum in the trailer is ",
                    stored, ", expected ", computed, ", that of the bytes");
  }
  return Span<const uint8_t>(bytes.data(), size);
}

constexpr const char *kFromNewer = ": a newer AICF made the plan";

/// What an enumerator that this reader does not know is refused as.
template <typename Enum> struct EnumRules;
template <> struct EnumRules<DType> {
  static constexpr int kNumKnown = kNumDTypes;
  static constexpr PlanError kError = PlanError::ValueDType;
};
template <> struct EnumRules<Role> {
  static constexpr int kNumKnown = kNumRoles;
  static constexpr PlanError kError = PlanError::BufferRole;
};
template <> struct EnumRules<InitKind> {
  static constexpr int kNumKnown = kNumInitKinds;
  static constexpr PlanError kError = PlanError::BufferInit;
};
template <> struct EnumRules<Layout> {
  static constexpr int kNumKnown = kNumLayouts;
  static constexpr PlanError kError = PlanError::ValueLayout;
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
const char *nounOf(const PlanBuffer &) { return "buffer"; }
const char *nounOf(const PlanValue &) { return "value"; }
const char *nounOf(const OldTensor &) { return "tensor"; }
const char *nounOf(const PlanCall &) { return "call"; }
const char *nounOf(const PlanEntry &) { return "entry"; }
const char *nounOf(const Primitive &) { return "primitive"; }

/// Reads each field by its type. `where` names the record.
class Decoder {
public:
  Decoder(uint64_t fileBytes, bool isOld)
      : isOld(isOld), budget(fileBytes), sharedBudget(8 * fileBytes) {}

  Status plan(const fb::Plan &in, Plan &out);
  /// Adds what the debug table says to a decoded plan.
  Status debug(const fb::Debug &in, Plan &plan);

private:
  Status record(const fb::Buffer &in, const DiagnosticPath &where,
                PlanBuffer &out);
  Status record(const fb::Value &in, const DiagnosticPath &where,
                PlanValue &out);
  Status record(const fb::Tensor &in, const DiagnosticPath &where,
                OldTensor &out);
  Status record(const fb::Primitive &in, const DiagnosticPath &where,
                Primitive &out);
  Status record(const fb::Call &in, const DiagnosticPath &where, PlanCall &out);
  Status record(const fb::Entry &in, const DiagnosticPath &where,
                PlanEntry &out);
  Status debugRecord(const fb::CallDebug &in, const DiagnosticPath &where,
                     PlanCall &out);
  Status debugRecord(const fb::EntryDebug &in, const DiagnosticPath &where,
                     PlanEntry &out);
  Status labels(const flatbuffers::Vector<int32_t> *in,
                const DiagnosticPath &where, std::vector<PlanValue> &values,
                const OldNumbers &numbers);

  template <typename Number>
  Status field(Number in, const DiagnosticPath &, const char *, Number &out) {
    out = in;
    return {};
  }
  template <typename Enum, typename = std::enable_if_t<std::is_enum_v<Enum>>>
  Status field(std::underlying_type_t<Enum> in, const DiagnosticPath &where,
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
  Status field(const flatbuffers::String *in, const DiagnosticPath &where,
               const char *name, std::string &out) {
    AICF_RETURN_IF_ERROR(take(in, where, name, 1, sharedBudget));
    out = in->str();
    return {};
  }
  Status field(const flatbuffers::Vector<uint8_t> *in,
               const DiagnosticPath &where, const char *name,
               std::vector<uint8_t> &out) {
    AICF_RETURN_IF_ERROR(take(in, where, name, 1, sharedBudget));
    out.assign(in->begin(), in->end());
    return {};
  }
  template <typename From, typename To>
  Status field(const flatbuffers::Vector<From> *in, const DiagnosticPath &where,
               const char *name, std::vector<To> &out) {
    AICF_RETURN_IF_ERROR(take(in, where, name, sizeof(From), budget));
    out.assign(in->begin(), in->end());
    return {};
  }
  Status field(const flatbuffers::Vector<uint32_t> *in,
               const DiagnosticPath &where, const char *name, TensorDesc &out) {
    AICF_RETURN_IF_ERROR(take(in, where, name, sizeof(uint32_t), budget));
    if (in->size() > kMaxRank)
      return refuse(PlanError::ValueShape, where, ": shape has rank ",
                    in->size(), ", the limit is ", kMaxRank);
    out.rank = uint8_t(in->size());
    std::copy(in->begin(), in->end(), out.dims);
    return {};
  }
  /// Absent but for constants, and before version 4.2.
  Status field(const flatbuffers::Vector<uint8_t> *in,
               const DiagnosticPath &where, const char *name, PlanData &out) {
    return in ? field(in, where, name, out.bytes) : Status();
  }
  /// Absent where a tensor has none, and before version 4.1.
  Status field(const flatbuffers::Vector<uint32_t> *in,
               const DiagnosticPath &where, const char *name, Strides &out) {
    if (!in)
      return {};
    AICF_RETURN_IF_ERROR(take(in, where, name, sizeof(uint32_t), budget));
    if (in->size() % 2 != 0 || in->size() > 2 * kMaxRank)
      return refuse(PlanError::ValueLayout, where, ": strides has ", in->size(),
                    " halves, expected an even number up to ", 2 * kMaxRank);
    out.size = uint8_t(in->size() / 2);
    for (uint32_t i = 0; i < out.size; ++i)
      out.at[i] = int64_t(in->Get(2 * i) | uint64_t(in->Get(2 * i + 1)) << 32);
    return {};
  }
  Status field(uint32_t in, const DiagnosticPath &where, const char *,
               std::shared_ptr<const Body> &out) {
    if (in >= bodies.size())
      return refuse(PlanError::CallBody, where, ": body is ", in,
                    ", but there are ", bodies.size(), " bodies");
    out = bodies[in];
    return {};
  }
  template <typename From, typename To>
  Status field(const flatbuffers::Vector<flatbuffers::Offset<From>> *in,
               const DiagnosticPath &where, const char *name,
               std::vector<To> &out) {
    AICF_RETURN_IF_ERROR(take(in, where, name, sizeof(uint32_t), budget));
    out.resize(in->size());
    for (uint32_t i = 0; i < in->size(); ++i)
      AICF_RETURN_IF_ERROR(
          record(*in->Get(i), pathOf(where, out[i], i), out[i]));
    return {};
  }
  /// Absent before version 4.5.
  Status field(const flatbuffers::Vector<flatbuffers::Offset<fb::Part>> *in,
               const DiagnosticPath &where, const char *name,
               std::vector<PlanPart> &out) {
    if (in)
      AICF_RETURN_IF_ERROR(take(in, where, name, sizeof(uint32_t), budget));
    for (uint32_t i = 0; in && i < in->size(); ++i)
      out.push_back({in->Get(i)->calls(), in->Get(i)->times()});
    return {};
  }
  /// Returns where a record stands. Records of the plan itself need no parent.
  template <typename Record>
  static DiagnosticPath pathOf(const DiagnosticPath &where,
                               const Record &record, uint32_t i) {
    return {nounOf(record), i,
            where.index == DiagnosticPath::kNone ? nullptr : &where};
  }

  /// Checks that the vector is there, and that what was copied so far is not
  /// more than the file can hold: many records may refer to one that they
  /// share.
  template <typename Vector>
  Status take(const Vector *in, const DiagnosticPath &where, const char *name,
              uint64_t bytesEach, uint64_t &left) {
    if (!in)
      return refuse(PlanError::MissingField, where, ": has no ", name);
    uint64_t bytes = uint64_t(in->size()) * bytesEach;
    if (bytes > left)
      return refuse(PlanError::Oversized, where,
                    ": the tables share vectors or strings: they decode to "
                    "more bytes than the file has");
    left -= bytes;
    return {};
  }
  template <typename Vector>
  Status checkCount(const Vector *in, size_t expected,
                    const DiagnosticPath &where, const char *what) const {
    if (in && in->size() == expected)
      return {};
    return refuse(PlanError::DebugCounts, where, ": the debug table has ",
                  in ? in->size() : 0, " ", what, ", the plan has ", expected);
  }

  bool isOld;                    ///< of a version before 4.0
  uint64_t budget, sharedBudget; ///< bytes
  std::vector<std::shared_ptr<const Body>> bodies;
  OldNumbers persistentNumbers;
  std::vector<OldNumbers> entryNumbers; ///< by entry; empty ones if not isOld
};

#define AICF_READ(NAME, MEMBER)                                                \
  AICF_RETURN_IF_ERROR(field(in.NAME(), where, #NAME, out.MEMBER));

Status Decoder::record(const fb::Buffer &in, const DiagnosticPath &where,
                       PlanBuffer &out) {
  AICF_BUFFER_FIELDS(AICF_READ)
  return {};
}
Status Decoder::record(const fb::Value &in, const DiagnosticPath &where,
                       PlanValue &out) {
  AICF_VALUE_FIELDS(AICF_READ)
  return {};
}
Status Decoder::record(const fb::Tensor &in, const DiagnosticPath &where,
                       OldTensor &out) {
  AICF_READ(name, buffer.name)
  AICF_READ(role, buffer.role)
  AICF_READ(offset, buffer.offset)
  AICF_READ(init, buffer.init)
  AICF_READ(init_value, buffer.initValue)
  AICF_READ(derived_from, buffer.derivedFrom)
  AICF_READ(dtype, value.desc.dtype)
  AICF_READ(shape, value.desc)
  AICF_READ(layout, value.desc.layout)
  std::optional<uint64_t> bytes = checkedBytes(out.value.desc);
  if (!bytes)
    return refuse(PlanError::ValueShape, where, ": ", out.value.desc.toString(),
                  " is not a legal type, expected dimensions of 1 to ",
                  INT32_MAX, ", up to ", kMaxTensorBytes,
                  " bytes, and padding with 16 bits and rank 1 or 2 only");
  out.buffer.bytes = *bytes;
  return {};
}
Status Decoder::record(const fb::Primitive &in, const DiagnosticPath &where,
                       Primitive &out) {
  AICF_PRIMITIVE_FIELDS(AICF_READ)
  return {};
}
Status Decoder::record(const fb::Call &in, const DiagnosticPath &where,
                       PlanCall &out) {
  AICF_CALL_FIELDS(AICF_READ)
  return {};
}
Status Decoder::record(const fb::Entry &in, const DiagnosticPath &where,
                       PlanEntry &out) {
  AICF_ENTRY_FIELDS(AICF_READ)
  OldNumbers &own = entryNumbers.emplace_back();
  if (!isOld) {
    AICF_MEMORY_FIELDS(AICF_READ)
    return {};
  }
  std::vector<OldTensor> tensors;
  AICF_RETURN_IF_ERROR(field(in.tensors(), where, "tensors", tensors));
  own = splitTensors(tensors, persistentNumbers.valueOf.size(), out.buffers,
                     out.values);
  for (PlanCall &call : out.calls) {
    for (std::vector<uint32_t> *tids : {&call.ins, &call.outs})
      for (uint32_t &tid : *tids)
        tid = OldNumbers::at(persistentNumbers.valueOf, own.valueOf, tid);
    if (call.workspace >= 0)
      call.workspace = int32_t(
          std::min(OldNumbers::at(persistentNumbers.bufferOf, own.bufferOf,
                                  uint32_t(call.workspace)),
                   uint32_t(INT32_MAX)));
  }
  return {};
}

/// A label each, in the order of the values, or of the tensors of old.
Status Decoder::labels(const flatbuffers::Vector<int32_t> *in,
                       const DiagnosticPath &where,
                       std::vector<PlanValue> &values,
                       const OldNumbers &numbers) {
  size_t count = isOld ? numbers.valueOf.size() : values.size();
  AICF_RETURN_IF_ERROR(checkCount(in, count, where, "labels of values"));
  for (uint32_t i = 0; i < in->size(); ++i) {
    uint32_t position = isOld ? numbers.valueOf[i] - numbers.first : i;
    if (position < values.size()) // a workspace has no value
      values[position].vid = in->Get(i);
  }
  return {};
}

Status Decoder::debugRecord(const fb::CallDebug &in,
                            const DiagnosticPath &where, PlanCall &out) {
  AICF_CALL_DEBUG_FIELDS(AICF_READ)
  return {};
}

Status Decoder::debugRecord(const fb::EntryDebug &in,
                            const DiagnosticPath &where, PlanEntry &out) {
  AICF_ENTRY_DEBUG_FIELDS(AICF_READ)
  AICF_RETURN_IF_ERROR(
      labels(in.vids(), where, out.values, entryNumbers[where.index]));
  AICF_RETURN_IF_ERROR(
      checkCount(in.calls(), out.calls.size(), where, "calls"));
  for (uint32_t i = 0; i < in.calls()->size(); ++i)
    AICF_RETURN_IF_ERROR(debugRecord(
        *in.calls()->Get(i), pathOf(where, out.calls[i], i), out.calls[i]));
  return {};
}

Status Decoder::debug(const fb::Debug &in, Plan &plan) {
  AICF_RETURN_IF_ERROR(
      labels(in.persistent_vids(), {"plan"}, plan.values, persistentNumbers));
  AICF_RETURN_IF_ERROR(
      checkCount(in.entries(), plan.entries.size(), {}, "entries"));
  for (uint32_t i = 0; i < in.entries()->size(); ++i)
    AICF_RETURN_IF_ERROR(debugRecord(*in.entries()->Get(i),
                                     pathOf({}, plan.entries[i], i),
                                     plan.entries[i]));
  return {};
}

Status Decoder::plan(const fb::Plan &in, Plan &out) {
  if (!in.bodies())
    return refuse(PlanError::MissingField, "plan: has no bodies");
  for (uint32_t i = 0; i < in.bodies()->size(); ++i) {
    auto body = std::make_shared<Body>();
    DiagnosticPath where{"body", i};
    const fb::Body &from = *in.bodies()->Get(i);
    auto read = [&](const fb::Body &in, Body &out) -> Status {
      AICF_BODY_FIELDS(AICF_READ)
      return {};
    };
    AICF_RETURN_IF_ERROR(read(from, *body));
    bodies.push_back(std::move(body));
  }
  const DiagnosticPath where;
  if (isOld) {
    std::vector<OldTensor> tensors;
    AICF_RETURN_IF_ERROR(field(in.persistent(), where, "persistent", tensors));
    persistentNumbers = splitTensors(tensors, 0, out.buffers, out.values);
  } else {
    AICF_MEMORY_FIELDS(AICF_READ)
  }
  AICF_PLAN_FIELDS(AICF_READ)
  return in.debug() ? debug(*in.debug(), out) : Status();
}
#undef AICF_READ

StatusOr<Plan> decodePlan(const fb::Plan &in, uint64_t fileBytes) {
  bool isOld = in.major() == kOldPlanMajor && in.minor() <= kOldPlanMinor;
  if (!isOld && (in.major() != kPlanMajor || in.minor() > kPlanMinor))
    return refuse(PlanError::BadVersion, "the plan has version ", in.major(),
                  ".", in.minor(), ", this reader knows ", kOldPlanMajor,
                  ".0 to ", kOldPlanMajor, ".", kOldPlanMinor, " and ",
                  kPlanMajor, ".0 to ", kPlanMajor, ".", kPlanMinor,
                  in.major() < kOldPlanMajor ? ": compile it again"
                                             : kFromNewer);
  Plan plan;
  plan.major = in.major();
  plan.minor = in.minor();
  AICF_RETURN_IF_ERROR(Decoder(fileBytes, isOld).plan(in, plan));
  for (const PlanEntry &entry : plan.entries)
    if (!entry.parts.empty() && (isOld || plan.minor < 5))
      return refuse(PlanError::EntryParts, "entry ", entry.name,
                    ": has parts, which a plan of version ", plan.major, ".",
                    plan.minor, " has not");
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

} // namespace aicf
