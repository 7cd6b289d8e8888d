//===- CallFacts.cpp - what a plan says of its calls ----------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Plan/CallFacts.h"
#include "lib/Ops/BodyRules.h"
#include "lib/Ops/RuleCall.h"
#include "lib/Plan/Order.h"

#include <algorithm>
#include <map>
#include <set>

namespace aicf {

/// The types of all values of the call; none where the plan is not verified.
static std::vector<TensorDesc> typesOf(const Plan &plan, const PlanEntry &entry,
                                       const PlanCall &call) {
  std::vector<TensorDesc> ins, outs;
  for (uint32_t value : call.ins)
    ins.push_back(plan.value(entry, value).desc);
  for (uint32_t value : call.outs)
    outs.push_back(plan.value(entry, value).desc);
  StatusOr<std::vector<TensorDesc>> types =
      describeValues(*call.body, ins, outs);
  return types.ok() ? std::move(*types) : std::vector<TensorDesc>();
}

/// Calls visit(primitive, its position) for each primitive of a body.
template <typename Visit>
static void forEachPrimitive(const Body &body, Visit visit) {
  PrimitivePosition at{0, body.numOperands};
  for (const Primitive &primitive : body.primitives) {
    visit(primitive, at);
    ++at.primitive;
    at.firstResult += primitive.numResults();
  }
}

double flopsOf(const Plan &plan, const PlanEntry &entry, const PlanCall &call) {
  const std::vector<TensorDesc> types = typesOf(plan, entry, call);
  double flops = 0;
  if (!types.empty())
    forEachPrimitive(*call.body, [&](const Primitive &primitive,
                                     PrimitivePosition at) {
      flops += rules::flopsOf({*call.body, types}, primitive, at);
    });
  return flops;
}

/// Bytes of the elements, each once: what a view repeats is read once.
static uint64_t touchedBytes(const TensorDesc &desc) {
  if (desc.layout != Layout::Strided)
    return desc.spanBytes();
  uint64_t bytes = sizeOf(desc.dtype);
  for (size_t i = 0; i < desc.rank; ++i)
    if (desc.stride(i) != 0)
      bytes *= uint64_t(desc.dims[i]);
  return bytes;
}

/// The elements of operand `number` that are looked up in it; nothing where
/// something reads all of it.
static std::optional<uint64_t>
elementsLookedUp(const Body &body, const std::vector<TensorDesc> &types,
                 size_t number) {
  uint64_t elements = 0;
  bool readsAll = types.empty();
  forEachPrimitive(body, [&](const Primitive &primitive, PrimitivePosition at) {
    for (size_t slot = 0; slot < primitive.operands.size(); ++slot) {
      if (primitive.operands[slot] != int32_t(number))
        continue;
      if (auto result = rules::resultLookedUpIn(primitive.kind, slot))
        elements += uint64_t(types[at.firstResult + *result].elements());
      else
        readsAll = true;
    }
  });
  return readsAll ? std::nullopt : std::optional(elements);
}

uint64_t bytesOf(const Plan &plan, const PlanEntry &entry,
                 const PlanCall &call) {
  const std::vector<TensorDesc> types = typesOf(plan, entry, call);
  uint64_t bytes = 0;
  for (size_t i = 0; i < call.ins.size(); ++i) {
    const TensorDesc &desc = plan.value(entry, call.ins[i]).desc;
    const auto some = elementsLookedUp(*call.body, types, i);
    bytes += some ? std::min(*some * sizeOf(desc.dtype), touchedBytes(desc))
                  : touchedBytes(desc);
  }
  for (uint32_t value : call.outs)
    bytes += touchedBytes(plan.value(entry, value).desc);
  return bytes;
}

std::string_view nameOf(CallPhase phase) {
  constexpr std::string_view names[] = {"forward", "backward", "update"};
  return names[size_t(phase)];
}

namespace {

/// A result of a call.
using Made = std::pair<uint32_t, uint32_t>;

/// What makes the value of a buffer at the end of an entry. Where only a part of
/// a buffer is written, what wrote it before counts, too.
class Producers {
public:
  Producers(const Plan &plan, const PlanEntry &entry) : entry(entry) {
    readFrom.resize(entry.calls.size());
    for (uint32_t c = 0; c < entry.calls.size(); ++c) {
      const PlanCall &call = entry.calls[c];
      for (uint32_t value : call.ins)
        readFrom[c].push_back(writers[plan.value(entry, value).buffer]);
      for (uint32_t r = 0; r < call.outs.size(); ++r) {
        const PlanValue &out = plan.value(entry, call.outs[r]);
        std::vector<Made> &list = writers[out.buffer];
        if (out.desc.spanBytes() == plan.buffer(entry, out.buffer).bytes)
          list.clear();
        list.push_back({c, r});
      }
    }
  }

