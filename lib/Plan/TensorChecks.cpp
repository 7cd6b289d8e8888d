//===- TensorChecks.cpp - what tensors of a plan must satisfy -------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Plan/TensorChecks.h"
#include "lib/Base/Element.h"
#include "lib/Base/Utf8.h"
#include "lib/Schedule/Overlap.h"

#include <algorithm>
#include <cmath>

using namespace aicf;
using namespace aicf::verifier;

bool aicf::verifier::isValidName(const std::string &name) {
  return name.size() <= 1024 && name != "__metadata__" && isPrintableUtf8(name);
}

/// `desc`: of the value that is all of the buffer.
static Status checkInit(const PlanBuffer &b, const TensorDesc &desc,
                        const DiagnosticPath &where) {
  if (b.init == InitKind::None)
    return {};
  if (b.role != Role::Param && b.role != Role::State)
    return refuse(PlanError::BufferInit, where, ": a buffer of role ",
                  nameOf(b.role), " has initialiser ", nameOf(b.init));
  bool random = b.init == InitKind::UniformFanIn || b.init == InitKind::Normal;
  if (random && !isFloat(desc.dtype))
    return refuse(PlanError::BufferInit, where, ": initialiser ",
                  nameOf(b.init), " needs a float type, the value is ",
                  desc.toString());
  if (b.init == InitKind::UniformFanIn && desc.rank < 2)
    return refuse(PlanError::BufferInit, where,
                  ": uniform_fan_in needs rank 2 or more, the value is ",
                  desc.toString());
  bool isBit = b.initValue == 0 || b.initValue == 1;
  bool isInteger = std::trunc(b.initValue) == b.initValue &&
                   std::fabs(b.initValue) <= 2147483647.0;
  bool isHeld = isFloat(desc.dtype)       ? isFiniteAs(desc.dtype, b.initValue)
                : desc.dtype == DType::I1 ? isBit
                                          : isInteger;
  if (!isHeld || (b.init == InitKind::Normal && b.initValue < 0))
    return refuse(PlanError::BufferInit, where, ": init_value is ", b.initValue,
                  " for ", nameOf(b.init), " of ", desc.toString(),
                  ", expected a number that the type holds, and >= 0 for "
                  "normal");
  return {};
}

/// Checks the bytes of a persistent buffer; `desc`: of the value that is all of
/// it.
static Status checkData(const PlanBuffer &b, const TensorDesc &desc,
                        const DiagnosticPath &where) {
  const std::vector<uint8_t> &bytes = b.data.bytes;
  uint64_t expected = b.role == Role::Constant ? b.bytes : 0;
  if (bytes.size() != expected || expected > kMaxConstantBytes)
    return refuse(PlanError::BufferData, where, ": data has ", bytes.size(),
                  " bytes for ", desc.toString(), " of role ", nameOf(b.role),
                  ", expected ", expected, ", and at most ", kMaxConstantBytes);
  if (int64_t wrong = findWrongElement(desc.dtype, bytes); wrong >= 0)
    return refuse(PlanError::BufferData, where, ": element ", wrong, " of ",
                  desc.toString(), " is the byte ", int(bytes[size_t(wrong)]),
                  ", expected 0 or 1");
  return {};
}

Status aicf::verifier::checkBuffer(const PlanBuffer &b,
                                   const DiagnosticPath &where,
                                   uint64_t segmentBytes) {
  if (!isValidName(b.name))
    return refuse(PlanError::BufferName, where, ": a name of ", b.name.size(),
                  " bytes is not printable UTF-8 of up to 1024 bytes, or is "
                  "reserved");
  if (b.offset % kTensorAlignment != 0)
    return refuse(PlanError::BufferOffset, where, ": offset is ", b.offset,
                  ", expected a multiple of ", kTensorAlignment);
  uint64_t end = 0;
  if (b.bytes == 0 || __builtin_add_overflow(b.offset, b.bytes, &end) ||
      end > segmentBytes)
    return refuse(PlanError::BufferRange, where, ": offset ", b.offset, " + ",
                  b.bytes, " bytes ends beyond the ", nameOf(segmentOf(b.role)),
                  " segment of ", segmentBytes, ", or is empty");
  return {};
}

