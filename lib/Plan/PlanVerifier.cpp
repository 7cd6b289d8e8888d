//===- PlanVerifier.cpp - what a plan must satisfy ------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Everything an executor relies on. Arithmetic on numbers from the file is
// overflow-checked; the order of the checks is part of the contract: a later
// check may use what an earlier one established.
//===----------------------------------------------------------------------===//

#include "aicf/EntryNames.h"
#include "lib/Ops/BodyRules.h"
#include "lib/Ops/KernelTable.h"
#include "lib/Plan/Order.h"
#include "lib/Plan/TensorChecks.h"
#include "lib/Schedule/AccessTracker.h"
#include "lib/Schedule/Overlap.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace aicf {
using namespace verifier;
namespace {

/// The bodies of a plan, each checked once.
class BodyChecker {
public:
  /// The facts of a body that is right.
  StatusOr<const BodyFacts *> check(const std::shared_ptr<const Body> &body,
                                    const DiagnosticPath &at) {
    auto [it, isFresh] = facts.try_emplace(body.get());
    if (!isFresh)
      return &it->second;
    Status form = checkForm(*body);
    bool isKindKnown = true;
    for (const Primitive &primitive : body->primitives)
      isKindKnown &= isKnown(primitive.kind);
    if (!form.ok())
      return refuse(isKindKnown ? PlanError::BodyForm : PlanError::BodyKind, at,
                    ": ", form.message());
    it->second = factsOf(*body);
    if (!it->second.pattern)
      return refuse(PlanError::BodyPattern, at, ": no kernel family takes ",
                    primitiveNames(*body), " in one call");
    return &it->second;
  }

  /// Returns the facts of a body that check() has accepted.
  const BodyFacts &known(const std::shared_ptr<const Body> &body) const {
    return facts.at(body.get());
  }

private:
  std::unordered_map<const Body *, BodyFacts> facts;
};

/// Checks one entry of a plan whose persistent buffers are checked.
class EntryChecker {
public:
  EntryChecker(const Plan &plan, const PlanEntry &entry, DiagnosticPath where,
               const std::unordered_set<std::string> &persistentNames,
               const DerivedStates &derived, BodyChecker &bodies)
      : plan(plan), entry(entry), where(where),
        persistentNames(persistentNames), derived(derived), bodies(bodies) {}

  Status run();

private:
  Status checkBuffers();
  Status checkValues() const;
  Status checkParts() const;
  Status checkPartTemps(Span<const AccessSet> accesses) const;
  Status checkNumbers(const PlanCall &call, const DiagnosticPath &at) const;
  Status checkOneCall(const PlanCall &call, const DiagnosticPath &at) const;
  Status checkTypes(const PlanCall &call, const BodyFacts &facts,
                    const DiagnosticPath &at) const;
  Status checkAlignment(const PlanCall &call, const KernelRow &row,
                        const DiagnosticPath &at) const;
  Status checkWorkspace(const PlanCall &call, const KernelRow &row,
                        const DiagnosticPath &at) const;
  Status checkWrites(const PlanCall &call, const DiagnosticPath &at) const;
  Status checkAccessOrder() const;
  Status checkAllWritten(const AccessTracker &tracker) const;
  Status checkLifetimes() const;

  const PlanValue &value(uint32_t number) const {
    return plan.value(entry, number);
  }
  Role roleOf(uint32_t value) const { return plan.bufferOf(entry, value).role; }
  uint32_t numBuffers() const {
    return static_cast<uint32_t>(plan.buffers.size() + entry.buffers.size());
  }
  uint32_t numValues() const {
    return static_cast<uint32_t>(plan.values.size() + entry.values.size());
  }
  std::string describeBuffer(uint32_t number) const {
    const PlanBuffer &b = plan.buffer(entry, number);
    return "buffer " + std::to_string(number) +
           (b.name.empty() ? "" : " (" + b.name + ")");
  }
  std::string describe(uint32_t number) const {
    const PlanBuffer &b = plan.bufferOf(entry, number);
    return "value " + std::to_string(number) +
           (b.name.empty() ? "" : " (" + b.name + ")");
  }

