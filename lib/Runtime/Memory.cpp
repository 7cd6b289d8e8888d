//===- Memory.cpp - buffers of a plan in device memory --------------------===//
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
  persistent.resize(plan.buffers.size());
  for (uint32_t i = 0; i < persistent.size(); ++i)
    byName[plan.buffers[i].name].push_back({0, i});
  for (size_t e = 0; e < plan.entries.size(); ++e) {
    const PlanEntry &entry = plan.entries[e];
    local.emplace_back(entry.buffers.size());
    for (uint32_t i = 0; i < entry.buffers.size(); ++i) {
      const PlanBuffer &b = entry.buffers[i];
      if (segmentOf(b.role) != Segment::IO)
        continue;
      BufferRef ref{e, static_cast<uint32_t>(persistent.size()) + i};
      byName[b.name].push_back(ref);
      byName[entry.name + "/" + b.name].push_back(ref); // the only one
    }
  }
}

void Memory::share(const Memory &old, const PlanExtension &found) {
  allocations = old.allocations;
  persistentBytes = old.persistentBytes;
  ioBytes = old.ioBytes;
  separateTempBytes = old.separateTempBytes;
  temps = old.temps;
  tempsCapacity = old.tempsCapacity;
  for (uint32_t i = 0; i < persistent.size(); ++i) {
    int64_t from = found.persistent[i];
    if (from < 0)
      continue;
    persistent[i] = old.persistent[size_t(from)];
    if (auto shadow = old.shadows.find(uint32_t(from));
        shadow != old.shadows.end())
      shadows[i] = shadow->second;
  }
  for (size_t e = 0; e < local.size(); ++e)
    if (int64_t from = found.entries[e]; from >= 0)
      local[e] = old.local[size_t(from)];
    else if (found.named[e] >= 0)
      shareIO(old, size_t(found.named[e]), e);
}

void Memory::shareIO(const Memory &old, size_t from, size_t to) {
  const std::vector<PlanBuffer> &before = old.plan.entries[from].buffers;
  const std::vector<PlanBuffer> &now = plan.entries[to].buffers;
  auto descOf = [](const Memory &memory, size_t entry, size_t i) {
    return memory.plan.entries[entry].values[i].desc; // of an input or output
  };
  for (size_t i = 0; i < now.size(); ++i)
    for (size_t j = 0; j < before.size(); ++j)
      if (segmentOf(now[i].role) == Segment::IO &&
          now[i].role == before[j].role && now[i].name == before[j].name &&
          descOf(*this, to, i) == descOf(old, from, j))
        local[to][i] = old.local[from][j];
}

/// Says which tensors people set or read there are, if they are few.
std::string Memory::namesNear(std::string_view name) const {
  std::vector<std::string_view> found;
  auto slash = name.find('/');
  for (const auto &[known, where] : byName) {
    const PlanBuffer &b = buffer(where.front());
    bool isMeant = b.role == Role::Input || b.role == Role::Output ||
                   b.role == Role::Hyper;
    // An input of one entry has a name with that entry in front, too.
    if (isMeant && (known.find('/') == std::string::npos) ==
                       (slash == std::string_view::npos))
      found.push_back(known);
  }
  if (found.empty() || found.size() > 12)
    return "";
  std::sort(found.begin(), found.end());
  std::string text;
  for (std::string_view known : found)
    text += (text.empty() ? "; it has " : ", ") + std::string(known);
  return text + ", beside parameters and states";
}

StatusOr<BufferRef> Memory::find(std::string_view name) const {
  auto it = byName.find(std::string(name));
  if (it == byName.end())
    return makeError(StatusCode::InvalidArgument,
                     "the plan has no tensor named \"", name, "\"",
                     namesNear(name));
  if (it->second.size() > 1)
    return makeError(StatusCode::InvalidArgument, "\"", name, "\" is in ",
                     it->second.size(), " entries: name one, such as \"",
                     plan.entries[it->second[0].entry].name, "/", name, "\"");
  return it->second.front();
}

Status Memory::checkSize(BufferRef ref, std::string_view name,
                         uint64_t bytes) const {
  TensorDesc desc = view(ref.entry, ref.number).desc.dense(); // without pads
  if (bytes == desc.spanBytes())
    return {};
  return makeError(StatusCode::InvalidArgument, "\"", name, "\" is ",
                   desc.toString(), ", expected ", desc.spanBytes(),
                   " bytes, got ", bytes);
}

