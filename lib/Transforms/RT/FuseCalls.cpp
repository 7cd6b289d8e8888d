//===- FuseCalls.cpp - neighbours in one call -----------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// See the pass's description. Which calls go together, the families' patterns
// say (BodyPattern in kernels/KernelFamily.td): no primitive is named here.
//===----------------------------------------------------------------------===//

#include "kernels/Patterns.h"
#include "lib/Dialect/Entry.h"
#include "lib/Transforms/Passes.h"
#include "lib/Transforms/RT/CallUses.h"
#include "lib/Transforms/RT/EntryForm.h"
#include "lib/Transforms/RT/KernelChoice.h"
#include "lib/Transforms/RT/MergeCalls.h"
#include "lib/Transforms/RT/PatternReaders.h"
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

/// One pattern around one call.
class Fusion {
public:
  Fusion(const PatternInfo &pattern, const KernelChooser &chooser,
         PatternReaders &readers)
      : pattern(pattern), chooser(chooser), readers(readers) {}

  /// The one call for those around `anchor`, which is of the first element's
  /// kind. Or null; why, where there is something to fuse, goes to `obstacle`.
  CallOp run(CallOp anchor, Obstacle &obstacle);

private:
  bool find(size_t element);
  bool staysInside(Value value) const;
  bool isPart(CallOp call) const { return llvm::is_contained(parts, call); }
  /// What stands at a place of the calls found so far, or null.
  Value at(PlaceInfo place, bool isResult) const;
  bool isOverRead(Obstacle &obstacle) const;
  Operation *placeOf() const;
  bool mayStandAt(Operation *place, const MergedCall &merged) const;
  bool pays(const MergedCall &merged, Obstacle &obstacle) const;

  const PatternInfo &pattern;
  const KernelChooser &chooser;
  PatternReaders &readers;
  SmallVector<CallOp> elements; ///< null where an optional one is absent
  SmallVector<CallOp> parts;
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
    return "kernel " + std::string(row->kid) + " takes longer than calls apart";
  case Order:
    return "an operand is made too late, or a result is needed too early";
  }
  return {};
}

Value Fusion::at(PlaceInfo place, bool isResult) const {
  CallOp call = elements[place.element];
  if (!call)
    return {};
  return isResult
             ? call.getYielded(call.getCode().firstResultOf(0) + place.slot)
             : call.getStepOperand(0, place.slot);
}

/// The first call in the block that the bindings of an element allow.
bool Fusion::find(size_t element) {
  OpKind kind = pattern.elements[element].kind;
  auto fits = [&](CallOp call) {
    if (!isUnfused(call, kind))
      return false;
    for (const BindingInfo &b : pattern.bindings)
      if (b.operand.element == element) {
        if (call.getStepOperand(0, b.operand.slot) != at(b.to, b.isResult))
          return false;
      }
    return true;
  };
  CallOp found;
  if (const BindingInfo *b = PatternReaders::bindingOf(pattern, element))
    if (Value bound = at(b->to, b->isResult))
      found = readers.first(bound, element, fits);
  bool isOptional = pattern.elements[element].isOptional;
  elements.push_back(found);
  if (!found)
    return isOptional;
  parts.push_back(found);
  Obstacle obstacle;
  if (isOptional && isOverRead(obstacle)) { // what it reads, others need too
    parts.pop_back();
    elements.back() = {};
  }
  return true;
}

/// Read by another element, and not kept.
bool Fusion::staysInside(Value value) const {
  for (const KeepInfo &keep : pattern.keeps)
    if (at(keep.result, true) == value &&
        (keep.always || readerOutside(value, parts)))
      return false;
  for (const BindingInfo &b : pattern.bindings)
    if (b.isResult && elements[b.operand.element] && at(b.to, true) == value)
      return true;
  return false;
}

/// True when a call that is not fused reads what would exist inside only.
bool Fusion::isOverRead(Obstacle &obstacle) const {
  for (CallOp part : parts)
    for (Value result : part.getResults())
      if (staysInside(result))
        if (Operation *reader = readerOutside(result, parts)) {
          obstacle = {Obstacle::ReadOutside, part, reader};
          return true;
        }
  return false;
}

