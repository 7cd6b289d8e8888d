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
#include "lib/Base/BadAlloc.h"
#include "lib/Base/File.h"
#include "lib/Plan/Order.h"

#include "plan_generated.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

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
Status checkEnum(PlanError error, const std::string &where, const char *field,
                 int value, int numKnown) {
  if (value < numKnown)
    return {};
  return refuse(error, where, ": ", field, " is ", value,
                ", this reader knows 0 to ", numKnown - 1, kFromNewer);
}

using FbTensors = flatbuffers::Vector<flatbuffers::Offset<fb::Tensor>>;

/// Copies tables into structs. FlatBuffers lets many offsets share one table,
/// so that a small file could decode to any size: what is copied is counted,
/// and may not exceed the file, shared strings not eight times the file. Enums
/// and ranks are checked on the way, because a struct cannot hold a wrong one.
class Decoder {
public:
  explicit Decoder(uint64_t fileBytes)
      : budget(fileBytes), sharedBudget(8 * fileBytes) {}

  Status tensors(const FbTensors *in, const std::string &where,
                 std::vector<PlanTensor> &out);
  Status entry(const fb::Entry &in, const std::string &where, PlanEntry &out);
  /// Adds what the debug table says to a decoded plan.
  Status debug(const fb::Debug &in, Plan &plan);
  Status finish() const {
    if (!isExhausted)
      return {};
    return refuse(PlanError::Oversized,
                  "the tables share vectors or strings: they decode to more "
                  "bytes than the file has");
  }

private:
  /// True while the copies so far fit.
  bool take(uint64_t bytes, uint64_t &left) {
    isExhausted |= bytes > left;
    left -= isExhausted ? 0 : bytes;
    return !isExhausted;
  }
  bool take(uint64_t bytes) { return take(bytes, budget); }
  template <typename To, typename From>
  std::vector<To> vector(const flatbuffers::Vector<From> *v) {
    if (!v || !take(uint64_t(v->size()) * sizeof(From)))
      return {};
    return std::vector<To>(v->begin(), v->end());
  }
  std::string string(const flatbuffers::String *s) {
    return s && take(s->size()) ? s->str() : std::string();
  }
  /// KIDs and locations are shared on purpose: they have a budget of their own.
  std::string sharedString(const flatbuffers::String *s) {
    return s && take(s->size(), sharedBudget) ? s->str() : std::string();
  }
  Status tensor(const fb::Tensor &in, const std::string &where,
                PlanTensor &out);
  Status call(const fb::Call &in, const std::string &where, PlanCall &out);
  Status vids(const flatbuffers::Vector<int32_t> *in, const std::string &where,
              std::vector<PlanTensor> &tensors);
  Status debug(const fb::EntryDebug &in, const std::string &where,
               PlanEntry &entry);

  uint64_t budget, sharedBudget; ///< bytes
  bool isExhausted = false;
};

Status Decoder::tensor(const fb::Tensor &in, const std::string &where,
                       PlanTensor &out) {
  AICF_RETURN_IF_ERROR(checkEnum(PlanError::TensorDType, where, "dtype",
                                 in.dtype(), kNumDTypes));
  AICF_RETURN_IF_ERROR(
      checkEnum(PlanError::TensorRole, where, "role", in.role(), kNumRoles));
  AICF_RETURN_IF_ERROR(checkEnum(PlanError::TensorInit, where, "init",
                                 in.init(), kNumInitKinds));
  if (in.shape() && in.shape()->size() > kMaxRank)
    return refuse(PlanError::TensorShape, where, ": shape has rank ",
                  in.shape()->size(), ", the limit is ", kMaxRank);
  out.name = string(in.name());
  out.desc =
      TensorDesc(static_cast<DType>(in.dtype()), vector<int64_t>(in.shape()));
  out.role = static_cast<Role>(in.role());
  out.offset = in.offset();
  out.init = static_cast<InitKind>(in.init());
  out.initValue = in.init_value();
  out.derivedFrom = in.derived_from();
  return finish();
}

Status Decoder::tensors(const FbTensors *in, const std::string &where,
                        std::vector<PlanTensor> &out) {
  if (!in)
    return refuse(PlanError::MissingField, where, ": no tensors");
  out.resize(in->size());
  for (uint32_t i = 0; i < in->size(); ++i)
    AICF_RETURN_IF_ERROR(
        tensor(*in->Get(i), where + ", tensor " + std::to_string(i), out[i]));
  return {};
}

Status Decoder::call(const fb::Call &in, const std::string &where,
                     PlanCall &out) {
  AICF_RETURN_IF_ERROR(
      checkEnum(PlanError::CallKind, where, "kind", in.kind(), kNumOpKinds));
  if (!in.kid() || !in.ins() || !in.outs() || !in.attrs())
    return refuse(PlanError::MissingField, where, ": no ",
                  !in.kid()    ? "kid"
                  : !in.ins()  ? "ins"
                  : !in.outs() ? "outs"
                               : "attrs");
  out.kind = static_cast<OpKind>(in.kind());
  out.kid = sharedString(in.kid());
  out.schema = in.schema();
  out.attrs = vector<uint8_t>(in.attrs());
  out.ins = vector<uint32_t>(in.ins());
  out.outs = vector<uint32_t>(in.outs());
  out.workspace = in.workspace();
  out.stream = in.stream();
  out.waits = vector<int64_t>(in.waits());
  out.signals = vector<int64_t>(in.signals());
  return finish();
}

