//===- FusedCall.cpp - one call for an elementwise call and its reader ----===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Transforms/RT/FusedCall.h"
#include "lib/Ops/Graphs.h"
#include "lib/Transforms/RT/CallUses.h"
#include "lib/Transforms/RT/FusionPlace.h"
#include "lib/Transforms/RT/MergeCalls.h"

using namespace mlir;
using namespace aicf;
using namespace aicf::rt;

/// True for a view whose rows do not lie together in memory: the kernel of
/// copies moves tiles of it.
static bool wantsTiles(Value operand) {
  TensorDesc desc = toTensorDesc(operand.getType());
  return desc.layout == Layout::Strided && desc.width() != 1 &&
         desc.stride(desc.rank - 1u) > 1;
}

/// A call that may be part of a graph. What is kept for the backward pass is a
/// call of its own, as the plan says of it.
bool aicf::rt::mayBePart(CallOp call, bool takesProducts) {
  return call.getKid().empty() && !call.isOnly(OpKind::CopySaved) &&
         llvm::all_of(call.getCode().primitives,
                      [&](const Primitive &primitive) {
                        return mayBeInSomeGraph(primitive.kind) ||
                               (takesProducts &&
                                isProductOfGraph(primitive.kind));
                      }) &&
         !(call.isOnly(OpKind::Copy) && wantsTiles(call.getArgs()[0]));
}

/// True if sums are worth being a part of a call that others wait for. What is
/// small stays in a cache, and a sum apart runs beside products on a stream.
bool aicf::rt::areLarge(const MergedCall &merged, DeviceKind target) {
  const uint64_t leastMiB = target == DeviceKind::CPU ? 1 : 64;
  uint64_t bytes = 0;
  for (Value value : llvm::concat<const Value>(merged.operands, merged.results))
    bytes += bytesOf(value.getType());
  return bytes > leastMiB << 20;
}

/// True if a product of 16 bits has a kernel that goes on with more of them,
/// which a graph would round first.
static bool roundsEarlier(CallOp maker) {
  const PatternInfo *pattern = patternOf(*maker.getFacts().pattern);
  return positionOfProduct(maker.getCode()) && pattern && !pattern->graph &&
         sizeOf(toTensorDesc(maker.getArgs()[0].getType()).dtype) == 2;
}

/// True if the call has sums, none of them inside, and other results.
static bool hasSumsAmongOthers(const MergedCall &merged) {
  const PatternInfo *pattern = patternOf(*merged.body.getFacts().pattern);
  const bool areInside = pattern->graph && pattern->graph->maxReductions > 0;
  const Body &body = merged.body.getBody();
  const auto numSums = llvm::count_if(
      body.results, [&](uint32_t result) { return isSumOf(body, result); });
  return !areInside && numSums > 0 && size_t(numSums) < body.results.size();
}

std::optional<FusedCall> aicf::rt::fusedCallOf(CallOp maker, CallOp reader,
                                               const KernelChooser &chooser,
                                               const Updaters &updaters,
                                               DeviceKind target,
                                               std::string &whyNot) {
  CallOp parts[] = {maker, reader};
  MergedCall merged = mergeInGraphOrder(parts, [&](Value value) {
    return isReadOnlyBy(value, reader, [](ViewOp view) {
      return axisOfRepeat(view.getView()).has_value();
    });
  });
  const bool hasProduct = positionOfProduct(merged.body.getBody()).has_value();
  std::optional<PatternId> pattern = merged.body.getFacts().pattern;
  if (!pattern || (hasProduct && !patternOf(*pattern)->graph)) {
    whyNot = hasProduct ? "a product goes together with elementwise primitives "
                          "alone, in the limits of a graph"
                        : "one call would have too many primitives, operands "
                          "or results, would repeat what is not reduced, or "
                          "would read what it repeats in another way, too";
    return {};
  }
  StatusOr<TypedBody> typed = typedBodyOf(merged);
  if (!typed.ok()) {
    whyNot = typed.status().message();
    return {};
  }
  if (!keepsTypes(merged, *typed)) {
    whyNot = hasProduct
                 ? "the product would have the type of what it multiplies"
                 : "what is repeated would be as long as what is reduced";
    return {};
  }
  if (!chooser.choose(merged, *typed)) {
    whyNot = "the target has no kernel for them in one call" +
             chooser.passedOver(*typed);
    return {};
  }
  if (hasSumsAmongOthers(merged) && !areLarge(merged, target)) {
    whyNot = "sums of few bytes are faster apart from what others read";
    return {};
  }
  if (hasProduct && roundsEarlier(maker)) {
    whyNot = "the kernel of the first one rounds its product later";
    return {};
  }
  CallOp place = placeFor(merged, maker, reader, updaters, whyNot);
  if (!place)
    return {};
  return FusedCall{std::move(merged), place};
}
