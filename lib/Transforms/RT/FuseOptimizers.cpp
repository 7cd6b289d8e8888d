//===- FuseOptimizers.cpp - all parameter updates in one call ------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// See the pass's description. Which calls go together, the families' repeated
// patterns say (BodyPattern in kernels/KernelFamily.td).
//===----------------------------------------------------------------------===//

#include "kernels/Patterns.h"
#include "lib/Dialect/Entry.h"
#include "lib/Transforms/Passes.h"
#include "lib/Transforms/RT/CallUses.h"
#include "lib/Transforms/RT/EntryForm.h"
#include "lib/Transforms/RT/KernelChoice.h"
#include "lib/Transforms/RT/MergeCalls.h"
#include "lib/Transforms/Remarks.h"

#include <map>
#include <vector>

namespace aicf {
#define GEN_PASS_DEF_FUSEOPTIMIZERS
#include "aicf/Passes.h.inc"
} // namespace aicf

using namespace mlir;
using namespace aicf;
using namespace aicf::rt;

namespace {
/// One group of a repeated pattern.
struct Group {
  SmallVector<CallOp> parts; ///< the call, then its optional element or none
};

/// What groups of one call have in common: fields, which operands are there,
/// shared operands, types of the others.
struct Key {
  SmallVector<uint8_t> attrs;
  SmallVector<const void *> parts;
  bool operator<(const Key &o) const {
    return std::tie(attrs, parts) < std::tie(o.attrs, o.parts);
  }
};

/// Calls that will be one. No group of it reads what another one makes or
/// updates: the kernel does all at once, and would have to write elsewhere.
class Batch {
public:
  explicit Batch(const PatternInfo &pattern) : pattern(pattern) {}

  bool mayTake(const Group &group) const;
  void take(const Group &group);
  ArrayRef<CallOp> getCalls() const { return calls; }

private:
  /// Calls `use` for each operand that the group reads from outside of itself,
  /// and whether a result may take its storage.
  template <typename Use>
  void forEachOperand(const Group &group, Use use) const;

  const PatternInfo &pattern;
  SmallVector<CallOp> calls; ///< the first of each group
  llvm::DenseSet<Value> read, updated, made;
};

/// Puts the calls of one repeated pattern together.
class Batcher {
public:
  Batcher(func::FuncOp func, const PatternInfo &pattern,
          const KernelChooser &chooser, size_t maxGroups)
      : func(func), pattern(pattern), chooser(chooser),
        maxGroups(std::min(maxGroups, pattern.maxGroups)) {}

  /// Returns how many updates are in a call with another.
  int64_t run();

private:
  bool takes(CallOp call) const;
  Group groupOf(CallOp call) const;
  Key keyOf(const Group &group) const;
  bool fuse(ArrayRef<CallOp> calls);
  void remarkApart(CallOp call, const Twine &why);

  func::FuncOp func;
  const PatternInfo &pattern;
  const KernelChooser &chooser;
  size_t maxGroups;
};
} // namespace

/// Of the first element's kind, with the operands that the pattern wants.
bool Batcher::takes(CallOp call) const {
  if (!call.isOnly(pattern.elements[0].kind) || !call.getKid().empty())
    return false;
  const BodyStep &step = call.getCode().steps.front();
  return llvm::all_of(pattern.presences, [&](const PresenceInfo &p) {
    return (step.operands[p.operand.slot] != kAbsentValue) == p.isThere;
  });
}

/// The call, and the second element if it is the only call that reads the
/// result that it is bound to.
Group Batcher::groupOf(CallOp call) const {
  Group group{{call}};
  for (const BindingInfo &b : pattern.bindings) {
    Value made = call.getYielded(call.getCode().firstResultOf(0) + b.to.slot);
    CallOp reader;
    bool isReadElse = anyRead(made, [&](CallOp candidate, unsigned) {
      if (reader || !candidate.isOnly(pattern.elements[b.operand.element].kind))
        return true;
      reader = candidate;
      return false;
    });
    if (isReadElse)
      return group;
    if (reader)
      group.parts.push_back(reader);
  }
  return group;
}

Key Batcher::keyOf(const Group &group) const {
  CallOp call = group.parts.front();
  const BodyStep &step = call.getCode().steps.front();
  Key key{{step.attrs.begin(), step.attrs.end()}, {}};
  auto element = [](Value value) {
    return cast<RankedTensorType>(value.getType())
        .getElementType()
        .getAsOpaquePointer();
  };
  for (size_t slot = 0; slot < step.operands.size(); ++slot) {
    Value operand = call.getStepOperand(0, slot);
    bool isShared = llvm::any_of(pattern.shared, [&](PlaceInfo place) {
      return place.element == 0 && place.slot == slot;
    });
    key.parts.push_back(!operand   ? nullptr
                        : isShared ? operand.getAsOpaquePointer()
                                   : element(operand));
  }
  for (CallOp part : ArrayRef(group.parts).drop_front())
    for (Value result : part.getResults())
      key.parts.push_back(element(result));
  return key;
}

