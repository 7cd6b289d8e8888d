//===- Memory.cpp - tensors of a plan in device memory --------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Runtime/Memory.h"

#include <algorithm>
#include <cstring>

namespace aicf {
namespace {

constexpr uint64_t kCanaryBytes = kTensorAlignment; ///< before and after
constexpr uint8_t kCanary = 0xa5;

} // namespace

Memory::Memory(const Plan &plan, Device &device, const ExecutorOptions &options)
    : plan(plan), device(device), options(options) {
  persistent.resize(plan.persistent.size());
  for (uint32_t tid = 0; tid < persistent.size(); ++tid)
    byName[plan.persistent[tid].name].push_back({0, tid});
  for (size_t e = 0; e < plan.entries.size(); ++e) {
    const PlanEntry &entry = plan.entries[e];
    local.emplace_back(entry.tensors.size());
    for (uint32_t i = 0; i < entry.tensors.size(); ++i) {
      const PlanTensor &t = entry.tensors[i];
      if (segmentOf(t.role) != Segment::IO)
        continue;
      TensorRef ref{e, static_cast<uint32_t>(persistent.size()) + i};
      byName[t.name].push_back(ref);
      byName[entry.name + "/" + t.name].push_back(ref); // the only one
    }
  }
}

Memory::~Memory() { release(); }

void Memory::release() {
  for (void *memory : allocations)
    device.deallocate(memory);
  allocations.clear();
  shadows.clear();
}

StatusOr<TensorRef> Memory::find(std::string_view name) const {
  auto it = byName.find(std::string(name));
  if (it == byName.end())
    return makeError(StatusCode::InvalidArgument,
                     "the plan has no tensor named \"", name, "\"");
  if (it->second.size() > 1)
    return makeError(StatusCode::InvalidArgument, "\"", name, "\" stands in ",
                     it->second.size(), " entries: say \"",
                     plan.entries[it->second[0].entry].name, "/", name,
                     "\" or the like");
  return it->second.front();
}

Status Memory::checkSize(TensorRef ref, std::string_view name,
                         uint64_t bytes) const {
  TensorDesc desc = tensor(ref).desc.dense(); // callers see no pads
  if (bytes == desc.spanBytes())
    return {};
  return makeError(StatusCode::InvalidArgument, "\"", name, "\" is ",
                   desc.toString(), " of ", desc.spanBytes(), " bytes, got ",
                   bytes);
}

Status Memory::bind(std::string_view name, void *memory, uint64_t bytes) {
  AICF_ASSIGN_OR_RETURN(TensorRef ref, find(name));
  AICF_RETURN_IF_ERROR(checkSize(ref, name, bytes));
  size_t alignment = sizeOf(tensor(ref).desc.dtype);
  if (!memory)
    return makeError(StatusCode::InvalidArgument, "\"", name,
                     "\" is bound to a null pointer");
  if (reinterpret_cast<uintptr_t>(memory) % alignment != 0)
    return makeError(StatusCode::Misaligned, "\"", name,
                     "\" is bound to an address that is not a multiple of ",
                     alignment, " bytes");
  Slot &s = slot(ref.entry, ref.tid);
  s.pointer = memory;
  s.isBound = s.isWritten = true;
  return {};
}

/// Before anything is touched: what is allocated one by one may each fit.
Status Memory::checkRoom() const {
  uint64_t needed = 0, temp = 0, available = device.freeBytes();
  auto add = [](uint64_t &sum, uint64_t bytes) {
    if (__builtin_add_overflow(sum, bytes, &sum))
      sum = UINT64_MAX;
  };
  for (uint32_t tid = 0; tid < persistent.size(); ++tid)
    if (!persistent[tid].isBound)
      add(needed, plan.persistent[tid].desc.spanBytes());
  for (size_t e = 0; e < local.size(); ++e) {
    temp = std::max(temp, plan.entries[e].tempBytes);
    for (size_t i = 0; i < local[e].size(); ++i) {
      const PlanTensor &t = plan.entries[e].tensors[i];
      bool isIO = segmentOf(t.role) == Segment::IO;
      if (!local[e][i].isBound && (isIO || options.separateAllocations))
        add(needed, t.desc.spanBytes());
    }
  }
  add(needed, options.separateAllocations ? 0 : temp);
  if (available == 0 || needed <= available) // 0: nobody counts
    return {};
  return makeError(StatusCode::DeviceError, "the plan needs ", needed,
                   " bytes, the device has ", available, " free");
}

StatusOr<char *> Memory::allocateBytes(uint64_t bytes) {
  AICF_ASSIGN_OR_RETURN(void *memory, device.allocate(bytes));
  allocations.push_back(memory);
  return static_cast<char *>(memory);
}

Status Memory::allocate(Stream &stream) {
  release();
  persistentBytes = ioBytes = tempBytes = 0;
  AICF_RETURN_IF_ERROR(checkRoom());
  return options.separateAllocations ? allocateSeparately(stream)
                                     : allocateSegments();
}

Status Memory::allocateSeparately(Stream &stream) {
  auto place = [&](Slot &s, const PlanTensor &t, uint64_t &segment) -> Status {
    if (s.isBound)
      return {};
    uint64_t bytes = t.desc.spanBytes();
    uint64_t guard = options.canary ? kCanaryBytes : 0;
    segment += bytes;
    AICF_ASSIGN_OR_RETURN(char *memory, allocateBytes(bytes + 2 * guard));
    s.pointer = memory + guard;
    AICF_RETURN_IF_ERROR(device.fill(stream, memory, kCanary, guard));
    return device.fill(stream, memory + guard + bytes, kCanary, guard);
  };
  for (uint32_t tid = 0; tid < persistent.size(); ++tid)
    AICF_RETURN_IF_ERROR(
        place(persistent[tid], plan.persistent[tid], persistentBytes));
  for (size_t e = 0; e < local.size(); ++e)
    for (size_t i = 0; i < local[e].size(); ++i) {
      const PlanTensor &t = plan.entries[e].tensors[i];
      AICF_RETURN_IF_ERROR(
          place(local[e][i], t,
                segmentOf(t.role) == Segment::IO ? ioBytes : tempBytes));
    }
  return {};
}

/// Persistent and io tensors never overlap: they are laid out in the plan's
/// order without the bound ones, which take no bytes. Temps keep the plan's
/// offsets; the entries' temp segments share one allocation.
Status Memory::allocateSegments() {
  for (const PlanEntry &entry : plan.entries)
    tempBytes = std::max(tempBytes, entry.tempBytes);
  std::vector<std::pair<Slot *, const PlanTensor *>> fixed;
  auto layOut = [&](uint64_t &bytes) -> Status {
    std::stable_sort(fixed.begin(), fixed.end(),
                     [](const auto &a, const auto &b) {
                       return a.second->offset < b.second->offset;
                     });
    uint64_t end = 0;
    for (auto &[s, t] : fixed)
      if (!s->isBound) {
        s->offset = end;
        end += alignedBytes(t->desc.spanBytes());
      }
    bytes += end;
    AICF_ASSIGN_OR_RETURN(char *base, allocateBytes(end));
    for (auto &[s, t] : fixed)
      if (!s->isBound)
        s->pointer = base + s->offset;
    fixed.clear();
    return {};
  };
  for (uint32_t tid = 0; tid < persistent.size(); ++tid)
    fixed.push_back({&persistent[tid], &plan.persistent[tid]});
  AICF_RETURN_IF_ERROR(layOut(persistentBytes));
  AICF_ASSIGN_OR_RETURN(char *temp, allocateBytes(tempBytes));
  for (size_t e = 0; e < local.size(); ++e) {
    for (size_t i = 0; i < local[e].size(); ++i) {
      const PlanTensor &t = plan.entries[e].tensors[i];
      if (segmentOf(t.role) == Segment::IO) {
        fixed.push_back({&local[e][i], &t});
        continue;
      }
      local[e][i].offset = t.offset;
      local[e][i].pointer = temp + t.offset;
    }
    AICF_RETURN_IF_ERROR(layOut(ioBytes));
  }
  return {};
}

StatusOr<TensorView> Memory::shadow(uint32_t tid) {
  const TensorDesc &desc = plan.persistent[tid].desc;
  char *&memory = shadows[tid];
  if (!memory) { // entries run one after the other: one serves them all
    AICF_ASSIGN_OR_RETURN(memory, allocateBytes(desc.spanBytes()));
  }
  return TensorView{memory, desc};
}

Status Memory::checkCanaries(Stream &stream, const std::string &when) const {
  auto isIntact = [&](const Slot &s, uint64_t bytes) -> StatusOr<bool> {
    auto *at = static_cast<char *>(s.pointer);
    for (char *guard : {at - kCanaryBytes, at + bytes}) {
      uint8_t read[kCanaryBytes];
      AICF_RETURN_IF_ERROR(
          device.copyToHost(stream, read, guard, kCanaryBytes));
      for (uint8_t byte : read)
        if (byte != kCanary)
          return false;
    }
    return true;
  };
  auto check = [&](const Slot &s, const PlanTensor &t, uint32_t tid) -> Status {
    if (s.isBound)
      return {};
    AICF_ASSIGN_OR_RETURN(bool intact, isIntact(s, t.desc.spanBytes()));
    if (intact)
      return {};
    return makeError(
        StatusCode::DeviceError, when, ": the guard bytes around tensor ", tid,
        t.name.empty() ? "" : " (" + t.name + ")", " were overwritten");
  };
  for (uint32_t tid = 0; tid < persistent.size(); ++tid)
    AICF_RETURN_IF_ERROR(check(persistent[tid], plan.persistent[tid], tid));
  for (size_t e = 0; e < local.size(); ++e)
    for (size_t i = 0; i < local[e].size(); ++i)
      AICF_RETURN_IF_ERROR(check(local[e][i], plan.entries[e].tensors[i],
                                 uint32_t(persistent.size() + i)));
  return {};
}

std::vector<SlotInfo> Memory::slots() const {
  std::vector<SlotInfo> all;
  auto add = [&](const std::string &entry, uint32_t tid, const PlanTensor &t,
                 const Slot &s) {
    all.push_back({entry, tid, t.vid, t.name, segmentOf(t.role), s.offset,
                   t.desc.spanBytes(), s.pointer});
  };
  for (uint32_t tid = 0; tid < persistent.size(); ++tid)
    add("", tid, plan.persistent[tid], persistent[tid]);
  for (size_t e = 0; e < local.size(); ++e)
    for (size_t i = 0; i < local[e].size(); ++i)
      add(plan.entries[e].name, uint32_t(persistent.size() + i),
          plan.entries[e].tensors[i], local[e][i]);
  return all;
}

void Memory::addBytes(ExecutorStatistics &stats) const {
  stats.persistentBytes = persistentBytes;
  stats.ioBytes = ioBytes;
  stats.tempBytes = tempBytes;
}

} // namespace aicf
