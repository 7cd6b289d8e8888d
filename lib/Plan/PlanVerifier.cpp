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
#include "aicf/Plan.h"
#include "kernels/BodyRules.h"
#include "kernels/KernelTable.h"
#include "lib/Base/Element.h"
#include "lib/Base/Utf8.h"
#include "lib/Plan/Order.h"
#include "lib/Plan/Place.h"
#include "lib/Schedule/Overlap.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

namespace aicf {
namespace {

template <typename... Args>
Status refuse(PlanError error, const Args &...args) {
  return makeError(StatusCode::InvalidPlan, "[", nameOf(error), "] ", args...);
}

/// Names travel into file headers, messages and command lines: printable text
/// of up to 1,024 bytes, and not the key that safetensors keeps for itself.
bool isValidName(const std::string &name) {
  return name.size() <= 1024 && name != "__metadata__" && isPrintableUtf8(name);
}

Status checkInit(const PlanTensor &t, const Place &where) {
  if (t.init == InitKind::None)
    return {};
  if (t.role != Role::Param && t.role != Role::State)
    return refuse(PlanError::TensorInit, where, ": a tensor of role ",
                  nameOf(t.role), " has initialiser ", nameOf(t.init));
  bool random = t.init == InitKind::UniformFanIn || t.init == InitKind::Normal;
  if (random && !isFloat(t.desc.dtype))
    return refuse(PlanError::TensorInit, where, ": initialiser ",
                  nameOf(t.init), " needs a float type, the tensor is ",
                  t.desc.toString());
  if (t.init == InitKind::UniformFanIn && t.desc.rank < 2)
    return refuse(PlanError::TensorInit, where,
                  ": uniform_fan_in needs rank 2 or more, the tensor is ",
                  t.desc.toString());
  bool finite = isFloat(t.desc.dtype) ? isFiniteAs(t.desc.dtype, t.initValue)
                                      : std::isfinite(t.initValue);
  bool integral =
      isFloat(t.desc.dtype) || (std::trunc(t.initValue) == t.initValue &&
                                std::fabs(t.initValue) <= 2147483647.0);
  if (!finite || (t.init == InitKind::Normal && t.initValue < 0) ||
      (t.init == InitKind::Constant && !integral))
    return refuse(PlanError::TensorInit, where, ": init_value is ", t.initValue,
                  " for ", nameOf(t.init), " of ", t.desc.toString());
  return {};
}

Status checkTensor(const PlanTensor &t, const Place &where,
                   uint64_t segmentBytes) {
  if (!isValidName(t.name))
    return refuse(PlanError::TensorName, where, ": a name of ", t.name.size(),
                  " bytes is not printable UTF-8 of up to 1024 bytes, or is "
                  "reserved");
  bool mayBePadded = segmentOf(t.role) == Segment::Temp || t.derivedFrom >= 0;
  if (!isLegalLayout(t.desc) || (!t.desc.isDense() && !mayBePadded))
    return refuse(PlanError::TensorLayout, where, ": ", t.desc.toString(),
                  " of role ", nameOf(t.role),
                  "; only temps and derived states of 16 bits and rank 1 or 2 "
                  "may be padded");
  std::optional<uint64_t> bytes = checkedBytes(t.desc);
  if (!bytes)
    return refuse(PlanError::TensorShape, where, ": shape of ",
                  t.desc.toString(), " has a dimension outside 1 to ",
                  INT32_MAX, " or takes more than ", kMaxTensorBytes, " bytes");
  if (t.offset % kTensorAlignment != 0)
    return refuse(PlanError::TensorOffset, where, ": offset is ", t.offset,
                  ", expected a multiple of ", kTensorAlignment);
  uint64_t end = 0;
  if (__builtin_add_overflow(t.offset, *bytes, &end) || end > segmentBytes)
    return refuse(PlanError::TensorRange, where, ": offset ", t.offset, " + ",
                  *bytes, " bytes ends beyond the ", nameOf(segmentOf(t.role)),
                  " segment of ", segmentBytes);
  return checkInit(t, where);
}

Status checkSegmentBytes(const Place &where, const char *name, uint64_t bytes) {
  if (bytes <= kMaxTensorBytes)
    return {};
  return refuse(PlanError::SegmentBytes, where, ": ", name, " is ", bytes,
                ", the limit is ", kMaxTensorBytes);
}

/// Tensors that never share bytes: all persistent ones, all io of an entry.
Status checkDisjoint(const std::vector<const PlanTensor *> &tensors,
                     const Place &where) {
  std::vector<const PlanTensor *> sorted = tensors;
  std::sort(sorted.begin(), sorted.end(),
            [](const PlanTensor *a, const PlanTensor *b) {
              return a->offset < b->offset;
            });
  for (size_t i = 0; i + 1 < sorted.size(); ++i)
    if (sorted[i]->offset + sorted[i]->desc.spanBytes() > sorted[i + 1]->offset)
      return refuse(PlanError::SegmentOverlap, where, ": tensors ",
                    sorted[i]->name, " at offset ", sorted[i]->offset, " and ",
                    sorted[i + 1]->name, " at offset ", sorted[i + 1]->offset,
                    " share bytes");
  return {};
}

/// A derived state is the cast of a float param or state that is not derived.
Status checkDerived(const Plan &plan, size_t i, const Place &where) {
  const PlanTensor &t = plan.persistent[i];
  if (t.derivedFrom == -1)
    return {};
  auto refuseBecause = [&](const char *why) {
    return refuse(PlanError::TensorDerived, where, ": derived_from is ",
                  t.derivedFrom, ": ", why);
  };
  // Negative numbers are large ones.
  if (size_t(t.derivedFrom) >= plan.persistent.size())
    return refuseBecause("no such persistent tensor");
  const PlanTensor &source = plan.persistent[size_t(t.derivedFrom)];
  if (t.role != Role::State || source.role == Role::Hyper)
    return refuseBecause("a state is derived from a param or state");
  if (source.derivedFrom != -1)
    return refuseBecause("that tensor is derived itself");
  if (!source.desc.sameShape(t.desc) || !isFloat(t.desc.dtype) ||
      !isFloat(source.desc.dtype) || t.desc.dtype == source.desc.dtype)
    return refuseBecause("it must have the same shape and another float type");
  TensorDesc from = source.desc, to = t.desc;
  auto cast = TypedBody::create(OpKind::Cast, {}, {&from, 1}, {&to, 1});
  AICF_RETURN_IF_ERROR(cast.status());
  if (!selectKernel(plan.device, *cast))
    return refuseBecause("the device has no cast between the two types");
  return {};
}

Status checkPersistent(const Plan &plan,
                       std::unordered_set<std::string> &names) {
  AICF_RETURN_IF_ERROR(
      checkSegmentBytes({}, "persistent_bytes", plan.persistentBytes));
  const Place persistent{"persistent"};
  std::vector<const PlanTensor *> all;
  for (size_t i = 0; i < plan.persistent.size(); ++i) {
    const PlanTensor &t = plan.persistent[i];
    Place where{"tensor", i, &persistent};
    if (segmentOf(t.role) != Segment::Persistent)
      return refuse(PlanError::TensorRole, where, ": role is ", nameOf(t.role),
                    ", expected param, state or hyper");
    if (t.name.empty() || !names.insert(t.name).second)
      return refuse(PlanError::TensorName, where, ": the name \"", t.name,
                    "\" is empty or stands twice");
    AICF_RETURN_IF_ERROR(checkTensor(t, where, plan.persistentBytes));
    AICF_RETURN_IF_ERROR(checkDerived(plan, i, where));
    all.push_back(&t);
  }
  return checkDisjoint(all, persistent);
}

/// Checks one entry of a plan whose persistent tensors are checked.
/// The bodies of a plan, each checked once.
class BodyChecker {
public:
  /// The facts of a body that is right.
  StatusOr<const BodyFacts *> check(const std::shared_ptr<const Body> &body,
                                    const Place &at) {
    auto [it, isFresh] = known.try_emplace(body.get());
    if (!isFresh)
      return &it->second;
    Status form = checkForm(*body);
    bool isKindKnown = true;
    for (const BodyStep &step : body->steps)
      isKindKnown &= isKnown(step.kind);
    if (!form.ok())
      return refuse(isKindKnown ? PlanError::BodyForm : PlanError::BodyKind, at,
                    ": ", form.message());
    it->second = factsOf(*body);
    if (!it->second.pattern)
      return refuse(PlanError::BodyPattern, at, ": no kernel family takes ",
                    primitiveNames(*body), " in one call");
    return &it->second;
  }

private:
  std::unordered_map<const Body *, BodyFacts> known;
};

class EntryChecker {
public:
  EntryChecker(const Plan &plan, const PlanEntry &entry, Place where,
               const std::unordered_set<std::string> &persistentNames,
               const DerivedStates &derived, BodyChecker &bodies)
      : plan(plan), entry(entry), where(where),
        persistentNames(persistentNames), derived(derived), bodies(bodies) {}

