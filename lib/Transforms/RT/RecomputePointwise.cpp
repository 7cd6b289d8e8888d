//===- RecomputePointwise.cpp - values that are computed again ------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A result of an elementwise call goes to memory because calls read it that
// could not become one with its maker. For each such result, the primitives
// that make it are put into its readers, too, if all of them can take those,
// and if less is read and written then. So the result goes. Runs behind the
// fusion, which shares values where it can, and computes nothing twice.
//===----------------------------------------------------------------------===//

#include "lib/Dialect/Entry.h"
#include "lib/Ops/Graphs.h"
#include "lib/Transforms/Passes.h"
#include "lib/Transforms/RT/CallUses.h"
#include "lib/Transforms/RT/EntryPass.h"
#include "lib/Transforms/RT/FusedCall.h"
#include "lib/Transforms/RT/FusionPlace.h"
#include "lib/Transforms/RT/KernelChoice.h"
#include "lib/Transforms/RT/MergeCalls.h"
#include "lib/Transforms/Remarks.h"

namespace aicf {
#define GEN_PASS_DEF_RECOMPUTEPOINTWISE
#include "aicf/Passes.h.inc"
} // namespace aicf

using namespace mlir;
using namespace aicf;
using namespace aicf::rt;

namespace {
class PointwiseRecomputation {
public:
  explicit PointwiseRecomputation(func::FuncOp func)
      : func(func), chooser(func), updaters(func) {}

  void run();

private:
  CallOp recomputeAny(CallOp maker);
  std::optional<CallOp> recompute(CallOp maker, Value value);
  std::optional<MergedCall> without(CallOp maker, Value value) const;
  std::optional<std::vector<MergedCall>>
  with(const MergedCall &again, Value value, ArrayRef<CallOp> readers) const;

  func::FuncOp func;
  KernelChooser chooser;
  const Updaters updaters;
  int64_t numRecomputed = 0;
};
} // namespace

/// The primitives of `maker` that make its result `value`, as a call of their
/// own.
static MergedCall onlyFor(CallOp maker, Value value) {
  return mergeInGraphOrder(maker,
                           [&](Value result) { return result != value; });
}

/// True for few elementwise primitives that cost less than memory does. Numbers
/// of a generator cost more.
static bool areCheap(const MergedCall &call, const Costs &costs) {
  ArrayRef<Primitive> primitives = call.body.getBody().primitives;
  return int64_t(primitives.size()) <= costs.repeatedPrimitives &&
         llvm::all_of(primitives, [](const Primitive &primitive) {
           return mayBeInGraph(primitive.kind) && !knowsNumbers(primitive.kind);
         });
}

/// Bytes of the tensors that are `operands` and not among `others`, each once.
static int64_t bytesOfOthers(ValueRange operands, ValueRange others) {
  int64_t bytes = 0;
  llvm::SmallDenseSet<Value> seen(others.begin(), others.end());
  for (Value operand : operands)
    if (seen.insert(operand).second)
      bytes += int64_t(toTensorDesc(operand.getType()).spanBytes());
  return bytes;
}

/// What a product's kernel goes on with stays as it is: it reads in its own
/// way.
static bool mayTakeMore(CallOp call) {
  return mayBePart(call, /*takesProducts=*/false);
}

/// `maker` without its result `value`, or nothing if no kernel takes the rest.
/// A call of which nothing is left is without results.
std::optional<MergedCall> PointwiseRecomputation::without(CallOp maker,
                                                          Value value) const {
  if (maker.getNumResults() == 1)
    return MergedCall();
  MergedCall rest =
      mergeInGraphOrder(maker, [&](Value result) { return result == value; });
  StatusOr<TypedBody> typed = typedBodyOf(rest);
  if (!typed.ok() || !keepsTypes(rest, *typed) || !chooser.choose(rest, *typed))
    return std::nullopt;
  return rest;
}

/// True if it takes more memory to make `value` at the last of its readers:
/// what it is made of stays alive until there.
static bool keepsMoreAlive(const MergedCall &again, CallOp maker, Value value,
                           ArrayRef<CallOp> readers) {
  CallOp last = *llvm::max_element(
      readers, [](CallOp a, CallOp b) { return a->isBeforeInBlock(b); });
  return bytesKeptAlive(again.operands, maker, last) > bytesOf(value.getType());
}

