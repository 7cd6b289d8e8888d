//===- MixedPrecision.cpp - 16-bit forward and backward ------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Clones the body op by op, forward and backward first, then the optimizers and
// whatever depends on them. A value has a 16-bit form, a wide one, or both;
// each operand takes the form that its op's precision asks for. The loss scale
// of f16 is an attribute here: --aicf-autodiff and --aicf-append-optimizer
// build it.
//===----------------------------------------------------------------------===//

#include "lib/Ops/Rules.h"
#include "kernels/counter/LossScale.h"
#include "lib/Transforms/Passes.h"
#include "lib/Transforms/Step/ComputeOps.h"
#include "lib/Transforms/Step/EntryBuilder.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/StringSet.h"

namespace aicf {
#define GEN_PASS_DEF_MIXEDPRECISION
#include "aicf/Passes.h.inc"
} // namespace aicf

using namespace mlir;
using namespace aicf;
using namespace aicf::step;

static bool isF32(Value value) {
  // Others' ops in an entry may make values of any type.
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getElementType().isF32();
}

namespace {
/// Rewrites one entry.
class Narrower {
public:
  Narrower(func::FuncOp func, FloatType narrow, double initialScale,
           const llvm::StringSet<> &derived)
      : func(func), narrow(narrow), initialScale(initialScale),
        derived(derived), signature(func), compute(func, signature, narrow),
        entry(func),
        builder(func.front().getTerminator()) {}
  LogicalResult run();

private:
  std::string derivedName(StringRef param) const {
    return (param + (narrow.isF16() ? ".f16" : ".bf16")).str();
  }
  /// The numbers rounded now, and not by a cast in every step.
  Value narrowed(ConstantOp constant);
  RankedTensorType narrowed(Value value) const {
    return cast<RankedTensorType>(value.getType()).clone(narrow);
  }
  /// The 16-bit form of a value of the old body: a derived state, the result of
  /// a rewritten op, or a cast. Values that are not f32 stay as they are.
  Value castOf(Value old, Value value, Type element);
  Value narrowOf(Value old);
  /// The form that a value has outside of compute ops.
  Value wideOf(Value old);
  /// Clones `op` on form(operand): a value in two places may want two forms.
  Operation *cloneWith(Operation *op,
                       llvm::function_ref<Value(OpOperand &)> form);
  void addDerivedStates();
  LogicalResult scaleLoss();
  void rewrite(Operation *op);
  void rewriteTail(Operation *op);
  void finish(ArrayRef<Operation *> oldOps);

  func::FuncOp func;
  FloatType narrow;
  double initialScale;
  const llvm::StringSet<> &derived; ///< params with a 16-bit copy
  EntrySignature signature;
  ComputeOps compute;
  EntryBuilder entry;
  OpBuilder builder;
  IRMapping wide, thin;         ///< values of the old body to their two forms
  llvm::DenseSet<Value> copies; ///< params that have a derived state
};
} // namespace

Value Narrower::narrowOf(Value old) {
  if (Value known = thin.lookupOrNull(old))
    return known;
  if (!isF32(old))
    return wide.lookupOrDefault(old);
  auto constant = old.getDefiningOp<ConstantOp>();
  Value made = constant ? narrowed(constant)
                        : castOf(old, wide.lookupOrDefault(old), narrow);
  thin.map(old, made);
  return made;
}

/// Casts a new form of `old`. Where that is computed again, its cast is, too.
Value Narrower::castOf(Value old, Value value, Type element) {
  auto cast = CastOp::create(builder, old.getLoc(), value,
                             TypeAttr::get(element));
  Operation *maker = old.getDefiningOp();
  if (Attribute mark = maker ? maker->getAttr(kRecomputeAttr) : nullptr)
    cast->setAttr(kRecomputeAttr, mark);
  return cast;
}

