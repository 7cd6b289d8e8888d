//===- PadTensors.cpp - pads for tensors whose kernels gain by them -------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Everything that may be padded is, at first; what a call has no kernel for is
// taken back, until nothing changes; then what no call gains by. Which calls
// gain, the kernels' families say (fullSpeed in lib/Ops/KernelFamily.td).
//===----------------------------------------------------------------------===//

#include "lib/Dialect/Entry.h"
#include "lib/Transforms/Passes.h"
#include "lib/Transforms/RT/EntryForm.h"
#include "lib/Transforms/RT/KernelChoice.h"
#include "lib/Transforms/Remarks.h"

#include "llvm/ADT/IntEqClasses.h"

namespace aicf {
#define GEN_PASS_DEF_PADTENSORS
#include "aicf/Passes.h.inc"
} // namespace aicf

using namespace mlir;
using namespace aicf;
using namespace aicf::step;
using namespace aicf::rt;

namespace {
/// Decides for the entries of one module.
class Padder {
public:
  explicit Padder(ArrayRef<func::FuncOp> entries);
  void run();

private:
  void addCandidates(func::FuncOp func);
  void takeBackWhatHasNoKernel();
  void takeBackWhatNoCallGainsBy();
  void apply(func::FuncOp func);
  /// With the tensors that are padded so far.
  bool hasKernel(CallOp call) const;
  /// Its kernel runs at full speed with the tensors that are padded so far, and
  /// did not without.
  bool gains(CallOp call) const;
  bool anyCallGains() const;
  StatusOr<TypedBody> typeWithPads(CallOp call) const {
    return typedBodyOf(call.getBody(), typesOf(call.getArgs()),
                       typesOf(call.getResults()));
  }
  RankedTensorType typeOf(Value value) const;
  SmallVector<Type> typesOf(ValueRange values) const {
    return llvm::map_to_vector(values,
                               [&](Value v) -> Type { return typeOf(v); });
  }
  /// True when that changed something.
  bool takeBack(ValueRange values);

  bool isPadded(Value value) const {
    auto it = groupOf.find(value);
    return it != groupOf.end() && padded[it->second];
  }

  ArrayRef<func::FuncOp> entries;
  SmallVector<std::unique_ptr<KernelChooser>> choosers; ///< one an entry
  llvm::DenseMap<Operation *, const KernelChooser *> chooserOf;
  /// Values that have one layout: a state in all entries, and what updates it.
  llvm::DenseMap<Value, size_t> groupOf;
  llvm::StringMap<size_t> groupOfState;
  SmallVector<bool> padded; ///< by group
};
} // namespace

static bool mayBePadded(Type type) {
  TensorDesc desc = toTensorDesc(type);
  desc.layout = aicf::Layout::Padded;
  return isLegalLayout(desc) && desc.hasPadsIfPadded();
}

Padder::Padder(ArrayRef<func::FuncOp> entries)
    : entries(entries) {
  for (func::FuncOp func : entries) {
    choosers.push_back(std::make_unique<KernelChooser>(func));
    chooserOf[func] = choosers.back().get();
    addCandidates(func);
  }
}

void Padder::addCandidates(func::FuncOp func) {
  EntrySignature signature(func);
  for (auto [value, arg] :
       llvm::zip_equal(func.getArguments(), signature.arguments)) {
    if (arg.derivedFrom.empty() || !mayBePadded(value.getType()))
      continue;
    // That of an entry before, or a new one.
    groupOf[value] =
        groupOfState.try_emplace(arg.name, padded.size()).first->second;
    padded.push_back(true);
  }
  for (auto call : func.getOps<CallOp>())
    for (Value result : call.getResults())
      if (mayBePadded(result.getType())) {
        groupOf[result] = padded.size();
        padded.push_back(true);
      }
  // What is seen in another shape is dense.
  for (auto view : func.getOps<ViewOp>())
    takeBack(view.getBase());
  // What is returned lives in a state, or is an output.
  for (auto [value, result] : llvm::zip_equal(
           func.front().getTerminator()->getOperands(), signature.results)) {
    Value target =
        result.target < 0 ? Value() : func.getArgument(result.target);
    auto state = groupOf.find(target);
    auto group = groupOf.find(value);
    if (group == groupOf.end())
      takeBack(target);
    else if (state == groupOf.end())
      padded[group->second] = false;
    else if (isa<BlockArgument>(value) || !value.hasOneUse())
      takeBack({value, target}); // a copy will stand between them
    else
      group->second = state->second;
  }
}

