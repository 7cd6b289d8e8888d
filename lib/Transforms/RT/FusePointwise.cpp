//===- FusePointwise.cpp - elementwise calls as one graph -----------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Merges each sum with the call whose result it alone reads. Then goes through
// the calls in order and merges each with the makers of its operands, one at a
// time, as long as there is a kernel for what comes of it; then once more, with
// earlier calls that read the same tensor. Merging always saves a launch and
// the reading of a value; only memory is weighed. The earlier call moves down
// to the later one. It is the other way round for sums, and where calls are
// near each other: what the backward pass computes again would be computed, and
// kept, in the forward pass. A product is merged with its readers where a kernel
// goes on with it in registers. Which primitives are elementwise, their records
// say: none is named here but copies, of which one has a faster kernel.
//===----------------------------------------------------------------------===//

#include "lib/Dialect/Entry.h"
#include "lib/Ops/Graphs.h"
#include "lib/Transforms/Passes.h"
#include "lib/Transforms/RT/CallUses.h"
#include "lib/Transforms/RT/EntryPass.h"
#include "lib/Transforms/RT/FusedCall.h"
#include "lib/Transforms/RT/KernelChoice.h"
#include "lib/Transforms/RT/MergeCalls.h"
#include "lib/Transforms/Remarks.h"

#include "llvm/ADT/MapVector.h"

namespace aicf {
#define GEN_PASS_DEF_FUSEPOINTWISE
#include "aicf/Passes.h.inc"
} // namespace aicf

using namespace mlir;
using namespace aicf;
using namespace aicf::rt;

namespace {
class PointwiseFusion {
public:
  explicit PointwiseFusion(func::FuncOp func)
      : func(func), chooser(func), updaters(func),
        takesProducts(chooser.kernelsFor(patterns::ProductGraph).size() > 0) {}

  void run();

private:
  /// Why calls stay apart, by the first of both.
  using Obstacles = llvm::MapVector<Operation *, Decision>;

  bool mayBePart(CallOp call) const {
    return rt::mayBePart(call, takesProducts);
  }
  void fuseWithSummed(CallOp reader);
  void fuseWithMakers(CallOp reader);
  CallOp fuseWithMaker(CallOp reader, Obstacles &apart);
  void fuseWithSiblings(CallOp reader);
  CallOp fuseWithSibling(CallOp reader);
  Decided<CallOp> fuse(CallOp maker, CallOp reader);
  void remarkMissed(CallOp maker, CallOp reader, const Decision &decision);

  func::FuncOp func;
  KernelChooser chooser;
  const Updaters updaters;
  const bool takesProducts; ///< the target has a kernel that goes on with one
  llvm::DenseSet<Operation *> gone, made;
  int64_t numFused = 0;
};
} // namespace

void PointwiseFusion::remarkMissed(CallOp maker, CallOp reader,
                                   const Decision &decision) {
  if (auto remark = remark::missed(
          reader.getLoc(), remarkOf("FusePointwise", func.getSymName())))
    remark << nameOfCall(reader) + " is not fused to " + nameOfCall(maker) +
                  ", whose result it reads: " + decision.why();
}

/// The call whose result `operand` is, or repeats.
static CallOp makerFor(Value operand) {
  return axisOfRepeat(operand) ? callOf(baseOf(operand)) : callOf(operand);
}

/// Puts the one call for both in their place, and returns it.
Decided<CallOp> PointwiseFusion::fuse(CallOp maker, CallOp reader) {
  Decided<FusedCall> both =
      fusedCallOf(maker, reader, chooser, updaters);
  if (!both)
    return both.asDecision();
  CallOp parts[] = {maker, reader};
  for (CallOp part : parts) {
    gone.insert(part);
    made.erase(part);
  }
  CallOp fused = replaceParts(both->merged, parts, both->place);
  made.insert(fused);
  return fused;
}

/// True if the product of a call multiplies operand `i`, which is in memory.
static bool isFactor(CallOp call, size_t i) {
  auto product = positionOfProduct(call.getCode());
  return product &&
         llvm::is_contained(call.getCode().primitives[*product].operands,
                            int32_t(i));
}