Value Narrower::narrowed(ConstantOp constant) {
  auto data = cast<DenseElementsAttr>(constant.getValue());
  auto round = [&](APFloat number) {
    bool isInexact = false;
    number.convert(narrow.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                   &isInexact);
    return number.bitcastToAPInt();
  };
  return ConstantOp::create(
      builder, constant.getLoc(),
      cast<DenseFPElementsAttr>(data).mapValues(narrow, round));
}

Value Narrower::wideOf(Value old) {
  Value value = thin.lookupOrNull(old);
  if (wide.contains(old) || !value || isa<BlockArgument>(old))
    return wide.lookupOrDefault(old);
  Value cast = castOf(old, value, builder.getF32Type());
  wide.map(old, cast);
  return cast;
}

/// For every param whose copy this entry reads, or must keep up to date.
void Narrower::addDerivedStates() {
  for (auto [i, arg] : llvm::enumerate(signature.arguments)) {
    BlockArgument param = func.getArgument(i);
    bool isUpdated =
        (func->hasAttr(kOptimizerAttr) && !func.getArgAttr(i, kFrozenAttr)) ||
        llvm::any_of(signature.results, [&](const auto &result) {
          return result.updates == arg.name;
        });
    if (derived.contains(arg.name) && (isUpdated || compute.read(param))) {
      copies.insert(param);
      thin.map(param, entry.addState(narrowed(param), derivedName(arg.name), {},
                                     arg.name));
    }
  }
}

Operation *Narrower::cloneWith(Operation *op,
                               llvm::function_ref<Value(OpOperand &)> form) {
  SmallVector<Value> operands;
  for (OpOperand &operand : op->getOpOperands())
    operands.push_back(form(operand));
  IRMapping captured; // what regions of another dialect's op read
  visitUsedValuesDefinedAbove(op->getRegions(), [&](OpOperand *use) {
    captured.map(use->get(), wideOf(use->get()));
  });
  Operation *clone = builder.clone(*op, captured);
  clone->setOperands(operands);
  return clone;
}

/// Clones `op` on operands in the form that its precision asks for; a guard
/// judges gradients in the form that they were computed in. The results' types
/// follow from the operands'.
void Narrower::rewrite(Operation *op) {
  auto step = dyn_cast<StepOpInterface>(op);
  OpOperand *kept = step ? step.getKeptOperand() : nullptr;
  bool judgesNarrow = step && step.getPhase() == Phase::Guard &&
                      llvm::all_of(op->getOperands(), [&](Value operand) {
                        return thin.contains(operand);
                      });
  Operation *clone = cloneWith(op, [&](OpOperand &use) {
    bool isNarrow = compute.narrows(use) || judgesNarrow ||
                    (&use == kept && thin.contains(use.get()));
    return isNarrow ? narrowOf(use.get()) : wideOf(use.get());
  });
  if (auto inferred = dyn_cast<InferTypeOpInterface>(clone)) {
    SmallVector<Type> types;
    // Only the element types have changed: where an op minded, its results would
    // keep theirs, and its verifier would say so.
    (void)inferred.inferReturnTypes(
        clone->getContext(), clone->getLoc(), clone->getOperands(),
        clone->getAttrDictionary(), clone->getPropertiesStorage(),
        clone->getRegions(), types);
    for (auto [result, type] : llvm::zip(clone->getResults(), types))
      result.setType(type);
  }
  for (auto [before, after] : llvm::zip(op->getResults(), clone->getResults()))
    (isF32(before) && !isF32(after) ? thin : wide).map(before, after);
}

/// The loss scale is the cotangent that --aicf-autodiff starts with; what its
/// being there means for gradients is --aicf-append-optimizer's.
LogicalResult Narrower::scaleLoss() {
  if (!func->hasAttr(kOptimizerAttr))
    return func.emitError()
           << "has 'aicf.minimize' without 'aicf.optimizer': f16 multiplies "
              "the loss by a scale, and only an optimizer divides the "
              "gradients by it";
  if (func->hasAttr(kLossScaleAttr))
    return success();
  entry.addState(RankedTensorType::get({}, builder.getF32Type()), "loss_scale",
                 builder.getF32FloatAttr(initialScale));
  func->setAttr(kLossScaleAttr, builder.getStringAttr("loss_scale"));
  return success();
}

