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

bool aicf::rt::areLarge(const MergedCall &merged, const Costs &costs) {
  uint64_t bytes = 0;
  for (Value value : llvm::concat<const Value>(merged.operands, merged.results))
    bytes += bytesOf(value.getType());
  return bytes > uint64_t(costs.cachedBytes);
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

Decision aicf::rt::mayBeOne(const MergedCall &merged,
                            const KernelChooser &chooser) {
  const bool hasProduct = positionOfProduct(merged.body.getBody()).has_value();
  std::optional<PatternId> pattern = merged.body.getFacts().pattern;
  if (hasProduct && (!pattern || !patternOf(*pattern)->graph))
    return Decision::no("a product goes together with elementwise primitives "
                        "alone, in the limits of a graph");
  if (!pattern)
    return Decision::no("one call would have too many primitives, operands or "
                        "results, would repeat what is not reduced, or would "
                        "read what it repeats in another way, too");
  StatusOr<TypedBody> typed = typedBodyOf(merged);
  if (!typed.ok())
    return Decision::no(
        [message = std::string(typed.status().message())] { return message; });
  if (!keepsTypes(merged, *typed))
    return hasProduct
               ? Decision::no(
                     "the product would have the type of what it multiplies")
               : Decision::no(
                     "what is repeated would be as long as what is reduced");
  if (!chooser.choose(merged, *typed))
    return chooser.noKernelFor(*std::move(typed));
  // What is small stays in a cache, and a sum apart runs beside products on a
  // stream.
  if (hasSumsAmongOthers(merged) && !areLarge(merged, chooser.costs()))
    return Decision::no(
        "sums of few bytes are faster apart from what others read");
  return {};
}

Decided<FusedCall> aicf::rt::fusedCallOf(CallOp maker, CallOp reader,
                                         const KernelChooser &chooser,
                                         const Updaters &updaters) {
  CallOp parts[] = {maker, reader};
  MergedCall merged = mergeInGraphOrder(parts, [&](Value value) {
    return isReadOnlyBy(value, reader, [](ViewOp view) {
      return axisOfRepeat(view.getView()).has_value();
    });
  });
  if (Decision decision = mayBeOne(merged, chooser); !decision)
    return decision;
  if (roundsEarlier(maker))
    return Decision::no("the kernel of the first one rounds its product later");
  Decided<CallOp> place =
      placeFor(merged, maker, reader, updaters, chooser.costs());
  if (!place)
    return place.asDecision();
  return FusedCall{std::move(merged), *place};
}