/// Equal views are equal records, as TensorDesc::strided() makes them.
/// checkedBytes() accepts `desc`.
static bool hasLegalStrides(const TensorDesc &desc) {
  if (desc.layout != Layout::Strided)
    return desc.strides.size == 0;
  return desc == TensorDesc::strided(desc.dtype, desc.shape(),
                                     {desc.strides.at, kMaxRank});
}

/// `b`: the buffer that the value lies in.
Status aicf::verifier::checkValue(const PlanValue &v, const PlanBuffer &b,
                                  const DiagnosticPath &where) {
  if (b.role == Role::Workspace)
    return refuse(PlanError::ValueBuffer, where, ": lies in buffer ", v.buffer,
                  ", which is a workspace");
  bool mayBePadded = segmentOf(b.role) == Segment::Temp || b.derivedFrom >= 0;
  if (!isLegalLayout(v.desc) ||
      (v.desc.layout == Layout::Padded && !mayBePadded))
    return refuse(PlanError::ValueLayout, where, ": ", v.desc.toString(),
                  " of role ", nameOf(b.role),
                  "; only temps and derived states of 16 bits and rank 1 or 2 "
                  "may be padded");
  std::optional<uint64_t> bytes = checkedBytes(v.desc);
  if (!bytes)
    return refuse(PlanError::ValueShape, where, ": shape of ",
                  v.desc.toString(), " has a dimension outside 1 to ",
                  INT32_MAX, " or takes more than ", kMaxTensorBytes, " bytes");
  if (!hasLegalStrides(v.desc))
    return refuse(PlanError::ValueLayout, where, ": ", v.desc.toString(),
                  " has ", int(v.desc.strides.size),
                  " strides, expected one for each dimension, 0 for a "
                  "dimension of 1, and not those of a dense tensor");
  uint64_t end = 0;
  if (v.byteOffset % sizeOf(v.desc.dtype) != 0 ||
      __builtin_add_overflow(v.byteOffset, *bytes, &end) || end > b.bytes)
    return refuse(PlanError::ValueRange, where, ": ", v.desc.toString(),
                  " at byte ", v.byteOffset, " does not fit into buffer ",
                  v.buffer, " of ", b.bytes, " bytes, or its elements are not ",
                  "aligned");
  return {};
}

Status aicf::verifier::checkWhole(const PlanValue &v, const PlanBuffer &b,
                                  uint32_t number,
                                  const DiagnosticPath &where) {
  if (v.buffer != number)
    return refuse(PlanError::ValueWhole, where, ": lies in buffer ", v.buffer,
                  ", expected buffer ", number);
  AICF_RETURN_IF_ERROR(checkValue(v, b, where));
  if (v.desc.spanBytes() != b.bytes) // so it begins at byte 0
    return refuse(PlanError::ValueWhole, where, ": ", v.desc.toString(),
                  " at byte ", v.byteOffset, " does not fill buffer ", number,
                  " of ", b.bytes, " bytes");
  return checkInit(b, v.desc, where);
}

Status aicf::verifier::checkSegmentBytes(const DiagnosticPath &where,
                                         const char *name, uint64_t bytes) {
  if (bytes <= kMaxTensorBytes)
    return {};
  return refuse(PlanError::SegmentBytes, where, ": ", name, " is ", bytes,
                ", the limit is ", kMaxTensorBytes);
}

Status
aicf::verifier::checkDisjoint(const std::vector<const PlanBuffer *> &buffers,
                              const DiagnosticPath &where) {
  std::vector<const PlanBuffer *> sorted = buffers;
  std::sort(sorted.begin(), sorted.end(),
            [](const PlanBuffer *a, const PlanBuffer *b) {
              return a->offset < b->offset;
            });
  for (size_t i = 0; i + 1 < sorted.size(); ++i)
    if (sorted[i]->offset + sorted[i]->bytes > sorted[i + 1]->offset)
      return refuse(PlanError::SegmentOverlap, where, ": buffers ",
                    sorted[i]->name, " at offset ", sorted[i]->offset, " and ",
                    sorted[i + 1]->name, " at offset ", sorted[i + 1]->offset,
                    " share bytes");
  return {};
}