/// Where the last reader of an inner value stands; without one, the first call.
Operation *Fusion::placeOf() const {
  Operation *last = nullptr, *first = parts.front();
  for (CallOp part : parts) {
    if (part->isBeforeInBlock(first))
      first = part;
    bool readsInner = llvm::any_of(
        part.getArgs(), [&](Value operand) { return staysInside(operand); });
    if (readsInner && (!last || last->isBeforeInBlock(part)))
      last = part;
  }
  return last ? last : first;
}

bool Fusion::mayStandAt(Operation *place, const MergedCall &merged) const {
  for (Value operand : merged.operands)
    if (CallOp maker = makerOf(operand))
      if (!maker->isBeforeInBlock(place))
        return false;
  for (Value result : merged.results)
    if (anyRead(result, [&](CallOp reader, unsigned) {
          return !isPart(reader) && reader->isBeforeInBlock(place);
        }))
      return false;
  return true;
}

/// There is a kernel, and it is our own or one whose family says that it does
/// with all of it at no cost.
bool Fusion::pays(const MergedCall &merged, Obstacle &obstacle) const {
  StatusOr<TypedBody> typed =
      typedBodyOf(merged.body, ValueRange(merged.operands).getTypes(),
                  ValueRange(merged.results).getTypes());
  const KernelRow *row = typed.ok() ? chooser.choose(*typed) : nullptr;
  if (!row) {
    obstacle = {Obstacle::NoKernel};
    if (typed.ok())
      obstacle.typed = *std::move(typed);
  }
  if (row && row->provider != KernelProvider::Own && !row->fusesForFree)
    obstacle = {Obstacle::SlowKernel, {}, nullptr, row};
  return obstacle.kind == Obstacle::None;
}

CallOp Fusion::run(CallOp anchor, Obstacle &obstacle) {
  elements = {anchor};
  parts = {anchor};
  for (size_t element = 1; element < pattern.elements.size(); ++element)
    if (!find(element))
      return {};
  if (isOverRead(obstacle))
    return {};
  MergedCall merged =
      mergeCalls(parts, [&](Value value) { return staysInside(value); });
  if (!pays(merged, obstacle))
    return {};
  Operation *place = placeOf();
  if (!mayStandAt(place, merged)) {
    obstacle = {Obstacle::Order};
    return {};
  }
  SmallVector<Value> before(merged.results);
  CallOp fused = replaceParts(merged, parts, place);
  readers.replace(parts, before, fused.getResults());
  return fused;
}

/// A pattern may be the beginning of another.
static std::vector<const PatternInfo *> longestFirst() {
  std::vector<const PatternInfo *> patterns;
  for (const PatternInfo &pattern : allPatterns())
    if (pattern.maxGroups == 0)
      patterns.push_back(&pattern);
  auto size = [](const PatternInfo *pattern) {
    return llvm::count_if(pattern->elements, [](const ElementInfo &element) {
      return !element.isOptional;
    });
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
    OpKind first = pattern.elements[0].kind;
    SmallVector<Operation *> anchors;
    for (auto call : func.getOps<CallOp>())
      if (isUnfused(call, first))
        anchors.push_back(call);
    PatternReaders readers(func, pattern);
    int64_t numFused = 0;
    for (Operation *anchor : anchors) {
      Obstacle obstacle;
      remark::RemarkOpts about = remarkOf("FuseCalls", func.getSymName());
      Location loc = anchor->getLoc();
      if (CallOp fused = Fusion(pattern, chooser, readers)
                             .run(cast<CallOp>(anchor), obstacle)) {
        ++numFused;
        if (auto remark = remark::passed(fused.getLoc(), about))
          remark << fused.getPrimitiveNames() + " in one call";
      } else if (obstacle.kind != Obstacle::None) {
        if (auto remark = remark::missed(loc, about))
          remark << std::string(nameOf(first)) + " is not fused to " +
                        std::string(pattern.name) + ": " +
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
