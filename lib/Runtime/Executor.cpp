//===- Executor.cpp - runs the entries of a plan --------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// The way of the data: plan tensors -> pointers (Memory) -> resolved calls, one
// list an entry -> the list is enqueued, eagerly or into a graph.
//===----------------------------------------------------------------------===//

#include "aicf/Executor.h"
#include "lib/Ops/BodyRules.h"
#include "lib/Base/BadAlloc.h"
#include "lib/Base/Runs.h"
#include "lib/Plan/Order.h"
#include "lib/Runtime/CallArgs.h"
#include "lib/Runtime/IO/Initializers.h"
#include "lib/Runtime/Memory.h"
#include "lib/Schedule/AccessTracker.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <unordered_map>
#include <unordered_set>

namespace aicf {

ExecutorOptions ExecutorOptions::fromEnvironment() {
  ExecutorOptions options;
  const char *warmup = std::getenv("AICF_WARMUP");
  options.isWarmup = warmup && std::string_view(warmup) == "1";
  return options;
}

namespace {

/// An entry with everything that running it needs.
struct PreparedEntry {
  const PlanEntry *entry = nullptr;
  std::vector<ResolvedCall> calls;
  size_t firstPlanCall = 0; ///< warm-up's copies stand before
  /// Numbers of the temp buffers that are dead after each plan call (poison
  /// mode), by call.
  std::vector<std::vector<uint32_t>> diesAfter;
  /// Numbers of the named buffers that must have a value before a run, and of
  /// the persistent ones that have one after it.
  std::vector<uint32_t> readBuffers, writtenBuffers;
  bool hasRun = false;
};

struct CachedGraph {
  GraphKey key;
  std::unique_ptr<Graph> graph;
  uint64_t lastUse = 0;
};

} // namespace

struct Executor::Impl {
  std::shared_ptr<const Plan> plan;
  std::shared_ptr<Device> device;
  ExecutorOptions options;
  std::unique_ptr<Stream> stream;
  std::unique_ptr<Memory> memory;
  std::vector<PreparedEntry> entries;
  std::vector<ResolvedCall> derivedCasts; ///< by persistent buffer
  DerivedStates derivedStates;
  std::vector<CachedGraph> graphs;
  bool isPrepared = false;
  uint64_t clock = 0;
  ExecutorStatistics stats;
  bool isTracing = false;
  std::vector<TraceRecord> trace;
  uint64_t numTracedLaunches = 0;
  std::chrono::steady_clock::time_point traceStart;
  std::atomic<bool> isInUse{false};

  /// Held by every public call that changes something: a second thread gets an
  /// error, not a race.
  class Use {
  public:
    explicit Use(Impl &impl)
        : flag(impl.isInUse),
          isOurs(!flag.exchange(true, std::memory_order_acquire)) {}
    ~Use() {
      if (isOurs)
        flag.store(false, std::memory_order_release);
    }
    Use(const Use &) = delete;
    Use &operator=(const Use &) = delete;
    Status status() const {
      return isOurs ? Status()
                    : makeError(StatusCode::FailedState,
                                "another thread is using this executor");
    }

  private:
    std::atomic<bool> &flag;
    bool isOurs;
  };