/// A derived state is the cast of a float param or state that is not derived.
/// Every value is checked.
static Status checkDerived(const Plan &plan, size_t i,
                           const DiagnosticPath &where) {
  const PlanBuffer &b = plan.buffers[i];
  if (b.derivedFrom == -1)
    return {};
  auto refuseBecause = [&](const char *why) {
    return refuse(PlanError::BufferDerived, where, ": derived_from is ",
                  b.derivedFrom, ": ", why);
  };
  // Negative numbers are large ones.
  if (size_t(b.derivedFrom) >= plan.buffers.size())
    return refuseBecause("no such persistent buffer");
  const PlanBuffer &source = plan.buffers[size_t(b.derivedFrom)];
  if (b.role != Role::State || isReadOnly(source.role))
    return refuseBecause("a state is derived from a param or state");
  if (source.derivedFrom != -1)
    return refuseBecause("that buffer is derived itself");
  TensorDesc from = plan.values[size_t(b.derivedFrom)].desc;
  TensorDesc to = plan.values[i].desc;
  if (!from.sameShape(to) || !isFloat(to.dtype) || !isFloat(from.dtype) ||
      from.dtype == to.dtype)
    return refuseBecause("it must have the same shape and another float type");
  return {};
}

Status aicf::verifier::checkPersistent(const Plan &plan,
                                       std::unordered_set<std::string> &names) {
  AICF_RETURN_IF_ERROR(
      checkSegmentBytes({}, "persistent_bytes", plan.persistentBytes));
  if (plan.values.size() != plan.buffers.size())
    return refuse(PlanError::ValueWhole, "the plan has ", plan.values.size(),
                  " values for ", plan.buffers.size(),
                  " buffers, expected one for each");
  const DiagnosticPath persistent{"persistent"};
  std::vector<const PlanBuffer *> all;
  uint64_t constantBytes = 0;
  for (size_t i = 0; i < plan.buffers.size(); ++i) {
    const PlanBuffer &b = plan.buffers[i];
    DiagnosticPath where{"buffer", i, &persistent};
    if (segmentOf(b.role) != Segment::Persistent)
      return refuse(PlanError::BufferRole, where, ": role is ", nameOf(b.role),
                    ", expected param, state, hyper or constant");
    if (b.name.empty() || !names.insert(b.name).second)
      return refuse(PlanError::BufferName, where, ": the name \"", b.name,
                    "\" is empty or used twice");
    AICF_RETURN_IF_ERROR(checkBuffer(b, where, plan.persistentBytes));
    AICF_RETURN_IF_ERROR(
        checkWhole(plan.values[i], b, uint32_t(i), {"value", i, &persistent}));
    AICF_RETURN_IF_ERROR(checkData(b, plan.values[i].desc, where));
    all.push_back(&b);
    constantBytes += b.data.bytes.size();
    if (constantBytes > kMaxConstantsBytes)
      return refuse(PlanError::BufferData, where,
                    ": the constants up to here "
                    "have ",
                    constantBytes, " bytes, the limit is ", kMaxConstantsBytes);
  }
  for (size_t i = 0; i < plan.buffers.size(); ++i)
    AICF_RETURN_IF_ERROR(checkDerived(plan, i, {"buffer", i, &persistent}));
  return checkDisjoint(all, persistent);
}

Status aicf::verifier::checkOutputForm(const PlanEntry &entry,
                                       const DiagnosticPath &where) {
  bool hasOutput =
      std::any_of(entry.buffers.begin(), entry.buffers.end(),
                  [](const PlanBuffer &b) { return b.role == Role::Output; });
  if (entry.outputForm == OutputForm::Unknown || hasOutput)
    return {};
  return refuse(PlanError::EntryOutputs, where, ": the output form is ",
                nameOf(entry.outputForm), ", but there is no output");
}

Status aicf::verifier::checkQualifiedNames(const Plan &plan) {
  std::unordered_set<std::string> names, qualified;
  for (const PlanBuffer &b : plan.buffers)
    names.insert(b.name);
  for (const PlanEntry &entry : plan.entries)
    for (const PlanBuffer &b : entry.buffers)
      names.insert(b.name);
  for (const PlanEntry &entry : plan.entries)
    for (const PlanBuffer &b : entry.buffers) {
      std::string full = entry.name + "/" + b.name;
      if (segmentOf(b.role) == Segment::IO &&
          (names.count(full) || !qualified.insert(full).second))
        return refuse(PlanError::BufferName, "entry ", entry.name, ": \"", full,
                      "\" would name two buffers");
    }
  return {};
}