Status Memory::bind(std::string_view name, void *memory, uint64_t bytes) {
  AICF_ASSIGN_OR_RETURN(BufferRef ref, find(name));
  AICF_RETURN_IF_ERROR(checkSize(ref, name, bytes));
  size_t alignment = sizeOf(view(ref.entry, ref.number).desc.dtype);
  if (!memory)
    return makeError(StatusCode::InvalidArgument, "\"", name,
                     "\" is bound to a null pointer");
  if (reinterpret_cast<uintptr_t>(memory) % alignment != 0)
    return makeError(StatusCode::Misaligned, "\"", name,
                     "\" is bound to an address that is not a multiple of ",
                     alignment, " bytes");
  Slot &s = slot(ref);
  s.pointer = memory;
  s.isBound = s.isWritten = true;
  return {};
}

/// Returns the bytes of the entry with the largest temp segment.
uint64_t Memory::tempBytesNeeded() const {
  uint64_t needed = 0;
  for (const PlanEntry &entry : plan.entries)
    needed = std::max(needed, entry.tempBytes);
  return needed;
}

/// Checks that all segments together fit, before the first is allocated.
Status Memory::checkRoom() const {
  uint64_t needed = 0, available = device.freeBytes();
  auto add = [](uint64_t &sum, uint64_t bytes) {
    if (__builtin_add_overflow(sum, bytes, &sum))
      sum = UINT64_MAX;
  };
  for (uint32_t i = 0; i < persistent.size(); ++i)
    if (!persistent[i].pointer)
      add(needed, plan.buffers[i].bytes);
  for (size_t e = 0; e < local.size(); ++e)
    for (size_t i = 0; i < local[e].size(); ++i) {
      const PlanBuffer &b = plan.entries[e].buffers[i];
      bool isIO = segmentOf(b.role) == Segment::IO;
      if (!local[e][i].pointer && (isIO || options.separateAllocations))
        add(needed, b.bytes);
    }
  uint64_t temp = options.separateAllocations ? 0 : tempBytesNeeded();
  add(needed, temp > tempsCapacity ? temp : 0);
  if (available == 0 || needed <= available) // 0: nobody counts
    return {};
  return makeError(StatusCode::DeviceError, "the plan needs ", needed,
                   " bytes, the device has ", available, " free");
}

StatusOr<std::shared_ptr<char>> Memory::allocateOwned(uint64_t bytes) {
  AICF_ASSIGN_OR_RETURN(void *memory, device.allocate(bytes));
  return std::shared_ptr<char>(
      static_cast<char *>(memory),
      [&device = device](char *unused) { device.deallocate(unused); });
}

StatusOr<char *> Memory::allocateBytes(uint64_t bytes) {
  AICF_ASSIGN_OR_RETURN(std::shared_ptr<char> memory, allocateOwned(bytes));
  allocations.push_back(memory);
  return memory.get();
}

Status Memory::allocate(Stream &stream) {
  AICF_RETURN_IF_ERROR(checkRoom());
  return options.separateAllocations ? allocateSeparately(stream)
                                     : allocateSegments();
}

Status Memory::allocateSeparately(Stream &stream) {
  auto place = [&](Slot &s, const PlanBuffer &b, uint64_t &segment) -> Status {
    if (s.pointer)
      return {};
    uint64_t bytes = b.bytes;
    uint64_t guard = options.canary ? kCanaryBytes : 0;
    AICF_ASSIGN_OR_RETURN(char *memory, allocateBytes(bytes + 2 * guard));
    AICF_RETURN_IF_ERROR(device.fill(stream, memory, kCanary, guard));
    AICF_RETURN_IF_ERROR(
        device.fill(stream, memory + guard + bytes, kCanary, guard));
    s.pointer = memory + guard;
    segment += bytes;
    return {};
  };
  for (uint32_t i = 0; i < persistent.size(); ++i)
    AICF_RETURN_IF_ERROR(
        place(persistent[i], plan.buffers[i], persistentBytes));
  for (size_t e = 0; e < local.size(); ++e)
    for (size_t i = 0; i < local[e].size(); ++i) {
      const PlanBuffer &b = plan.entries[e].buffers[i];
      AICF_RETURN_IF_ERROR(place(
          local[e][i], b,
          segmentOf(b.role) == Segment::IO ? ioBytes : separateTempBytes));
    }
  return {};
}