  Status run() {
    AICF_RETURN_IF_ERROR(checkTensors());
    for (size_t i = 0; i < entry.calls.size(); ++i)
      AICF_RETURN_IF_ERROR(checkOneCall(entry.calls[i], {"call", i, &where}));
    StatusOr<HappensBefore> made = orderOf(entry);
    if (!made.ok())
      return refuse(PlanError::StreamOrder, where, ", ",
                    made.status().message());
    order = std::move(*made);
    accesses = accessesOf(plan, entry, order);
    AICF_RETURN_IF_ERROR(checkAccessOrder());
    AICF_RETURN_IF_ERROR(checkDerivedStates());
    return checkLifetimes();
  }

private:
  Status checkTensors();
  Status checkOneCall(const PlanCall &call, const Place &at) const;
  Status checkTypes(const PlanCall &call, const BodyFacts &facts,
                    const Place &at) const;
  Status checkWorkspace(const PlanCall &call, const KernelRow &row,
                        const Place &at) const;
  Status checkWrites(const PlanCall &call, const BodyFacts &facts,
                     const Place &at) const;
  Status checkAccessOrder() const;
  Status checkDerivedStates() const;
  Status checkLifetimes() const;

  const PlanTensor &tensor(uint32_t tid) const {
    return plan.tensor(entry, tid);
  }
  uint32_t numTensors() const {
    return static_cast<uint32_t>(plan.persistent.size() + entry.tensors.size());
  }
  std::string describe(uint32_t tid) const {
    const PlanTensor &t = tensor(tid);
    return "tensor " + std::to_string(tid) +
           (t.name.empty() ? "" : " (" + t.name + ")");
  }

