//===- PatternCandidates.cpp - calls that may be in a pattern -------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Transforms/RT/PatternCandidates.h"

using namespace mlir;
using namespace aicf;
using namespace aicf::rt;

bool aicf::rt::isUnfused(CallOp call, OpKind kind) {
  return call && call.isOnly(kind) && call.getKid().empty();
}

const BindingInfo *PatternCandidates::bindingOf(size_t element) const {
  auto *found = llvm::find_if(pattern.bindings, [&](const BindingInfo &b) {
    return b.operand.element == element;
  });
  return found == pattern.bindings.end() ? nullptr : found;
}

PatternCandidates::PatternCandidates(func::FuncOp func,
                                     const PatternInfo &pattern)
    : pattern(pattern) {
  for (auto call : func.getOps<CallOp>())
    if (isUnfused(call, pattern.elements[0].kind))
      anchors.push_back(call);
  for (unsigned e = 1; !anchors.empty() && e < pattern.elements.size(); ++e)
    if (const BindingInfo *b = bindingOf(e))
      for (auto call : func.getOps<CallOp>())
        if (isUnfused(call, pattern.elements[e].kind))
          if (Value operand = call.getStepOperand(0, b->operand.slot))
            readers[{operand, e}].calls.push_back(call);
}

/// What stands at the place that a binding refers to, among the chosen calls.
Value PatternCandidates::boundValue(const BindingInfo &binding) const {
  CallOp call = chosen[binding.to.element];
  return binding.isResult ? call.getFirstStepResult(binding.to.slot)
                          : call.getStepOperand(0, binding.to.slot);
}

bool PatternCandidates::extend(function_ref<bool(ArrayRef<CallOp>)> take) {
  unsigned element = chosen.size();
  if (element == pattern.elements.size()) {
    SmallVector<CallOp> parts(
        llvm::make_filter_range(chosen, [](CallOp call) { return !!call; }));
    return take(parts);
  }
  auto tryWith = [&](CallOp call) {
    chosen.push_back(call);
    if (extend(take))
      return true;
    chosen.pop_back();
    return false;
  };
  const BindingInfo *binding = bindingOf(element);
  auto it =
      binding ? readers.find({boundValue(*binding), element}) : readers.end();
  if (it != readers.end()) {
    List &list = it->second;
    for (size_t i = list.head; i < list.calls.size(); ++i)
      if (gone.contains(list.calls[i]))
        list.head += i == list.head;
      else if (tryWith(cast<CallOp>(list.calls[i])))
        return true;
  }
  return pattern.elements[element].isOptional && tryWith({});
}

bool PatternCandidates::isKept(Value result) const {
  return llvm::any_of(pattern.keeps, [&](PlaceInfo place) {
    CallOp call = chosen[place.element];
    return call.getFirstStepResult(place.slot) == result;
  });
}

bool PatternCandidates::anyChoice(CallOp anchor,
                                  function_ref<bool(ArrayRef<CallOp>)> take) {
  chosen = {anchor};
  return extend(take);
}

void PatternCandidates::replace(ArrayRef<CallOp> parts, ArrayRef<Value> before,
                                ValueRange after) {
  for (CallOp part : parts)
    gone.insert(part);
  // All are taken out first: a new value may lie where an old one lay.
  SmallVector<std::pair<std::pair<Value, unsigned>, List>> moved;
  for (auto [old, now] : llvm::zip_equal(before, after))
    for (unsigned e = 1; e < kMaxElements; ++e)
      if (auto it = readers.find({old, e}); it != readers.end()) {
        moved.push_back({{now, e}, std::move(it->second)});
        readers.erase(it);
      }
  for (auto &[key, list] : moved)
    readers[key] = std::move(list);
}