  const Plan &plan;
  const PlanEntry &entry;
  DiagnosticPath where;
  const std::unordered_set<std::string> &persistentNames;
  const DerivedStates &derived;
  BodyChecker &bodies;
  HappensBefore order;
  EntryRegions regions;
};

Status EntryChecker::run() {
  AICF_RETURN_IF_ERROR(checkBuffers());
  AICF_RETURN_IF_ERROR(checkValues());
  for (size_t i = 0; i < entry.calls.size(); ++i)
    AICF_RETURN_IF_ERROR(checkNumbers(entry.calls[i], {"call", i, &where}));
  StatusOr<EntryRegions> found = EntryRegions::create(plan, entry);
  if (!found.ok())
    return refuse(PlanError::ValueOverlaps, where, ", ",
                  found.status().message());
  regions = std::move(*found);
  for (size_t i = 0; i < entry.calls.size(); ++i)
    AICF_RETURN_IF_ERROR(checkOneCall(entry.calls[i], {"call", i, &where}));
  AICF_RETURN_IF_ERROR(checkParts());
  StatusOr<HappensBefore> made = orderOf(entry);
  if (!made.ok())
    return refuse(PlanError::StreamOrder, where, ", ", made.status().message());
  order = std::move(*made);
  AICF_RETURN_IF_ERROR(checkAccessOrder());
  return checkLifetimes();
}

Status EntryChecker::checkBuffers() {
  AICF_RETURN_IF_ERROR(checkSegmentBytes(where, "io_bytes", entry.ioBytes));
  AICF_RETURN_IF_ERROR(checkSegmentBytes(where, "temp_bytes", entry.tempBytes));
  std::unordered_set<std::string> names;
  std::vector<const PlanBuffer *> io;
  for (size_t i = 0; i < entry.buffers.size(); ++i) {
    const PlanBuffer &b = entry.buffers[i];
    DiagnosticPath at{"buffer", i, &where};
    Segment segment = segmentOf(b.role);
    if (segment == Segment::Persistent)
      return refuse(PlanError::BufferRole, at, ": role ", nameOf(b.role),
                    " belongs in the plan's persistent table");
    if (segment == Segment::IO && io.size() != i)
      return refuse(PlanError::BufferRole, at, ": an ", nameOf(b.role),
                    " comes after a buffer of the temp segment, expected "
                    "inputs and outputs first");
    bool named = !b.name.empty();
    if (segment == Segment::IO && !named)
      return refuse(PlanError::BufferName, at, ": an ", nameOf(b.role),
                    " has no name");
    if (named &&
        (persistentNames.count(b.name) || !names.insert(b.name).second))
      return refuse(PlanError::BufferName, at, ": the name \"", b.name,
                    "\" is used twice");
    AICF_RETURN_IF_ERROR(checkBuffer(
        b, at, segment == Segment::IO ? entry.ioBytes : entry.tempBytes));
    if (b.derivedFrom != -1)
      return refuse(PlanError::BufferDerived, at, ": derived_from is ",
                    b.derivedFrom, ": only persistent buffers are derived");
    if (b.init != InitKind::None)
      return refuse(PlanError::BufferInit, at, ": a buffer of role ",
                    nameOf(b.role), " has initialiser ", nameOf(b.init));
    if (!b.data.bytes.empty())
      return refuse(PlanError::BufferData, at, ": a buffer of role ",
                    nameOf(b.role), " has data of ", b.data.bytes.size(),
                    " bytes: only constants have data");
    if (segment == Segment::IO)
      io.push_back(&b);
  }
  return checkDisjoint(io, where);
}

Status EntryChecker::checkValues() const {
  size_t numIO = 0;
  while (numIO < entry.buffers.size() &&
         segmentOf(entry.buffers[numIO].role) == Segment::IO)
    ++numIO;
  if (entry.values.size() < numIO)
    return refuse(PlanError::ValueWhole, where, ": has ", entry.values.size(),
                  " values for ", numIO,
                  " inputs and outputs, expected one for each");
  for (size_t i = 0; i < entry.values.size(); ++i) {
    const PlanValue &v = entry.values[i];
    DiagnosticPath at{"value", i, &where};
    if (v.buffer >= numBuffers())
      return refuse(PlanError::ValueBuffer, at, ": lies in buffer ", v.buffer,
                    ", but there are ", numBuffers(), " buffers");
    const PlanBuffer &b = plan.buffer(entry, v.buffer);
    AICF_RETURN_IF_ERROR(
        i < numIO ? checkWhole(v, b, uint32_t(plan.values.size() + i), at)
                  : checkValue(v, b, at));
  }
  return {};
}

/// They cover the calls, and a run ends some time.
Status EntryChecker::checkParts() const {
  uint64_t numCalls = 0, numRun = 0;
  for (size_t i = 0; i < entry.parts.size(); ++i) {
    const PlanPart &part = entry.parts[i];
    numCalls += part.numCalls;
    numRun += uint64_t(part.numCalls) * part.times;
    if (part.numCalls == 0 || part.times == 0 || numRun > kMaxRunCalls)
      return refuse(PlanError::EntryParts, where, ", part ", i, ": ",
                    part.times, " times ", part.numCalls,
                    " calls, expected 1 or more of both, and at most ",
                    kMaxRunCalls, " calls in a run");
  }
  if (!entry.parts.empty() && numCalls != entry.calls.size())
    return refuse(PlanError::EntryParts, where, ": its parts have ", numCalls,
                  " calls, and it has ", entry.calls.size());
  return {};
}

/// A temp that lived from one part into another would have to outlive all runs
/// of both.
Status EntryChecker::checkPartTemps(Span<const AccessSet> accesses) const {
  if (entry.parts.empty())
    return {};
  const std::vector<uint32_t> partOf = entry.partsOfCalls();
  for (size_t i = 0; i < entry.buffers.size(); ++i) {
    const AccessSet &own = accesses[i];
    if (segmentOf(entry.buffers[i].role) == Segment::Temp && !own.empty() &&
        partOf[own.firstCall()] != partOf[own.lastCall()])
      return refuse(PlanError::PartTemp, where, ": ",
                    describeBuffer(uint32_t(plan.buffers.size() + i)),
                    " is accessed in the parts ", partOf[own.firstCall()],
                    " and ", partOf[own.lastCall()],
                    ": a temp lives in one part");
  }
  return {};
}

/// Rules and kernel.
Status EntryChecker::checkTypes(const PlanCall &call, const BodyFacts &facts,
                                const DiagnosticPath &at) const {
  std::vector<TensorDesc> ins, outs;
  ins.reserve(call.ins.size());
  outs.reserve(call.outs.size());
  for (uint32_t in : call.ins)
    ins.push_back(value(in).desc);
  for (uint32_t out : call.outs)
    outs.push_back(value(out).desc);
  StatusOr<TypedBody> typed = TypedBody::create(call.body, facts, ins, outs);
  if (!typed.ok())
    return refuse(PlanError::CallRules, at, ": ", typed.status().toString());
  const KernelRow *row = findKernel(plan.device, call.kid);
  if (!row || !row->accepts(*typed))
    return refuse(
        PlanError::CallKid, at, ": kid \"", call.kid, "\" is ",
        row ? "not a kernel for this call"
            : "unknown: another version of AICF may have made the plan",
        " (", primitiveNames(*call.body), " on ", nameOf(plan.device), ")");
  AICF_RETURN_IF_ERROR(checkAlignment(call, *row, at));
  return checkWorkspace(call, *row, at);
}

/// Buffers are aligned for every kernel; a value inside of one need not be.
Status EntryChecker::checkAlignment(const PlanCall &call, const KernelRow &row,
                                    const DiagnosticPath &at) const {
  for (const std::vector<uint32_t> *values : {&call.ins, &call.outs})
    for (uint32_t number : *values) {
      const PlanValue &v = value(number);
      uint64_t needed = row.neededAlignment(v.desc);
      if (v.byteOffset % needed != 0)
        return refuse(PlanError::CallAlignment, at, ": ", describe(number),
                      " lies at byte ", v.byteOffset, " of its buffer; kernel ",
                      call.kid, " needs a multiple of ", needed);
    }
  return {};
}

/// Calls of one stream share a buffer, as large as the largest wants; each gets
/// its own part, at most what its kernel uses.
Status EntryChecker::checkWorkspace(const PlanCall &call, const KernelRow &row,
                                    const DiagnosticPath &at) const {
  if (call.workspace < 0 && call.workspaceBytes == 0)
    return {};
  if (call.workspace < 0)
    return refuse(PlanError::CallWorkspace, at, ": gets ", call.workspaceBytes,
                  " bytes of workspace, but names no buffer");
  const PlanBuffer &workspace =
      plan.buffer(entry, static_cast<uint32_t>(call.workspace));
  uint64_t most = std::min(workspace.bytes, alignedBytes(row.workspaceCap));
  if (workspace.role != Role::Workspace || call.workspaceBytes == 0 ||
      call.workspaceBytes > most || call.workspaceBytes % 4 != 0)
    return refuse(PlanError::CallWorkspace, at, ": gets ", call.workspaceBytes,
                  " bytes of buffer ", call.workspace, ", which is of role ",
                  nameOf(workspace.role), " with ", workspace.bytes,
                  " bytes; kernel ", call.kid, " takes up to ",
                  row.workspaceCap);
  return {};
}

/// Results go where a call may write, each to bytes of its own; to those of an
/// operand only where the body allows it, and the whole operand.
Status EntryChecker::checkWrites(const PlanCall &call,
                                 const DiagnosticPath &at) const {
  std::unordered_map<uint32_t, size_t> writtenBy; // region: result
  for (size_t r = 0; r < call.outs.size(); ++r) {
    uint32_t out = call.outs[r];
    Role role = roleOf(out);
    if (isReadOnly(role))
      return refuse(PlanError::CallWrites, at, ": result ", r, " writes ",
                    describe(out), " of role ", nameOf(role));
    uint32_t region = regions.ofValue(out);
    bool isTwice = !writtenBy.try_emplace(region, r).second;
    for (uint32_t other : regions.map().overlapping(region))
      isTwice |= writtenBy.count(other) > 0;
    if (isTwice)
      return refuse(PlanError::CallWrites, at, ": result ", r, " writes ",
                    describe(out), " a second time");
  }
  const BodyFacts &facts = bodies.known(call.body);
  for (size_t i = 0; i < call.ins.size(); ++i) {
    auto refuseResult = [&](size_t r) {
      return refuse(PlanError::CallInplace, at, ": result ", r, " and operand ",
                    i, " share bytes, ", describe(call.outs[r]), " and ",
                    describe(call.ins[i]), ", but ", primitiveNames(*call.body),
                    " may not work in place there");
    };
    uint32_t region = regions.ofValue(call.ins[i]);
    auto it = writtenBy.find(region);
    // In place the same bytes are the same elements in the same order.
    if (it != writtenBy.end() &&
        (!facts.mayShareStorage(it->second, i) ||
         value(call.ins[i]).desc != value(call.outs[it->second]).desc))
      return refuseResult(it->second);
    for (uint32_t other : regions.map().overlapping(region))
      if (auto part = writtenBy.find(other); part != writtenBy.end())
        return refuseResult(part->second);
  }
  return {};
}

/// The call names what there is.
Status EntryChecker::checkNumbers(const PlanCall &call,
                                  const DiagnosticPath &at) const {
  for (auto [values, name] :
       {std::pair(&call.ins, "ins"), std::pair(&call.outs, "outs")})
    for (uint32_t value : *values)
      if (value >= numValues())
        return refuse(PlanError::CallValue, at, ": ", name, " names value ",
                      value, ", but there are ", numValues(), " values");
  if (call.workspace >= 0 && uint32_t(call.workspace) >= numBuffers())
    return refuse(PlanError::CallValue, at, ": workspace is ", call.workspace,
                  ", but there are ", numBuffers(), " buffers");
  return {};
}

Status EntryChecker::checkOneCall(const PlanCall &call,
                                  const DiagnosticPath &at) const {
  if (!call.body)
    return refuse(PlanError::CallBody, at, ": has no body");
  AICF_ASSIGN_OR_RETURN(const BodyFacts *facts, bodies.check(call.body, at));
  const Body &body = *call.body;
  if (call.ins.size() != body.numOperands ||
      call.outs.size() != body.results.size())
    return refuse(PlanError::CallBody, at, ": has ", call.ins.size(),
                  " operands and ", call.outs.size(),
                  " results, expected those of its body, ", body.numOperands,
                  " and ", body.results.size());
  bool hasLabels = !call.inVids.empty() || !call.vids.empty();
  if (hasLabels && (call.inVids.size() != call.ins.size() ||
                    call.vids.size() != facts->numMade))
    return refuse(PlanError::CallLabels, at, ": has ", call.inVids.size(),
                  " and ", call.vids.size(), " labels for ", call.ins.size(),
                  " operands and ", facts->numMade,
                  " values, expected one for each");
  AICF_RETURN_IF_ERROR(checkTypes(call, *facts, at));
  return checkWrites(call, at);
}

/// Every write is ordered with every other access to its bytes, and temps and
/// outputs are written before they are read.
Status EntryChecker::checkAccessOrder() const {
  AccessTracker tracker(regions.map(), order);
  auto race = [&](const std::string &what, uint32_t a, size_t b) {
    return refuse(PlanError::UnorderedAccess, where, ", call ", b, ": ", what,
                  " is accessed by call ", a,
                  " too, and neither happens before the other");
  };
  for (uint32_t i = 0; i < entry.calls.size(); ++i) {
    const PlanCall &call = entry.calls[i];
    for (uint32_t in : call.ins) {
      uint32_t region = regions.ofValue(in);
      Role role = roleOf(in);
      bool produced = segmentOf(role) == Segment::Temp || role == Role::Output;
      if (produced && !tracker.isWritten(region))
        return refuse(PlanError::ReadBeforeWrite, where, ", call ", i,
                      ": reads ", describe(in),
                      ", which no earlier call writes");
      if (auto other = tracker.read(region, i))
        return race(describe(in), *other, i);
    }
    for (uint32_t out : call.outs)
      if (auto other = tracker.write(regions.ofValue(out), i))
        return race(describe(out), *other, i);
    auto workspace = static_cast<uint32_t>(call.workspace);
    if (call.workspace >= 0)
      if (auto other = tracker.write(regions.ofWorkspace(workspace), i))
        return race(describeBuffer(workspace), *other, i);
  }
  return checkAllWritten(tracker);
}

/// Outputs and temps are written; and an entry that writes a buffer writes all
/// of what is derived from it too, in whatever order: its updates are one
/// parallel assignment. `tracker` has seen all calls.
Status EntryChecker::checkAllWritten(const AccessTracker &tracker) const {
  for (uint32_t v = uint32_t(plan.values.size()); v < numValues(); ++v) {
    Role role = roleOf(v);
    bool produced =
        role == Role::Temp || role == Role::Saved || role == Role::Output;
    if (produced && !tracker.isWritten(regions.ofValue(v)))
      return refuse(PlanError::ReadBeforeWrite, where, ": ", describe(v),
                    " of role ", nameOf(role), " is never written");
  }
  std::vector<std::unordered_set<uint32_t>> writtenIn(
      std::max<size_t>(entry.parts.size(), 1)); // values, by part
  const std::vector<uint32_t> partOf = entry.partsOfCalls();
  for (size_t i = 0; i < entry.calls.size() && !derived.empty(); ++i)
    writtenIn[partOf[i]].insert(entry.calls[i].outs.begin(),
                                entry.calls[i].outs.end());
  for (size_t i = 0; i < entry.calls.size() && !derived.empty(); ++i)
    for (uint32_t out : entry.calls[i].outs) {
      auto of = derived.find(value(out).buffer);
      if (of == derived.end())
        continue;
      for (uint32_t state : of->second)
        if (!regions.isUsed(state) ||
            !tracker.isWritten(regions.ofValue(state)) ||
            (entry.parts.size() > 1 && !writtenIn[partOf[i]].count(state)))
          return refuse(PlanError::BufferDerived, where, ": call ", i,
                        " writes ", describe(out), ", but no call writes ",
                        describe(state), ", which is derived from it");
    }
  return {};
}

/// Temps that share bytes are not live at the same time.
Status EntryChecker::checkLifetimes() const {
  const std::vector<AccessSet> accesses = accessesOf(plan, entry, order);
  AICF_RETURN_IF_ERROR(checkPartTemps(accesses));
  std::vector<PlacedRange> ranges;
  std::vector<uint32_t> numbers;
  for (size_t i = 0; i < entry.buffers.size(); ++i) {
    const PlanBuffer &b = entry.buffers[i];
    if (segmentOf(b.role) != Segment::Temp || accesses[i].empty())
      continue;
    ranges.push_back({b.offset, b.offset + b.bytes, &accesses[i]});
    numbers.push_back(uint32_t(plan.buffers.size() + i));
  }
  if (auto conflict = findConflict(ranges, order))
    return refuse(PlanError::LiveOverlap, where, ": ",
                  describeBuffer(numbers[conflict->first]), " at offset ",
                  ranges[conflict->first].begin, " and ",
                  describeBuffer(numbers[conflict->second]), " at offset ",
                  ranges[conflict->second].begin,
                  " share bytes while both are live");
  return {};
}

} // namespace

