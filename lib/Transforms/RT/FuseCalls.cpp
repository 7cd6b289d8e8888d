//===- FuseCalls.cpp - neighbours in one call -----------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// For each pattern of a kernel family, the longest first, and for each call
// that may be its first node: merges the calls that may be the other
// nodes, asks the matcher whether the merged body is a pattern and the
// kernel table whether it pays, and puts the call where its operands are made
// and its results not yet read. Which calls go together, the patterns say
// (BodyPattern in lib/Ops/KernelFamily.td): no primitive is named here.
//===----------------------------------------------------------------------===//

#include "lib/Dialect/Entry.h"
#include "lib/Ops/Patterns.h"
#include "lib/Transforms/Passes.h"
#include "lib/Transforms/RT/CallUses.h"
#include "lib/Transforms/RT/EntryForm.h"
#include "lib/Transforms/RT/KernelChoice.h"
#include "lib/Transforms/RT/MergeCalls.h"
#include "lib/Transforms/RT/PatternCandidates.h"
#include "lib/Transforms/Remarks.h"

namespace aicf {
#define GEN_PASS_DEF_FUSECALLS
#include "aicf/Passes.h.inc"
} // namespace aicf

using namespace mlir;
using namespace aicf;
using namespace aicf::rt;

namespace {
/// Why calls that match a pattern stay apart; in words only where somebody
/// asks.
struct Obstacle {
  enum Kind { None, ReadOutside, NoKernel, SlowKernel, Order } kind = None;
  CallOp part = {};               ///< of ReadOutside: whose result
  Operation *reader = nullptr;    ///< likewise: who else reads it
  const KernelRow *row = nullptr; ///< of SlowKernel

  std::optional<TypedBody> typed = {}; ///< of NoKernel: what the rules take

  std::string describe(const KernelChooser &chooser) const;
};

/// Fuses choices of calls for one pattern.
class Fusion {
public:
  Fusion(const KernelChooser &chooser, PatternCandidates &candidates)
      : chooser(chooser), candidates(candidates) {}

  /// The one call for `anchor` and those around it. Or null; why, where there
  /// is something to fuse, goes to `obstacle`.
  CallOp run(CallOp anchor, Obstacle &obstacle);

private:
  CallOp fuse(ArrayRef<CallOp> parts, Obstacle &obstacle);
  /// What a part reads, and the pattern does not want as a result.
  bool servesOnlyParts(ArrayRef<CallOp> parts, Value value) const;
  /// Such a value that nobody else reads.
  bool staysInside(ArrayRef<CallOp> parts, Value value) const {
    return servesOnlyParts(parts, value) && !readerOutside(value, parts);
  }
  Operation *placeOf(ArrayRef<CallOp> parts) const;
  Obstacle whyNoPattern(ArrayRef<CallOp> parts) const;
  Obstacle whyNotWorthIt(const MergedCall &merged) const;

  const KernelChooser &chooser;
  PatternCandidates &candidates;
};
} // namespace

std::string Obstacle::describe(const KernelChooser &chooser) const {
  switch (kind) {
  case None:
    break;
  case ReadOutside:
    return nameOfCall(reader) + " reads the result of " + nameOfCall(part) +
           " too";
  case NoKernel:
    return "the target has no kernel for them in one call" +
           (typed ? chooser.passedOver(*typed) : "");
  case SlowKernel:
    return "kernel " + std::string(row->kid) +
           " takes longer than separate calls";
  case Order:
    return "an operand is made too late, or a result is needed too early";
  }
  return {};
}

bool Fusion::servesOnlyParts(ArrayRef<CallOp> parts, Value value) const {
  return !candidates.isKept(value) &&
         anyRead(value, [&](CallOp reader, unsigned) {
           return llvm::is_contained(parts, reader);
         });
}

/// Where the last reader of an inner value stands; without one, the first call.
Operation *Fusion::placeOf(ArrayRef<CallOp> parts) const {
  Operation *last = nullptr, *first = parts.front();
  for (CallOp part : parts) {
    if (part->isBeforeInBlock(first))
      first = part;
    bool readsInner = llvm::any_of(part.getArgs(), [&](Value operand) {
      return llvm::is_contained(parts, callOf(operand)) &&
             staysInside(parts, operand);
    });
    if (readsInner && (!last || last->isBeforeInBlock(part)))
      last = part;
  }
  return last ? last : first;
}