RankedTensorType Padder::typeOf(Value value) const {
  auto type = cast<RankedTensorType>(value.getType());
  return isPadded(value) ? withLayout(type, aicf::Layout::Padded) : type;
}

bool Padder::hasKernel(CallOp call) const {
  StatusOr<TypedBody> typed = typeWithPads(call);
  return typed.ok() && chooserOf.at(call->getParentOp())->choose(call, *typed);
}

bool Padder::takeBack(ValueRange values) {
  bool changed = false;
  for (Value value : values)
    if (auto it = groupOf.find(value); it != groupOf.end()) {
      changed |= padded[it->second];
      padded[it->second] = false;
    }
  return changed;
}

/// Results first: a call may take padded operands without them.
void Padder::takeBackWhatHasNoKernel() {
  for (bool changed = true; changed;) {
    changed = false;
    for (func::FuncOp func : entries)
      for (auto call : func.getOps<CallOp>()) {
        if (!hasKernel(call))
          changed |= takeBack(call.getResults());
        if (!hasKernel(call))
          changed |= takeBack(call->getOperands());
      }
  }
}

bool Padder::gains(CallOp call) const {
  StatusOr<TypedBody> dense = typedBodyOf(call), typed = typeWithPads(call);
  if (!dense.ok()) // nor is `typed`: no rule asks for the layout
    return false;
  const KernelRow *row =
      chooserOf.at(call->getParentOp())->choose(call, *dense);
  return row && !row->runsAtFullSpeed(*dense) && row->runsAtFullSpeed(*typed);
}

/// Groups that calls connect with one that gains stay.
void Padder::takeBackWhatNoCallGainsBy() {
  llvm::IntEqClasses classes(padded.size() + 1);
  size_t wanted = padded.size();
  for (func::FuncOp func : entries)
    for (auto call : func.getOps<CallOp>()) {
      SmallVector<Value> values(call->getOperands());
      llvm::append_range(values, call.getResults());
      std::optional<size_t> first;
      for (Value value : values)
        if (isPadded(value)) {
          first = first.value_or(groupOf.at(value));
          classes.join(*first, groupOf.at(value));
        }
      if (gains(call)) // so one of them is padded
        classes.join(*first, wanted);
    }
  for (size_t group = 0; group < padded.size(); ++group)
    padded[group] = padded[group] &&
                    classes.findLeader(group) == classes.findLeader(wanted);
}

void Padder::apply(func::FuncOp func) {
  int64_t numPadded = 0;
  auto pad = [&](Value value) {
    if (!isPadded(value))
      return;
    value.setType(typeOf(value));
    ++numPadded;
    if (auto remark = remark::passed(value.getLoc(),
                                     remarkOf("PadTensors", func.getSymName())))
      remark << toTensorDesc(value.getType()).toString();
  };
  for (BlockArgument arg : func.getArguments())
    pad(arg);
  for (auto call : func.getOps<CallOp>())
    for (Value result : call.getResults())
      pad(result);
  func.setFunctionType(
      FunctionType::get(func.getContext(), func.front().getArgumentTypes(),
                        func.front().getTerminator()->getOperandTypes()));
  remarkCounts(func, "PadTensors", {{"padded", numPadded}});
}

bool Padder::anyCallGains() const {
  return llvm::any_of(entries, [&](func::FuncOp func) {
    return llvm::any_of(func.getOps<CallOp>(),
                        [&](CallOp call) { return gains(call); });
  });
}

void Padder::run() {
  // Fewer pads make no call gain.
  if (!anyCallGains())
    return;
  takeBackWhatHasNoKernel();
  takeBackWhatNoCallGainsBy();
  for (func::FuncOp func : entries)
    apply(func);
}

namespace {
struct PadTensors : aicf::impl::PadTensorsBase<PadTensors> {
  using PadTensorsBase::PadTensorsBase;
  void runOnOperation() override {
    SmallVector<func::FuncOp> entries = getEntries(getOperation());
    for (func::FuncOp func : entries)
      if (failed(checkEntryForm(func)))
        return signalPassFailure();
    Padder(entries).run();
  }
};
} // namespace
