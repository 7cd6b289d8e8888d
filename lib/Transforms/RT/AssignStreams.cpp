//===- AssignStreams.cpp - which call runs beside which ------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Three steps: choose a stream for every call, then find what must come after
// what (operands, overwritten storage, storage to be used again), then add the
// signals and waits that stream order does not imply.
//===----------------------------------------------------------------------===//

#include "lib/Dialect/AICF/Target.h"
#include "lib/Dialect/Entry.h"
#include "lib/Transforms/Passes.h"
#include "lib/Transforms/RT/CallUses.h"
#include "lib/Transforms/RT/EntryForm.h"
#include "lib/Transforms/RT/MemoryWaits.h"
#include "lib/Transforms/RT/SideCalls.h"
#include "lib/Transforms/RT/Storage.h"

namespace aicf {
#define GEN_PASS_DEF_ASSIGNSTREAMS
#include "aicf/Passes.h.inc"
} // namespace aicf

using namespace mlir;
using namespace aicf;
using namespace aicf::step;
using namespace aicf::rt;

/// What the serial order implies.
static Dependences findDependences(const CallList &list,
                                   const StoragePlan &storages) {
  Dependences dependences(list.getCalls().size());
  auto add = [&](uint32_t call, uint32_t earlier) {
    if (earlier < call)
      dependences[call].push_back(earlier);
  };
  for (auto [i, call] : llvm::enumerate(list.getCalls()))
    for (Value operand : CallOp(call).getArgs())
      forEachMaker(operand,
                   [&](CallOp maker) { add(i, list.indexOf(maker)); });
  // A value of a storage is written when all accesses to the one before it are
  // over.
  for (const Storage &storage : storages.getStorages())
    for (size_t v = 1; v < storage.values.size(); ++v)
      forEachMaker(storage.values[v], [&](CallOp maker) {
        forEachPart(storage.values[v - 1], [&](Value part) {
          list.forEachAccess(part, [&](uint32_t access) {
            add(list.indexOf(maker), access);
          });
        });
      });
  return dependences;
}

/// Side calls go round the side streams. Behind the last call of forward and
/// backward the main stream is free too: the first side call there that needs
/// that last call gets it. The last call of all joins everything on stream 0.
static SmallVector<uint32_t> chooseStreams(const CallList &list,
                                           uint32_t numStreams) {
  SmallVector<uint32_t> streams(list.getCalls().size(), 0);
  const SideCalls sides(list.getCalls());
  size_t lastMain = 0;
  for (auto [i, call] : llvm::enumerate(list.getCalls()))
    if (!sides.contains(call))
      lastMain = i;
  uint32_t next = 0;
  for (size_t i = 0; i + 1 < list.getCalls().size(); ++i) {
    CallOp call = list.getCalls()[i];
    if (!sides.contains(call))
      continue;
    CallOp main = list.getCalls()[lastMain];
    bool readsLastMain = false;
    for (Value operand : call.getArgs())
      forEachMaker(operand,
                   [&](CallOp maker) { readsLastMain |= maker == main; });
    if (readsLastMain)
      continue; // stream 0 has nothing else to do
    streams[i] = 1 + next;
    if (!isUpdate(call))
      next = (next + 1) % (numStreams - 1);
  }
  return streams;
}

namespace {
/// Adds waits where stream order alone does not imply a dependence.
class Scheduler {
public:
  Scheduler(CallList &list, ArrayRef<uint32_t> streams, uint32_t numStreams)
      : list(list), streams(streams), numStreams(numStreams),
        seen(list.getCalls().size() * numStreams, -1),
        waits(list.getCalls().size()), signals(list.getCalls().size()),
        last(numStreams, -1) {}

  void run(const Dependences &dependences) {
    for (uint32_t i = 0; i < list.getCalls().size(); ++i) {
      if (last[streams[i]] >= 0)
        merge(i, last[streams[i]]);
      if (i + 1 == list.getCalls().size()) // the join, which implies the rest
        for (uint32_t s = 0; s < numStreams; ++s)
          if (last[s] >= 0)
            require(i, last[s]);
      for (uint32_t earlier : dependences[i])
        require(i, earlier);
      last[streams[i]] = i;
    }
    for (uint32_t i = 0; i < list.getCalls().size(); ++i)
      CallOp(list.getCalls()[i]).setSchedule(streams[i], waits[i], signals[i]);
  }

private:
  /// seen[call, s]: the last call of stream s that is over before `call`.
  int64_t &at(uint32_t call, uint32_t s) { return seen[call * numStreams + s]; }
  void merge(uint32_t call, uint32_t earlier) {
    for (uint32_t s = 0; s < numStreams; ++s)
      at(call, s) = std::max(at(call, s), at(earlier, s));
    int64_t &own = at(call, streams[earlier]);
    own = std::max<int64_t>(own, earlier);
  }
  void require(uint32_t call, uint32_t earlier) {
    if (at(call, streams[earlier]) >= earlier)
      return;
    // One event a call, named by its number.
    if (signals[earlier].empty())
      signals[earlier].push_back(earlier);
    waits[call].push_back(earlier);
    merge(call, earlier);
  }

  CallList &list;
  ArrayRef<uint32_t> streams;
  uint32_t numStreams;
  std::vector<int64_t> seen;
  std::vector<SmallVector<int64_t>> waits, signals;
  std::vector<int64_t> last; ///< call of each stream, or -1
};

struct AssignStreams : aicf::impl::AssignStreamsBase<AssignStreams> {
  using AssignStreamsBase::AssignStreamsBase;
  LogicalResult initialize(MLIRContext *context) override {
    int64_t limit = HappensBefore::kMaxStreams;
    if (numStreams >= 1 && numStreams <= limit)
      return success();
    return emitError(UnknownLoc::get(context))
           << "streams is " << int64_t(numStreams) << ", expected 1 to "
           << limit;
  }
  void runOnOperation() override {
    func::FuncOp func = getOperation();
    if (!isEntry(func))
      return markAllAnalysesPreserved();
    // From one stream: the serial order is what every schedule must keep.
    bool isSerial = true;
    for (auto op : func.getOps<CallOp>()) {
      isSerial &= op.getStream() == 0 && op.getWaits().empty() &&
                  op.getSignals().empty();
      op.setSchedule(0, {}, {});
    }
    if (numStreams == 1)
      return isSerial ? markAllAnalysesPreserved()
                      : markAnalysesPreserved<EntryForm, EntrySignature>();
    if (!getAnalysis<EntryForm>().isLegal)
      return signalPassFailure();
    markAnalysesPreserved<EntryForm, EntrySignature>();
    CallList list(func);
    StoragePlan storages(func, getAnalysis<EntrySignature>(), list);
    SmallVector<uint32_t> streams = chooseStreams(list, numStreams);
    Dependences dependences = findDependences(list, storages);
    addMemoryWaits(list, storages, streams,
                   uint64_t(targetOf(func).costs.freeBytes), dependences);
    Scheduler(list, streams, numStreams).run(dependences);
  }
};
} // namespace
