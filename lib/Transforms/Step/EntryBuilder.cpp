//===- EntryBuilder.cpp - new arguments and results of an entry ----------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Transforms/Step/EntryBuilder.h"
#include "aicf/Dialect/AICF/AICF.h"

using namespace mlir;
using namespace aicf;
using namespace aicf::step;

EntryBuilder::EntryBuilder(func::FuncOp func)
    : func(func), builder(func.getContext()),
      returned(func.front().getTerminator()->getOperands()) {
  func.getAllArgAttrs(argAttrs);
  func.getAllResultAttrs(resAttrs);
  argAttrs.resize(func.getNumArguments(), builder.getDictionaryAttr({}));
  resAttrs.resize(func.getNumResults(), builder.getDictionaryAttr({}));
}

BlockArgument EntryBuilder::addArgument(Type type, const Twine &name,
                                        StringRef role, NamedAttrList attrs) {
  attrs.set(kRoleAttr, builder.getStringAttr(role));
  attrs.set(kNameAttr, builder.getStringAttr(name));
  argAttrs.push_back(attrs.getDictionary(func.getContext()));
  return func.front().addArgument(type, func.getLoc());
}

BlockArgument EntryBuilder::addState(Type type, const Twine &name,
                                     Attribute init, StringRef derivedFrom) {
  NamedAttrList attrs;
  if (init)
    attrs.set(kInitAttr, init);
  if (!derivedFrom.empty())
    attrs.set(kDerivedFromAttr, builder.getStringAttr(derivedFrom));
  return addArgument(type, name, "state", attrs);
}

BlockArgument EntryBuilder::addScratch(Type type, const Twine &name) {
  NamedAttrList attrs;
  attrs.set(kScratchAttr, builder.getUnitAttr());
  return addArgument(type, name, "state", attrs);
}

BlockArgument EntryBuilder::addHyper(Type type, const Twine &name) {
  return addArgument(type, name, "hyper", {});
}

BlockArgument EntryBuilder::addConstant(DenseElementsAttr data,
                                        const Twine &name) {
  NamedAttrList attrs;
  attrs.set(kDataAttr, data);
  return addArgument(data.getType(), name, "constant", attrs);
}

void EntryBuilder::addResult(Value value, StringRef kind, const Twine &name) {
  returned.push_back(value);
  resAttrs.push_back(builder.getDictionaryAttr(
      builder.getNamedAttr(kind, builder.getStringAttr(name))));
}

void EntryBuilder::addUpdate(Value value, const Twine &name) {
  addResult(value, kUpdatesAttr, name);
}

void EntryBuilder::addOutput(Value value, const Twine &name) {
  addResult(value, kNameAttr, name);
}

void EntryBuilder::addGradient(Value value, StringRef param) {
  addOutput(value, "grad:" + param);
  NamedAttrList attrs(resAttrs.back());
  attrs.set(kGradAttr, builder.getStringAttr(param));
  resAttrs.back() = attrs.getDictionary(func.getContext());
}

void EntryBuilder::mapResults(llvm::function_ref<Value(Value)> map) {
  for (Value &value : returned)
    value = map(value);
}

void EntryBuilder::filterResults(llvm::function_ref<bool(unsigned)> keep) {
  SmallVector<Value> keptValues;
  SmallVector<DictionaryAttr> keptAttrs;
  for (unsigned i = 0; i < returned.size(); ++i)
    if (keep(i)) {
      keptValues.push_back(returned[i]);
      keptAttrs.push_back(resAttrs[i]);
    }
  returned = std::move(keptValues);
  resAttrs = std::move(keptAttrs);
}

void EntryBuilder::eraseArgument(unsigned index) {
  argAttrs.erase(argAttrs.begin() + index);
  func.front().eraseArgument(index);
}

void EntryBuilder::dropAttr(StringRef name) {
  for (auto *all : {&argAttrs, &resAttrs})
    for (DictionaryAttr &attrs : *all) {
      NamedAttrList kept(attrs);
      kept.erase(name);
      attrs = kept.getDictionary(func.getContext());
    }
}

void EntryBuilder::finish() {
  auto terminator = cast<func::ReturnOp>(func.front().getTerminator());
  terminator.getOperandsMutable().assign(returned);
  func.setFunctionType(builder.getFunctionType(
      func.front().getArgumentTypes(), ValueRange(returned).getTypes()));
  func.setAllArgAttrs(argAttrs);
  func.setAllResultAttrs(resAttrs);
}
