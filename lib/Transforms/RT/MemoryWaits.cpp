//===- MemoryWaits.cpp - waits that let storage be used again -------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Walks through the calls in program order, as the host issues them, and counts
// the storages that a call of stream 0 may not use again yet. Workspaces are
// not counted, for they are not placed yet.
//===----------------------------------------------------------------------===//

#include "lib/Transforms/RT/MemoryWaits.h"
#include "lib/Transforms/RT/CallUses.h"

#include <algorithm>
#include <deque>
#include <map>

using namespace mlir;
using namespace aicf;
using namespace aicf::rt;

namespace {
/// A temp from its first access to the last one on each stream.
struct Life {
  uint64_t bytes = 0;
  uint32_t first = 0;
  std::map<uint32_t, uint32_t> last; ///< call by stream

  uint32_t lastCall() const {
    uint32_t call = first;
    for (auto [stream, access] : last)
      call = std::max(call, access);
    return call;
  }
};

class MemoryWaits {
public:
  MemoryWaits(ArrayRef<uint32_t> streams, std::vector<Life> made,
              Dependences &dependences)
      : streams(streams), lives(std::move(made)), dependences(dependences) {}
  void run(uint64_t freeBytes);

private:
  uint64_t serialPeak() const;
  bool isFree(const Life &life) const;
  void releaseHeld();
  void wait(uint32_t call, uint32_t earlier);

  ArrayRef<uint32_t> streams;
  std::vector<Life> lives;
  Dependences &dependences;
  std::map<uint32_t, uint32_t> seen; ///< by stream: what stream 0 waited for
  /// Lives whose last call has passed, the oldest first: whether they are free
  /// is asked where it matters.
  std::deque<const Life *> held;
  uint64_t bytes = 0; ///< of lives that have begun and were not released
};
} // namespace

uint64_t MemoryWaits::serialPeak() const {
  std::vector<int64_t> changes(streams.size() + 1);
  for (const Life &life : lives) {
    changes[life.first] += int64_t(life.bytes);
    changes[life.lastCall() + 1] -= int64_t(life.bytes);
  }
  int64_t now = 0, peak = 0;
  for (int64_t change : changes)
    peak = std::max(peak, now += change);
  return uint64_t(peak);
}

/// Whether stream 0 comes behind all accesses of a life that has passed.
bool MemoryWaits::isFree(const Life &life) const {
  return llvm::all_of(life.last, [&](auto access) {
    auto [stream, last] = access;
    auto it = seen.find(stream);
    return stream == 0 || (it != seen.end() && last <= it->second);
  });
}

void MemoryWaits::releaseHeld() {
  auto isReleased = [&](const Life *life) {
    if (!isFree(*life))
      return false;
    bytes -= life->bytes;
    return true;
  };
  held.erase(std::remove_if(held.begin(), held.end(), isReleased), held.end());
}

/// `call`, on stream 0, comes behind a side call.
void MemoryWaits::wait(uint32_t call, uint32_t earlier) {
  auto [it, isNew] = seen.try_emplace(streams[earlier], earlier);
  if (!isNew && it->second >= earlier)
    return;
  it->second = earlier;
  dependences[call].push_back(earlier);
}

void MemoryWaits::run(uint64_t freeBytes) {
  const uint64_t peak = serialPeak();
  const uint64_t limit = std::max(freeBytes, peak + peak / 16);
  std::vector<SmallVector<const Life *, 1>> begins(streams.size()),
      ends(streams.size());
  for (const Life &life : lives) {
    begins[life.first].push_back(&life);
    ends[life.lastCall()].push_back(&life);
  }
  for (uint32_t call = 0; call < streams.size(); ++call) {
    for (const Life *life : begins[call])
      bytes += life->bytes;
    if (call > 0)
      held.insert(held.end(), ends[call - 1].begin(), ends[call - 1].end());
    if (streams[call] != 0)
      continue;
    for (uint32_t earlier : SmallVector<uint32_t>(dependences[call]))
      if (streams[earlier] != 0)
        wait(call, earlier);
    if (bytes > limit)
      releaseHeld();
    while (bytes > limit && !held.empty()) {
      for (auto [stream, last] : held.front()->last)
        if (stream != 0)
          wait(call, last);
      releaseHeld();
    }
  }
}

static Life lifeOf(const Storage &storage, const CallList &list,
                   ArrayRef<uint32_t> streams) {
  Life life;
  life.bytes = bytesOf(storage.type);
  life.first = uint32_t(streams.size());
  auto add = [&](uint32_t call) {
    life.first = std::min(life.first, call);
    uint32_t &last = life.last[streams[call]];
    last = std::max(last, call);
  };
  for (Value value : storage.values) {
    forEachMaker(value, [&](CallOp maker) { add(list.indexOf(maker)); });
    forEachPart(value, [&](Value part) { list.forEachAccess(part, add); });
  }
  return life;
}

void aicf::rt::addMemoryWaits(const CallList &list, const StoragePlan &storages,
                              ArrayRef<uint32_t> streams, uint64_t freeBytes,
                              Dependences &dependences) {
  std::vector<Life> lives;
  for (const Storage &storage : storages.getStorages())
    if (storage.kind == Storage::Kind::Temp)
      if (Life life = lifeOf(storage, list, streams); !life.last.empty())
        lives.push_back(std::move(life));
  MemoryWaits(streams, std::move(lives), dependences).run(freeBytes);
}
