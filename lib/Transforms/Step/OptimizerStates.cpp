//===- OptimizerStates.cpp - which optimizer a state belongs to -----------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Transforms/Step/OptimizerStates.h"
#include "lib/Transforms/Step/EntryBuilder.h"
#include "lib/Transforms/Step/Gradients.h"

#include "llvm/ADT/IntEqClasses.h"

using namespace mlir;
using namespace aicf;
using namespace aicf::step;

FailureOr<OptimizerStates>
OptimizerStates::create(ArrayRef<func::FuncOp> entries) {
  OptimizerStates states;
  SmallVector<func::FuncOp> unnamed;
  for (func::FuncOp func : entries) {
    if (!func->hasAttr(kOptimizerAttr))
      continue;
    if (auto name = func->getAttrOfType<StringAttr>(kStepCountAttr))
      states.counters[func] = name.str();
    else
      unnamed.push_back(func);
  }
  llvm::IntEqClasses sameOptimizer(unnamed.size());
  llvm::StringMap<unsigned> trainedBy;
  for (auto [i, func] : llvm::enumerate(unnamed)) {
    FailureOr<SmallVector<Gradient>> gradients = findGradients(func);
    if (failed(gradients))
      return failure();
    for (const Gradient &g : *gradients)
      sameOptimizer.join(trainedBy.try_emplace(g.name, i).first->second, i);
  }
  for (auto [i, func] : llvm::enumerate(unnamed)) {
    unsigned leader = sameOptimizer.findLeader(i);
    states.counters[func] =
        leader == 0 ? "step" : (unnamed[leader].getName() + "/step").str();
  }
  return states;
}

LogicalResult OptimizerStates::claim(func::FuncOp func, StringRef state) {
  auto it = claimed.try_emplace(state, func).first;
  if (counterOf(it->second) == counterOf(func))
    return success();
  return func.emitError() << "the optimizers of @" << it->second.getName()
                          << " and @" << func.getName()
                          << " would share the state \"" << state
                          << "\": train the parameter by one of them, or count "
                             "the steps of both in one 'aicf.step_count'";
}