  Status prepare();
  Status bind(std::string_view name, void *pointer, uint64_t bytes);
  Status write(std::string_view name, const void *data, uint64_t bytes,
               MemorySpace from);
  Status read(std::string_view name, void *data, uint64_t bytes,
              MemorySpace to);
  /// Ok if `ref` has a value, or with `after` will have one after that entry.
  Status checkHasValue(BufferRef ref, std::string_view name,
                       const PreparedEntry *after) const;
  Status run(std::string_view entry);
  Status replay(std::string_view entry, uint64_t n);
  Status prepareEntry(size_t index);
  Status describeEntry(size_t index, PreparedEntry &prepared);
  Status initialize();
  Status initialize(uint32_t number);
  Status extend(std::shared_ptr<const Plan> next);
  Status extendPrepared(const PlanExtension &found,
                        const std::vector<PreparedEntry> &before);
  StatusOr<ResolvedCall> resolveCopy(const TensorView &from,
                                     const TensorView &to);
  Status resolvePlanCalls(size_t index, PreparedEntry &prepared);
  Status addWarmupCopies(size_t index, PreparedEntry &prepared);
  Status prepareEntries();
  Status resolveDerivedCasts();
  Status rebind(std::string_view name, void *pointer, uint64_t bytes);
  Status refuseDerived(BufferRef ref) const;
  /// Casts that recompute the states derived from a persistent buffer.
  Status refreshDerived(uint32_t source);
  /// The tensor that `bytes` at `data` are copied to or from.
  StatusOr<BufferRef> findForCopy(std::string_view name, const void *data,
                                  uint64_t bytes) const;
  StatusOr<size_t> findEntry(std::string_view name) const;
  Status checkWritten(const PreparedEntry &prepared, size_t index) const;
  Status runEager(size_t index);
  Status poison(size_t index, const std::vector<uint32_t> &buffers);
  Status debugAfter(size_t index, const ResolvedCall &call);
  StatusOr<CachedGraph *> getGraph(const GraphKey &key, bool mayCapture);
  StatusOr<std::unique_ptr<Graph>> captureSteps(size_t index, uint32_t steps);
  Status enqueueSteps(size_t index, uint32_t steps);
  Status launch(CachedGraph &cached);
  /// What a run has written can be read.
  void markRun(PreparedEntry &prepared) {
    prepared.hasRun = true;
    for (uint32_t buffer : prepared.writtenBuffers)
      memory->setWritten({0, buffer}, true);
  }
  double nowMicros() const {
    return std::chrono::duration<double, std::micro>(
               std::chrono::steady_clock::now() - traceStart)
        .count();
  }
  TraceRecord describe(size_t index, const ResolvedCall &call) const;
  void recordLaunch(size_t index, const Graph &graph, double start,
                    const LaunchTimes &times);
};

Executor::Executor(std::unique_ptr<Impl> impl) : impl(std::move(impl)) {}

Executor::~Executor() {
  if (impl->stream)                    // before memory and graphs go
    (void)impl->stream->synchronize(); // a destructor returns no error
}

StatusOr<std::unique_ptr<Executor>>
Executor::create(std::shared_ptr<const Plan> plan,
                 std::shared_ptr<Device> device, ExecutorOptions options) {
  if (!plan || !device)
    return makeError(StatusCode::InvalidArgument, "no ",
                     plan ? "device" : "plan");
  if (plan->device != device->kind())
    return makeError(StatusCode::InvalidArgument, "the plan is for ",
                     nameOf(plan->device), ", the device is ",
                     nameOf(device->kind()));
  auto impl = std::make_unique<Impl>();
  AICF_ASSIGN_OR_RETURN(impl->stream, device->createStream());
  options.separateAllocations |= options.canary;
  impl->memory = std::make_unique<Memory>(*plan, *device, options);
  impl->derivedStates = derivedStatesOf(*plan);
  impl->plan = std::move(plan);
  impl->device = std::move(device);
  impl->options = options;
  return std::unique_ptr<Executor>(new Executor(std::move(impl)));
}

/// A derived state is the executor's to write.
Status Executor::Impl::refuseDerived(BufferRef ref) const {
  const PlanBuffer &b = memory->buffer(ref);
  if (b.derivedFrom < 0)
    return {};
  return makeError(
      StatusCode::InvalidArgument, "\"", b.name, "\" is derived from \"",
      plan->buffers[size_t(b.derivedFrom)].name, "\": write or bind that one");
}

/// After prepare(): new pointers mean new calls and no graphs. All or nothing.
Status Executor::Impl::rebind(std::string_view name, void *pointer,
                              uint64_t bytes) {
  AICF_RETURN_IF_ERROR(stream->synchronize());
  AICF_ASSIGN_OR_RETURN(BufferRef ref, memory->find(name));
  Memory::Binding old = memory->binding(ref);
  AICF_RETURN_IF_ERROR(memory->bind(name, pointer, bytes));
  std::vector<PreparedEntry> before = std::move(entries);
  std::vector<ResolvedCall> casts = std::move(derivedCasts);
  Status status = catchBadAlloc([&] { return prepareEntries(); });
  if (!status.ok()) {
    memory->restore(ref, old);
    entries = std::move(before);
    derivedCasts = std::move(casts);
    return status;
  }
  for (size_t i = 0; i < entries.size(); ++i)
    entries[i].hasRun = before[i].hasRun;
  if (memory->buffer(ref).role == Role::Output)
    entries[ref.entry].hasRun = false; // its value is not in the new memory
  graphs.clear();
  return ref.number < plan->buffers.size() ? refreshDerived(ref.number)
                                           : Status();
}

Status Executor::Impl::bind(std::string_view name, void *pointer,
                            uint64_t bytes) {
  AICF_ASSIGN_OR_RETURN(BufferRef ref, memory->find(name));
  AICF_RETURN_IF_ERROR(refuseDerived(ref));
  if (!isPrepared)
    return memory->bind(name, pointer, bytes);
  return catchBadAlloc([&] { return rebind(name, pointer, bytes); });
}

StatusOr<ResolvedCall> Executor::Impl::resolveCopy(const TensorView &from,
                                                   const TensorView &to) {
  static const auto body =
      std::make_shared<Body>(makeBody(OpKind::Copy, {}, {true}, {true}));
  return resolve(*device, {body, {&from, 1}, {&to, 1}});
}

Status Executor::Impl::resolvePlanCalls(size_t index, PreparedEntry &prepared) {
  const PlanEntry &entry = plan->entries[index];
  std::unordered_map<int64_t, uint32_t> events; // numbered from 0
  auto number = [&](const std::vector<int64_t> &names) {
    std::vector<uint32_t> numbers;
    for (int64_t name : names)
      numbers.push_back(
          events.try_emplace(name, uint32_t(events.size())).first->second);
    return numbers;
  };
  uint32_t numStreams = 1;
  for (size_t i = 0; i < entry.calls.size(); ++i) {
    const PlanCall &call = entry.calls[i];
    std::vector<TensorView> ins, outs;
    for (uint32_t value : call.ins)
      ins.push_back(memory->view(index, value));
    for (uint32_t value : call.outs)
      outs.push_back(memory->view(index, value));
    CallRequest request{call.body, ins, outs, call.kid};
    if (call.workspace >= 0)
      request.workspace = {
          memory->start({index, uint32_t(call.workspace)}),
          TensorDesc(DType::I32, {int64_t(call.workspaceBytes / 4)})};
    StatusOr<ResolvedCall> resolved = resolve(*device, request);
    if (!resolved.ok())
      return resolved.status().withContext("entry " + entry.name + ", call " +
                                           std::to_string(i));
    resolved->tag = static_cast<int32_t>(i);
    resolved->stream = call.stream;
    resolved->waits = number(call.waits);
    resolved->signals = number(call.signals);
    numStreams = std::max(numStreams, call.stream + 1);
    prepared.calls.push_back(std::move(*resolved));
  }
  return stream->reserve(numStreams, uint32_t(events.size()));
}

/// Warm-up: every updated buffer is copied away first and back last, so that
/// whatever the calls in between write, the old bits stay.
Status Executor::Impl::addWarmupCopies(size_t index, PreparedEntry &prepared) {
  std::vector<bool> isUpdated(plan->buffers.size());
  for (const PlanCall &call : plan->entries[index].calls)
    for (uint32_t value : call.outs)
      if (uint32_t b = plan->value(plan->entries[index], value).buffer;
          b < isUpdated.size())
        isUpdated[b] = true;
  std::vector<ResolvedCall> save, restore;
  for (uint32_t i = 0; i < isUpdated.size(); ++i) {
    if (!isUpdated[i])
      continue;
    TensorView view = memory->view(index, i);
    AICF_ASSIGN_OR_RETURN(TensorView shadow, memory->shadow(i));
    AICF_ASSIGN_OR_RETURN(ResolvedCall out, resolveCopy(view, shadow));
    AICF_ASSIGN_OR_RETURN(ResolvedCall back, resolveCopy(shadow, view));
    save.push_back(std::move(out));
    restore.push_back(std::move(back));
  }
  prepared.firstPlanCall = save.size();
  prepared.calls.insert(prepared.calls.begin(), save.begin(), save.end());
  prepared.calls.insert(prepared.calls.end(), restore.begin(), restore.end());
  return {};
}

Status Executor::Impl::prepareEntry(size_t index) {
  PreparedEntry &prepared = entries[index];
  AICF_RETURN_IF_ERROR(resolvePlanCalls(index, prepared));
  if (options.isWarmup)
    AICF_RETURN_IF_ERROR(addWarmupCopies(index, prepared));
  return describeEntry(index, prepared);
}

/// What is said of an entry in numbers of its buffers.
Status Executor::Impl::describeEntry(size_t index, PreparedEntry &prepared) {
  const PlanEntry &entry = plan->entries[index];
  prepared.entry = &entry;
  prepared.diesAfter.assign(entry.calls.size(), {});
  prepared.readBuffers.clear();
  prepared.writtenBuffers.clear();
  AICF_ASSIGN_OR_RETURN(HappensBefore order, orderOf(entry));
  AICF_ASSIGN_OR_RETURN(EntryRegions regions,
                        EntryRegions::create(*plan, entry));
  std::vector<AccessSet> accesses = accessesOf(*plan, entry, order);
  for (size_t i = 0; i < accesses.size(); ++i)
    if (!accesses[i].empty() &&
        segmentOf(entry.buffers[i].role) == Segment::Temp)
      prepared.diesAfter[accesses[i].lastCall()].push_back(
          uint32_t(plan->buffers.size() + i));
  AccessTracker tracker(regions.map(), order);
  std::unordered_set<uint32_t> read, written; // not a bit for each buffer
  for (uint32_t i = 0; i < entry.calls.size(); ++i) {
    for (uint32_t value : entry.calls[i].ins) {
      uint32_t buffer = plan->value(entry, value).buffer;
      Role role = plan->buffer(entry, buffer).role;
      bool isOutside =
          role == Role::Input || segmentOf(role) == Segment::Persistent;
      if (isOutside && !tracker.isWritten(regions.ofValue(value)) &&
          read.insert(buffer).second)
        prepared.readBuffers.push_back(buffer);
    }
    for (uint32_t value : entry.calls[i].outs) {
      (void)tracker.write(regions.ofValue(value), i); // verified: no race
      written.insert(plan->value(entry, value).buffer);
    }
  }
  for (uint32_t buffer : written)
    if (buffer < plan->buffers.size() && regions.isUsed(buffer) &&
        tracker.isWritten(regions.ofValue(buffer)))
      prepared.writtenBuffers.push_back(buffer);
  std::sort(prepared.writtenBuffers.begin(), prepared.writtenBuffers.end());
  return {};
}

Status Executor::Impl::initialize(uint32_t number) {
  const PlanBuffer &b = plan->buffers[number];
  bool isTrained = b.role == Role::Param || b.role == Role::State;
  if (!isTrained || memory->isBound(number) || b.derivedFrom >= 0)
    return {};
  BufferRef ref{0, number};
  memory->setWritten(ref, options.useInitializers && b.init != InitKind::None);
  if (!memory->isWritten(ref))
    return {};
  std::vector<uint8_t> bytes =
      initialValue(plan->tensor({}, number), options.seed);
  return device->copyToDevice(*stream, memory->start(ref), bytes.data(),
                              bytes.size());
}

Status Executor::Impl::initialize() {
  for (uint32_t i = 0; i < plan->buffers.size(); ++i)
    AICF_RETURN_IF_ERROR(initialize(i));
  for (uint32_t i = 0; i < plan->buffers.size(); ++i)
    AICF_RETURN_IF_ERROR(refreshDerived(i));
  return {};
}

/// A state that is derived from another buffer is that one's cast; a step keeps
/// both in step, and whatever else writes the source comes here.
Status Executor::Impl::refreshDerived(uint32_t source) {
  auto of = derivedStates.find(source);
  if (of == derivedStates.end())
    return {};
  bool isWritten = memory->isWritten({0, source});
  for (uint32_t state : of->second) {
    memory->setWritten({0, state}, isWritten);
    if (isWritten)
      AICF_RETURN_IF_ERROR(aicf::launch(derivedCasts[state], *stream));
  }
  return {};
}

Status Executor::Impl::prepareEntries() {
  entries.clear();
  entries.resize(plan->entries.size());
  for (size_t i = 0; i < entries.size(); ++i)
    AICF_RETURN_IF_ERROR(prepareEntry(i));
  return resolveDerivedCasts();
}

Status Executor::Impl::resolveDerivedCasts() {
  auto castBody =
      std::make_shared<Body>(makeBody(OpKind::Cast, {}, {true}, {true}));
  derivedCasts.clear();
  derivedCasts.resize(plan->buffers.size());
  for (uint32_t i = 0; i < derivedCasts.size(); ++i) {
    int32_t source = plan->buffers[i].derivedFrom;
    if (source < 0)
      continue;
    TensorView from = memory->view(0, uint32_t(source));
    TensorView to = memory->view(0, i);
    AICF_ASSIGN_OR_RETURN(derivedCasts[i],
                          resolve(*device, {castBody, {&from, 1}, {&to, 1}}));
  }
  return {};
}

Status Executor::Impl::prepare() {
  if (isPrepared)
    return {};
  return catchBadAlloc([&]() -> Status {
    AICF_RETURN_IF_ERROR(memory->allocate(*stream));
    AICF_RETURN_IF_ERROR(prepareEntries());
    AICF_RETURN_IF_ERROR(initialize());
    isPrepared = true;
    return {};
  });
}

/// The entries that are as they were keep their calls, and so their graphs stay
/// true. All or nothing: what was there comes back after an error.
Status Executor::Impl::extend(std::shared_ptr<const Plan> next) {
  if (!next)
    return makeError(StatusCode::InvalidArgument, "no plan");
  AICF_ASSIGN_OR_RETURN(PlanExtension found, matchExtension(*plan, *next));
  AICF_RETURN_IF_ERROR(stream->synchronize());
  auto extended = std::make_unique<Memory>(*next, *device, options);
  extended->share(*memory, found);
  DerivedStates states = derivedStatesOf(*next);
  // From here on nothing throws but what is caught below.
  std::vector<PreparedEntry> before = std::move(entries);
  std::vector<ResolvedCall> casts = std::move(derivedCasts);
  std::swap(derivedStates, states);
  plan.swap(next);
  memory.swap(extended);
  entries.clear();
  if (!isPrepared)
    return {};
  Status status = catchBadAlloc([&] { return extendPrepared(found, before); });
  if (!status.ok()) {
    (void)stream->synchronize(); // before the new memory goes
    plan.swap(next);
    memory.swap(extended);
    entries = std::move(before);
    derivedCasts = std::move(casts);
    derivedStates = std::move(states);
    return status;
  }
  graphs.erase(std::remove_if(graphs.begin(), graphs.end(),
                              [&](const CachedGraph &cached) {
                                StatusOr<size_t> i =
                                    findEntry(cached.key.entry);
                                return !i.ok() || found.entries[*i] < 0;
                              }),
               graphs.end());
  return {};
}

Status
Executor::Impl::extendPrepared(const PlanExtension &found,
                               const std::vector<PreparedEntry> &before) {
  std::vector<bool> outputsStay; // in memory that has their values
  for (size_t i = 0; i < plan->entries.size(); ++i)
    outputsStay.push_back(memory->hasOutputs(i));
  AICF_RETURN_IF_ERROR(memory->allocate(*stream));
  entries.resize(plan->entries.size());
  for (size_t i = 0; i < entries.size(); ++i)
    if (int64_t from = found.entries[i]; from >= 0)
      entries[i] = before[size_t(from)];
    else if (int64_t same = found.named[i]; same >= 0)
      entries[i].hasRun = before[size_t(same)].hasRun && outputsStay[i];
  for (size_t i = 0; i < entries.size(); ++i)
    AICF_RETURN_IF_ERROR(found.entries[i] >= 0 ? describeEntry(i, entries[i])
                                               : prepareEntry(i));
  derivedCasts.clear();
  AICF_RETURN_IF_ERROR(resolveDerivedCasts());
  for (uint32_t i = 0; i < plan->buffers.size(); ++i) {
    int32_t source = plan->buffers[i].derivedFrom;
    if (found.persistent[i] >= 0)
      continue;
    AICF_RETURN_IF_ERROR(initialize(i));
    AICF_RETURN_IF_ERROR(refreshDerived(source >= 0 ? uint32_t(source) : i));
  }
  return stream->synchronize();
}

StatusOr<BufferRef> Executor::Impl::findForCopy(std::string_view name,
                                                const void *data,
                                                uint64_t bytes) const {
  if (!data)
    return makeError(StatusCode::InvalidArgument, "\"", name,
                     "\": the data pointer is null");
  AICF_ASSIGN_OR_RETURN(BufferRef ref, memory->find(name));
  AICF_RETURN_IF_ERROR(memory->checkSize(ref, name, bytes));
  return ref;
}

Status Executor::Impl::write(std::string_view name, const void *data,
                             uint64_t bytes, MemorySpace from) {
  AICF_ASSIGN_OR_RETURN(BufferRef ref, findForCopy(name, data, bytes));
  if (memory->buffer(ref).role == Role::Output)
    return makeError(StatusCode::InvalidArgument, "\"", name,
                     "\" is an output: it cannot be written");
  AICF_RETURN_IF_ERROR(refuseDerived(ref));
  void *at = memory->start(ref);
  AICF_RETURN_IF_ERROR(from == MemorySpace::Host
                           ? device->copyToDevice(*stream, at, data, bytes)
                           : device->copyOnDevice(*stream, at, data, bytes));
  memory->setWritten(ref, true);
  bool isPersistent = ref.number < plan->buffers.size();
  return isPersistent ? refreshDerived(ref.number) : Status();
}

Status Executor::Impl::checkHasValue(BufferRef ref, std::string_view name,
                                     const PreparedEntry *after) const {
  bool isOutput = memory->buffer(ref).role == Role::Output;
  bool has = isOutput
                 ? entries[ref.entry].hasRun || after == &entries[ref.entry]
                 : memory->isWritten(ref);
  if (after && ref.number < plan->buffers.size()) {
    const std::vector<uint32_t> &written = after->writtenBuffers;
    has |=
        std::find(written.begin(), written.end(), ref.number) != written.end();
  }
  if (has)
    return {};
  return makeError(StatusCode::NotInitialized, "\"", name,
                   isOutput ? "\" has no value: its entry has not run"
                            : "\" was never written");
}

Status Executor::Impl::read(std::string_view name, void *data, uint64_t bytes,
                            MemorySpace to) {
  AICF_ASSIGN_OR_RETURN(BufferRef ref, findForCopy(name, data, bytes));
  AICF_RETURN_IF_ERROR(checkHasValue(ref, name, nullptr));
  TensorView view = memory->view(ref.entry, ref.number);
  if (view.desc.isDense())
    return to == MemorySpace::Host
               ? device->copyToHost(*stream, data, view.start(), bytes)
               : device->copyOnDevice(*stream, data, view.start(), bytes);
  uint64_t element = sizeOf(view.desc.dtype);
  if (to == MemorySpace::Device) {
    uint64_t rowBytes = uint64_t(view.desc.width()) * element;
    return device->copy2D(*stream, data, rowBytes, view.start(),
                          uint64_t(view.desc.pitch()) * element, rowBytes,
                          uint64_t(view.desc.rows()));
  }
  return catchBadAlloc([&]() -> Status {
    std::vector<uint8_t> span(view.desc.spanBytes());
    AICF_RETURN_IF_ERROR(
        device->copyToHost(*stream, span.data(), view.start(), span.size()));
    forEachRun(view.desc, [&](int64_t first, int64_t start, int64_t count) {
      std::memcpy(static_cast<uint8_t *>(data) + uint64_t(first) * element,
                  &span[uint64_t(start) * element], uint64_t(count) * element);
    });
    return {};
  });
}

StatusOr<TensorInfo> Executor::find(std::string_view name) const {
  AICF_ASSIGN_OR_RETURN(BufferRef ref, impl->memory->find(name));
  return impl->plan->tensor(impl->plan->entries[ref.entry], ref.number);
}

StatusOr<size_t> Executor::Impl::findEntry(std::string_view name) const {
  for (size_t i = 0; i < entries.size(); ++i)
    if (entries[i].entry->name == name)
      return i;
  std::string known;
  for (const PlanEntry &entry : plan->entries)
    known += (known.empty() ? "" : ", ") + entry.name;
  return makeError(StatusCode::InvalidArgument, "no entry \"", name,
                   "\"; the plan has ", known);
}

Status Executor::Impl::checkWritten(const PreparedEntry &prepared,
                                    size_t index) const {
  for (uint32_t buffer : prepared.readBuffers)
    if (!memory->isWritten({index, buffer})) {
      const PlanBuffer &b = plan->buffer(*prepared.entry, buffer);
      return makeError(StatusCode::NotInitialized, "entry ",
                       prepared.entry->name, ": ", nameOf(b.role), " \"",
                       b.name, "\" was never written");
    }
  return {};
}

TraceRecord Executor::Impl::describe(size_t index,
                                     const ResolvedCall &call) const {
  TraceRecord entry;
  entry.op = primitiveNames(call.body());
  entry.kid = std::string(call.row->kid);
  entry.stream = call.stream;
  const PlanEntry &planEntry = plan->entries[index];
  entry.entry = planEntry.name;
  if (call.tag >= 0) {
    const PlanCall &planCall = planEntry.calls[size_t(call.tag)];
    entry.inVids = planCall.inVids;
    entry.outVids = planCall.vids;
    auto nameOfValue = [&](uint32_t number) {
      const PlanValue &v = plan->value(planEntry, number);
      if (const PlanBuffer &b = plan->buffer(planEntry, v.buffer);
          !b.name.empty())
        return b.name;
      return v.vid >= 0 ? "v" + std::to_string(v.vid)
                        : "#" + std::to_string(number);
    };
    for (uint32_t value : planCall.ins)
      entry.inNames.push_back(nameOfValue(value));
    for (uint32_t value : planCall.outs)
      entry.outNames.push_back(nameOfValue(value));
  }
  for (size_t i = 0; i < call.body().numOperands; ++i)
    entry.inTypes.push_back(call.operand(i).desc.toString());
  for (size_t i = 0; i < call.body().results.size(); ++i)
    entry.outTypes.push_back(call.result(i).desc.toString());
  return entry;
}

void Executor::Impl::recordLaunch(size_t index, const Graph &graph,
                                  double start, const LaunchTimes &times) {
  ++numTracedLaunches;
  for (size_t i = 0; i < graph.numCalls(); ++i) {
    TraceRecord entry = describe(index, graph.call(i));
    entry.isReplay = true;
    entry.launch = numTracedLaunches;
    entry.isWholeLaunch = times.calls.empty();
    entry.startMicros = start;
    entry.micros = entry.isWholeLaunch ? times.micros : times.calls[i];
    if (!entry.isWholeLaunch)
      start += entry.micros;
    trace.push_back(std::move(entry));
  }
}

/// Overwrites buffers with bytes that are NaN in every float type.
Status Executor::Impl::poison(size_t index,
                              const std::vector<uint32_t> &buffers) {
  for (uint32_t number : buffers) {
    BufferRef ref{index, number};
    AICF_RETURN_IF_ERROR(device->fill(*stream, memory->start(ref), 0xff,
                                      memory->buffer(ref).bytes));
  }
  return {};
}

/// Poison and canary mode, after one call.
Status Executor::Impl::debugAfter(size_t index, const ResolvedCall &call) {
  // Other branches must not run into what is overwritten here.
  AICF_RETURN_IF_ERROR(stream->synchronize());
  if (options.canary)
    AICF_RETURN_IF_ERROR(memory->checkCanaries(
        *stream, "after " + std::string(call.row->kid) + " (call " +
                     std::to_string(call.tag) + " of " +
                     plan->entries[index].name + ")"));
  if (options.poison && call.tag >= 0)
    AICF_RETURN_IF_ERROR(
        poison(index, entries[index].diesAfter[size_t(call.tag)]));
  return stream->synchronize();
}

Status Executor::Impl::runEager(size_t index) {
  PreparedEntry &prepared = entries[index];
  AICF_RETURN_IF_ERROR(checkWritten(prepared, index));
  bool debug = options.poison || options.canary;
  if (options.poison) // what no call has written yet
    for (const auto &dying : prepared.diesAfter)
      AICF_RETURN_IF_ERROR(poison(index, dying));
  for (size_t i = 0; i < prepared.calls.size(); ++i) {
    const ResolvedCall &call = prepared.calls[i];
    if (i == prepared.firstPlanCall)
      AICF_RETURN_IF_ERROR(stream->fork());
    if (isTracing) {
      double start = nowMicros();
      TraceRecord entry = describe(index, call);
      entry.startMicros = start;
      AICF_ASSIGN_OR_RETURN(entry.micros, stream->enqueueTimed(call));
      trace.push_back(std::move(entry));
    } else {
      AICF_RETURN_IF_ERROR(aicf::launch(call, *stream));
    }
    if (debug)
      AICF_RETURN_IF_ERROR(debugAfter(index, call));
  }
  markRun(prepared);
  ++stats.runs;
  return {};
}

Status Executor::Impl::run(std::string_view entry) {
  AICF_ASSIGN_OR_RETURN(size_t index, findEntry(entry));
  Status status = runEager(index);
  if (!status.ok()) // branches that nothing has joined must not run on
    (void)stream->synchronize();
  return status;
}

Status Executor::Impl::enqueueSteps(size_t index, uint32_t steps) {
  const PreparedEntry &prepared = entries[index];
  for (uint32_t step = 0; step < steps; ++step)
    for (size_t i = 0; i < prepared.calls.size(); ++i) {
      if (i == prepared.firstPlanCall)
        AICF_RETURN_IF_ERROR(stream->fork());
      AICF_RETURN_IF_ERROR(aicf::launch(prepared.calls[i], *stream));
    }
  return {};
}

StatusOr<std::unique_ptr<Graph>> Executor::Impl::captureSteps(size_t index,
                                                              uint32_t steps) {
  AICF_RETURN_IF_ERROR(graph_begin(*stream));
  Status enqueued = catchBadAlloc([&] { return enqueueSteps(index, steps); });
  // End the capture whatever happened, so that the stream stays usable.
  StatusOr<std::unique_ptr<Graph>> graph = graph_end(*stream);
  AICF_RETURN_IF_ERROR(enqueued);
  return graph;
}

/// The cached graph of `key`; captures it if it is missing and may be captured.
StatusOr<CachedGraph *> Executor::Impl::getGraph(const GraphKey &key,
                                                 bool mayCapture) {
  for (CachedGraph &cached : graphs)
    if (cached.key == key)
      return &cached;
  AICF_ASSIGN_OR_RETURN(size_t index, findEntry(key.entry));
  if (!mayCapture)
    return makeError(StatusCode::FailedState, "entry ", key.entry,
                     " has no captured graph: call capture() first");
  if (options.poison || options.canary)
    return makeError(StatusCode::FailedState,
                     "poison and canary modes run eagerly only");
  if (key.steps == 0)
    return makeError(StatusCode::InvalidArgument,
                     "steps of a graph key is 0, expected 1 or more");
  // Another thread can spoil a capture; a second one in a row is not an
  // accident.
  StatusOr<std::unique_ptr<Graph>> graph = captureSteps(index, key.steps);
  if (!graph.ok())
    graph = captureSteps(index, key.steps);
  if (!graph.ok())
    return graph.status().withContext("capture of entry " + key.entry +
                                      " failed twice; it still runs eagerly");
  if (graphs.size() >= std::max<size_t>(options.maxCachedGraphs, 1))
    graphs.erase(std::min_element(
        graphs.begin(), graphs.end(),
        [](const auto &a, const auto &b) { return a.lastUse < b.lastUse; }));
  stats.graphNodes = (*graph)->numNodes();
  graphs.push_back({key, std::move(*graph), ++clock});
  ++stats.captures;
  return &graphs.back();
}

Status Executor::Impl::launch(CachedGraph &cached) {
  AICF_ASSIGN_OR_RETURN(size_t index, findEntry(cached.key.entry));
  AICF_RETURN_IF_ERROR(checkWritten(entries[index], index));
  cached.lastUse = ++clock;
  if (isTracing) {
    double start = nowMicros();
    AICF_ASSIGN_OR_RETURN(LaunchTimes times,
                          stream->launchTimed(*cached.graph));
    recordLaunch(index, *cached.graph, start, times);
  } else {
    AICF_RETURN_IF_ERROR(graph_launch(*cached.graph, *stream));
  }
  markRun(entries[index]);
  ++stats.launches;
  return {};
}

Status Executor::Impl::replay(std::string_view entry, uint64_t n) {
  if (n == 0)
    return makeError(StatusCode::InvalidArgument, "replay of \"", entry,
                     "\" 0 times, expected 1 or more");
  CachedGraph *cached = nullptr;
  for (CachedGraph &candidate : graphs)
    if (candidate.key.steps == 1 && candidate.key.entry == entry)
      cached = &candidate;
  if (!cached) // for the message
    return getGraph({std::string(entry), 1}, false).status();
  for (uint64_t i = 0; i < n; ++i)
    AICF_RETURN_IF_ERROR(launch(*cached));
  return {};
}

//===----------------------------------------------------------------------===//
// The public calls: one at a time, on a prepared executor
//===----------------------------------------------------------------------===//

/// Returns from the caller unless this thread may go on.
#define AICF_USE_EXECUTOR()                                                    \
  Impl::Use use(*impl);                                                        \
  AICF_RETURN_IF_ERROR(use.status())
#define AICF_USE_PREPARED_EXECUTOR()                                           \
  AICF_USE_EXECUTOR();                                                         \
  AICF_RETURN_IF_ERROR(impl->prepare())

Status Executor::bind(std::string_view name, void *memory, uint64_t bytes) {
  AICF_USE_EXECUTOR();
  return impl->bind(name, memory, bytes);
}

Status Executor::prepare() {
  AICF_USE_PREPARED_EXECUTOR();
  return {};
}

Status Executor::extend(std::shared_ptr<const Plan> plan) {
  AICF_USE_EXECUTOR();
  return catchBadAlloc([&] { return impl->extend(std::move(plan)); });
}

Status Executor::write(std::string_view name, const void *data, uint64_t bytes,
                       MemorySpace from) {
  AICF_USE_PREPARED_EXECUTOR();
  return impl->write(name, data, bytes, from);
}

Status Executor::read(std::string_view name, void *data, uint64_t bytes,
                      MemorySpace to) {
  AICF_USE_PREPARED_EXECUTOR();
  return impl->read(name, data, bytes, to);
}

Status Executor::check_read(std::string_view name, std::string_view entry) {
  AICF_USE_PREPARED_EXECUTOR();
  AICF_ASSIGN_OR_RETURN(BufferRef ref, impl->memory->find(name));
  AICF_ASSIGN_OR_RETURN(size_t index, impl->findEntry(entry));
  return impl->checkHasValue(ref, name, &impl->entries[index]);
}

Status Executor::run(std::string_view entry) {
  AICF_USE_PREPARED_EXECUTOR();
  return impl->run(entry);
}

Status Executor::capture(std::string_view entry) {
  AICF_USE_PREPARED_EXECUTOR();
  return catchBadAlloc(
      [&] { return impl->getGraph({std::string(entry), 1}, true).status(); });
}

Status Executor::replay(std::string_view entry, uint64_t n) {
  AICF_USE_PREPARED_EXECUTOR();
  return impl->replay(entry, n);
}

Status Executor::run(const GraphKey &key) {
  AICF_USE_PREPARED_EXECUTOR();
  AICF_ASSIGN_OR_RETURN(CachedGraph * cached, impl->getGraph(key, true));
  return impl->launch(*cached);
}

Status Executor::reset_graphs() {
  AICF_USE_EXECUTOR();
  impl->graphs.clear();
  return {};
}

Status Executor::reset_state() {
  AICF_USE_PREPARED_EXECUTOR();
  return catchBadAlloc([&] { return impl->initialize(); });
}

Status Executor::sync() {
  AICF_USE_EXECUTOR();
  return impl->stream->synchronize();
}

Status Executor::trace_enable(bool enabled) {
  AICF_USE_EXECUTOR();
  impl->isTracing = enabled;
  if (!enabled)
    return {};
  impl->trace.clear();
  impl->numTracedLaunches = 0;
  impl->traceStart = std::chrono::steady_clock::now();
  return {};
}

#undef AICF_USE_PREPARED_EXECUTOR
#undef AICF_USE_EXECUTOR

const std::vector<TraceRecord> &Executor::trace_get() const {
  return impl->trace;
}

std::vector<SlotInfo> Executor::slots() const { return impl->memory->slots(); }

ExecutorStatistics Executor::statistics() const {
  ExecutorStatistics stats = impl->stats;
  impl->memory->addBytes(stats);
  return stats;
}

const Plan &Executor::plan() const { return *impl->plan; }
Device &Executor::device() const { return *impl->device; }
void *Executor::native_stream() const { return impl->stream->nativeHandle(); }

} // namespace aicf
