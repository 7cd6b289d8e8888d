//===- Interpreter.cpp - runs a plan in f64, without kernels --------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Interpreter/Interpreter.h"
#include "lib/Schedule/HappensBefore.h"

#include "kernels/CallView.h"
#include "kernels/Patterns.h"
#include "kernels/reference/Reference.h"
#include "lib/Base/Element.h"
#include "lib/Base/Runs.h"
#include "lib/Runtime/IO/Initializers.h"

#include <algorithm>
#include <limits>
#include <set>

namespace aicf {

/// Every dtype's size is a multiple of it, and so is every offset.
static constexpr size_t kSlotBytes = 2;
static constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();

Interpreter::Interpreter(std::shared_ptr<const Plan> plan,
                         InterpreterOptions options)
    : plan(std::move(plan)), options(options),
      random(options.orderSeed.value_or(0)) {
  const Plan &p = *this->plan;
  persistent.assign(p.persistentBytes / kSlotBytes, kNothing);
  isPersistentWritten.resize(p.persistent.size());
  for (uint32_t tid = 0; tid < p.persistent.size(); ++tid)
    if (p.persistent[tid].derivedFrom >= 0)
      derivedStates[uint32_t(p.persistent[tid].derivedFrom)].push_back(tid);
  for (const PlanEntry &entry : p.entries)
    entries.push_back({Memory(entry.ioBytes / kSlotBytes, kNothing),
                       Memory(entry.tempBytes / kSlotBytes, kNothing),
                       std::vector<bool>(entry.tensors.size())});
  for (uint32_t tid = 0; tid < p.persistent.size(); ++tid) {
    const PlanTensor &t = p.persistent[tid];
    if (t.init == InitKind::None || t.derivedFrom >= 0)
      continue;
    std::vector<uint8_t> bytes = initialValue(t, options.seed);
    std::vector<double> values;
    for (size_t at = 0; at < bytes.size(); at += sizeOf(t.desc.dtype))
      values.push_back(loadElement(t.desc.dtype, bytes.data() + at));
    store({0, tid}, values);
    setWritten({0, tid});
  }
}

StatusOr<Interpreter::Place> Interpreter::locate(std::string_view entry,
                                                 std::string_view name) const {
  for (uint32_t tid = 0; entry.empty() && tid < plan->persistent.size(); ++tid)
    if (plan->persistent[tid].name == name)
      return Place{0, tid};
  for (size_t e = 0; e < entries.size(); ++e) {
    const PlanEntry &candidate = plan->entries[e];
    for (size_t i = 0; candidate.name == entry && i < candidate.tensors.size();
         ++i)
      if (candidate.tensors[i].name == name &&
          segmentOf(candidate.tensors[i].role) == Segment::IO)
        return Place{e, uint32_t(plan->persistent.size() + i)};
  }
  return makeError(StatusCode::InvalidArgument, "no tensor named \"", name,
                   "\"", entry.empty() ? "" : " in entry ", entry);
}

const PlanTensor &Interpreter::tensor(Place at) const {
  return plan->tensor(plan->entries[at.entry], at.tid);
}

Interpreter::Memory &Interpreter::memoryOf(Place at) {
  switch (segmentOf(tensor(at).role)) {
  case Segment::Persistent:
    return persistent;
  case Segment::IO:
    return entries[at.entry].io;
  case Segment::Temp:
    break;
  }
  return entries[at.entry].temp;
}

std::vector<double> Interpreter::load(Place at) const {
  const PlanTensor &t = tensor(at);
  const size_t slots = sizeOf(t.desc.dtype) / kSlotBytes;
  const double *memory = memoryOf(at).data() + t.offset / kSlotBytes;
  std::vector<double> values(size_t(t.desc.elements()));
  forEachRun(t.desc, [&](int64_t first, int64_t start, int64_t count) {
    for (int64_t i = 0; i < count; ++i)
      values[size_t(first + i)] = memory[size_t(start + i) * slots];
  });
  return values;
}

void Interpreter::store(Place at, const std::vector<double> &values) {
  const PlanTensor &t = tensor(at);
  const size_t slots = sizeOf(t.desc.dtype) / kSlotBytes;
  bool isRounded = options.roundToDType && isFloat(t.desc.dtype);
  double *memory = memoryOf(at).data() + t.offset / kSlotBytes;
  forEachRun(t.desc, [&](int64_t first, int64_t start, int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      double value = values[size_t(first + i)];
      uint8_t bytes[8];
      if (isRounded) {
        storeElement(t.desc.dtype, bytes, value);
        value = loadElement(t.desc.dtype, bytes);
      }
      double *slot = memory + size_t(start + i) * slots;
      *slot = value;
      std::fill(slot + 1, slot + slots, kNothing);
    }
  });
}