/// The scale of a step whose backward pass is written by hand is written by
/// hand, too: only who wrote it knows which values carry it.
static LogicalResult checkUnscaled(ArrayRef<Operation *> tail) {
  for (Operation *op : tail)
    if (Training training = trainingOf(op))
      if (cast<StepOpInterface>(op).getOptionalOperand("inv_scale").empty())
        return op->emitOpError()
               << "trains on gradients of f16 without a loss scale: give it "
                  "inv_scale and ok, and the loss's gradient loss_scale, or "
                  "derive the step with 'aicf.minimize'";
  return success();
}

void Narrower::rewriteTail(Operation *op) {
  Training training = trainingOf(op);
  Operation *clone = cloneWith(op, [&](OpOperand &use) {
    return &use == training.grad ? narrowOf(use.get()) : wideOf(use.get());
  });
  wide.map(op->getResults(), clone->getResults());
}

/// Returns the new forms, and for each updated param its rounded copy.
void Narrower::finish(ArrayRef<Operation *> oldOps) {
  SmallVector<Value> before(func.front().getTerminator()->getOperands());
  entry.mapResults([&](Value value) { return wideOf(value); });
  for (auto [value, result] : llvm::zip(before, signature.results)) {
    int64_t target = result.target;
    if (target < 0 || !copies.contains(func.getArgument(target)))
      continue;
    Value cast = CastOp::create(builder, value.getLoc(), wideOf(value),
                                TypeAttr::get(narrow));
    entry.addUpdate(cast, derivedName(result.updates));
  }
  entry.finish();
  for (Operation *op : llvm::reverse(oldOps))
    op->erase();
}

LogicalResult Narrower::run() {
  SmallVector<Operation *> all, head, tail;
  llvm::DenseSet<Operation *> update = findUpdateOps(func);
  for (Operation &op : func.front().without_terminator()) {
    all.push_back(&op);
    (update.contains(&op) ? tail : head).push_back(&op);
  }
  addDerivedStates();
  if (narrow.isF16() &&
      failed(hasLoss(func) ? scaleLoss() : checkUnscaled(tail)))
    return failure();
  for (Operation *op : head)
    rewrite(op);
  for (Operation *op : tail)
    rewriteTail(op);
  finish(all);
  return success();
}

namespace {
struct MixedPrecision : aicf::impl::MixedPrecisionBase<MixedPrecision> {
  using MixedPrecisionBase::MixedPrecisionBase;
  LogicalResult initialize(MLIRContext *context) override {
    if (initialScale >= kLeastLossScale && initialScale <= kMostLossScale)
      return success();
    return emitError(UnknownLoc::get(context))
           << "initial-scale is " << formatNumber(initialScale)
           << ", expected a number in [2^-24, 2^126]";
  }
  void runOnOperation() override {
    if (dtype == MixedDType::None)
      return;
    FloatType narrow = dtype == MixedDType::F16
                           ? FloatType(Float16Type::get(&getContext()))
                           : FloatType(BFloat16Type::get(&getContext()));
    // Over all entries: one that only writes a param writes its copy too.
    llvm::StringSet<> derived;
    SmallVector<func::FuncOp> entries = getEntries(getOperation());
    for (func::FuncOp func : entries) {
      if (failed(checkStepForm(func)))
        return signalPassFailure();
      EntrySignature signature(func);
      ComputeOps compute(func, signature, narrow);
      for (auto [i, arg] : llvm::enumerate(signature.arguments))
        if (arg.role == Role::Param && isF32(func.getArgument(i)) &&
            compute.read(func.getArgument(i)))
          derived.insert(arg.name);
    }
    for (func::FuncOp func : entries)
      if (failed(Narrower(func, narrow, initialScale, derived).run()))
        return signalPassFailure();
  }
};
} // namespace