/// Fuses `reader` with a call that makes one of its operands. Returns the call
/// for both. Or null; why not with each of them, goes to `apart`.
CallOp PointwiseFusion::fuseWithMaker(CallOp reader, Obstacles &apart) {
  apart.clear();
  for (auto [i, operand] : llvm::enumerate(reader.getArgs())) {
    CallOp maker = makerFor(operand);
    if (!maker || isFactor(reader, i) || apart.contains(maker) ||
        !mayBePart(maker))
      continue;
    Decided<CallOp> fused = fuse(maker, reader);
    if (fused)
      return *fused;
    apart[maker] = fused.asDecision();
  }
  return {};
}

void PointwiseFusion::fuseWithMakers(CallOp reader) {
  Obstacles apart;
  for (; CallOp fused = fuseWithMaker(reader, apart); ++numFused)
    reader = fused;
  for (const auto &[maker, why] : apart)
    remarkMissed(cast<CallOp>(maker), reader, why);
}

/// One element that spreads over all of a tensor costs nothing to read twice.
static bool isOneElement(Value operand) {
  TensorDesc desc = toTensorDesc(operand.getType());
  return desc.spanBytes() == sizeOf(desc.dtype);
}

/// Fuses `reader` with a call before it that reads one of its operands, too.
/// Returns the call for both, or null.
CallOp PointwiseFusion::fuseWithSibling(CallOp reader) {
  // A parameter may have any number of readers, few of them near.
  constexpr size_t kMaxTries = 16, kMaxLookedAt = 64;
  SmallVector<CallOp> siblings;
  for (Value operand : reader.getArgs())
    if (!isOneElement(operand))
      anyRead(operand, [&, numLookedAt = size_t(0)](CallOp sibling,
                                                    unsigned i) mutable {
        if (sibling != reader && sibling->getOperand(i) == operand &&
            sibling->isBeforeInBlock(reader) && mayBePart(sibling))
          siblings.push_back(sibling);
        return siblings.size() == kMaxTries || ++numLookedAt == kMaxLookedAt;
      });
  for (CallOp sibling : siblings)
    if (Decided<CallOp> fused = fuse(sibling, reader))
      return *fused;
  return {};
}

void PointwiseFusion::fuseWithSiblings(CallOp reader) {
  for (; CallOp fused = fuseWithSibling(reader); ++numFused)
    reader = fused;
}

/// Fuses a sum with the call whose result nothing else reads: else that would
/// become a result of another call, which it does not belong to.
void PointwiseFusion::fuseWithSummed(CallOp reader) {
  if (reader.getCode().primitives.size() > 1 ||
      !infoOf(reader.getCode().primitives[0].kind).isSum())
    return;
  Value summed = reader.getArgs()[0];
  CallOp maker = callOf(summed);
  // Why not comes again, with all makers.
  if (maker && maker.getNumResults() == 1 && mayBePart(maker) &&
      isReadOnlyBy(summed, reader, [](ViewOp) { return false; }) &&
      fuse(maker, reader))
    ++numFused;
}

void PointwiseFusion::run() {
  // A call that is gone may have left its address to one that was made: there
  // is none of those in the list.
  for (auto fuseWith :
       {&PointwiseFusion::fuseWithSummed, &PointwiseFusion::fuseWithMakers,
        &PointwiseFusion::fuseWithSiblings}) {
    SmallVector<CallOp> calls(func.getOps<CallOp>());
    gone.clear();
    for (CallOp call : calls)
      if (!gone.contains(call) && mayBePart(call))
        (this->*fuseWith)(call);
  }
  for (CallOp call : func.getOps<CallOp>())
    if (made.contains(call))
      if (auto remark = remark::passed(
              call.getLoc(), remarkOf("FusePointwise", func.getSymName())))
        remark << call.getPrimitiveNames() + " in one call";
  remarkCounts(func, "FusePointwise", {{"fused", numFused}});
}

namespace {
struct FusePointwise : EntryPass<aicf::impl::FusePointwiseBase<FusePointwise>> {
  using EntryPass::EntryPass;

  void runOnEntry(func::FuncOp func) override {
    PointwiseFusion(func).run();
  }
};
} // namespace
