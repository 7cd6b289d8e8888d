//===- GradientPlaces.cpp - gradients that an entry reads -----------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Transforms/Step/GradientPlaces.h"

#include "mlir/Analysis/TopologicalSortUtils.h"

using namespace mlir;
using namespace aicf;

void aicf::fillGradientPlaces(
    func::FuncOp func, EntryBuilder &entry,
    ArrayRef<std::pair<BlockArgument, Value>> places) {
  if (places.empty())
    return;
  llvm::DenseMap<Value, Value> gradientAt(places.begin(), places.end());
  for (auto [place, gradient] : places)
    place.replaceAllUsesWith(gradient);
  entry.mapResults([&](Value v) {
    Value gradient = gradientAt.lookup(v);
    return gradient ? gradient : v;
  });
  // From the last on: the numbers of those in front stay.
  SmallVector<unsigned> numbers = llvm::map_to_vector(
      places, [](const auto &each) { return each.first.getArgNumber(); });
  llvm::sort(numbers, std::greater<>());
  for (unsigned number : numbers)
    entry.eraseArgument(number);
  sortTopologically(&func.front());
}

LogicalResult aicf::checkNoGradientPlace(func::FuncOp func) {
  for (unsigned i = 0; i < func.getNumArguments(); ++i)
    if (func.getArgAttr(i, step::kGradientOfAttr))
      return func.emitError()
             << "argument " << i
             << " is a gradient, but no result has 'aicf.minimize'";
  return success();
}