/// Persistent and io buffers never overlap: they are laid out in the plan's
/// order without those that have a place, bound ones among them.
Status Memory::allocateSegments() {
  std::vector<std::pair<Slot *, const PlanBuffer *>> fixed;
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
      end += alignedBytes(t->bytes);
    }
    AICF_ASSIGN_OR_RETURN(char *base, allocateBytes(end));
    bytes += end;
    for (auto &[s, t] : fixed)
      s->pointer = base + s->offset;
    fixed.clear();
    return {};
  };
  auto add = [&](Slot &s, const PlanBuffer &b) {
    if (!s.pointer)
      fixed.push_back({&s, &b});
  };
  for (uint32_t i = 0; i < persistent.size(); ++i)
    add(persistent[i], plan.buffers[i]);
  AICF_RETURN_IF_ERROR(layOut(persistentBytes));
  AICF_RETURN_IF_ERROR(allocateTemps());
  for (size_t e = 0; e < local.size(); ++e) {
    for (size_t i = 0; i < local[e].size(); ++i)
      add(local[e][i], plan.entries[e].buffers[i]); // temps have their place
    AICF_RETURN_IF_ERROR(layOut(ioBytes));
  }
  return {};
}

/// Temps keep the plan's offsets. Entries run one after the other: their temp
/// segments share one allocation, as large as the largest of them. Where an
/// entry outgrows it, that came later, all move to a larger one.
Status Memory::allocateTemps() {
  uint64_t needed = tempBytesNeeded();
  if (needed > tempsCapacity) {
    areTempsElsewhere = temps != nullptr;
    AICF_ASSIGN_OR_RETURN(temps, allocateOwned(needed));
    tempsCapacity = needed;
  }
  for (size_t e = 0; e < local.size(); ++e)
    for (size_t i = 0; i < local[e].size(); ++i) {
      const PlanBuffer &b = plan.entries[e].buffers[i];
      if (segmentOf(b.role) == Segment::IO)
        continue;
      local[e][i].offset = b.offset;
      local[e][i].pointer = temps.get() + b.offset;
    }
  return {};
}

StatusOr<TensorView> Memory::shadow(uint32_t number) {
  char *&memory = shadows[number];
  if (!memory) { // entries run one after the other: one serves them all
    AICF_ASSIGN_OR_RETURN(memory, allocateBytes(plan.buffers[number].bytes));
  }
  return TensorView{memory, plan.values[number].desc};
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
  auto check = [&](const Slot &s, const PlanBuffer &b,
                   uint32_t number) -> Status {
    if (s.isBound)
      return {};
    AICF_ASSIGN_OR_RETURN(bool intact, isIntact(s, b.bytes));
    if (intact)
      return {};
    return makeError(
        StatusCode::DeviceError, when, ": the guard bytes around buffer ",
        number, b.name.empty() ? "" : " (" + b.name + ")", " were overwritten");
  };
  for (uint32_t i = 0; i < persistent.size(); ++i)
    AICF_RETURN_IF_ERROR(check(persistent[i], plan.buffers[i], i));
  for (size_t e = 0; e < local.size(); ++e)
    for (size_t i = 0; i < local[e].size(); ++i)
      AICF_RETURN_IF_ERROR(check(local[e][i], plan.entries[e].buffers[i],
                                 uint32_t(persistent.size() + i)));
  return {};
}

std::vector<SlotInfo> Memory::slots() const {
  std::vector<SlotInfo> all;
  auto add = [&](const std::string &entry, uint32_t number, int32_t vid,
                 const PlanBuffer &b, const Slot &s) {
    all.push_back({entry, number, vid, b.name, segmentOf(b.role), s.offset,
                   b.bytes, s.pointer});
  };
  for (uint32_t i = 0; i < persistent.size(); ++i)
    add("", i, plan.values[i].vid, plan.buffers[i], persistent[i]);
  for (size_t e = 0; e < local.size(); ++e) {
    const PlanEntry &entry = plan.entries[e];
    std::vector<int32_t> vids(persistent.size() + local[e].size(), -1);
    for (size_t v = entry.values.size(); v-- > 0;) // the first value's stays
      vids[entry.values[v].buffer] = entry.values[v].vid;
    for (size_t i = 0; i < local[e].size(); ++i) {
      size_t number = persistent.size() + i;
      add(entry.name, uint32_t(number), vids[number], entry.buffers[i],
          local[e][i]);
    }
  }
  return all;
}

void Memory::addBytes(ExecutorStatistics &stats) const {
  stats.persistentBytes = persistentBytes;
  stats.ioBytes = ioBytes;
  stats.tempBytes = tempsCapacity + separateTempBytes;
}

} // namespace aicf
