//===- ReturnGradients.cpp - gradients and their norm by name -------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Finds the optimizer of each named parameter and returns its gradient operand;
// for the norm, takes that of clipping or adds one over all gradients.
//===----------------------------------------------------------------------===//

#include "aicf/EntryNames.h"
#include "lib/Transforms/Passes.h"
#include "lib/Transforms/Step/EntryBuilder.h"
#include "lib/Transforms/Step/Gradients.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

namespace aicf {
#define GEN_PASS_DEF_RETURNGRADIENTS
#include "aicf/Passes.h.inc"
} // namespace aicf

using namespace mlir;
using namespace aicf;
using namespace aicf::step;

namespace {
/// A gradient that an optimizer of the entry reads.
struct Trained {
  std::string output; ///< "grad:W"
  Gradient gradient;
  Value factor; ///< that the optimizer multiplies it by, or null
};
} // namespace

static SmallVector<Trained> findTrained(func::FuncOp func,
                                        const EntrySignature &signature) {
  SmallVector<Trained> found;
  for (auto op : func.getOps<StepOpInterface>()) {
    Training training = op.getTraining();
    auto param = training ? dyn_cast<BlockArgument>(training.param->get())
                          : BlockArgument();
    if (!param)
      continue;
    StringRef name = signature.arguments[param.getArgNumber()].name;
    MutableOperandRange factor = op.getOptionalOperand("inv_scale");
    found.push_back({("grad:" + name).str(),
                     {0, param, name, training.grad->get()},
                     factor.empty() ? Value() : factor[0].get()});
  }
  return found;
}

/// What makes mean gradients without loss scale, before they are clipped, of those that
/// the optimizer reads; null for one.
static Value factorOf(func::FuncOp func, const Trained &trained) {
  auto clips = func.getOps<ClipFactorOp>();
  return clips.empty() ? trained.factor : (*clips.begin()).getInvScale();
}

static Value buildGradient(func::FuncOp func, const Trained &trained) {
  OpBuilder b(func.front().getTerminator());
  Value gradient = trained.gradient.value, factor = factorOf(func, trained);
  if (!factor)
    return gradient;
  gradient = castTo(b, gradient, getElementTypeOrSelf(factor));
  auto shape = cast<RankedTensorType>(gradient.getType()).getShape();
  return MulOp::create(b, func.getLoc(), gradient,
                       b.createOrFold<BroadcastOp>(
                           func.getLoc(), factor, b.getDenseI64ArrayAttr(shape)));
}

/// The norm of those gradients.
static Value buildNorm(func::FuncOp func, ArrayRef<Trained> trained) {
  OpBuilder b(func.front().getTerminator());
  Value norm, factor = factorOf(func, trained[0]);
  if (auto clips = func.getOps<ClipFactorOp>(); !clips.empty()) {
    norm = (*clips.begin()).getNorm();
  } else {
    SmallVector<Gradient> gradients = llvm::map_to_vector(
        trained, [](const Trained &t) { return t.gradient; });
    norm = GlobalNormOp::create(b, func.getLoc(), inOneType(b, gradients));
  }
  if (!factor)
    return norm;
  factor = castTo(b, factor, getElementTypeOrSelf(norm));
  return MulOp::create(b, func.getLoc(), norm, factor);
}

/// "grad:*" stands for the gradients of all parameters that no other name is of.
static SmallVector<StringAttr> expandStar(ArrayAttr names,
                                          ArrayRef<Trained> trained) {
  SmallVector<StringAttr> all;
  for (auto name : names.getAsRange<StringAttr>()) {
    if (name != "grad:*") {
      all.push_back(name);
      continue;
    }
    for (const Trained &t : trained)
      if (auto own = StringAttr::get(names.getContext(), t.output);
          !llvm::is_contained(names, own))
        all.push_back(own);
  }
  return all;
}

static LogicalResult returnGradients(func::FuncOp func, ArrayAttr names) {
  EntrySignature signature(func);
  SmallVector<Trained> trained = findTrained(func, signature);
  if (trained.empty())
    return func.emitError() << "'aicf.outputs' names gradients, and the entry "
                               "trains no parameter";
  llvm::StringMap<const Trained *> byName;
  for (const Trained &t : trained)
    byName.try_emplace(t.output, &t);
  EntryBuilder entry(func);
  llvm::StringSet<> taken;
  for (const auto &result : signature.results)
    taken.insert(result.name);
  for (auto name : expandStar(names, trained)) {
    bool isNorm = name == "grad_norm";
    const Trained *found = byName.lookup(name.getValue());
    if (!isNorm && !found)
      return func.emitError()
             << "'aicf.outputs' names " << name << ", which is neither "
             << "\"grad_norm\", \"grad:*\" nor one of "
             << llvm::join(llvm::map_range(
                               trained, [](const auto &t) { return t.output; }),
                           ", ");
    if (!taken.insert(name.getValue()).second)
      return func.emitError() << "'aicf.outputs' names " << name
                              << ", but a result has that name already";
    entry.addOutput(isNorm ? buildNorm(func, trained) : buildGradient(func, *found),
                    name.getValue());
  }
  entry.finish();
  return success();
}

namespace {
struct ReturnGradients : aicf::impl::ReturnGradientsBase<ReturnGradients> {
  void runOnOperation() override {
    for (func::FuncOp func : getEntries(getOperation())) {
      auto names = func->getAttrOfType<ArrayAttr>(kOutputsAttr);
      if (!names)
        continue;
      func->removeAttr(kOutputsAttr);
      // The batches that only add up their gradients have none to return.
      if (func.getName().ends_with(kAccumulateSuffix))
        continue;
      if (failed(checkStepForm(func)) || failed(returnGradients(func, names)))
        return signalPassFailure();
    }
  }
};
} // namespace
