//===- KeepValues.cpp - gradients or all values as outputs ----------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Collects what is to be returned (each optimizer's gradient, or every op's
// used results with their labels) and adds it to the entry's outputs.
//===----------------------------------------------------------------------===//

#include "lib/Transforms/Passes.h"
#include "lib/Transforms/Step/EntryBuilder.h"

#include "llvm/ADT/StringSet.h"

namespace aicf {
#define GEN_PASS_DEF_KEEPVALUES
#include "aicf/Passes.h.inc"
} // namespace aicf

using namespace mlir;
using namespace aicf;
using namespace aicf::step;

namespace {
struct KeptValue {
  std::string name;
  Value value;
};
} // namespace

static SmallVector<KeptValue> findGradients(func::FuncOp func,
                                            const EntrySignature &signature) {
  SmallVector<KeptValue> kept;
  // Of two optimizers of one parameter the first counts.
  llvm::StringSet<> known;
  for (auto op : func.getOps<StepOpInterface>()) {
    Training training = op.getTraining();
    if (!training)
      continue;
    auto param = dyn_cast<BlockArgument>(training.param->get());
    if (!param)
      continue;
    std::string name =
        "grad:" + signature.arguments[param.getArgNumber()].name.str();
    // In a split step the gradient is a state already.
    if (!isa<BlockArgument>(training.grad->get()) && known.insert(name).second)
      kept.push_back({name, training.grad->get()});
  }
  return kept;
}

/// Fails on an op without labels.
static FailureOr<SmallVector<KeptValue>> findAll(func::FuncOp func) {
  SmallVector<KeptValue> kept;
  for (Operation &op : func.front().without_terminator()) {
    auto vids = op.getAttrOfType<DenseI64ArrayAttr>(kVidsAttr);
    if (!vids) {
      op.emitOpError() << "has no 'aicf.vids': run --aicf-number-values first";
      return failure();
    }
    for (OpResult result : op.getResults())
      if (!result.use_empty()) {
        std::string number = std::to_string(vids[result.getResultNumber()]);
        number.insert(0, number.size() < 3 ? 3 - number.size() : 0, '0');
        // The parts of an entry have labels of their own.
        std::string part = func->hasAttr(kPartOfAttr)
                               ? func.getName().str() + "."
                               : std::string();
        kept.push_back({part + "v" + number, result});
      }
  }
  return kept;
}

static LogicalResult addOutputs(func::FuncOp func,
                                const EntrySignature &signature,
                                ArrayRef<KeptValue> kept) {
  llvm::StringMap<Value> results;
  for (auto [result, value] : llvm::zip(
           signature.results, func.front().getTerminator()->getOperands()))
    results[result.name] = value;
  EntryBuilder entry(func);
  for (const KeptValue &k : kept) {
    auto [it, isFree] = results.try_emplace(k.name, k.value);
    if (!isFree && it->second == k.value)
      continue; // it is an output already
    if (!isFree || signature.findArgument(k.name) >= 0)
      return func.emitError()
             << "cannot keep a value as output \"" << k.name
             << "\": " << (isFree ? "an argument" : "a result")
             << " has that name, give it another or do without "
                "--aicf-keep-values (--keep)";
    entry.addOutput(k.value, k.name);
  }
  entry.finish();
  return success();
}

namespace {
struct KeepValues : aicf::impl::KeepValuesBase<KeepValues> {
  using KeepValuesBase::KeepValuesBase;
  void runOnOperation() override {
    func::FuncOp func = getOperation();
    if (mode == Keep::None || !isEntry(func))
      return;
    if (failed(checkStepForm(func)))
      return signalPassFailure();
    EntrySignature signature(func);
    FailureOr<SmallVector<KeptValue>> kept =
        mode == Keep::Grad ? findGradients(func, signature) : findAll(func);
    if (failed(kept) || failed(addOutputs(func, signature, *kept)))
      return signalPassFailure();
  }
};
} // namespace
