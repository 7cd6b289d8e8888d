//===- Activity.cpp - what a loss is differentiated by --------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Transforms/Step/Activity.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace aicf;
using namespace aicf::step;

/// The results that can have a derivative: integers have none.
static auto derivablesOf(Operation *op) {
  return llvm::make_filter_range(op->getResults(), [](Value value) {
    return isa<FloatType>(getElementTypeOrSelf(value));
  });
}

static bool dependsOn(Operation *op, const llvm::DenseSet<Value> &values) {
  return llvm::any_of(op->getOperands(),
                      [&](Value v) { return values.contains(v); });
}

FailureOr<Activity> Activity::of(func::FuncOp func) {
  Activity activity(func);
  if (failed(activity.findTrained()))
    return failure();
  activity.findVaried();
  return activity;
}

LogicalResult Activity::findTrained() {
  EntrySignature signature(func);
  // What updates a parameter is the optimizer's to say, or the user's.
  llvm::StringMap<size_t> updatedBy;
  for (auto [i, result] : llvm::enumerate(signature.results))
    if (func->hasAttr(kOptimizerAttr))
      updatedBy[result.updates] = i;
  llvm::StringSet<> asked;
  for (unsigned i = 0; i < func.getNumArguments(); ++i)
    if (auto name = func.getArgAttrOfType<StringAttr>(i, kGradientOfAttr))
      asked.insert(name.getValue());
  for (auto [i, arg] : llvm::enumerate(signature.arguments)) {
    bool isAsked = arg.role == Role::Input && asked.contains(arg.name);
    if (!isAsked && (arg.role != Role::Param || func.getArgAttr(i, kFrozenAttr)))
      continue;
    if (arg.name.empty())
      return func.emitError() << "argument " << i
                              << " is a parameter without 'aicf.name', after "
                                 "which its gradient is called";
    auto type = cast<RankedTensorType>(func.getArgument(i).getType());
    if (!isa<FloatType>(type.getElementType()))
      return func.emitError()
             << (isAsked ? "input \"" : "parameter \"") << arg.name << "\" is "
             << type << ": integers have no gradient"
             << (isAsked ? "" : "; mark it aicf.frozen, or make it a state");
    if (auto it = updatedBy.find(arg.name); it != updatedBy.end())
      return func.emitError()
             << "result " << it->second << " updates \"" << arg.name
             << "\", which 'aicf.optimizer' trains: mark the parameter "
                "aicf.frozen, or remove the update";
    params.push_back({func.getArgument(i), arg.name.str(), {}, {}});
  }
  if (params.empty())
    return func.emitError()
           << "has 'aicf.minimize', but no parameter to train: "
              "give an argument the role \"param\"";
  llvm::StringMap<Trained *> byName;
  for (Trained &param : params)
    byName[param.name] = &param;
  for (auto [i, arg] : llvm::enumerate(signature.arguments))
    if (Trained *param = byName.lookup(arg.derivedFrom))
      param->copies.push_back(func.getArgument(i));
  return findPlaces();
}

/// What stands for gradients, by the names of what they are of.
LogicalResult Activity::findPlaces() {
  for (unsigned i = 0; i < func.getNumArguments(); ++i) {
    auto name = func.getArgAttrOfType<StringAttr>(i, kGradientOfAttr);
    if (!name)
      continue;
    auto of = llvm::find_if(params, [&](const Trained &t) {
      return t.name == name.getValue();
    });
    if (of == params.end())
      return func.emitError()
             << "argument " << i << " is the gradient of " << name
             << ", which is neither a trained parameter nor an input";
    if (of->place)
      return func.emitError() << "arguments " << of->place.getArgNumber()
                              << " and " << i << " are both the gradient of "
                              << name;
    of->place = func.getArgument(i);
    if (of->place.getType() != of->param.getType())
      return func.emitError() << "argument " << i << " is the gradient of "
                              << name << " and " << of->place.getType()
                              << ", expected " << of->param.getType();
  }
  return success();
}

bool aicf::leadsBackTo(Operation *op, const llvm::DenseSet<Value> &values) {
  if (auto through = dyn_cast<StraightThroughOp>(op))
    return values.contains(through.getWay());
  return !isa<StopGradientOp>(op) && dependsOn(op, values);
}

void Activity::findVaried() {
  for (const Trained &param : params) {
    varied.insert(param.param);
    varied.insert_range(param.copies);
  }
  for (Operation &op : func.front())
    addDependents(&op, varied);
}

void aicf::addDependents(Operation *op, llvm::DenseSet<Value> &varied) {
  if (leadsBackTo(op, varied))
    varied.insert_range(derivablesOf(op));
}

StringRef Activity::paramBehind(Operation *op) const {
  llvm::SetVector<Value> seen(op->operand_begin(), op->operand_end());
  for (size_t i = 0; i < seen.size(); ++i) {
    for (const Trained &param : params)
      if (seen[i] == param.param || llvm::is_contained(param.copies, seen[i]))
        return param.name;
    if (isVaried(seen[i])) // of arguments, only the params above are
      seen.insert_range(seen[i].getDefiningOp()->getOperands());
  }
  return {};
}

LogicalResult
Activity::reportUnreached(const Trained &param, Value loss,
                          llvm::function_ref<bool(Value)> hasCotangent) const {
  func::FuncOp entry = func;
  llvm::DenseSet<Value> behind{param.param}, ahead{loss};
  behind.insert_range(param.copies);
  for (Operation &op : entry.front().without_terminator())
    if (dependsOn(&op, behind)) // what makes an integer cuts, not what reads it
      behind.insert_range(derivablesOf(&op));
  for (Operation &op : llvm::reverse(entry.front().without_terminator())) {
    if (llvm::none_of(op.getResults(),
                      [&](Value v) { return ahead.contains(v); }))
      continue;
    ahead.insert_range(op.getOperands());
    if (dependsOn(&op, behind) && llvm::none_of(op.getResults(), hasCotangent))
      return op.emitOpError()
             << "cuts the loss off from parameter \"" << param.name
             << "\": mark that aicf.frozen if this is meant";
  }
  return entry.emitError() << "the loss does not depend on parameter \""
                           << param.name << "\" (argument "
                           << param.param.getArgNumber()
                           << "): mark it aicf.frozen if this is meant";
}
