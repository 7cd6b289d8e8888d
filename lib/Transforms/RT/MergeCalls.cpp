//===- MergeCalls.cpp - several calls as one ------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Transforms/RT/MergeCalls.h"
#include "lib/Ops/BodyRules.h"
#include "lib/Ops/Fields.h"
#include "lib/Ops/Graphs.h"
#include "lib/Transforms/RT/CallUses.h"
#include "lib/Transforms/RT/KernelChoice.h"

#include "llvm/ADT/SmallVectorExtras.h"

using namespace mlir;
using namespace aicf;
using namespace aicf::rt;

namespace {
/// Makes one body of several: gives every value a number of its own.
class Merger {
public:
  Merger(ArrayRef<MergedCall> parts,
         llvm::function_ref<bool(Value)> staysInside)
      : parts(parts), staysInside(staysInside) {}

  MergedCall run(bool isGraph) {
    addOperands();
    body.numOperands = next = uint32_t(merged.operands.size());
    for (const MergedCall &part : parts)
      addPart(part);
    if (llvm::is_contained(merged.vids, -1))
      merged.vids.clear();
    if (isGraph)
      order(inGraphOrder(body));
    merged.body = BodyAttr::get(parts.front().body.getContext(), body);
    return std::move(merged);
  }

private:
  /// The graph's body, and what the call says of values by their numbers there.
  void order(const GraphForm &graph) {
    MergedCall before = std::move(merged);
    merged = MergedCall();
    merged.results = std::move(before.results);
    merged.locations = std::move(before.locations);
    for (auto [value, type] : before.typesBefore)
      for (auto [p, primitive] : llvm::enumerate(graph.primitives))
        if (body.numOperands + primitive == value) // each makes one value
          merged.typesBefore.emplace_back(graph.operands.size() + p, type);
    for (uint32_t operand : graph.operands)
      merged.operands.push_back(before.operands[operand]);
    if (!before.vids.empty())
      for (size_t primitive : graph.primitives)
        merged.vids.push_back(before.vids[primitive]);
    body = graph.body;
  }

  /// In a body of one primitive each slot has an operand of its own.
  bool isAlone() const {
    return parts.size() == 1 &&
           parts.front().body.getBody().primitives.size() == 1;
  }

  void addOperands() {
    llvm::SmallDenseSet<Value> isInside;
    for (const MergedCall &part : parts) {
      for (Value operand : part.operands)
        if (isAlone() ||
            (!isInside.contains(operand) &&
             !(isInside.contains(baseOf(operand)) && axisOfRepeat(operand)) &&
             numberOf.try_emplace(operand, merged.operands.size()).second))
          merged.operands.push_back(operand);
      isInside.insert(part.results.begin(), part.results.end());
    }
  }

  /// The number of what `part` reads as `operand`.
  int32_t numberFor(Value operand) {
    if (auto known = numberOf.find(operand); known != numberOf.end())
      return known->second;
    // A view that repeats what is inside.
    body.primitives.push_back(
        repeatAlong(*axisOfRepeat(operand), numberOf.lookup(baseOf(operand))));
    merged.vids.push_back(labelOf(operand));
    merged.typesBefore.push_back({next, toTensorDesc(operand.getType())});
    return numberOf[operand] = int32_t(next++);
  }

  void addPart(const MergedCall &part) {
    const Body &code = part.body.getBody();
    // By the numbers of the part's body.
    SmallVector<int32_t> newNumber;
    for (auto [i, operand] : llvm::enumerate(part.operands))
      newNumber.push_back(isAlone() ? int32_t(i) : numberFor(operand));
    const std::vector<uint32_t> made = valuesMade(code);
    for (auto [p, primitive] : llvm::enumerate(code.primitives)) {
      Primitive renumbered = primitive;
      for (int32_t &operand : renumbered.operands)
        if (operand != kAbsentValue)
          operand = newNumber[size_t(operand)];
      if (isRepeat(primitive.kind) || isProductOfGraph(primitive.kind))
        merged.typesBefore.push_back({next, typeIn(part, newNumber.size())});
      const auto number = uint32_t(newNumber.size());
      sayType(part, number, renumbered);
      repeatForSpread(part, p, renumbered);
      if (auto equal = findEqual(renumbered);
          equal && staysInsideOf(part, number)) {
        if (Value result = yielded(part, number))
          numberOf[result] = *equal;
        newNumber.push_back(*equal);
        continue;
      }
      for (uint32_t r = 0; r < primitive.numResults(); ++r, ++next) {
        const auto before = uint32_t(newNumber.size());
        if (Value result = yielded(part, before))
          addResult(result);
        addVid(part, made, before);
        newNumber.push_back(int32_t(next));
      }
      body.primitives.push_back(std::move(renumbered));
    }
    llvm::append_range(merged.locations, part.locations);
  }

  /// The label of value `number` of a part, where it makes it.
  void addVid(const MergedCall &part, const std::vector<uint32_t> &made,
              uint32_t number) {
    auto at = llvm::find(made, number);
    if (at == made.end())
      return;
    merged.vids.push_back(part.vids.empty() ? -1
                                            : part.vids[at - made.begin()]);
  }