/// A result that somebody else reads too is what keeps them apart if they would
/// match without that reader.
Obstacle Fusion::whyNoPattern(ArrayRef<CallOp> parts) const {
  for (CallOp part : parts)
    for (Value result : part.getResults())
      if (Operation *reader = readerOutside(result, parts);
          reader && servesOnlyParts(parts, result)) {
        MergedCall alone = mergeCalls(
            parts, [&](Value value) { return servesOnlyParts(parts, value); });
        if (alone.body.getFacts().pattern)
          return {Obstacle::ReadOutside, part, reader};
        return {};
      }
  return {};
}

/// None where there is a kernel, and it is our own or one whose family says
/// that it does with all of it at no cost.
Obstacle Fusion::whyNotWorthIt(const MergedCall &merged) const {
  StatusOr<TypedBody> typed = typedBodyOf(merged);
  if (!typed.ok())
    return {Obstacle::NoKernel};
  const KernelRow *row = chooser.choose(merged, *typed);
  if (!row)
    return {Obstacle::NoKernel, {}, nullptr, nullptr, *std::move(typed)};
  if (!row->isWorthFusing())
    return {Obstacle::SlowKernel, {}, nullptr, row};
  return {};
}

CallOp Fusion::fuse(ArrayRef<CallOp> parts, Obstacle &obstacle) {
  MergedCall merged =
      mergeCalls(parts, [&](Value value) { return staysInside(parts, value); });
  bool isPattern = merged.body.getFacts().pattern.has_value();
  Operation *place = placeOf(parts);
  Obstacle found = isPattern ? whyNotWorthIt(merged) : whyNoPattern(parts);
  if (isPattern && found.kind == Obstacle::None &&
      !mayStandAt(merged, parts, place))
    found = {Obstacle::Order};
  if (found.kind != Obstacle::None)
    obstacle = std::move(found);
  else if (isPattern) {
    SmallVector<Value> before(merged.results);
    CallOp fused = replaceParts(merged, parts, place);
    candidates.replace(parts, before, fused.getResults());
    return fused;
  }
  return {};
}

CallOp Fusion::run(CallOp anchor, Obstacle &obstacle) {
  CallOp fused;
  candidates.anyChoice(anchor, [&](ArrayRef<CallOp> parts) {
    return parts.size() > 1 && (fused = fuse(parts, obstacle));
  });
  return fused;
}

/// A pattern may be the beginning of another.
static std::vector<const PatternInfo *> longestFirst() {
  std::vector<const PatternInfo *> patterns;
  for (const PatternInfo &pattern : allPatterns())
    if (!pattern.batch)
      patterns.push_back(&pattern);
  auto size = [](const PatternInfo *pattern) {
    return llvm::count_if(
        pattern->nodes, [](const NodeInfo &node) { return !node.isOptional; });
  };
  llvm::stable_sort(patterns, [&](const PatternInfo *a, const PatternInfo *b) {
    return size(a) > size(b);
  });
  return patterns;
}

namespace {
struct FuseCalls : aicf::impl::FuseCallsBase<FuseCalls> {
  using FuseCallsBase::FuseCallsBase;

  /// Returns how often it was applied.
  int64_t apply(func::FuncOp func, const PatternInfo &pattern,
                const KernelChooser &chooser) {
    PatternCandidates candidates(func, pattern);
    int64_t numFused = 0;
    for (Operation *anchor : candidates.getAnchors()) {
      Obstacle obstacle;
      remark::RemarkOpts about = remarkOf("FuseCalls", func.getSymName());
      Location loc = anchor->getLoc();
      if (CallOp fused =
              Fusion(chooser, candidates).run(cast<CallOp>(anchor), obstacle)) {
        ++numFused;
        if (auto remark = remark::passed(fused.getLoc(), about))
          remark << fused.getPrimitiveNames() + " in one call";
      } else if (obstacle.kind != Obstacle::None) {
        if (auto remark = remark::missed(loc, about))
          remark << std::string(nameOf(pattern.nodes[0].kind)) +
                        " is not fused to " + std::string(pattern.name) + ": " +
                        obstacle.describe(chooser);
      }
    }
    return numFused;
  }

  void runOnOperation() override {
    func::FuncOp func = getOperation();
    if (!step::isEntry(func))
      return markAllAnalysesPreserved();
    if (!getAnalysis<EntryForm>().isLegal)
      return signalPassFailure();
    markAnalysesPreserved<EntryForm, step::EntrySignature>();
    KernelChooser chooser(func, target);
    int64_t numFused = 0;
    for (const PatternInfo *pattern : longestFirst())
      numFused += apply(func, *pattern, chooser);
    remarkCounts(func, "FuseCalls", {{"fused", numFused}});
  }
};
} // namespace
