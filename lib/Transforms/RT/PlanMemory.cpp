//===- PlanMemory.cpp - a byte offset for every tensor --------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// See the pass's description.
//===----------------------------------------------------------------------===//

#include "lib/Dialect/Entry.h"
#include "lib/Schedule/MemoryPlanner.h"
#include "lib/Transforms/Passes.h"
#include "lib/Transforms/RT/Storage.h"

#include "llvm/Support/FormatVariadic.h"

#include <map>

namespace aicf {
#define GEN_PASS_DEF_PLANMEMORY
#include "aicf/Passes.h.inc"
} // namespace aicf

using namespace mlir;
using namespace aicf;
using namespace aicf::step;
using namespace aicf::rt;

namespace {
/// Hands out aligned offsets one after the other.
struct Residents {
  uint64_t bytes = 0;
  int64_t add(uint64_t size) {
    uint64_t at = bytes;
    bytes += alignedBytes(size);
    return static_cast<int64_t>(at);
  }
};

/// The offsets of one entry's arguments and outputs.
struct EntryLayout {
  SmallVector<int64_t> arguments, results; ///< -1 where there is none
  Residents io;
};
} // namespace

static uint64_t bytesOf(Type type) { return toTensorDesc(type).numBytes(); }

static EntryLayout layOutSignature(func::FuncOp func,
                                   const EntrySignature &signature,
                                   llvm::StringMap<int64_t> &persistentOffsets,
                                   Residents &persistent) {
  EntryLayout layout;
  for (auto [arg, type] :
       llvm::zip(signature.arguments, func.getArgumentTypes())) {
    if (segmentOf(arg.role) != Segment::Persistent) {
      layout.arguments.push_back(layout.io.add(bytesOf(type)));
      continue;
    }
    auto [it, fresh] = persistentOffsets.try_emplace(arg.name, 0);
    if (fresh)
      it->second = persistent.add(bytesOf(type));
    layout.arguments.push_back(it->second);
  }
  for (auto [result, type] :
       llvm::zip(signature.results, func.getResultTypes()))
    layout.results.push_back(
        result.updates.empty() ? layout.io.add(bytesOf(type)) : -1);
  return layout;
}

/// Adds `aicf_rt.offset` to every dictionary, all at once.
static SmallVector<DictionaryAttr> withOffsets(MLIRContext *context,
                                               ArrayAttr dictionaries,
                                               ArrayRef<int64_t> offsets) {
  Builder builder(context);
  SmallVector<DictionaryAttr> all;
  for (auto [i, offset] : llvm::enumerate(offsets)) {
    NamedAttrList attrs;
    if (dictionaries)
      attrs.append(cast<DictionaryAttr>(dictionaries[i]).getValue());
    attrs.set(kOffsetAttr, builder.getI64IntegerAttr(offset));
    all.push_back(attrs.getDictionary(context));
  }
  return all;
}

/// The workspace of each stream: the calls of one stream share one, as large as
/// the largest of them wants.
static std::map<uint64_t, PlannedBuffer>
collectWorkspaces(const CallList &list) {
  std::map<uint64_t, PlannedBuffer> byStream;
  for (PrimitiveOpInterface call : list.calls) {
    if (call.getWorkspace() == 0)
      continue;
    PlannedBuffer &buffer = byStream[call.getStream()];
    buffer.bytes = std::max(buffer.bytes, call.getWorkspace());
    buffer.accesses.add(list.order, list.indexOf.at(call));
  }
  return byStream;
}

/// Packs the temps and writes `slots`, and the workspaces as (stream, bytes,
/// offset) on the function.
static MemoryPlan packTemps(func::FuncOp func, const CallList &list,
                            const StorageAnalysis &analysis) {
  std::vector<PlannedBuffer> buffers;
  llvm::DenseMap<size_t, size_t> bufferOf;
  for (auto [i, storage] : llvm::enumerate(analysis.getStorages()))
    if (storage.kind == Storage::Kind::Temp) {
      bufferOf[i] = buffers.size();
      buffers.push_back({bytesOf(storage.type), storage.accesses});
    }
  std::map<uint64_t, PlannedBuffer> workspaces = collectWorkspaces(list);
  size_t firstWorkspace = buffers.size();
  for (auto &[stream, buffer] : workspaces)
    buffers.push_back(buffer);
  MemoryPlan plan = planMemory(buffers, list.order);
  SmallVector<int64_t> placed;
  for (auto &[stream, buffer] : workspaces)
    placed.append({static_cast<int64_t>(stream),
                   static_cast<int64_t>(buffer.bytes),
                   static_cast<int64_t>(plan.offsets[firstWorkspace++])});
  func->setDiscardableAttr(kWorkspacesAttr,
                           DenseI64ArrayAttr::get(func.getContext(), placed));
  for (PrimitiveOpInterface call : list.calls) {
    SmallVector<int64_t> slots;
    for (Value result : call->getResults()) {
      auto it = bufferOf.find(analysis.getStorageOf(result));
      slots.push_back(it == bufferOf.end()
                          ? -1
                          : static_cast<int64_t>(plan.offsets[it->second]));
    }
    call.setSlots(slots);
  }
  return plan;
}

namespace {
struct PlanMemory : aicf::impl::PlanMemoryBase<PlanMemory> {
  using PlanMemoryBase::PlanMemoryBase;
  void runOnOperation() override {
    Builder builder(&getContext());
    llvm::StringMap<int64_t> persistentOffsets;
    Residents persistent;
    SmallVector<func::FuncOp> entries = getEntries(getOperation());
    for (func::FuncOp func : entries) {
      FailureOr<CallList> list = CallList::create(func);
      if (failed(list))
        return signalPassFailure();
      EntrySignature signature(func);
      EntryLayout layout =
          layOutSignature(func, signature, persistentOffsets, persistent);
      MemoryPlan plan = packTemps(func, *list, StorageAnalysis(func, *list));
      func.setAllArgAttrs(
          withOffsets(&getContext(), func.getArgAttrsAttr(), layout.arguments));
      func.setAllResultAttrs(
          withOffsets(&getContext(), func.getResAttrsAttr(), layout.results));
      func->setDiscardableAttr(kIoBytesAttr,
                               builder.getI64IntegerAttr(layout.io.bytes));
      func->setDiscardableAttr(kTempBytesAttr,
                               builder.getI64IntegerAttr(plan.bytes));
      func->setDiscardableAttr(kTempBoundAttr,
                               builder.getI64IntegerAttr(plan.lowerBound));
      if (report)
        func.emitRemark() << "@" << func.getName() << ": temp segment "
                          << plan.bytes << " bytes, max-live lower bound "
                          << plan.lowerBound << " bytes, gap "
                          << llvm::formatv("{0:F2}", plan.gap() * 100).str()
                          << " %";
    }
    for (func::FuncOp func : entries)
      func->setDiscardableAttr(kPersistentBytesAttr,
                               builder.getI64IntegerAttr(persistent.bytes));
  }
};
} // namespace
