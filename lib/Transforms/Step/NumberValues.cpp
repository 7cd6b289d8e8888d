//===- NumberValues.cpp - labels in trace order ---------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Goes through the ops in order and gives the next number to each operand and
// result that has none; arguments that nobody reads come last.
//===----------------------------------------------------------------------===//

#include "lib/Dialect/Entry.h"
#include "lib/Transforms/Passes.h"

namespace aicf {
#define GEN_PASS_DEF_NUMBERVALUES
#include "aicf/Passes.h.inc"
} // namespace aicf

using namespace mlir;
using namespace aicf;
using namespace aicf::step;

void aicf::numberValues(func::FuncOp func) {
  Builder builder(func.getContext());
  llvm::DenseMap<Value, int64_t> vids;
  vids.reserve(func.getNumArguments() + func.front().getOperations().size());
  auto label = [&](Value value) {
    return vids.try_emplace(value, vids.size()).first->second;
  };
  int64_t nodes = 0;
  for (Operation &op : func.front().without_terminator()) {
    ++nodes;
    for (Value operand : op.getOperands())
      label(operand);
    SmallVector<int64_t> results;
    for (Value result : op.getResults())
      results.push_back(label(result));
    op.setDiscardableAttr(kVidsAttr, builder.getDenseI64ArrayAttr(results));
  }
  // One array at the end: setArgAttr in a loop is quadratic.
  SmallVector<DictionaryAttr> argAttrs;
  func.getAllArgAttrs(argAttrs);
  argAttrs.resize(func.getNumArguments(), builder.getDictionaryAttr({}));
  for (BlockArgument arg : func.getArguments()) {
    NamedAttrList attrs(argAttrs[arg.getArgNumber()]);
    attrs.set(kVidAttr, builder.getI64IntegerAttr(label(arg)));
    argAttrs[arg.getArgNumber()] = attrs.getDictionary(func.getContext());
  }
  func.setAllArgAttrs(argAttrs);
  func->setDiscardableAttr(kValuesAttr, builder.getI64IntegerAttr(vids.size()));
  func->setDiscardableAttr(kNodesAttr, builder.getI64IntegerAttr(nodes));
}

namespace {
struct NumberValues : aicf::impl::NumberValuesBase<NumberValues> {
  void runOnOperation() override {
    if (isEntry(getOperation()))
      numberValues(getOperation());
  }
};
} // namespace
