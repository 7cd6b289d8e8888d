//===- PatternReaders.cpp - calls that may be in a pattern ----------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Transforms/RT/PatternReaders.h"

using namespace mlir;
using namespace aicf;
using namespace aicf::rt;

bool aicf::rt::isUnfused(CallOp call, OpKind kind) {
  return call && call.isOnly(kind) && call.getKid().empty();
}

const BindingInfo *PatternReaders::bindingOf(const PatternInfo &pattern,
                                             size_t element) {
  auto *found = llvm::find_if(pattern.bindings, [&](const BindingInfo &b) {
    return b.operand.element == element;
  });
  return found == pattern.bindings.end() ? nullptr : found;
}

PatternReaders::PatternReaders(func::FuncOp func, const PatternInfo &pattern) {
  for (unsigned e = 1; e < pattern.elements.size(); ++e)
    if (const BindingInfo *b = bindingOf(pattern, e))
      for (auto call : func.getOps<CallOp>())
        if (isUnfused(call, pattern.elements[e].kind))
          if (Value operand = call.getStepOperand(0, b->operand.slot))
            lists[{operand, e}].calls.push_back(call);
}

CallOp PatternReaders::first(Value value, size_t element,
                             llvm::function_ref<bool(CallOp)> fits) {
  auto it = lists.find({value, unsigned(element)});
  if (it == lists.end())
    return {};
  List &list = it->second;
  for (size_t i = list.head; i < list.calls.size(); ++i)
    if (gone.contains(list.calls[i]))
      list.head += i == list.head;
    else if (auto call = cast<CallOp>(list.calls[i]); fits(call))
      return call;
  return {};
}

void PatternReaders::replace(ArrayRef<CallOp> parts, ArrayRef<Value> before,
                             ValueRange after) {
  for (CallOp part : parts)
    gone.insert(part);
  // All are taken out first: a new value may lie where an old one lay.
  SmallVector<std::pair<std::pair<Value, unsigned>, List>> moved;
  for (auto [old, now] : llvm::zip_equal(before, after))
    for (unsigned e = 1; e < kMaxElements; ++e)
      if (auto it = lists.find({old, e}); it != lists.end()) {
        moved.push_back({{now, e}, std::move(it->second)});
        lists.erase(it);
      }
  for (auto &[key, list] : moved)
    lists[key] = std::move(list);
}