Status Decoder::entry(const fb::Entry &in, const std::string &where,
                      PlanEntry &out) {
  out.name = string(in.name());
  out.ioBytes = in.io_bytes();
  out.tempBytes = in.temp_bytes();
  AICF_RETURN_IF_ERROR(tensors(in.tensors(), where, out.tensors));
  if (!in.calls())
    return refuse(PlanError::MissingField, where, ": no calls");
  out.calls.resize(in.calls()->size());
  for (uint32_t i = 0; i < in.calls()->size(); ++i)
    AICF_RETURN_IF_ERROR(call(*in.calls()->Get(i),
                              where + ", call " + std::to_string(i),
                              out.calls[i]));
  return finish();
}

/// Both must be there, and as many as `expected`.
template <typename T>
Status checkCount(const flatbuffers::Vector<T> *in, size_t expected,
                  const std::string &where, const char *what) {
  if (in && in->size() == expected)
    return {};
  return refuse(PlanError::DebugCounts, where, ": the debug table has ",
                in ? in->size() : 0, " ", what, ", the plan has ", expected);
}

Status Decoder::vids(const flatbuffers::Vector<int32_t> *in,
                     const std::string &where,
                     std::vector<PlanTensor> &tensors) {
  AICF_RETURN_IF_ERROR(checkCount(in, tensors.size(), where, "tensors"));
  for (uint32_t i = 0; i < in->size() && take(sizeof(int32_t)); ++i)
    tensors[i].vid = in->Get(i);
  return finish();
}

Status Decoder::debug(const fb::EntryDebug &in, const std::string &where,
                      PlanEntry &entry) {
  entry.values = in.values();
  entry.nodes = in.nodes();
  entry.tempLowerBound = in.temp_lower_bound();
  AICF_RETURN_IF_ERROR(vids(in.vids(), where, entry.tensors));
  AICF_RETURN_IF_ERROR(
      checkCount(in.calls(), entry.calls.size(), where, "calls"));
  for (uint32_t i = 0; i < in.calls()->size(); ++i) {
    const fb::CallDebug &from = *in.calls()->Get(i);
    PlanCall &call = entry.calls[i];
    call.inVids = vector<int32_t>(from.in_vids());
    call.outVids = vector<int32_t>(from.out_vids());
    call.location = sharedString(from.location());
    call.isProtective = from.protective();
  }
  return finish();
}

Status Decoder::debug(const fb::Debug &in, Plan &plan) {
  AICF_RETURN_IF_ERROR(
      vids(in.persistent_vids(), "persistent", plan.persistent));
  AICF_RETURN_IF_ERROR(
      checkCount(in.entries(), plan.entries.size(), "plan", "entries"));
  for (uint32_t i = 0; i < in.entries()->size(); ++i)
    AICF_RETURN_IF_ERROR(debug(*in.entries()->Get(i),
                               "entry " + std::to_string(i), plan.entries[i]));
  return {};
}

/// The tables of a FlatBuffer that FlatBuffers' verifier accepted.
StatusOr<Plan> decodePlan(const fb::Plan &in, uint64_t fileBytes) {
  if (in.major() != kPlanMajor || in.minor() > kPlanMinor)
    return refuse(PlanError::BadVersion, "the plan has version ", in.major(),
                  ".", in.minor(), ", this reader knows ", kPlanMajor, ".0 to ",
                  kPlanMajor, ".", kPlanMinor,
                  in.major() < kPlanMajor ? "" : kFromNewer);
  AICF_RETURN_IF_ERROR(checkEnum(PlanError::BadDevice, "plan", "device",
                                 in.device(), kNumDeviceKinds));
  Plan plan;
  plan.minor = in.minor();
  Decoder decoder(fileBytes);
  plan.device = static_cast<DeviceKind>(in.device());
  plan.persistentBytes = in.persistent_bytes();
  AICF_RETURN_IF_ERROR(
      decoder.tensors(in.persistent(), "persistent", plan.persistent));
  if (!in.entries())
    return refuse(PlanError::MissingField, "plan: no entries");
  plan.entries.resize(in.entries()->size());
  for (uint32_t i = 0; i < in.entries()->size(); ++i)
    AICF_RETURN_IF_ERROR(decoder.entry(
        *in.entries()->Get(i), "entry " + std::to_string(i), plan.entries[i]));
  if (in.debug())
    AICF_RETURN_IF_ERROR(decoder.debug(*in.debug(), plan));
  return plan;
}

/// Everything but the trailer.
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

