//===- BatchCalls.cpp - the same call for many tensors --------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Goes through the calls that a family's batch pattern may take, in order. A
// call joins the batch of those that have its fields, shared operands and
// types, or begins a new one where it may not. Then each batch becomes one call
// at the position of its last. Which calls go together, the patterns say
// (BatchPattern in lib/Ops/KernelFamily.td): no primitive is named here.
//===----------------------------------------------------------------------===//

#include "lib/Dialect/Entry.h"
#include "lib/Ops/Patterns.h"
#include "lib/Transforms/Passes.h"
#include "lib/Transforms/RT/CallUses.h"
#include "lib/Transforms/RT/EntryPass.h"
#include "lib/Transforms/RT/KernelChoice.h"
#include "lib/Transforms/RT/MergeCalls.h"
#include "lib/Transforms/RT/PatternCandidates.h"
#include "lib/Transforms/Remarks.h"

#include <map>
#include <vector>

namespace aicf {
#define GEN_PASS_DEF_BATCHCALLS
#include "aicf/Passes.h.inc"
} // namespace aicf

using namespace mlir;
using namespace aicf;
using namespace aicf::rt;

namespace {
/// The calls of one group of a pattern, in the order of its nodes.
using Group = SmallVector<CallOp>;

/// What groups of one call have in common: fields, unless each has its own,
/// which operands are there, shared operands, types of the others.
struct Key {
  SmallVector<uint8_t> attrs;
  SmallVector<const void *> parts;
  bool operator<(const Key &o) const {
    return std::tie(attrs, parts) < std::tie(o.attrs, o.parts);
  }
};

/// Why a group is not in a call with earlier ones.
enum class Split { OtherKey, Full, ReadsUpdated, ReadBefore };

/// Groups that will be one call, at the position of the last. No group of it
/// reads what another one makes or updates: the kernel does all at once, and
/// would have to write elsewhere.
class Batch {
public:
  Batch(const PatternInfo &pattern, size_t maxGroups)
      : pattern(pattern), maxGroups(maxGroups) {}

  /// Why the group may not be added, or nothing.
  std::optional<Split> whyNot(const Group &group) const;
  void add(const Group &group);
  ArrayRef<Group> getGroups() const { return groups; }

private:
  /// Calls `use` for each operand of the group's calls, or its base, and
  /// whether a result may take its storage.
  template <typename Use>
  void forEachOperand(const Group &group, Use use) const;

  const PatternInfo &pattern;
  size_t maxGroups;
  SmallVector<Group> groups;
  llvm::DenseSet<Value> read, updated, made;
  Operation *firstReader = nullptr; ///< outside of the batch, of its results
};

/// Puts the calls of one pattern together.
class Batcher {
public:
  Batcher(func::FuncOp func, const PatternInfo &pattern,
          const KernelChooser &chooser, size_t maxGroups)
      : func(func), pattern(pattern), chooser(chooser),
        maxGroups(std::min(maxGroups, pattern.batch->maxGroups)) {}

  /// Returns how many groups are in a call with another.
  int64_t run();

private:
  std::vector<Batch> batchesOf(PatternCandidates &candidates);
  Group groupOf(CallOp first, PatternCandidates &candidates) const;
  Key keyOf(const Group &group) const;
  bool merge(const Batch &batch);
  void remarkApart(CallOp call, const Twine &why);

  func::FuncOp func;
  const PatternInfo &pattern;
  const KernelChooser &chooser;
  size_t maxGroups;
};
} // namespace

static StringRef describe(Split why) {
  switch (why) {
  case Split::OtherKey:
    return "its fields, scalars or types differ";
  case Split::Full:
    return "the batch is full";
  case Split::ReadsUpdated:
    return "it uses a tensor that the batch updates, or updates one that the "
           "batch uses";
  case Split::ReadBefore:
    return "a result of the batch is read before this call";
  }
  return {};
}

template <typename Use>
void Batch::forEachOperand(const Group &group, Use use) const {
  for (CallOp part : group) {
    const Primitive &primitive = part.getCode().primitives.front();
    for (size_t slot = 0; slot < primitive.operands.size(); ++slot) {
      Value operand = part.getPrimitiveOperand(0, slot);
      if (operand)
        use(baseOf(operand),
            llvm::any_of(pattern.ties, [&](const PatternTieInfo &tie) {
              return tie.operand.slot == slot; // of any node: rather apart
            }));
    }
  }
}

std::optional<Split> Batch::whyNot(const Group &group) const {
  if (groups.size() >= maxGroups)
    return Split::Full;
  Operation *first = group.front();
  if (firstReader && firstReader->isBeforeInBlock(first))
    return Split::ReadBefore;
  bool isApart = true;
  forEachOperand(group, [&](Value operand, bool isUpdated) {
    isApart &= !made.contains(operand) && !updated.contains(operand) &&
               !(isUpdated && read.contains(operand));
  });
  return isApart ? std::nullopt : std::optional(Split::ReadsUpdated);
}

