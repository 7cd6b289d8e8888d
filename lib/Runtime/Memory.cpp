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

void Memory::share(const Memory &old, const PlanExtension &found) {
  allocations = old.allocations;
  persistentBytes = old.persistentBytes;
  ioBytes = old.ioBytes;
  tempBytes = old.tempBytes;
  temps = old.temps;
  tempsCapacity = old.tempsCapacity;
  for (uint32_t tid = 0; tid < persistent.size(); ++tid) {
    int64_t from = found.persistent[tid];
    if (from < 0)
      continue;
    persistent[tid] = old.persistent[size_t(from)];
    if (auto shadow = old.shadows.find(uint32_t(from));
        shadow != old.shadows.end())
      shadows[tid] = shadow->second;
  }
  for (size_t e = 0; e < local.size(); ++e)
    if (int64_t from = found.entries[e]; from >= 0)
      local[e] = old.local[size_t(from)];
    else if (found.named[e] >= 0)
      shareIO(old, size_t(found.named[e]), e);
}

void Memory::shareIO(const Memory &old, size_t from, size_t to) {
  const std::vector<PlanTensor> &before = old.plan.entries[from].tensors;
  const std::vector<PlanTensor> &now = plan.entries[to].tensors;
  for (size_t i = 0; i < now.size(); ++i)
    for (size_t j = 0; j < before.size(); ++j)
      if (segmentOf(now[i].role) == Segment::IO &&
          now[i].role == before[j].role && now[i].name == before[j].name &&
          now[i].desc == before[j].desc)
        local[to][i] = old.local[from][j];
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

/// Of the entries whose temps have no place yet.
uint64_t Memory::tempBytesNeeded() const {
  uint64_t needed = 0;
  for (size_t e = 0; e < local.size(); ++e) {
    bool isPlaced = true;
    for (size_t i = 0; i < local[e].size(); ++i)
      if (segmentOf(plan.entries[e].tensors[i].role) != Segment::IO)
        isPlaced &= local[e][i].pointer != nullptr;
    if (!isPlaced)
      needed = std::max(needed, plan.entries[e].tempBytes);
  }
  return needed;
}

/// Before anything is touched: what is allocated one by one may each fit.
Status Memory::checkRoom() const {
  uint64_t needed = 0, available = device.freeBytes();
  auto add = [](uint64_t &sum, uint64_t bytes) {
    if (__builtin_add_overflow(sum, bytes, &sum))
      sum = UINT64_MAX;
  };
  for (uint32_t tid = 0; tid < persistent.size(); ++tid)
    if (!persistent[tid].pointer)
      add(needed, plan.persistent[tid].desc.spanBytes());
  for (size_t e = 0; e < local.size(); ++e)
    for (size_t i = 0; i < local[e].size(); ++i) {
      const PlanTensor &t = plan.entries[e].tensors[i];
      bool isIO = segmentOf(t.role) == Segment::IO;
      if (!local[e][i].pointer && (isIO || options.separateAllocations))
        add(needed, t.desc.spanBytes());
    }
  uint64_t temp = options.separateAllocations ? 0 : tempBytesNeeded();
  add(needed, temp > tempsCapacity ? temp : 0);
  if (available == 0 || needed <= available) // 0: nobody counts
    return {};
  return makeError(StatusCode::DeviceError, "the plan needs ", needed,
                   " bytes, the device has ", available, " free");
}

StatusOr<char *> Memory::allocateBytes(uint64_t bytes) {
  AICF_ASSIGN_OR_RETURN(void *memory, device.allocate(bytes));
  allocations.emplace_back(
      memory, [&device = device](void *unused) { device.deallocate(unused); });
  return static_cast<char *>(memory);
}

Status Memory::allocate(Stream &stream) {
  AICF_RETURN_IF_ERROR(checkRoom());
  return options.separateAllocations ? allocateSeparately(stream)
                                     : allocateSegments();
}

Status Memory::allocateSeparately(Stream &stream) {
  auto place = [&](Slot &s, const PlanTensor &t, uint64_t &segment) -> Status {
    if (s.pointer)
      return {};
    uint64_t bytes = t.desc.spanBytes();
    uint64_t guard = options.canary ? kCanaryBytes : 0;
    AICF_ASSIGN_OR_RETURN(char *memory, allocateBytes(bytes + 2 * guard));
    AICF_RETURN_IF_ERROR(device.fill(stream, memory, kCanary, guard));
    AICF_RETURN_IF_ERROR(
        device.fill(stream, memory + guard + bytes, kCanary, guard));
    s.pointer = memory + guard;
    segment += bytes;
    return {};
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
/// order without those that have a place, bound ones among them.
Status Memory::allocateSegments() {
  std::vector<std::pair<Slot *, const PlanTensor *>> fixed;
  auto layOut = [&](uint64_t &bytes) -> Status {
    if (fixed.empty())
      return {};
    std::stable_sort(fixed.begin(), fixed.end(),
                     [](const auto &a, const auto &b) {
                       return a.second->offset < b.second->offset;
                     });
    uint64_t end = 0;
    for (auto &[s, t] : fixed) {
      s->offset = end;
      end += alignedBytes(t->desc.spanBytes());
    }
    AICF_ASSIGN_OR_RETURN(char *base, allocateBytes(end));
    bytes += end;
    for (auto &[s, t] : fixed)
      s->pointer = base + s->offset;
    fixed.clear();
    return {};
  };
  auto add = [&](Slot &s, const PlanTensor &t) {
    if (!s.pointer)
      fixed.push_back({&s, &t});
  };
  for (uint32_t tid = 0; tid < persistent.size(); ++tid)
    add(persistent[tid], plan.persistent[tid]);
  AICF_RETURN_IF_ERROR(layOut(persistentBytes));
  AICF_RETURN_IF_ERROR(allocateTemps());
  for (size_t e = 0; e < local.size(); ++e) {
    for (size_t i = 0; i < local[e].size(); ++i)
      if (segmentOf(plan.entries[e].tensors[i].role) == Segment::IO)
        add(local[e][i], plan.entries[e].tensors[i]);
    AICF_RETURN_IF_ERROR(layOut(ioBytes));
  }
  return {};
}

/// Temps keep the plan's offsets. Entries run one after the other: their temp
/// segments share one allocation. One that an entry outgrows, which came later,
/// stays the others': their graphs hold its address.
Status Memory::allocateTemps() {
  uint64_t needed = tempBytesNeeded();
  if (needed > tempsCapacity) {
    AICF_ASSIGN_OR_RETURN(temps, allocateBytes(needed));
    tempsCapacity = needed;
    tempBytes += needed;
  }
  for (size_t e = 0; e < local.size(); ++e)
    for (size_t i = 0; i < local[e].size(); ++i) {
      const PlanTensor &t = plan.entries[e].tensors[i];
      if (segmentOf(t.role) == Segment::IO || local[e][i].pointer)
        continue;
      local[e][i].offset = t.offset;
      local[e][i].pointer = temps + t.offset;
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