/// True when every reader of the results may come after `last`, where the call
/// of all will stand.
static bool mayMoveTo(const Group &group, Operation *last) {
  for (CallOp part : group.parts)
    for (Value result : part.getResults())
      if (anyRead(result, [&](CallOp reader, unsigned) {
            return !llvm::is_contained(group.parts, reader) &&
                   (reader == last || reader->isBeforeInBlock(last));
          }))
        return false;
  return true;
}

template <typename Use>
void Batch::forEachOperand(const Group &group, Use use) const {
  for (size_t element = 0; element < group.parts.size(); ++element) {
    CallOp part = group.parts[element];
    const BodyStep &step = part.getCode().steps.front();
    for (size_t slot = 0; slot < step.operands.size(); ++slot) {
      PlaceInfo place{uint8_t(element), uint8_t(slot)};
      Value operand = part.getStepOperand(0, slot);
      if (operand && !llvm::is_contained(group.parts, makerOf(operand)))
        use(operand, llvm::any_of(pattern.ties, [&](const PatternTieInfo &tie) {
              return tie.operand == place;
            }));
    }
  }
}

bool Batch::mayTake(const Group &group) const {
  bool may = true;
  forEachOperand(group, [&](Value operand, bool isUpdated) {
    may &= !made.contains(operand) && !updated.contains(operand) &&
           !(isUpdated && read.contains(operand));
  });
  return may;
}

void Batch::take(const Group &group) {
  calls.push_back(group.parts.front());
  forEachOperand(group, [&](Value operand, bool isUpdated) {
    (isUpdated ? updated : read).insert(operand);
  });
  for (CallOp part : group.parts)
    made.insert_range(part.getResults());
}

void Batcher::remarkApart(CallOp call, const Twine &why) {
  if (auto remark = remark::missed(
          call.getLoc(), remarkOf("FuseOptimizers", func.getSymName())))
    remark
        << (nameOfCall(call) + " is not updated with the others: " + why).str();
}

/// One call for `calls`, at the place of the last of them, if that can be.
bool Batcher::fuse(ArrayRef<CallOp> calls) {
  Operation *last = calls.back();
  SmallVector<CallOp> parts;
  for (CallOp call : calls) {
    Group group = groupOf(call);
    if (!mayMoveTo(group, last)) {
      remarkApart(call, "a result is read before the last update");
      return false;
    }
    llvm::append_range(parts, group.parts);
  }
  if (parts.size() < 2)
    return false;
  MergedCall merged = mergeCalls(parts, [](Value) { return false; });
  StatusOr<TypedBody> typed =
      typedBodyOf(merged.body, ValueRange(merged.operands).getTypes(),
                  ValueRange(merged.results).getTypes());
  if (!typed.ok() || !chooser.choose(*typed)) {
    remarkApart(calls.front(), "the target has no kernel for them in one call");
    return false;
  }
  replaceParts(merged, parts, last);
  return true;
}

int64_t Batcher::run() {
  // In order of the first call of each, so that plans do not depend on
  // addresses.
  std::map<Key, size_t> numberOf;
  std::vector<Batch> batches;
  for (auto op : func.getOps<CallOp>()) {
    if (!takes(op))
      continue;
    Group group = groupOf(op);
    auto [it, fresh] = numberOf.try_emplace(keyOf(group), batches.size());
    if (fresh || batches[it->second].getCalls().size() >= maxGroups ||
        !batches[it->second].mayTake(group)) {
      it->second = batches.size();
      batches.emplace_back(pattern);
    }
    batches[it->second].take(group);
  }
  int64_t numFused = 0;
  for (const Batch &batch : batches) {
    ArrayRef<CallOp> calls = batch.getCalls();
    if (calls.size() == 1 && batches.size() > 1)
      remarkApart(calls.front(), "it has other fields, scalars or types, a "
                                 "call is full, or one reads what another "
                                 "updates");
    numFused += fuse(calls) && calls.size() > 1 ? calls.size() : 0;
  }
  return numFused;
}

namespace {
struct FuseOptimizers : aicf::impl::FuseOptimizersBase<FuseOptimizers> {
  using FuseOptimizersBase::FuseOptimizersBase;
  LogicalResult initialize(MLIRContext *context) override {
    int64_t limit = kMaxUpdateGroups;
    if (maxGroups >= 1 && maxGroups <= limit)
      return success();
    return emitError(UnknownLoc::get(context))
           << "max-groups is " << int64_t(maxGroups) << ", expected 1 to "
           << limit;
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
    for (const PatternInfo &pattern : allPatterns())
      if (pattern.maxGroups > 0)
        numFused += Batcher(func, pattern, chooser, size_t(maxGroups)).run();
    remarkCounts(func, "FuseOptimizers", {{"updates_fused", numFused}});
  }
};
} // namespace
