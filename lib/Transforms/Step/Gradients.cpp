//===- Gradients.cpp - what an optimizer is appended to -------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Transforms/Step/Gradients.h"
#include "aicf/EntryNames.h"

#include "mlir/IR/TypeUtilities.h"

#include <cmath>

using namespace mlir;
using namespace aicf;
using namespace aicf::step;

/// Whether optimizers take a gradient of type `grad` for a parameter of
/// `param`: one of its own type, or one of 16 bits for f32.
static bool isGradientOf(Type grad, Type param) {
  Type element = getElementTypeOrSelf(param),
       narrow = getElementTypeOrSelf(grad);
  bool isNarrower = element.isF32() && (narrow.isF16() || narrow.isBF16());
  return isFloatElement(element) && (grad == param || isNarrower) &&
         cast<ShapedType>(grad).getShape() ==
             cast<ShapedType>(param).getShape();
}

FailureOr<SmallVector<Gradient>> aicf::findGradients(func::FuncOp func) {
  EntrySignature signature(func);
  SmallVector<Gradient> gradients;
  for (unsigned i = 0; i < func.getNumResults(); ++i) {
    if (func.getResultAttr(i, kMinimizeAttr))
      return func.emitError()
             << "result " << i
             << " has 'aicf.minimize': run --aicf-autodiff first";
    auto name = func.getResultAttrOfType<StringAttr>(i, kGradAttr);
    if (!name)
      continue;
    int64_t arg = signature.findArgument(name);
    if (arg < 0 || signature.arguments[arg].role != Role::Param)
      return func.emitError() << "result " << i << " is the gradient of "
                              << name << ", which is not a parameter";
    BlockArgument param = func.getArgument(arg);
    Type type = func.getResultTypes()[i];
    if (!isGradientOf(type, param.getType()))
      return func.emitError()
             << "result " << i << " is the gradient of " << name << ", "
             << param.getType() << ", and of type " << type
             << ": expected the parameter's type, which is of floats, or for "
                "f32 "
                "also f16 or bf16";
    gradients.push_back({i, param, name.getValue(),
                         func.front().getTerminator()->getOperand(i)});
  }
  if (gradients.empty())
    return func.emitError() << "has 'aicf.optimizer', but no gradients: mark "
                               "the loss, a result, "
                               "aicf.minimize";
  return gradients;
}

LogicalResult aicf::checkNumbers(func::FuncOp func,
                                 ArrayRef<Gradient> gradients) {
  auto check = [&](const Gradient &g, StringRef name, Attribute attr) {
    if (!attr || getElementTypeOrSelf(g.param.getType()).isF64())
      return success();
    FloatAttr tooLarge;
    attr.walk([&](FloatAttr number) {
      if (!std::isfinite(float(number.getValueAsDouble())))
        tooLarge = number;
    });
    if (!tooLarge)
      return success();
    return LogicalResult(func.emitError()
                         << "'" << name << "' has the number "
                         << tooLarge.getValueAsDouble()
                         << ", which is infinite in f32, and parameter \""
                         << g.name << "\" is trained in f32");
  };
  for (const Gradient &g : gradients) {
    unsigned arg = g.param.getArgNumber();
    if (failed(check(g, kOptimizerAttr, func->getAttr(kOptimizerAttr))) ||
        failed(check(g, kWeightDecayAttr,
                     func.getArgAttr(arg, kWeightDecayAttr))) ||
        failed(check(g, kRateScaleAttr, func.getArgAttr(arg, kRateScaleAttr))))
      return failure();
  }
  return success();
}

void aicf::dropGradients(func::FuncOp func, EntryBuilder &entry) {
  entry.filterResults(
      [&](unsigned i) { return !func.getResultAttr(i, kGradAttr); });
}

void aicf::finishTrained(func::FuncOp func, EntryBuilder &entry) {
  for (StringRef name :
       {kFrozenAttr, kWeightDecayAttr, kRateScaleAttr, kStepLagAttr, kGroupAttr})
    entry.dropAttr(name);
  entry.finish();
  func->removeAttr(kOptimizerAttr);
  func->removeAttr(kLossScaleAttr);
  func->removeAttr(kStepCountAttr);
}

Value aicf::castTo(OpBuilder &b, Value value, Type element) {
  if (!value || getElementTypeOrSelf(value) == element)
    return value;
  return CastOp::create(b, value.getLoc(), value, TypeAttr::get(element));
}

SmallVector<Value> aicf::inOneType(OpBuilder &b, ArrayRef<Gradient> gradients) {
  auto typeOf = [](const Gradient &g) { return getElementTypeOrSelf(g.value); };
  SmallVector<Value> values;
  Type element = typeOf(gradients[0]);
  if (!llvm::all_equal(llvm::map_range(gradients, typeOf)))
    element = llvm::any_of(gradients,
                           [&](const auto &g) { return typeOf(g).isF64(); })
                  ? b.getF64Type()
                  : b.getF32Type(); // holds every gradient of 16 bits
  for (const Gradient &g : gradients)
    values.push_back(castTo(b, g.value, element));
  return values;
}

std::string aicf::sumName(const Gradient &gradient) {
  return (gradient.name + ".grad_acc").str();
}

Value aicf::meanFactor(OpBuilder &b, Location loc, Value inverseScale,
                       int64_t batches, Value like) {
  if (batches == 1)
    return inverseScale;
  APFloat share(1.0 / double(batches));
  return inverseScale ? ScaleOp::create(b, loc, inverseScale, share).getY()
                      : FillLikeOp::create(b, loc, like, share).getY();
}

Value aicf::addToSum(OpBuilder &b, Value sum, Value grad) {
  return AddOp::create(b, grad.getLoc(), sum,
                       castTo(b, grad, getElementTypeOrSelf(sum)));
}

LogicalResult aicf::addAccumulatingEntry(func::FuncOp func,
                                         ArrayRef<Gradient> gradients) {
  auto name =
      StringAttr::get(func.getContext(), func.getName() + kAccumulateSuffix);
  if (SymbolTable::lookupNearestSymbolFrom(func->getParentOp(), name))
    return func.emitError()
           << "'aicf.optimizer' accumulates gradients in @" << name.getValue()
           << ", but there is one already: rename it";
  func::FuncOp sums = func.clone();
  sums.setName(name);
  func->getBlock()->getOperations().insertAfter(func->getIterator(), sums);
  EntryBuilder entry(sums);
  Operation *terminator = sums.front().getTerminator();
  OpBuilder b(terminator);
  dropGradients(sums, entry);
  for (const Gradient &g : gradients)
    entry.addUpdate(addToSum(b, entry.addState(g.param.getType(), sumName(g)),
                             terminator->getOperand(g.result)),
                    sumName(g));
  finishTrained(sums, entry);
  auto optimizer = func->getAttrOfType<OptimizerAttrInterface>(kOptimizerAttr);
  func->setAttr(kAccumulateAttr,
                b.getI64IntegerAttr(optimizer.getAccumulate()));
  return success();
}
