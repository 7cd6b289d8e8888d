//===- BoundPlan.cpp - a plan in memory, with its calls -------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Runtime/BoundPlan.h"

#include "lib/Base/BadAlloc.h"
#include "lib/Runtime/IO/Initializers.h"

namespace aicf {

BoundPlan::BoundPlan(std::shared_ptr<const Plan> plan, Device &device,
                     Stream &stream, const ExecutorOptions &options)
    : sharedPlan(std::move(plan)), device(device), stream(stream),
      options(options), buffers(*sharedPlan, device, options),
      derivedStates(derivedStatesOf(*sharedPlan)) {}

//===----------------------------------------------------------------------===//
// Calls on addresses
//===----------------------------------------------------------------------===//

StatusOr<PreparedEntry> BoundPlan::prepareOne(size_t index) {
  return prepareEntry(plan(), index, buffers, device, stream, options.isWarmup);
}

StatusOr<std::vector<ResolvedCall>> BoundPlan::resolveDerivedCasts() {
  std::vector<ResolvedCall> casts(plan().buffers.size());
  for (uint32_t i = 0; i < casts.size(); ++i)
    if (int32_t source = plan().buffers[i].derivedFrom; source >= 0) {
      AICF_ASSIGN_OR_RETURN(casts[i],
                            resolveUnary(device, OpKind::Cast,
                                         buffers.view(0, uint32_t(source)),
                                         buffers.view(0, i)));
    }
  return casts;
}

Status BoundPlan::prepare() {
  if (prepared)
    return {};
  AICF_RETURN_IF_ERROR(buffers.allocate(stream));
  entries.clear(); // of a try that failed
  for (size_t i = 0; i < plan().entries.size(); ++i) {
    AICF_ASSIGN_OR_RETURN(PreparedEntry entry, prepareOne(i));
    entries.push_back(std::move(entry));
  }
  AICF_ASSIGN_OR_RETURN(derivedCasts, resolveDerivedCasts());
  AICF_RETURN_IF_ERROR(initialize());
  prepared = true;
  return {};
}

Status BoundPlan::rebind(std::string_view name, void *pointer, uint64_t bytes) {
  AICF_ASSIGN_OR_RETURN(BufferRef ref, buffers.find(name));
  Memory::Binding old = buffers.binding(ref);
  AICF_RETURN_IF_ERROR(buffers.bind(name, pointer, bytes));
  const bool isPersistent = buffers.isPersistent(ref);
  std::vector<PreparedEntry> anew = entries;
  std::vector<ResolvedCall> casts;
  Status status = catchBadAlloc([&]() -> Status {
    for (size_t i = 0; i < anew.size(); ++i) {
      if (!isPersistent && i != ref.entry)
        continue; // an input or output of one entry
      AICF_ASSIGN_OR_RETURN(anew[i], prepareOne(i));
      anew[i].hasRun = entries[i].hasRun;
    }
    AICF_ASSIGN_OR_RETURN(casts, resolveDerivedCasts());
    return {};
  });
  if (!status.ok()) {
    buffers.restore(ref, old);
    return status;
  }
  if (buffers.buffer(ref).role == Role::Output)
    anew[ref.entry].hasRun = false; // its value is not in the new memory
  entries = std::move(anew);
  derivedCasts = std::move(casts);
  return refreshDerived(ref.number);
}

StatusOr<std::unique_ptr<BoundPlan>>
BoundPlan::extended(std::shared_ptr<const Plan> next,
                    const PlanExtension &found) {
  auto extended =
      std::make_unique<BoundPlan>(std::move(next), device, stream, options);
  extended->buffers.share(buffers, found);
  if (!prepared)
    return extended;
  Status status =
      catchBadAlloc([&] { return extended->prepareExtended(*this, found); });
  if (!status.ok()) {
    (void)stream.synchronize(); // before the new memory goes
    return status;
  }
  return extended;
}

/// Entries that are as they were keep their calls, and so their graphs stay
/// true, unless their temps have moved.
Status BoundPlan::prepareExtended(const BoundPlan &old,
                                  const PlanExtension &found) {
  std::vector<bool> outputsStay; // in memory that has their values
  for (size_t i = 0; i < plan().entries.size(); ++i)
    outputsStay.push_back(buffers.hasOutputs(i));
  AICF_RETURN_IF_ERROR(buffers.allocate(stream));
  for (size_t i = 0; i < plan().entries.size(); ++i) {
    if (int64_t same = found.entries[i]; same >= 0) {
      entries.push_back(old.entries[size_t(same)]);
      entries.back().isStale |=
          buffers.haveTempsMoved() && plan().entries[i].tempBytes > 0;
      AICF_RETURN_IF_ERROR(describeEntry(plan(), i, entries.back()));
      continue;
    }
    AICF_ASSIGN_OR_RETURN(PreparedEntry entry, prepareOne(i));
    // Outputs stay only where there was an entry of that name.
    entry.hasRun =
        outputsStay[i] && old.entries[size_t(found.named[i])].hasRun;
    entries.push_back(std::move(entry));
  }
  AICF_ASSIGN_OR_RETURN(derivedCasts, resolveDerivedCasts());
  for (uint32_t i = 0; i < plan().buffers.size(); ++i) {
    if (found.persistent[i] >= 0)
      continue;
    AICF_RETURN_IF_ERROR(initialize(i));
    int32_t source = plan().buffers[i].derivedFrom;
    AICF_RETURN_IF_ERROR(refreshDerived(source >= 0 ? uint32_t(source) : i));
  }
  prepared = true;
  return stream.synchronize();
}

StatusOr<size_t> BoundPlan::findEntry(std::string_view name) const {
  for (size_t i = 0; i < entries.size(); ++i)
    if (entries[i].entry->name == name)
      return i;
  return makeError(StatusCode::InvalidArgument, "the plan has no entry \"",
                   name, "\"; it has ", plan().namesOfEntries());
}

StatusOr<size_t> BoundPlan::findToRun(std::string_view name) {
  AICF_ASSIGN_OR_RETURN(size_t index, findEntry(name));
  if (!entries[index].isStale)
    return index;
  AICF_RETURN_IF_ERROR(catchBadAlloc([&]() -> Status {
    AICF_ASSIGN_OR_RETURN(PreparedEntry anew, prepareOne(index));
    anew.hasRun = entries[index].hasRun;
    entries[index] = std::move(anew);
    return {};
  }));
  return index;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Status BoundPlan::initialize(uint32_t number) {
  const PlanBuffer &b = plan().buffers[number];
  if (b.role == Role::Constant) {
    buffers.setWritten({0, number}, true);
    return device.copyToDevice(stream, buffers.start({0, number}),
                               b.data.bytes.data(), b.data.bytes.size());
  }
  bool isTrained = b.role == Role::Param || b.role == Role::State;
  if (!isTrained || buffers.isBound(number))
    return {};
  BufferRef ref{0, number};
  buffers.setWritten(ref, options.useInitializers && b.init != InitKind::None);
  if (!buffers.isWritten(ref))
    return {};
  std::vector<uint8_t> bytes =
      initialValue(plan().tensor({}, number), options.seed);
  return device.copyToDevice(stream, buffers.start(ref), bytes.data(),
                             bytes.size());
}

Status BoundPlan::initialize() {
  for (uint32_t i = 0; i < plan().buffers.size(); ++i)
    AICF_RETURN_IF_ERROR(initialize(i));
  for (uint32_t i = 0; i < plan().buffers.size(); ++i)
    AICF_RETURN_IF_ERROR(refreshDerived(i));
  return {};
}

/// A state that is derived from another buffer is that one's cast; a step keeps
/// both in step, and whatever else writes the source comes here.
Status BoundPlan::refreshDerived(uint32_t source) {
  auto of = derivedStates.find(source);
  if (of == derivedStates.end())
    return {};
  bool isWritten = buffers.isWritten({0, source});
  for (uint32_t state : of->second) {
    buffers.setWritten({0, state}, isWritten);
    if (isWritten)
      AICF_RETURN_IF_ERROR(launch(derivedCasts[state], stream));
  }
  return {};
}

Status BoundPlan::checkIsCallers(BufferRef ref) const {
  const PlanBuffer &b = buffers.buffer(ref);
  if (b.role == Role::Constant)
    return makeError(StatusCode::InvalidArgument, "\"", b.name,
                     "\" is a constant of the plan: it cannot be written or "
                     "bound");
  if (b.derivedFrom < 0)
    return {};
  return makeError(
      StatusCode::InvalidArgument, "\"", b.name, "\" is derived from \"",
      plan().buffers[size_t(b.derivedFrom)].name, "\": write or bind that one");
}

Status BoundPlan::checkHasValue(BufferRef ref, std::string_view name,
                                const PreparedEntry *after) const {
  bool isOutput = buffers.buffer(ref).role == Role::Output;
  const PreparedEntry &own = entries[ref.entry];
  bool has = isOutput ? own.hasRun || after == &own : buffers.isWritten(ref);
  if (after)
    has |= after->writes(ref.number);
  if (has)
    return {};
  return makeError(StatusCode::NotInitialized, "\"", name,
                   isOutput ? "\" has no value: its entry has not run"
                            : "\" was never written");
}

Status BoundPlan::checkWritten(size_t index) const {
  const PreparedEntry &prepared = entries[index];
  for (uint32_t buffer : prepared.readBuffers)
    if (!buffers.isWritten({index, buffer})) {
      const PlanBuffer &b = plan().buffer(*prepared.entry, buffer);
      return makeError(StatusCode::NotInitialized, "entry ",
                       prepared.entry->name, ": ", nameOf(b.role), " \"",
                       b.name, "\" was never written",
                       b.role == Role::Hyper ? ": set it before the first run"
                                             : "");
    }
  return {};
}

void BoundPlan::markRun(size_t index) {
  entries[index].hasRun = true;
  for (uint32_t buffer : entries[index].writtenBuffers)
    buffers.setWritten({0, buffer}, true);
}

} // namespace aicf
