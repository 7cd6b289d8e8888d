//===- Plan.cpp - comparing and asking plans ------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "aicf/Plan.h"
#include "aicf/EntryNames.h"
#include "lib/Plan/Fields.h"

#include <algorithm>

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
template <typename T> bool isEqual(const T &a, const T &b) { return a == b; }
bool isEqual(const std::shared_ptr<const Body> &a,
             const std::shared_ptr<const Body> &b) {
  return a && b ? *a == *b : a == b;
}
} // namespace

#define AICF_IS_EQUAL(NAME, MEMBER) &&isEqual(MEMBER, o.MEMBER)
bool PlanBuffer::operator==(const PlanBuffer &o) const {
  return true AICF_BUFFER_FIELDS(AICF_IS_EQUAL);
}
bool PlanValue::operator==(const PlanValue &o) const {
  return true AICF_VALUE_FIELDS(AICF_IS_EQUAL)
      AICF_VALUE_DEBUG_FIELDS(AICF_IS_EQUAL);
}
bool PlanCall::operator==(const PlanCall &o) const {
  return true AICF_CALL_FIELDS(AICF_IS_EQUAL)
      AICF_CALL_LABEL_FIELDS(AICF_IS_EQUAL);
}
#undef AICF_IS_EQUAL

std::vector<PlanPart> PlanEntry::runs() const {
  if (!parts.empty())
    return parts;
  return {{uint32_t(calls.size()), 1}};
}

std::vector<uint32_t> PlanEntry::partsOfCalls() const {
  std::vector<uint32_t> partOf(calls.size());
  size_t at = 0;
  for (uint32_t part = 0; part < parts.size(); ++part)
    for (uint32_t i = 0; i < parts[part].numCalls && at < partOf.size(); ++i)
      partOf[at++] = part;
  return partOf;
}

const PlanEntry *Plan::findEntry(std::string_view name) const {
  for (const PlanEntry &entry : entries)
    if (entry.name == name)
      return &entry;
  return nullptr;
}

std::string Plan::namesOfEntries() const {
  std::string text;
  for (const PlanEntry &entry : entries)
    text += (text.empty() ? "" : ", ") + entry.name;
  return text;
}

StatusOr<uint32_t> Plan::batchesPerUpdate(std::string_view name,
                                          uint32_t given) const {
  const PlanEntry *entry = findEntry(name);
  if (!entry)
    return makeError(StatusCode::InvalidArgument, "the plan has no entry \"",
                     name, "\"; it has ", namesOfEntries());
  std::string other = std::string(name) + kAccumulateSuffix;
  if (entry->accumulate == 0 && findEntry(other))
    return given;
  uint32_t batches = std::max(entry->accumulate, 1u);
  if (given == 0 || given == batches)
    return batches;
  if (batches == 1)
    return makeError(StatusCode::InvalidArgument, given,
                     " batches per update: the plan has no entry \"", other,
                     "\", which #aicf.adamw<..., accumulate = ", given,
                     "> adds to an entry that is not split");
  return makeError(StatusCode::InvalidArgument, given,
                   " batches per update: entry \"", name,
                   "\" was compiled for ", batches);
}

TensorInfo Plan::tensor(const PlanEntry &entry, uint32_t number) const {
  const PlanBuffer &b = buffer(entry, number);
  TensorInfo info;
  info.name = b.name;
  info.role = b.role;
  info.desc = value(entry, number).desc.dense();
  info.init = b.init;
  info.initValue = b.initValue;
  info.isScratch = b.isScratch;
  if (b.derivedFrom >= 0)
    info.derivedFrom = buffers[size_t(b.derivedFrom)].name;
  info.vid = value(entry, number).vid;
  return info;
}

std::vector<TensorInfo> Plan::tensors() const {
  std::vector<TensorInfo> infos;
  for (uint32_t i = 0; i < buffers.size(); ++i)
    infos.push_back(tensor({}, i));
  return infos;
}

std::vector<TensorInfo> Plan::tensors(const PlanEntry &entry) const {
  std::vector<TensorInfo> infos;
  for (uint32_t i = 0; i < entry.buffers.size() &&
                       segmentOf(entry.buffers[i].role) == Segment::IO;
       ++i)
    infos.push_back(tensor(entry, uint32_t(buffers.size()) + i));
  return infos;
}

} // namespace aicf
