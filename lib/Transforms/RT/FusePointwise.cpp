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
#include "lib/Transforms/RT/EntryForm.h"
#include "lib/Transforms/RT/FusionPlace.h"
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
  PointwiseFusion(func::FuncOp func, DeviceKind target)
      : func(func), target(target), chooser(func, target),
        takesProducts(kernelsFor(target, patterns::ProductGraph).size() > 0) {}

  void run();

private:
  /// Why calls stay apart, by the first of both.
  using Obstacles = llvm::MapVector<Operation *, std::string>;

  bool mayBePart(CallOp call) const;
  void fuseWithSummed(CallOp reader);
  void fuseWithMakers(CallOp reader);
  CallOp fuseWithMaker(CallOp reader, Obstacles &apart);
  void fuseWithSiblings(CallOp reader);
  CallOp fuseWithSibling(CallOp reader);
  CallOp fuse(CallOp maker, CallOp reader, std::string &whyNot);
  void remarkMissed(CallOp maker, CallOp reader, const std::string &why);

  func::FuncOp func;
  const DeviceKind target;
  KernelChooser chooser;
  const bool takesProducts; ///< the target has a kernel that goes on with one
  llvm::DenseSet<Operation *> gone, made;
  int64_t numFused = 0;
};
} // namespace

/// True for a view whose rows do not lie together in memory: the kernel of
/// copies moves tiles of it.
static bool wantsTiles(Value operand) {
  TensorDesc desc = toTensorDesc(operand.getType());
  return desc.layout == Layout::Strided && desc.width() != 1 &&
         desc.stride(desc.rank - 1u) > 1;
}

/// A call that may be part of a graph. What is kept for the backward pass is a
/// call of its own, as the plan says of it.
bool PointwiseFusion::mayBePart(CallOp call) const {
  return call.getKid().empty() && !call.isOnly(OpKind::CopySaved) &&
         llvm::all_of(call.getCode().primitives,
                      [&](const Primitive &primitive) {
                        return mayBeInSomeGraph(primitive.kind) ||
                               (takesProducts &&
                                isProductOfGraph(primitive.kind));
                      }) &&
         !(call.isOnly(OpKind::Copy) && wantsTiles(call.getArgs()[0]));
}

void PointwiseFusion::remarkMissed(CallOp maker, CallOp reader,
                                   const std::string &why) {
  if (auto remark = remark::missed(
          reader.getLoc(), remarkOf("FusePointwise", func.getSymName())))
    remark << nameOfCall(reader) + " is not fused to " + nameOfCall(maker) +
                  ", whose result it reads: " + why;
}

/// True if sums are worth being a part of a call that others wait for. What is
/// small stays in a cache, and a sum apart runs beside products on a stream.
static bool areLarge(const MergedCall &merged, DeviceKind target) {
  const uint64_t leastMiB = target == DeviceKind::CPU ? 1 : 64;
  uint64_t bytes = 0;
  for (Value value : llvm::concat<const Value>(merged.operands, merged.results))
    bytes += bytesOf(value.getType());
  return bytes > leastMiB << 20;
}

/// True if a product of 16 bits has a kernel that goes on with more of them,
/// which a graph would round first.
static bool roundsEarlier(CallOp maker) {
  const PatternInfo *pattern = patternOf(*maker.getFacts().pattern);
  return positionOfProduct(maker.getCode()) && pattern && !pattern->graph &&
         sizeOf(toTensorDesc(maker.getArgs()[0].getType()).dtype) == 2;
}

/// True if the call has sums, none of them inside, and other results.
static bool hasSumsAmongOthers(const MergedCall &merged) {
  const PatternInfo *pattern = patternOf(*merged.body.getFacts().pattern);
  const bool areInside = pattern->graph && pattern->graph->maxReductions > 0;
  const Body &body = merged.body.getBody();
  const auto numSums = llvm::count_if(
      body.results, [&](uint32_t result) { return isSumOf(body, result); });
  return !areInside && numSums > 0 && size_t(numSums) < body.results.size();
}

