//===- OptimizerRates.cpp - hypers that parameters are trained with -------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Transforms/Step/OptimizerRates.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace aicf;
using namespace aicf::step;

/// An argument of that name, added if it is not there.
static FailureOr<Value> hyperOf(func::FuncOp func, EntrySignature &signature,
                                EntryBuilder &entry, StringRef name,
                                Type type) {
  int64_t i = signature.findArgument(name);
  if (i < 0)
    return Value(entry.addHyper(type, name));
  if (signature.arguments[i].role == Role::Hyper &&
      func.getArgument(i).getType() == type)
    return Value(func.getArgument(i));
  return func.emitError() << "argument " << i << " (\"" << name
                          << "\") is of role "
                          << signature.arguments[i].roleName << " and type "
                          << func.getArgument(i).getType()
                          << ", but 'aicf.optimizer' needs a hyper of " << type
                          << " there";
}

/// Either a group says the numbers of a parameter, or the parameter does.
LogicalResult OptimizerRates::checkMarks(const Gradient &g) {
  unsigned arg = g.param.getArgNumber();
  auto group = func.getArgAttrOfType<StringAttr>(arg, kGroupAttr);
  if (group && !areGroups())
    return func.emitError() << "parameter \"" << g.name << "\" has 'aicf.group' "
                            << group << ", and 'aicf.optimizer' has no groups";
  if (!optimizer.countsSteps() && func.getArgAttr(arg, kStepLagAttr))
    return func.emitError() << "parameter \"" << g.name << "\" has '"
                            << kStepLagAttr
                            << "', and 'aicf.optimizer' does not count updates";
  for (StringRef mark : {kWeightDecayAttr, kRateScaleAttr})
    if (areGroups() && func.getArgAttr(arg, mark))
      return func.emitError() << "parameter \"" << g.name << "\" has '" << mark
                              << "', but its group sets that number";
  return success();
}

LogicalResult OptimizerRates::add(EntrySignature &signature,
                                  EntryBuilder &entry,
                                  ArrayRef<Gradient> gradients) {
  auto own = dyn_cast<StringAttr>(optimizer.getRate());
  if (areGroups() && !own)
    return func.emitError() << "'aicf.optimizer' has groups, whose numbers are "
                               "hypers: lr is a schedule, expected the name of "
                               "a hyper";
  Type first = getElementTypeOrSelf(gradients[0].param.getType());
  Type type = RankedTensorType::get({}, first);
  if (areGroups())
    type = RankedTensorType::get({optimizer.getGroupSize()},
                                 Float32Type::get(func.getContext()));
  for (const Gradient &g : gradients) {
    if (failed(checkMarks(g)))
      return failure();
    auto name = func.getArgAttrOfType<StringAttr>(g.param.getArgNumber(),
                                                  kGroupAttr);
    name = name ? name : own;
    if (!name || byName.contains(name.getValue()))
      continue;
    FailureOr<Value> hyper =
        hyperOf(func, signature, entry, name.getValue(), type);
    if (failed(hyper))
      return failure();
    byName[name.getValue()] = *hyper;
  }
  return success();
}

Value OptimizerRates::of(BlockArgument param) {
  auto name =
      func.getArgAttrOfType<StringAttr>(param.getArgNumber(), kGroupAttr);
  if (!name)
    name = dyn_cast<StringAttr>(optimizer.getRate());
  return name ? byName.lookup(name.getValue()) : Value();
}

Value aicf::firstOfGroup(OpBuilder &b, Location loc, Value group,
                         Type element) {
  Value first = SliceOp::create(b, loc, group, ArrayRef<int64_t>{0},
                                ArrayRef<int64_t>{1}, DenseI64ArrayAttr());
  Value scalar = ReshapeOp::create(b, loc, first, ArrayRef<int64_t>());
  return castTo(b, scalar, element);
}