namespace {

flatbuffers::Offset<fb::Tensor> encode(flatbuffers::FlatBufferBuilder &b,
                                       const PlanTensor &t) {
  std::vector<uint32_t> shape(t.desc.shape().begin(), t.desc.shape().end());
  return fb::CreateTensor(
      b, b.CreateString(t.name), static_cast<uint8_t>(t.desc.dtype),
      static_cast<uint8_t>(t.role), b.CreateVector(shape), t.offset,
      static_cast<uint8_t>(t.init), t.initValue, t.derivedFrom);
}

flatbuffers::Offset<fb::Call> encode(flatbuffers::FlatBufferBuilder &b,
                                     const PlanCall &c) {
  std::vector<uint32_t> waits(c.waits.begin(), c.waits.end());
  std::vector<uint32_t> signals(c.signals.begin(), c.signals.end());
  return fb::CreateCall(
      b, static_cast<uint16_t>(c.kind), b.CreateSharedString(c.kid), c.schema,
      b.CreateVector(c.attrs), b.CreateVector(c.ins), b.CreateVector(c.outs),
      c.workspace, c.stream, b.CreateVector(waits), b.CreateVector(signals));
}

flatbuffers::Offset<fb::Entry> encode(flatbuffers::FlatBufferBuilder &b,
                                      const PlanEntry &e);

template <typename Out, typename In>
std::vector<flatbuffers::Offset<Out>>
encodeAll(flatbuffers::FlatBufferBuilder &b, const std::vector<In> &items) {
  std::vector<flatbuffers::Offset<Out>> offsets;
  for (const In &item : items)
    offsets.push_back(encode(b, item));
  return offsets;
}

flatbuffers::Offset<fb::Entry> encode(flatbuffers::FlatBufferBuilder &b,
                                      const PlanEntry &e) {
  auto tensors = b.CreateVector(encodeAll<fb::Tensor>(b, e.tensors));
  auto calls = b.CreateVector(encodeAll<fb::Call>(b, e.calls));
  return fb::CreateEntry(b, b.CreateString(e.name), e.ioBytes, e.tempBytes,
                         tensors, calls);
}

flatbuffers::Offset<flatbuffers::Vector<int32_t>>
encodeVids(flatbuffers::FlatBufferBuilder &b,
           const std::vector<PlanTensor> &tensors) {
  std::vector<int32_t> vids;
  for (const PlanTensor &tensor : tensors)
    vids.push_back(tensor.vid);
  return b.CreateVector(vids);
}

flatbuffers::Offset<fb::Debug> encodeDebug(flatbuffers::FlatBufferBuilder &b,
                                           const Plan &plan) {
  std::vector<flatbuffers::Offset<fb::EntryDebug>> entries;
  for (const PlanEntry &entry : plan.entries) {
    std::vector<flatbuffers::Offset<fb::CallDebug>> calls;
    for (const PlanCall &call : entry.calls)
      calls.push_back(fb::CreateCallDebug(
          b, b.CreateVector(call.inVids), b.CreateVector(call.outVids),
          b.CreateSharedString(call.location), call.isProtective));
    auto vids = encodeVids(b, entry.tensors);
    entries.push_back(fb::CreateEntryDebug(b, entry.values, entry.nodes,
                                           entry.tempLowerBound, vids,
                                           b.CreateVector(calls)));
  }
  auto persistent = encodeVids(b, plan.persistent);
  return fb::CreateDebug(b, persistent, b.CreateVector(entries));
}

} // namespace

std::vector<uint8_t> Plan::serialize(bool withDebug) const {
  flatbuffers::FlatBufferBuilder b;
  auto tensors = b.CreateVector(encodeAll<fb::Tensor>(b, persistent));
  auto all = b.CreateVector(encodeAll<fb::Entry>(b, entries));
  flatbuffers::Offset<fb::Debug> debug;
  if (withDebug)
    debug = encodeDebug(b, *this);
  fb::FinishPlanBuffer(b, fb::CreatePlan(b, kPlanMajor, kPlanMinor,
                                         static_cast<uint8_t>(device),
                                         persistentBytes, tensors, all, debug));
  std::vector<uint8_t> bytes(b.GetBufferPointer(),
                             b.GetBufferPointer() + b.GetSize());
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

StatusOr<HappensBefore> orderOf(const PlanEntry &entry) {
  std::vector<CallOrder> orders;
  orders.reserve(entry.calls.size());
  for (const PlanCall &call : entry.calls)
    orders.push_back({call.stream, call.waits, call.signals});
  return HappensBefore::create(orders);
}

std::vector<AccessSet> accessesOf(const Plan &plan, const PlanEntry &entry,
                                  const HappensBefore &order) {
  std::vector<AccessSet> accesses(plan.persistent.size() +
                                  entry.tensors.size());
  for (uint32_t i = 0; i < entry.calls.size(); ++i) {
    const PlanCall &call = entry.calls[i];
    for (uint32_t tid : call.reads())
      accesses[tid].add(order, i);
    for (uint32_t tid : call.writes())
      accesses[tid].add(order, i);
    if (call.workspace >= 0)
      accesses[static_cast<uint32_t>(call.workspace)].add(order, i);
  }
  return accesses;
}

} // namespace aicf