/// The call whose result `operand` is, or repeats.
static CallOp makerFor(Value operand) {
  return axisOfRepeat(operand) ? callOf(baseOf(operand)) : callOf(operand);
}

/// The one call for both. Or null; why, goes to `whyNot`.
CallOp PointwiseFusion::fuse(CallOp maker, CallOp reader, std::string &whyNot) {
  CallOp parts[] = {maker, reader};
  MergedCall merged = inGraphOrder(mergeCalls(parts, [&](Value value) {
    return isReadOnlyBy(value, reader, [](ViewOp view) {
      return axisOfRepeat(view.getView()).has_value();
    });
  }));
  const bool hasProduct = positionOfProduct(merged.body.getBody()).has_value();
  std::optional<PatternId> pattern = merged.body.getFacts().pattern;
  if (!pattern || (hasProduct && !patternOf(*pattern)->graph)) {
    whyNot = hasProduct ? "a product goes together with elementwise primitives "
                          "alone, in the limits of a graph"
                        : "one call would have too many primitives, operands "
                          "or results, would repeat what is not reduced, or "
                          "would read what it repeats in another way, too";
    return {};
  }
  StatusOr<TypedBody> typed = typedBodyOf(merged);
  if (!typed.ok()) {
    whyNot = typed.status().message();
    return {};
  }
  if (!keepsTypes(merged, *typed)) {
    whyNot = hasProduct
                 ? "the product would have the type of what it multiplies"
                 : "what is repeated would be as long as what is reduced";
    return {};
  }
  if (!chooser.choose(merged, *typed)) {
    whyNot = "the target has no kernel for them in one call" +
             chooser.passedOver(*typed);
    return {};
  }
  if (hasSumsAmongOthers(merged) && !areLarge(merged, target)) {
    whyNot = "sums of few bytes are faster apart from what others read";
    return {};
  }
  if (hasProduct && roundsEarlier(maker)) {
    whyNot = "the kernel of the first one rounds its product later";
    return {};
  }
  CallOp at = placeFor(merged, maker, reader, whyNot);
  if (!at)
    return {};
  for (CallOp part : parts) {
    gone.insert(part);
    made.erase(part);
  }
  CallOp fused = replaceParts(merged, parts, at);
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
    if (CallOp fused = fuse(maker, reader, apart[maker]))
      return fused;
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
  constexpr size_t kMaxTries = 16;
  SmallVector<CallOp> siblings;
  for (Value operand : reader.getArgs())
    if (!isOneElement(operand))
      anyRead(operand, [&](CallOp sibling, unsigned i) {
        if (sibling != reader && sibling->getOperand(i) == operand &&
            sibling->isBeforeInBlock(reader) && mayBePart(sibling))
          siblings.push_back(sibling);
        return siblings.size() == kMaxTries;
      });
  for (CallOp sibling : siblings) {
    std::string whyNot;
    if (CallOp fused = fuse(sibling, reader, whyNot))
      return fused;
  }
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
  std::string whyNot; // comes again, with all makers
  if (maker && maker.getNumResults() == 1 && mayBePart(maker) &&
      isReadOnlyBy(summed, reader, [](ViewOp) { return false; }) &&
      fuse(maker, reader, whyNot))
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
struct FusePointwise : aicf::impl::FusePointwiseBase<FusePointwise> {
  using FusePointwiseBase::FusePointwiseBase;

  void runOnOperation() override {
    func::FuncOp func = getOperation();
    if (!step::isEntry(func))
      return markAllAnalysesPreserved();
    if (!getAnalysis<EntryForm>().isLegal)
      return signalPassFailure();
    markAnalysesPreserved<EntryForm, step::EntrySignature>();
    PointwiseFusion(func, target).run();
  }
};
} // namespace