  /// The calls behind a buffer's value; none if a gradient is among what they
  /// compute for it.
  std::vector<bool> withoutGradients(uint32_t buffer) const {
    std::set<Made> found;
    std::vector<Made> open;
    if (auto it = writers.find(buffer); it != writers.end())
      open = it->second;
    std::vector<bool> calls(entry.calls.size());
    while (!open.empty()) {
      Made made = open.back();
      open.pop_back();
      if (!found.insert(made).second)
        continue;
      calls[made.first] = true;
      if (!openOperands(made, open))
        return std::vector<bool>(entry.calls.size());
    }
    return calls;
  }

  /// The calls that wrote what a call reads.
  std::vector<uint32_t> readBy(size_t call) const {
    std::vector<uint32_t> calls;
    for (const std::vector<Made> &from : readFrom[call])
      for (Made made : from)
        calls.push_back(made.first);
    return calls;
  }

  /// The calls that wrote a buffer last.
  std::vector<uint32_t> writersOf(uint32_t buffer) const {
    std::vector<uint32_t> calls;
    if (auto it = writers.find(buffer); it != writers.end())
      for (Made made : it->second)
        calls.push_back(made.first);
    return calls;
  }

  /// Whether each call computes a gradient, or reads what depends on one.
  std::vector<bool> gradients() const {
    std::vector<bool> depends(entry.calls.size());
    for (size_t c = 0; c < depends.size(); ++c) {
      for (const Primitive &primitive : entry.calls[c].body->primitives)
        if (infoOf(primitive.kind).phase == Phase::Backward)
          depends[c] = true;
      for (const std::vector<Made> &from : readFrom[c])
        for (Made made : from)
          if (depends[made.first])
            depends[c] = true;
    }
    return depends;
  }

private:
  /// Adds what a result of a call is made of, through its body: a call may
  /// compute a loss and its gradient. False where a gradient is on the way.
  bool openOperands(Made made, std::vector<Made> &open) const {
    const Body &body = *entry.calls[made.first].body;
    std::vector<uint32_t> inside = {body.results[made.second]};
    std::set<uint32_t> seen;
    while (!inside.empty()) {
      uint32_t value = inside.back();
      inside.pop_back();
      if (!seen.insert(value).second)
        continue;
      if (value < body.numOperands) {
        const std::vector<Made> &from = readFrom[made.first][value];
        open.insert(open.end(), from.begin(), from.end());
        continue;
      }
      size_t primitive = body.makerOf(value).first;
      if (infoOf(body.primitives[primitive].kind).phase == Phase::Backward)
        return false;
      for (int32_t operand : body.primitives[primitive].operands)
        if (operand != kAbsentValue)
          inside.push_back(uint32_t(operand));
    }
    return true;
  }

