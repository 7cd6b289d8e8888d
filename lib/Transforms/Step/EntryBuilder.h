//===- EntryBuilder.h - new arguments and results of an entry ---*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Collects states and results that a pass adds to an entry, and writes the
// signature once: setting attributes one by one is quadratic.
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_TRANSFORMS_STEP_ENTRYBUILDER_H
#define AICF_LIB_TRANSFORMS_STEP_ENTRYBUILDER_H

#include "lib/Dialect/Entry.h"

namespace aicf {
using namespace mlir;

class EntryBuilder {
public:
  explicit EntryBuilder(func::FuncOp func);

  /// A new argument of role state. `init` may be null.
  BlockArgument addState(Type type, const Twine &name, Attribute init = {},
                         StringRef derivedFrom = {});
  /// A new state that no checkpoint has.
  BlockArgument addScratch(Type type, const Twine &name);
  /// A new 0-d argument of role hyper.
  BlockArgument addHyper(Type type, const Twine &name);
  /// A new argument of role constant.
  BlockArgument addConstant(DenseElementsAttr data, const Twine &name);
  /// A new result that updates the argument called `name`.
  void addUpdate(Value value, const Twine &name);
  /// A new output.
  void addOutput(Value value, const Twine &name);
  /// A new output grad:PARAM, the gradient of the parameter called so.
  void addGradient(Value value, StringRef param);
  /// Replaces what each result so far returns.
  void mapResults(llvm::function_ref<Value(Value)> map);
  /// Keeps only the results for which `keep` says so.
  void filterResults(llvm::function_ref<bool(unsigned)> keep);
  /// Removes an argument that nobody reads.
  void eraseArgument(unsigned index);
  /// Drops an attribute from every argument and result.
  void dropAttr(StringRef name);
  /// Writes arguments, results and their attributes.
  void finish();

private:
  BlockArgument addArgument(Type type, const Twine &name, StringRef role,
                            NamedAttrList attrs);
  void addResult(Value value, StringRef kind, const Twine &name);

  func::FuncOp func;
  Builder builder;
  SmallVector<DictionaryAttr> argAttrs, resAttrs;
  SmallVector<Value> returned;
};

} // namespace aicf

#endif // AICF_LIB_TRANSFORMS_STEP_ENTRYBUILDER_H
