//===- FuseCalls.cpp - neighbours in one call -----------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// For each pattern of a kernel family, the longest first, and for each call
// that may be its first node: merges the calls that may be the other
// nodes, asks the matcher whether the merged body is a pattern and the
// kernel table for a kernel, which pays if it need not be named, and puts the
// call where its operands are made and its results not yet read. Which calls go
// together, the patterns say (BodyPattern in lib/Ops/KernelFamily.td): no
// primitive is named here.
//===----------------------------------------------------------------------===//

#include "lib/Dialect/Entry.h"
#include "lib/Ops/Patterns.h"
#include "lib/Transforms/Passes.h"
#include "lib/Transforms/RT/CallUses.h"
#include "lib/Transforms/RT/Decision.h"
#include "lib/Transforms/RT/EntryPass.h"
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
/// Fuses choices of calls for one pattern.
class Fusion {
public:
  Fusion(const KernelChooser &chooser, PatternCandidates &candidates)
      : chooser(chooser), candidates(candidates) {}

  /// Returns the one call for `anchor` and those around it, or null. Where there
  /// is something to fuse, `decision` says why it was not.
  CallOp run(CallOp anchor, Decision &decision);

private:
  CallOp fuse(ArrayRef<CallOp> parts, Decision &decision);
  /// What a part reads, and the pattern does not want as a result.
  bool servesOnlyParts(ArrayRef<CallOp> parts, Value value) const;
  /// Such a value that nobody else reads.
  bool staysInside(ArrayRef<CallOp> parts, Value value) const {
    return servesOnlyParts(parts, value) && !readerOutside(value, parts);
  }
  Operation *placeOf(ArrayRef<CallOp> parts) const;
  Decision hasNoReader(const MergedCall &merged, ArrayRef<CallOp> parts) const;
  Decision mayBeCall(const MergedCall &merged, ArrayRef<CallOp> parts,
                     Operation *place) const;

  const KernelChooser &chooser;
  PatternCandidates &candidates;
};
} // namespace

bool Fusion::servesOnlyParts(ArrayRef<CallOp> parts, Value value) const {
  return !candidates.isKept(value) &&
         anyRead(value, [&](CallOp reader, unsigned) {
           return llvm::is_contained(parts, reader);
         });
}

/// Where the last reader of an inner value stands, in the pattern's order;
/// without one, the first call. mayStandAt() tells whether that will do.
Operation *Fusion::placeOf(ArrayRef<CallOp> parts) const {
  Operation *first = parts.front();
  for (CallOp part : llvm::reverse(parts)) {
    bool readsInner = llvm::any_of(part.getArgs(), [&](Value operand) {
      return llvm::is_contained(parts, callOf(operand)) &&
             staysInside(parts, operand);
    });
    if (readsInner)
      return part;
    if (part->isBeforeInBlock(first))
      first = part;
  }
  return first;
}

/// True for a body whose pattern says its primitives: graphs are the matter of
/// another pass.
static bool hasPattern(const MergedCall &merged) {
  const std::optional<PatternId> pattern = merged.body.getFacts().pattern;
  return pattern && !patternOf(*pattern)->graph;
}

/// No, if somebody else reads a result too, and if they would match without
/// that reader.
Decision Fusion::hasNoReader(const MergedCall &merged,
                             ArrayRef<CallOp> parts) const {
  MergedCall alone = mergeCalls(
      parts, [&](Value value) { return servesOnlyParts(parts, value); });
  if (!hasPattern(alone))
    return {};
  // What is a result because of its reader is not one of `alone`.
  Value read = *std::mismatch(merged.results.begin(), merged.results.end(),
                              alone.results.begin(), alone.results.end())
                    .first;
  return Decision::no(
      [part = callOf(read), reader = readerOutside(read, parts)] {
        return nameOfCall(reader) + " reads the result of " +
               nameOfCall(part) + " too";
      });
}

/// Yes, if there is a kernel and a place for the call.
Decision Fusion::mayBeCall(const MergedCall &merged, ArrayRef<CallOp> parts,
                           Operation *place) const {
  StatusOr<TypedBody> typed = typedBodyOf(merged);
  if (!typed.ok())
    return Decision::no("a value inside of one call would have another type");
  const KernelRow *row = chooser.choose(merged, *typed);
  if (!row)
    return chooser.noKernelFor(*std::move(typed));
  assert(row->isWorthFusing() && "a slow kernel that nobody asked for");
  if (!mayStandAt(merged, parts, place))
    return Decision::no(
        "an operand is made too late, or a result is needed too early");
  return {};
}

CallOp Fusion::fuse(ArrayRef<CallOp> parts, Decision &decision) {
  MergedCall merged =
      mergeCalls(parts, [&](Value value) { return staysInside(parts, value); });
  bool isPattern = hasPattern(merged);
  Operation *place = placeOf(parts);
  Decision found = isPattern ? mayBeCall(merged, parts, place)
                             : hasNoReader(merged, parts);
  if (!found)
    decision = std::move(found);
  else if (isPattern) {
    SmallVector<Value> before(merged.results);
    CallOp fused = replaceParts(merged, parts, place);
    candidates.replace(parts, before, fused.getResults());
    return fused;
  }
  return {};
}

CallOp Fusion::run(CallOp anchor, Decision &decision) {
  CallOp fused;
  candidates.anyChoice(anchor, [&](ArrayRef<CallOp> parts) {
    return !!(fused = fuse(parts, decision));
  });
  return fused;
}

/// A pattern may be the beginning of another.
static std::vector<const PatternInfo *> longestFirst() {
  std::vector<const PatternInfo *> patterns;
  for (const PatternInfo &pattern : allPatterns())
    if (!pattern.batch && !pattern.graph)
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
struct FuseCalls : EntryPass<aicf::impl::FuseCallsBase<FuseCalls>> {
  using EntryPass::EntryPass;

  /// Returns how often it was applied.
  int64_t apply(func::FuncOp func, const PatternInfo &pattern,
                const KernelChooser &chooser) {
    PatternCandidates candidates(func, pattern);
    int64_t numFused = 0;
    for (Operation *anchor : candidates.getAnchors()) {
      Fusion fusion(chooser, candidates);
      Decision decision;
      remark::RemarkOpts about = remarkOf("FuseCalls", func.getSymName());
      Location loc = anchor->getLoc();
      if (CallOp fused = fusion.run(cast<CallOp>(anchor), decision)) {
        ++numFused;
        if (auto remark = remark::passed(fused.getLoc(), about))
          remark << fused.getPrimitiveNames() + " in one call";
      } else if (!decision) {
        if (auto remark = remark::missed(loc, about))
          remark << std::string(nameOf(pattern.nodes[0].kind)) +
                        " is not fused to " + std::string(pattern.name) + ": " +
                        decision.why();
      }
    }
    return numFused;
  }

  void runOnEntry(func::FuncOp func) override {
    KernelChooser chooser(func);
    int64_t numFused = 0;
    for (const PatternInfo *pattern : longestFirst())
      numFused += apply(func, *pattern, chooser);
    remarkCounts(func, "FuseCalls", {{"fused", numFused}});
  }
};
} // namespace