  const PlanEntry &entry;
  std::map<uint32_t, std::vector<Made>> writers;         ///< by buffer
  std::vector<std::vector<std::vector<Made>>> readFrom; ///< by call and operand
};

} // namespace

std::vector<CallPhase> phasesOf(const Plan &plan, const PlanEntry &entry) {
  Producers producers(plan, entry);
  std::vector<CallPhase> phases;
  for (bool isGradient : producers.gradients())
    phases.push_back(isGradient ? CallPhase::Backward : CallPhase::Forward);
  std::vector<bool> isOutput(entry.calls.size());
  for (uint32_t i = 0; i < entry.buffers.size(); ++i) {
    if (entry.buffers[i].role != Role::Output)
      continue;
    uint32_t buffer = uint32_t(plan.buffers.size()) + i;
    std::vector<bool> needed = producers.withoutGradients(buffer);
    for (size_t c = 0; c < needed.size(); ++c)
      if (needed[c])
        phases[c] = CallPhase::Forward;
    for (uint32_t c : producers.writersOf(buffer))
      isOutput[c] = true;
  }
  // From the end: what updates alone read is a part of the update, and what the
  // backward pass computes again a part of that.
  size_t firstBackward = size_t(
      std::find(phases.begin(), phases.end(), CallPhase::Backward) -
      phases.begin());
  std::vector<bool> isReadForward(entry.calls.size()),
      isReadBackward(isReadForward), isReadByUpdate(isReadForward);
  for (size_t c = entry.calls.size(); c-- > 0;) {
    bool isInside = phases[c] == CallPhase::Forward && !isReadForward[c] &&
                    !isOutput[c];
    if (isUpdateHalf(infoOf(entry.calls[c].body->primitives[0].kind).phase) ||
        (isInside && isReadByUpdate[c] && !isReadBackward[c]))
      phases[c] = CallPhase::Update;
    else if (isInside && isReadBackward[c] && c > firstBackward)
      phases[c] = CallPhase::Backward;
    for (uint32_t from : producers.readBy(c))
      (phases[c] == CallPhase::Forward    ? isReadForward
       : phases[c] == CallPhase::Backward ? isReadBackward
                                          : isReadByUpdate)[from] = true;
  }
  return phases;
}

std::vector<std::vector<uint32_t>> waitedFor(const PlanEntry &entry) {
  std::map<int64_t, uint32_t> signals;
  std::vector<std::vector<uint32_t>> calls(entry.calls.size());
  for (uint32_t c = 0; c < entry.calls.size(); ++c) {
    for (int64_t event : entry.calls[c].waits)
      if (auto it = signals.find(event); it != signals.end())
        calls[c].push_back(it->second);
    for (int64_t event : entry.calls[c].signals)
      signals[event] = c;
  }
  return calls;
}

std::vector<uint32_t> timesOf(const PlanEntry &entry) {
  std::vector<uint32_t> times(entry.calls.size(), 1);
  size_t at = 0;
  for (const PlanPart &part : entry.parts)
    for (uint32_t i = 0; i < part.numCalls && at < times.size(); ++i)
      times[at++] = part.times;
  return times;
}

std::vector<uint64_t> bytesAlive(const Plan &plan, const PlanEntry &entry) {
  size_t count = entry.calls.size();
  std::vector<uint64_t> alive(count);
  StatusOr<HappensBefore> order = orderOf(entry);
  if (!order.ok()) // never of a verified plan
    return alive;
  std::vector<AccessSet> accesses = accessesOf(plan, entry, *order);
  std::vector<int64_t> changes(count + 1);
  for (size_t b = 0; b < accesses.size(); ++b)
    if (!accesses[b].empty() &&
        segmentOf(entry.buffers[b].role) == Segment::Temp) {
      changes[accesses[b].firstCall()] += int64_t(entry.buffers[b].bytes);
      changes[accesses[b].lastCall() + 1] -= int64_t(entry.buffers[b].bytes);
    }
  int64_t now = 0;
  for (size_t c = 0; c < count; ++c)
    alive[c] = uint64_t(now += changes[c]);
  return alive;
}

} // namespace aicf