  const Plan &plan;
  const PlanEntry &entry;
  Place where;
  const std::unordered_set<std::string> &persistentNames;
  const DerivedStates &derived;
  BodyChecker &bodies;
  HappensBefore order;
  std::vector<AccessSet> accesses;
};

Status EntryChecker::checkTensors() {
  AICF_RETURN_IF_ERROR(checkSegmentBytes(where, "io_bytes", entry.ioBytes));
  AICF_RETURN_IF_ERROR(checkSegmentBytes(where, "temp_bytes", entry.tempBytes));
  std::unordered_set<std::string> names;
  std::vector<const PlanTensor *> io;
  for (size_t i = 0; i < entry.tensors.size(); ++i) {
    const PlanTensor &t = entry.tensors[i];
    Place at{"tensor", i, &where};
    Segment segment = segmentOf(t.role);
    if (segment == Segment::Persistent)
      return refuse(PlanError::TensorRole, at, ": role ", nameOf(t.role),
                    " belongs into the plan's persistent table");
    bool named = !t.name.empty();
    if (segment == Segment::IO && !named)
      return refuse(PlanError::TensorName, at, ": an ", nameOf(t.role),
                    " without a name");
    if (named &&
        (persistentNames.count(t.name) || !names.insert(t.name).second))
      return refuse(PlanError::TensorName, at, ": the name \"", t.name,
                    "\" stands twice");
    AICF_RETURN_IF_ERROR(checkTensor(
        t, at, segment == Segment::IO ? entry.ioBytes : entry.tempBytes));
    if (t.derivedFrom != -1)
      return refuse(PlanError::TensorDerived, at, ": derived_from is ",
                    t.derivedFrom, ": only persistent tensors are derived");
    if (segment == Segment::IO)
      io.push_back(&t);
  }
  return checkDisjoint(io, where);
}

/// Rules and kernel.
Status EntryChecker::checkTypes(const PlanCall &call, const BodyFacts &facts,
                                const Place &at) const {
  std::vector<TensorDesc> ins, outs;
  ins.reserve(call.ins.size());
  outs.reserve(call.outs.size());
  for (uint32_t tid : call.ins)
    ins.push_back(tensor(tid).desc);
  for (uint32_t tid : call.outs)
    outs.push_back(tensor(tid).desc);
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
  return checkWorkspace(call, *row, at);
}

/// Calls of one stream share a tensor, as large as the largest wants; each gets
/// its own part, at most what its kernel uses.
Status EntryChecker::checkWorkspace(const PlanCall &call, const KernelRow &row,
                                    const Place &at) const {
  if (call.workspace < 0 && call.workspaceBytes == 0)
    return {};
  if (call.workspace < 0)
    return refuse(PlanError::CallWorkspace, at, ": gets ", call.workspaceBytes,
                  " bytes of workspace, but names no tensor");
  if (static_cast<uint32_t>(call.workspace) >= numTensors())
    return refuse(PlanError::CallTensor, at, ": workspace is ", call.workspace,
                  ", there are ", numTensors(), " tensors");
  const PlanTensor &workspace = tensor(static_cast<uint32_t>(call.workspace));
  uint64_t most =
      std::min(workspace.desc.spanBytes(), alignedBytes(row.workspaceCap));
  if (workspace.role != Role::Workspace || call.workspaceBytes == 0 ||
      call.workspaceBytes > most || call.workspaceBytes % 4 != 0)
    return refuse(PlanError::CallWorkspace, at, ": gets ", call.workspaceBytes,
                  " bytes of tensor ", call.workspace, ", which is of role ",
                  nameOf(workspace.role), " with ", workspace.desc.spanBytes(),
                  " bytes; kernel ", call.kid, " takes up to ",
                  row.workspaceCap);
  return {};
}

Status EntryChecker::checkWrites(const PlanCall &call, const BodyFacts &facts,
                                 const Place &at) const {
  std::unordered_map<uint32_t, size_t> writtenBy;
  for (size_t r = 0; r < call.outs.size(); ++r) {
    uint32_t out = call.outs[r];
    Role role = tensor(out).role;
    bool writable =
        role != Role::Input && role != Role::Hyper && role != Role::Workspace;
    bool twice = !writtenBy.try_emplace(out, r).second;
    if (!writable || twice)
      return refuse(PlanError::CallWrites, at, ": result ", r, " writes ",
                    describe(out), twice ? " a second time" : " of role ",
                    twice ? std::string_view() : nameOf(role));
  }
  for (size_t i = 0; i < call.ins.size(); ++i) {
    uint32_t in = call.ins[i];
    if (tensor(in).role == Role::Workspace)
      return refuse(PlanError::CallWorkspace, at, ": reads ", describe(in),
                    " of role workspace");
    auto it = writtenBy.find(in);
    if (it != writtenBy.end() && !facts.mayShareStorage(it->second, i))
      return refuse(PlanError::CallInplace, at, ": result ", it->second,
                    " and operand ", i, " are both ", describe(in), ", but ",
                    primitiveNames(*call.body), " may not work in place there");
  }
  return {};
}

Status EntryChecker::checkOneCall(const PlanCall &call, const Place &at) const {
  if (!call.body)
    return refuse(PlanError::CallBody, at, ": has no body");
  AICF_ASSIGN_OR_RETURN(const BodyFacts *facts, bodies.check(call.body, at));
  const Body &body = *call.body;
  if (call.ins.size() != body.numOperands ||
      call.outs.size() != body.results.size())
    return refuse(PlanError::CallBody, at, ": has ", call.ins.size(),
                  " operands and ", call.outs.size(), " results, its body ",
                  body.numOperands, " and ", body.results.size());
  for (auto [tids, name] :
       {std::pair(&call.ins, "ins"), std::pair(&call.outs, "outs")})
    for (uint32_t tid : *tids)
      if (tid >= numTensors())
        return refuse(PlanError::CallTensor, at, ": ", name, " names tensor ",
                      tid, ", there are ", numTensors());
  bool hasLabels = !call.inVids.empty() || !call.vids.empty();
  if (hasLabels && (call.inVids.size() != call.ins.size() ||
                    call.vids.size() != facts->numMade))
    return refuse(PlanError::CallLabels, at, ": ", call.inVids.size(), " and ",
                  call.vids.size(), " labels for ", call.ins.size(),
                  " operands and ", facts->numMade, " values");
  AICF_RETURN_IF_ERROR(checkTypes(call, *facts, at));
  return checkWrites(call, *facts, at);
}

/// Every write is ordered with every other access to its tensor, and temps and
/// outputs are written before they are read.
Status EntryChecker::checkAccessOrder() const {
  struct Seen {
    int64_t lastWrite = -1;
    std::vector<uint32_t> readsSince;
  };
  // Not one for each persistent tensor: a plan may have many entries.
  std::vector<Seen> seenOwn(entry.tensors.size());
  std::unordered_map<uint32_t, Seen> seenPersistent;
  auto seen = [&](uint32_t tid) -> Seen & {
    return tid < plan.persistent.size() ? seenPersistent[tid]
                                        : seenOwn[tid - plan.persistent.size()];
  };
  auto race = [&](uint32_t tid, int64_t a, size_t b) {
    return refuse(PlanError::UnorderedAccess, where, ", call ", b, ": ",
                  describe(tid), " is accessed by call ", a,
                  " too, and neither happens before the other");
  };
  for (uint32_t i = 0; i < entry.calls.size(); ++i) {
    const PlanCall &call = entry.calls[i];
    for (uint32_t tid : call.ins) {
      Seen &s = seen(tid);
      Role role = tensor(tid).role;
      bool produced = segmentOf(role) == Segment::Temp || role == Role::Output;
      if (produced && s.lastWrite < 0)
        return refuse(PlanError::ReadBeforeWrite, where, ", call ", i,
                      ": reads ", describe(tid),
                      ", which no earlier call writes");
      if (s.lastWrite >= 0 && !order.before(size_t(s.lastWrite), i))
        return race(tid, s.lastWrite, i);
      s.readsSince.push_back(i);
    }
    std::vector<uint32_t> written = call.outs;
    if (call.workspace >= 0)
      written.push_back(static_cast<uint32_t>(call.workspace));
    for (uint32_t tid : written) {
      Seen &s = seen(tid);
      if (s.lastWrite >= 0 && !order.before(size_t(s.lastWrite), i))
        return race(tid, s.lastWrite, i);
      for (uint32_t reader : s.readsSince)
        if (reader != i && !order.before(reader, i))
          return race(tid, reader, i);
      s.lastWrite = i;
      s.readsSince.clear();
    }
  }
  for (uint32_t tid = plan.persistent.size(); tid < numTensors(); ++tid) {
    Role role = tensor(tid).role;
    bool produced =
        role == Role::Temp || role == Role::Saved || role == Role::Output;
    if (produced && seen(tid).lastWrite < 0)
      return refuse(PlanError::ReadBeforeWrite, where, ": ", describe(tid),
                    " of role ", nameOf(role), " is never written");
  }
  return {};
}

/// An entry that writes a tensor writes what is derived from it too, in
/// whatever order: its updates are one parallel assignment.
Status EntryChecker::checkDerivedStates() const {
  if (derived.empty())
    return {};
  std::unordered_set<uint32_t> written;
  for (const PlanCall &call : entry.calls)
    written.insert(call.outs.begin(), call.outs.end());
  for (size_t i = 0; i < entry.calls.size(); ++i)
    for (uint32_t source : entry.calls[i].outs) {
      auto of = derived.find(source);
      if (of == derived.end())
        continue;
      for (uint32_t tid : of->second)
        if (!written.count(tid))
          return refuse(PlanError::TensorDerived, where, ": call ", i,
                        " writes ", describe(source), ", but no call writes ",
                        describe(tid), ", which is derived from it");
    }
  return {};
}

/// Temps that share bytes are not live at the same time.
Status EntryChecker::checkLifetimes() const {
  std::vector<PlacedRange> ranges;
  std::vector<uint32_t> tids;
  for (size_t i = 0; i < entry.tensors.size(); ++i) {
    const PlanTensor &t = entry.tensors[i];
    if (segmentOf(t.role) != Segment::Temp)
      continue;
    ranges.push_back({t.offset, t.offset + t.desc.spanBytes(), &accesses[i]});
    tids.push_back(uint32_t(plan.persistent.size() + i));
  }
  if (auto conflict = findConflict(ranges, order))
    return refuse(
        PlanError::LiveOverlap, where, ": ", describe(tids[conflict->first]),
        " at offset ", ranges[conflict->first].begin, " and ",
        describe(tids[conflict->second]), " at offset ",
        ranges[conflict->second].begin, " share bytes while both are live");
  return {};
}

/// A reader takes the outputs apart as the form says. The compiler may have
/// added some that the function does not return, behind its own.
Status checkOutputForm(const PlanEntry &entry, const Place &where) {
  bool hasOutput =
      std::any_of(entry.tensors.begin(), entry.tensors.end(),
                  [](const PlanTensor &t) { return t.role == Role::Output; });
  if (entry.outputForm == OutputForm::Unknown || hasOutput)
    return {};
  return refuse(PlanError::EntryOutputs, where, ": a ",
                nameOf(entry.outputForm), " of outputs, but there is none");
}

/// Users say "entry/name" for an input or output: nothing else may have that
/// name, or be reached by it.
Status checkQualifiedNames(const Plan &plan) {
  auto isIO = [](const PlanTensor &t) {
    return segmentOf(t.role) == Segment::IO;
  };
  std::unordered_set<std::string> names, qualified;
  for (const PlanTensor &t : plan.persistent)
    names.insert(t.name);
  for (const PlanEntry &entry : plan.entries)
    for (const PlanTensor &t : entry.tensors)
      if (isIO(t))
        names.insert(t.name);
  for (const PlanEntry &entry : plan.entries)
    for (const PlanTensor &t : entry.tensors) {
      std::string full = entry.name + "/" + t.name;
      if (isIO(t) && (names.count(full) || !qualified.insert(full).second))
        return refuse(PlanError::TensorName, "entry ", entry.name, ": \"", full,
                      "\" would name two tensors");
    }
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
                    entry.name, "\" is empty, malformed or stands twice");
    Place where{"entry", i, nullptr, entry.name};
    if (entry.accumulate == 1 || entry.accumulate > INT32_MAX ||
        (entry.accumulate && !plan.findEntry(entry.name + kAccumulateSuffix)))
      return refuse(PlanError::EntryBatches, where, ": an update of ",
                    entry.accumulate, " batches, expected 2 to ", INT32_MAX,
                    " and an entry ", entry.name, kAccumulateSuffix);
    AICF_RETURN_IF_ERROR(checkOutputForm(entry, where));
    AICF_RETURN_IF_ERROR(
        EntryChecker(plan, entry, where, persistentNames, derived, bodies)
            .run());
  }
  return checkQualifiedNames(plan);
}

} // namespace aicf