void Batch::add(const Group &group) {
  groups.push_back(group);
  forEachOperand(group, [&](Value operand, bool isUpdated) {
    (isUpdated ? updated : read).insert(operand);
  });
  for (CallOp part : group)
    for (Value result : part.getResults()) {
      made.insert(result);
      anyRead(result, [&](CallOp reader, unsigned) {
        if (!llvm::is_contained(group, reader) &&
            (!firstReader || reader->isBeforeInBlock(firstReader)))
          firstReader = reader;
        return false;
      });
    }
}

/// The largest group around a call, or none where the pattern takes none.
Group Batcher::groupOf(CallOp first, PatternCandidates &candidates) const {
  Group group;
  candidates.anyChoice(first, [&](ArrayRef<CallOp> parts) {
    MergedCall merged = mergeCalls(parts, [](Value) { return false; });
    if (matches(pattern, merged.body.getBody()))
      group.assign(parts.begin(), parts.end());
    return !group.empty();
  });
  return group;
}

Key Batcher::keyOf(const Group &group) const {
  CallOp call = group.front();
  const Primitive &primitive = call.getCode().primitives.front();
  Key key;
  if (!pattern.batch->hasOwnFields)
    key.attrs.assign(primitive.attrs.begin(), primitive.attrs.end());
  auto element = [](Value value) {
    return cast<RankedTensorType>(value.getType())
        .getElementType()
        .getAsOpaquePointer();
  };
  for (size_t slot = 0; slot < primitive.operands.size(); ++slot) {
    Value operand = call.getPrimitiveOperand(0, slot);
    bool isShared = llvm::any_of(pattern.batch->shared, [&](NodeSlot where) {
      return where.slot == slot;
    });
    key.parts.push_back(!operand   ? nullptr
                        : isShared ? operand.getAsOpaquePointer()
                                   : element(operand));
  }
  for (CallOp part : ArrayRef(group).drop_front())
    for (Value result : part.getResults())
      key.parts.push_back(element(result));
  return key;
}

void Batcher::remarkApart(CallOp call, const Twine &why) {
  if (auto remark = remark::missed(call.getLoc(),
                                   remarkOf("BatchCalls", func.getSymName())))
    remark << (nameOfCall(call) + " is not batched with other calls: " + why)
                  .str();
}

/// In order of the first call of each, so that plans do not depend on
/// addresses.
std::vector<Batch> Batcher::batchesOf(PatternCandidates &candidates) {
  std::map<Key, size_t> numberOf;
  std::vector<Batch> batches;
  for (Operation *op : candidates.getAnchors()) {
    Group group = groupOf(cast<CallOp>(op), candidates);
    if (group.empty())
      continue;
    auto [it, isNew] = numberOf.try_emplace(keyOf(group), batches.size());
    std::optional<Split> why = isNew ? std::optional(Split::OtherKey)
                                     : batches[it->second].whyNot(group);
    if (why) {
      if (!batches.empty())
        remarkApart(group.front(), describe(*why));
      it->second = batches.size();
      batches.emplace_back(pattern, maxGroups);
    }
    batches[it->second].add(group);
  }
  return batches;
}

/// Makes one call of a batch, if there is a kernel for it.
bool Batcher::merge(const Batch &batch) {
  SmallVector<CallOp> parts;
  for (const Group &group : batch.getGroups())
    llvm::append_range(parts, group);
  if (parts.size() < 2)
    return false;
  MergedCall merged = mergeCalls(parts, [](Value) { return false; });
  StatusOr<TypedBody> typed = typedBodyOf(merged);
  assert(typed.ok() && "groups of one key that the pattern does not take");
  if (!chooser.choose(merged, *typed)) {
    remarkApart(parts.front(), "the target has no kernel for the batch");
    return false;
  }
  Operation *last = batch.getGroups().back().front();
  assert(mayStandAt(merged, parts, last) && "a group that whyNot() lets in");
  replaceParts(merged, parts, last);
  return true;
}

int64_t Batcher::run() {
  PatternCandidates candidates(func, pattern);
  int64_t numBatched = 0;
  for (const Batch &batch : batchesOf(candidates))
    if (size_t size = batch.getGroups().size(); merge(batch) && size > 1)
      numBatched += int64_t(size);
  return numBatched;
}

namespace {
struct BatchCalls : EntryPass<aicf::impl::BatchCallsBase<BatchCalls>> {
  using EntryPass::EntryPass;
  LogicalResult initialize(MLIRContext *context) override {
    int64_t limit = kMaxUpdateGroups;
    if (maxGroups >= 1 && maxGroups <= limit)
      return success();
    return emitError(UnknownLoc::get(context))
           << "max-groups is " << int64_t(maxGroups) << ", expected 1 to "
           << limit;
  }
  void runOnEntry(func::FuncOp func) override {
    KernelChooser chooser(func);
    int64_t numBatched = 0;
    for (const PatternInfo &pattern : allPatterns())
      if (pattern.batch)
        numBatched += Batcher(func, pattern, chooser, size_t(maxGroups)).run();
    remarkCounts(func, "BatchCalls", {{"calls_batched", numBatched}});
  }
};
} // namespace
