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

/// A call of this primitive alone, without a kernel yet.
static bool isUnfused(CallOp call, OpKind kind) {
  return call.isOnly(kind) && call.getKid().empty();
}

/// True for a binding by which calls are found: of an operand that every call
/// of the kind has. Each node but the first has one.
static bool isIndexed(const PatternInfo &pattern, const BindingInfo &binding) {
  const OpInfo &info = infoOf(pattern.nodes[binding.operand.node].kind);
  return info.operands[binding.operand.slot].presence == Presence::Plain;
}

PatternCandidates::PatternCandidates(func::FuncOp func,
                                     const PatternInfo &pattern)
    : pattern(pattern) {
  for (auto call : func.getOps<CallOp>())
    if (isUnfused(call, pattern.nodes[0].kind))
      anchors.push_back(call);
  for (auto [b, binding] : llvm::enumerate(pattern.bindings)) {
    auto [node, slot] = binding.operand;
    if (anchors.empty() || !isIndexed(pattern, binding))
      continue;
    for (auto call : func.getOps<CallOp>())
      if (isUnfused(call, pattern.nodes[node].kind))
        readers[{call.getPrimitiveOperand(0, slot), b}].calls.push_back(call);
  }
}

PatternCandidates::List *PatternCandidates::listOf(unsigned node) {
  List *shortest = nullptr;
  for (auto [b, binding] : llvm::enumerate(pattern.bindings)) {
    if (binding.operand.node != node || !isIndexed(pattern, binding))
      continue;
    auto it = readers.find({boundValue(binding), b});
    if (it == readers.end())
      return nullptr;
    if (!shortest || it->second.calls.size() < shortest->calls.size())
      shortest = &it->second;
  }
  return shortest;
}

Value PatternCandidates::boundValue(const BindingInfo &binding) const {
  CallOp call = chosen[binding.to.node];
  return binding.isResult ? call.getFirstPrimitiveResult(binding.to.slot)
                          : call.getPrimitiveOperand(0, binding.to.slot);
}

bool PatternCandidates::isBound(CallOp call, unsigned node) const {
  if (llvm::is_contained(chosen, call))
    return false; // two nodes of one kind may read the same value
  const size_t numSlots = call.getCode().primitives[0].operands.size();
  return llvm::all_of(pattern.bindings, [&](const BindingInfo &binding) {
    const auto &[reader, slot] = binding.operand;
    if (reader != node || slot >= numSlots)
      return true;
    return call.getPrimitiveOperand(0, slot) == boundValue(binding);
  });
}

bool PatternCandidates::extend(function_ref<bool(ArrayRef<CallOp>)> take) {
  unsigned node = chosen.size();
  if (node == pattern.nodes.size()) {
    SmallVector<CallOp> parts(
        llvm::make_filter_range(chosen, [](CallOp call) { return !!call; }));
    return take(parts);
  }
  auto tryWith = [&](CallOp call) {
    chosen.push_back(call);
    bool isTaken = extend(take);
    chosen.pop_back();
    return isTaken;
  };
  List *list = listOf(node);
  for (size_t i = list ? list->head : 0; list && i < list->calls.size(); ++i)
    if (gone.contains(list->calls[i]))
      list->head += i == list->head;
    else if (isBound(cast<CallOp>(list->calls[i]), node) &&
             tryWith(cast<CallOp>(list->calls[i])))
      return true;
  return pattern.nodes[node].isOptional && tryWith({});
}

bool PatternCandidates::isKept(Value result) const {
  auto kept = llvm::map_range(pattern.keeps, [&](NodeSlot where) -> Value {
    CallOp call = chosen[where.node];
    return call.getFirstPrimitiveResult(where.slot);
  });
  return llvm::is_contained(kept, result);
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
    for (unsigned b = 0; b < pattern.bindings.size(); ++b)
      if (auto it = readers.find({old, b}); it != readers.end()) {
        moved.push_back({{now, b}, std::move(it->second)});
        readers.erase(it);
      }
  for (auto &[key, list] : moved)
    readers[key] = std::move(list);
}