Status verifyPlan(const Plan &plan) {
  if (plan.entries.empty())
    return refuse(PlanError::NoEntries, "the plan has no entries");
  std::unordered_set<std::string> persistentNames, entryNames;
  BodyChecker bodies;
  const DerivedStates derived = derivedStatesOf(plan);
  AICF_RETURN_IF_ERROR(checkPersistent(plan, persistentNames));
  for (size_t i = 0; i < plan.entries.size(); ++i) {
    const PlanEntry &entry = plan.entries[i];
    if (entry.name.empty() || !isValidName(entry.name) ||
        !entryNames.insert(entry.name).second)
      return refuse(PlanError::EntryName, "entry ", i, ": the name \"",
                    entry.name, "\" is empty, malformed or used twice");
    DiagnosticPath where{"entry", i, nullptr, entry.name};
    if (entry.accumulate == 1 || entry.accumulate > INT32_MAX ||
        (entry.accumulate && !plan.findEntry(entry.name + kAccumulateSuffix)))
      return refuse(PlanError::EntryBatches, where, ": has ", entry.accumulate,
                    " batches per update, expected 2 to ", INT32_MAX,
                    " and an entry ", entry.name, kAccumulateSuffix);
    AICF_RETURN_IF_ERROR(checkOutputForm(entry, where));
    AICF_RETURN_IF_ERROR(
        EntryChecker(plan, entry, where, persistentNames, derived, bodies)
            .run());
  }
  return checkQualifiedNames(plan);
}

} // namespace aicf