  /// The result that a value of a part is, by its number there, or null.
  static Value yielded(const MergedCall &part, uint32_t number) {
    const std::vector<uint32_t> &all = part.body.getBody().results;
    auto at = llvm::find(all, number);
    return at == all.end() ? Value() : part.results[at - all.begin()];
  }

  bool staysInsideOf(const MergedCall &part, uint32_t number) const {
    Value result = yielded(part, number);
    return !result || staysInside(result);
  }

  /// A cast whose result, value `number` of its part, stays inside says its
  /// type.
  void sayType(const MergedCall &part, uint32_t number,
               Primitive &primitive) const {
    if (primitive.kind == OpKind::Cast && !isAlone() &&
        staysInsideOf(part, number))
      primitive.kind =
          conversionTo(typeIn(part, number).dtype).value_or(OpKind::Cast);
  }

  /// The value of an equal primitive. A cast does not say what it computes.
  std::optional<int32_t> findEqual(const Primitive &primitive) const {
    if (isAlone() || primitive.kind == OpKind::Cast ||
        !(mayBeInGraph(primitive.kind) || infoOf(primitive.kind).isSum()))
      return std::nullopt;
    auto equal = llvm::find(body.primitives, primitive);
    if (equal == body.primitives.end())
      return std::nullopt;
    return int32_t(body.firstResultOf(size_t(equal - body.primitives.begin())));
  }

  /// The type of a value of a part, by its number there.
  static TensorDesc typeIn(const MergedCall &part, size_t number) {
    StatusOr<TypedBody> typed = typedBodyOf(part);
    return typed.ok() ? typed->values()[number] : TensorDesc();
  }

  /// An operand that a primitive repeats, and that is inside, is repeated by an
  /// `expand`: of two dimensions, that is along the other one.
  void repeatForSpread(const MergedCall &part, size_t position,
                       Primitive &primitive) {
    const SpreadInfo *spread = spreadOf(primitive.kind);
    if (!spread || !spread->hasAxis() ||
        primitive.operands[spread->operand] < int32_t(body.numOperands))
      return;
    const TensorDesc like = typeIn(
        part, size_t(part.body.getBody().primitives[position].operands[0]));
    if (like.rank != 2)
      return;
    auto axis = std::get<int64_t>(
        decodeField(infoOf(primitive.kind).fields[0], primitive.attrs));
    primitive.kind = spread->as;
    primitive.attrs.assign(infoOf(spread->as).attrBytes, 0);
    int32_t &repeated = primitive.operands[spread->operand];
    body.primitives.push_back(repeatAlong(axis == 0 ? 1 : 0, repeated));
    merged.vids.push_back(merged.vids[size_t(repeated) - body.numOperands]);
    merged.typesBefore.push_back({next, like});
    repeated = int32_t(next++);
  }

  static Primitive repeatAlong(int64_t axis, int32_t operand) {
    Primitive repeat;
    repeat.kind = OpKind::Expand;
    const OpInfo &info = infoOf(repeat.kind);
    repeat.attrs.resize(info.attrBytes);
    encodeField(info.fields[0], axis, repeat.attrs);
    repeat.operands = {operand};
    return repeat;
  }

  void addResult(Value result) {
    numberOf[result] = int32_t(next);
    if (staysInside(result))
      return;
    body.results.push_back(next);
    merged.results.push_back(result);
  }

  ArrayRef<MergedCall> parts;
  llvm::function_ref<bool(Value)> staysInside;
  MergedCall merged;
  Body body;
  uint32_t next = 0;
  llvm::DenseMap<Value, int32_t> numberOf;
};
} // namespace

MergedCall MergedCall::of(CallOp call) {
  return {call.getBody(),
          SmallVector<Value>(call.getArgs()),
          SmallVector<Value>(call.getResults()),
          SmallVector<int64_t>(call.getVids()),
          {call.getLoc()},
          {}};
}

MergedCall aicf::rt::mergeCalls(ArrayRef<CallOp> parts,
                                llvm::function_ref<bool(Value)> staysInside) {
  return Merger(llvm::map_to_vector<2>(parts, MergedCall::of), staysInside)
      .run(/*isGraph=*/false);
}

MergedCall
aicf::rt::mergeInGraphOrder(ArrayRef<MergedCall> parts,
                            llvm::function_ref<bool(Value)> staysInside) {
  return Merger(parts, staysInside).run(/*isGraph=*/true);
}

MergedCall
aicf::rt::mergeInGraphOrder(ArrayRef<CallOp> parts,
                            llvm::function_ref<bool(Value)> staysInside) {
  return mergeInGraphOrder(llvm::map_to_vector<2>(parts, MergedCall::of),
                           staysInside);
}

bool aicf::rt::keepsTypes(const MergedCall &merged, const TypedBody &typed) {
  return llvm::all_of(merged.typesBefore, [&](const auto &before) {
    return typed.values()[before.first].dense() == before.second.dense();
  });
}