/// All readers with `again`, which makes `value`, as a part, from the last one
/// on; or nothing, if one of them does not take it.
std::optional<std::vector<MergedCall>>
PointwiseRecomputation::with(const MergedCall &again, Value value,
                             ArrayRef<CallOp> readers) const {
  std::vector<MergedCall> all;
  for (CallOp reader : readers) {
    MergedCall parts[] = {again, MergedCall::of(reader)};
    all.push_back(mergeInGraphOrder(
        parts, [&](Value inside) { return inside == value; }));
    if (!mayBeOne(all.back(), chooser) ||
        !areLarge(all.back(), chooser.costs()))
      return std::nullopt;
  }
  return all;
}

/// Computes `value`, a result of `maker`, in its readers, if that is cheaper.
/// Returns what is left of `maker`, which may be null, or nothing.
std::optional<CallOp> PointwiseRecomputation::recompute(CallOp maker,
                                                        Value value) {
  std::optional<SmallVector<CallOp>> readers =
      onlyReadersOf(value, [](ViewOp view) {
        return axisOfRepeat(view.getView()).has_value();
      });
  if (!readers || readers->empty() || !llvm::all_of(*readers, mayTakeMore))
    return std::nullopt;
  const MergedCall again = onlyFor(maker, value);
  if (!areCheap(again, chooser.costs()) ||
      llvm::any_of(*readers, [&](CallOp reader) {
        return readsWhatIsUpdatedBetween(again.operands, maker, reader,
                                         updaters);
      }))
    return std::nullopt;
  std::optional<MergedCall> rest = without(maker, value);
  if (!rest || keepsMoreAlive(again, maker, value, *readers))
    return std::nullopt;
  // The value is written, and read by each; `maker` reads what only it needs.
  const int64_t before =
      bytesOfOthers(maker.getArgs(), rest->operands) +
      bytesOfOthers(value, {}) * int64_t(1 + readers->size());
  int64_t after = 0;
  for (CallOp reader : *readers)
    after += bytesOfOthers(again.operands, reader.getArgs());
  if (after >= before)
    return std::nullopt;
  // From the last one on, which may read what an earlier one makes.
  llvm::sort(*readers,
             [](CallOp a, CallOp b) { return b->isBeforeInBlock(a); });
  std::optional<std::vector<MergedCall>> merged = with(again, value, *readers);
  if (!merged)
    return std::nullopt;
  for (auto [reader, call] : llvm::zip_equal(*readers, *merged))
    replaceParts(call, reader, reader);
  ++numRecomputed;
  if (auto remark = remark::passed(
          maker.getLoc(), remarkOf("RecomputePointwise", func.getSymName())))
    remark << "a result of " + nameOfCall(maker) +
                  " is computed again where it is read, which moves " +
                  std::to_string(before - after) + " bytes less";
  forEachView(value, [](ViewOp view) { view.erase(); });
  if (!rest->results.empty())
    return replaceParts(*rest, maker, maker);
  maker.erase();
  return CallOp();
}

/// Computes one of the results in its readers. Returns what is left of the
/// call: another op, or null, if something was done.
CallOp PointwiseRecomputation::recomputeAny(CallOp maker) {
  for (Value value : maker.getResults())
    if (std::optional<CallOp> rest = recompute(maker, value))
      return *rest;
  return maker;
}

void PointwiseRecomputation::run() {
  // From the last call on: what reads a result is behind its maker.
  Operation *op = &func.getBody().back().back();
  while (op) {
    Operation *previous = op->getPrevNode();
    auto call = dyn_cast<CallOp>(op);
    for (CallOp before; call && mayTakeMore(call) && call != before;) {
      before = call;
      call = recomputeAny(call);
    }
    op = previous;
  }
  remarkCounts(func, "RecomputePointwise", {{"recomputed", numRecomputed}});
}

namespace {
struct RecomputePointwise
    : EntryPass<aicf::impl::RecomputePointwiseBase<RecomputePointwise>> {
  using EntryPass::EntryPass;

  void runOnEntry(func::FuncOp func) override {
    PointwiseRecomputation(func).run();
  }
};
} // namespace
