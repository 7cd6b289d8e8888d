//===- PlanMemory.cpp - a byte offset for every tensor --------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Sums sizes of persistent and io buffers in order. Temps go to the planner
// with the calls that access them: two whose accesses are ordered may share
// bytes (lib/Schedule/MemoryPlanner.h).
//===----------------------------------------------------------------------===//

#include "lib/Schedule/MemoryPlanner.h"
#include "lib/Transforms/Passes.h"
#include "lib/Transforms/RT/CallList.h"
#include "lib/Transforms/Remarks.h"

namespace aicf {
#define GEN_PASS_DEF_PLANMEMORY
#include "aicf/Passes.h.inc"
} // namespace aicf

using namespace mlir;
using namespace aicf;
using namespace aicf::rt;

namespace {
/// Hands out aligned offsets one after the other.
struct Residents {
  uint64_t bytes = 0;
  int64_t add(uint64_t bufferBytes) {
    uint64_t at = bytes;
    bytes += alignedBytes(bufferBytes);
    return static_cast<int64_t>(at);
  }
};
} // namespace

/// Inputs and outputs one behind the other, temps packed by their lifetimes.
static FailureOr<MemoryPlan> placeBuffers(EntryOp entry) {
  CallList calls(entry);
  if (!calls.isValid())
    return failure();
  Residents io;
  SmallVector<AllocOp> temps;
  std::vector<PlannedBuffer> buffers;
  for (auto alloc : entry.getBody().front().getOps<AllocOp>()) {
    uint64_t bytes = alloc.getBytes();
    if (segmentOf(alloc.getRole().getValue()) == Segment::IO) {
      alloc.setOffset(io.add(bytes));
      continue;
    }
    temps.push_back(alloc);
    buffers.push_back({bytes, calls.accessesOf(alloc.getBuffer())});
  }
  MemoryPlan plan = planMemory(buffers, calls.getOrder());
  for (auto [alloc, offset] : llvm::zip_equal(temps, plan.offsets))
    alloc.setOffset(static_cast<int64_t>(offset));
  entry.setIoBytes(io.bytes);
  entry.setTempBytes(plan.bytes);
  entry.setTempLowerBound(plan.lowerBound);
  return plan;
}

namespace {
struct PlanMemory : aicf::impl::PlanMemoryBase<PlanMemory> {
  using PlanMemoryBase::PlanMemoryBase;
  void runOnOperation() override {
    PlanOp plan = getOperation();
    Residents persistent;
    Block &body = plan.getBody().front();
    for (auto global : body.getOps<GlobalOp>())
      global.setOffset(persistent.add(bytesOf(global.getType())));
    plan.setPersistentBytes(persistent.bytes);
    for (auto entry : body.getOps<EntryOp>()) {
      FailureOr<MemoryPlan> placed = placeBuffers(entry);
      if (failed(placed))
        return signalPassFailure();
      remark::analysis(entry.getLoc(), remarkOf("PlanMemory", entry.getName()))
          << remark::metric("temp_bytes", placed->bytes)
          << remark::metric("max_live_bytes", placed->lowerBound)
          << remark::reason("gap {0:F2} %", placed->gap() * 100);
    }
  }
};
} // namespace