bool Interpreter::isWritten(Place at) const {
  return at.tid < isPersistentWritten.size()
             ? isPersistentWritten[at.tid]
             : entries[at.entry].isWritten[at.tid - isPersistentWritten.size()];
}

void Interpreter::setWritten(Place at) {
  if (at.tid >= isPersistentWritten.size()) {
    entries[at.entry].isWritten[at.tid - isPersistentWritten.size()] = true;
    return;
  }
  isPersistentWritten[at.tid] = true;
  refreshDerived(at.tid);
}

void Interpreter::refreshDerived(uint32_t source) {
  auto of = derivedStates.find(source);
  if (of == derivedStates.end())
    return;
  for (uint32_t tid : of->second) {
    store({0, tid}, load({0, source}));
    isPersistentWritten[tid] = true;
  }
}

StatusOr<PlanTensor> Interpreter::find(std::string_view entry,
                                       std::string_view name) const {
  AICF_ASSIGN_OR_RETURN(Place at, locate(entry, name));
  return tensor(at);
}

Status Interpreter::write(std::string_view entry, std::string_view name,
                          Span<const double> values) {
  AICF_ASSIGN_OR_RETURN(Place at, locate(entry, name));
  const PlanTensor &t = tensor(at);
  if (values.size() != size_t(t.desc.elements()))
    return makeError(StatusCode::InvalidArgument, "\"", name, "\" is ",
                     t.desc.toString(), ", got ", values.size(), " values");
  if (t.role == Role::Output || t.derivedFrom >= 0)
    return makeError(StatusCode::InvalidArgument, "\"", name, "\" is ",
                     t.derivedFrom >= 0 ? "derived" : "an output",
                     ": it cannot be written");
  store(at, std::vector<double>(values.begin(), values.end()));
  setWritten(at);
  return {};
}

StatusOr<std::vector<double>> Interpreter::read(std::string_view entry,
                                                std::string_view name) const {
  AICF_ASSIGN_OR_RETURN(Place at, locate(entry, name));
  if (!isWritten(at))
    return makeError(StatusCode::NotInitialized, "\"", name,
                     "\" has no value yet");
  return load(at);
}

/// The calls, each after those that it must wait for: the next one of a random
/// stream whose events are there.
std::vector<size_t> Interpreter::orderOf(const PlanEntry &entry) {
  std::vector<size_t> order(entry.calls.size());
  for (size_t i = 0; i < order.size(); ++i)
    order[i] = i;
  if (!options.orderSeed)
    return order;
  std::vector<std::vector<size_t>> streams(HappensBefore::kMaxStreams);
  for (size_t i = order.size(); i-- > 0;)
    streams[entry.calls[i].stream].push_back(i); // the next one is at the back
  std::set<int64_t> events;
  for (size_t &next : order) {
    std::vector<uint32_t> ready;
    for (uint32_t s = 0; s < streams.size(); ++s) {
      if (streams[s].empty())
        continue;
      const auto &waits = entry.calls[streams[s].back()].waits;
      if (std::all_of(waits.begin(), waits.end(),
                      [&](int64_t event) { return events.count(event) > 0; }))
        ready.push_back(s);
    }
    // Never empty: a verified plan signals every event before its waits.
    uint32_t stream = ready[random() % ready.size()];
    next = streams[stream].back();
    streams[stream].pop_back();
    const auto &signals = entry.calls[next].signals;
    events.insert(signals.begin(), signals.end());
  }
  return order;
}

/// Whatever a call reads before any call writes it has a value.
Status Interpreter::checkInputs(size_t entry) const {
  const PlanEntry &e = plan->entries[entry];
  std::set<uint32_t> written;
  for (const PlanCall &call : e.calls) {
    for (uint32_t tid : call.ins) {
      const PlanTensor &t = tensor({entry, tid});
      bool isOutside =
          t.role == Role::Input || segmentOf(t.role) == Segment::Persistent;
      if (isOutside && !written.count(tid) && !isWritten({entry, tid}))
        return makeError(StatusCode::NotInitialized, "entry ", e.name, ": ",
                         nameOf(t.role), " \"", t.name, "\" was never written");
    }
    for (uint32_t tid : call.outs)
      written.insert(tid);
  }
  return {};
}

/// True if the kernel has read what stands at `read` before it overwrites it
/// with value `result` of the body: the record, or the pattern, ties the two.
static bool isReadInTime(const Body &body, uint32_t result,
                         reference::BodySlot read) {
  size_t maker = 0;
  while (result >= body.firstResultOf(maker) + body.steps[maker].numResults())
    ++maker;
  size_t of = result - body.firstResultOf(maker);
  const BodyStep &step = body.steps[read.step];
  if (body.steps.size() == 1)
    return CallSlots::of(infoOf(step.kind), step.operands.size())
        ->mayShareStorage(of, read.slot);
  const PatternInfo *pattern = patternOf(factsOf(body).pattern.value_or(0));
  auto form = pattern ? formOf(*pattern, body.steps.size(),
                               [&](size_t i) { return body.steps[i].kind; })
                      : std::nullopt;
  if (!form || maker / form->stride != read.step / form->stride)
    return false;
  auto isAt = [&](PlaceInfo place, size_t at, size_t slot) {
    return form->stepOf[place.element] == int8_t(at % form->stride) &&
           place.slot == slot;
  };
  for (const PatternTieInfo &tie : pattern->ties) {
    if (!isAt(tie.result, maker, of))
      continue;
    if (isAt(tie.operand, read.step, read.slot))
      return true;
    for (const BindingInfo &b : pattern->bindings)
      if (!b.isResult && b.to == tie.operand &&
          isAt(b.operand, read.step, read.slot))
        return true;
  }
  return false;
}

/// Results are overwritten before operands are read: what a kernel in place may
/// read too late is lost.
static std::vector<reference::BodySlot> lostReads(const PlanCall &call) {
  std::vector<reference::BodySlot> lost;
  const Body &body = *call.body;
  for (size_t r = 0; r < call.outs.size(); ++r)
    for (size_t i = 0; i < call.ins.size(); ++i)
      for (size_t step = 0;
           call.ins[i] == call.outs[r] && step < body.steps.size(); ++step)
        for (size_t slot = 0; slot < body.steps[step].operands.size(); ++slot)
          if (body.steps[step].operands[slot] == int32_t(i) &&
              !isReadInTime(body, body.results[r], {step, slot}))
            lost.push_back({step, slot});
  return lost;
}

void Interpreter::runCall(size_t entry, const PlanCall &call) {
  std::vector<reference::Tensor> ins, outs;
  for (uint32_t tid : call.ins)
    ins.push_back({tensor({entry, tid}).desc, load({entry, tid})});
  for (uint32_t tid : call.outs) {
    const TensorDesc &desc = tensor({entry, tid}).desc;
    outs.push_back(
        {desc, std::vector<double>(size_t(desc.elements()), kNothing)});
  }
  reference::run(*call.body, ins, outs, lostReads(call));
  if (call.workspace >= 0) { // scribbled on
    Place at{entry, uint32_t(call.workspace)};
    store(at,
          std::vector<double>(size_t(tensor(at).desc.elements()), kNothing));
  }
  for (size_t i = 0; i < outs.size(); ++i)
    store({entry, call.outs[i]}, outs[i].values);
}

Status Interpreter::run(std::string_view entry) {
  size_t index = 0;
  while (index < plan->entries.size() && plan->entries[index].name != entry)
    ++index;
  if (index == plan->entries.size())
    return makeError(StatusCode::InvalidArgument, "no entry \"", entry, "\"");
  AICF_RETURN_IF_ERROR(checkInputs(index));
  const PlanEntry &e = plan->entries[index];
  std::fill(entries[index].temp.begin(), entries[index].temp.end(), kNothing);
  for (size_t i : orderOf(e))
    runCall(index, e.calls[i]);
  for (const PlanCall &call : e.calls)
    for (uint32_t tid : call.outs)
      if (tid < isPersistentWritten.size())
        isPersistentWritten[tid] = true;
      else
        setWritten({index, tid});
  return {};
}

} // namespace aicf
