//===- Executor.cpp - runs the entries of a plan --------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// The way of the data: plan tensors -> pointers (Memory) -> resolved calls, one
// list for each entry (BoundPlan) -> the list is enqueued here, eagerly or into
// a graph (GraphCache), with a record of what ran if one is wanted (Tracer).
//===----------------------------------------------------------------------===//

#include "aicf/Executor.h"
#include "lib/Base/BadAlloc.h"
#include "lib/Base/Runs.h"
#include "lib/Ops/KernelTable.h"
#include "lib/Runtime/BoundPlan.h"
#include "lib/Base/Element.h"
#include "lib/Runtime/GraphCache.h"
#include "lib/Runtime/IndexCheck.h"
#include "lib/Runtime/Tracer.h"

#include <atomic>
#include <cstdlib>
#include <cstring>

namespace aicf {

ExecutorOptions ExecutorOptions::fromEnvironment() {
  ExecutorOptions options;
  const char *warmup = std::getenv("AICF_WARMUP");
  options.isWarmup = warmup && std::string_view(warmup) == "1";
  return options;
}

struct Executor::Impl {
  Impl(std::shared_ptr<const Plan> plan, std::shared_ptr<Device> device,
       std::unique_ptr<Stream> stream, const ExecutorOptions &options)
      : device(std::move(device)), options(options), stream(std::move(stream)),
        bound(std::make_unique<BoundPlan>(std::move(plan), *this->device,
                                          *this->stream, options)),
        graphs(options.maxCachedGraphs) {}

  std::shared_ptr<Device> device;
  ExecutorOptions options;
  std::unique_ptr<Stream> stream;
  std::unique_ptr<BoundPlan> bound;
  GraphCache graphs;
  Tracer tracer;
  ExecutorStatistics stats;
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

  Status bind(std::string_view name, void *pointer, uint64_t bytes);
  Status extend(std::shared_ptr<const Plan> next);
  /// The tensor that `bytes` at `data` are copied to or from.
  StatusOr<BufferRef> findForCopy(std::string_view name, const void *data,
                                  uint64_t bytes) const;
  Status write(std::string_view name, const void *data, uint64_t bytes,
               MemorySpace from);
  Status read(std::string_view name, void *data, uint64_t bytes,
              MemorySpace to);

  /// Between calls something is looked at.
  bool isDebugging() const {
    return options.poison || options.canary || options.checkIndices;
  }
  Status poison(size_t index, const std::vector<uint32_t> &buffers);
  Status debugAfter(size_t index, size_t call);
  Status enqueue(size_t index, const ResolvedCall &call);
  Status runEager(size_t index);
  /// The same; after an error nothing runs on.
  Status runOnce(size_t index);
  /// Instead of a graph of `steps` steps.
  Status runChecked(size_t index, uint32_t steps);

  bool fitsGraph(size_t index, uint32_t steps) const;
  Status enqueueSteps(size_t index, uint32_t steps);
  StatusOr<std::unique_ptr<Graph>> captureSteps(size_t index, uint32_t steps);
  StatusOr<Graph *> capture(size_t index, uint32_t steps);
  /// The graph of an entry, captured if there is none.
  StatusOr<Graph *> getGraph(size_t index, uint32_t steps);
  Status launch(size_t index, Graph &graph);
  Status replay(std::string_view entry, uint64_t n);
};

Executor::Executor(std::unique_ptr<Impl> impl) : impl(std::move(impl)) {}

Executor::~Executor() {
  // Before memory and graphs go. A destructor returns no error.
  (void)impl->stream->synchronize();
}

StatusOr<std::unique_ptr<Executor>>
Executor::create(std::shared_ptr<const Plan> plan,
                 std::shared_ptr<Device> device, ExecutorOptions options) {
  if (!plan || !device)
    return makeError(StatusCode::InvalidArgument, "the ",
                     plan ? "device" : "plan", " is null");
  if (plan->device != device->kind())
    return makeError(StatusCode::InvalidArgument, "the plan is for ",
                     nameOf(plan->device), ", the device is ",
                     nameOf(device->kind()));
  AICF_ASSIGN_OR_RETURN(std::unique_ptr<Stream> stream, device->createStream());
  options.separateAllocations |= options.canary;
  return std::unique_ptr<Executor>(new Executor(std::make_unique<Impl>(
      std::move(plan), std::move(device), std::move(stream), options)));
}

Status Executor::Impl::bind(std::string_view name, void *pointer,
                            uint64_t bytes) {
  AICF_ASSIGN_OR_RETURN(BufferRef ref, bound->memory().find(name));
  AICF_RETURN_IF_ERROR(bound->checkIsCallers(ref));
  if (!bound->isPrepared())
    return bound->memory().bind(name, pointer, bytes);
  AICF_RETURN_IF_ERROR(stream->synchronize());
  AICF_RETURN_IF_ERROR(bound->rebind(name, pointer, bytes));
  if (bound->memory().isPersistent(ref)) // graphs hold the old pointer
    graphs.clear();
  else
    graphs.erase(ref.entry);
  return {};
}

/// All or nothing: the new plan takes the old one's place when it is complete.
Status Executor::Impl::extend(std::shared_ptr<const Plan> next) {
  if (!next)
    return makeError(StatusCode::InvalidArgument, "the plan is null");
  AICF_ASSIGN_OR_RETURN(PlanExtension found,
                        matchExtension(bound->plan(), *next));
  AICF_RETURN_IF_ERROR(stream->synchronize());
  AICF_ASSIGN_OR_RETURN(bound, bound->extended(std::move(next), found));
  graphs.renumber(found.entries);
  for (size_t i = 0; i < found.entries.size(); ++i)
    if (bound->isPrepared() && bound->entry(i).isStale)
      graphs.expire(i);
  tracer.changePlan();
  return {};
}

//===----------------------------------------------------------------------===//
// Copies in and out
//===----------------------------------------------------------------------===//

StatusOr<BufferRef> Executor::Impl::findForCopy(std::string_view name,
                                                const void *data,
                                                uint64_t bytes) const {
  if (!data)
    return makeError(StatusCode::InvalidArgument, "\"", name,
                     "\": the data pointer is null");
  AICF_ASSIGN_OR_RETURN(BufferRef ref, bound->memory().find(name));
  AICF_RETURN_IF_ERROR(bound->memory().checkSize(ref, name, bytes));
  return ref;
}

static Status checkElements(const TensorDesc &desc, std::string_view name,
                            Span<const uint8_t> bytes) {
  int64_t wrong = findWrongElement(desc.dtype, bytes);
  if (wrong < 0)
    return {};
  return makeError(StatusCode::InvalidArgument, "\"", name, "\": element ",
                   wrong, " of ", desc.toString(), " is the byte ",
                   int(bytes[size_t(wrong)]), ", expected 0 or 1");
}

Status Executor::Impl::write(std::string_view name, const void *data,
                             uint64_t bytes, MemorySpace from) {
  AICF_ASSIGN_OR_RETURN(BufferRef ref, findForCopy(name, data, bytes));
  if (bound->memory().buffer(ref).role == Role::Output)
    return makeError(StatusCode::InvalidArgument, "\"", name,
                     "\" is an output: it cannot be written");
  AICF_RETURN_IF_ERROR(bound->checkIsCallers(ref));
  if (from == MemorySpace::Host)
    AICF_RETURN_IF_ERROR(
        checkElements(bound->memory().view(ref.entry, ref.number).desc, name,
                      {static_cast<const uint8_t *>(data), size_t(bytes)}));
  void *at = bound->memory().start(ref);
  AICF_RETURN_IF_ERROR(from == MemorySpace::Host
                           ? device->copyToDevice(*stream, at, data, bytes)
                           : device->copyOnDevice(*stream, at, data, bytes));
  bound->memory().setWritten(ref, true);
  return bound->refreshDerived(ref.number);
}

Status Executor::Impl::read(std::string_view name, void *data, uint64_t bytes,
                            MemorySpace to) {
  AICF_ASSIGN_OR_RETURN(BufferRef ref, findForCopy(name, data, bytes));
  AICF_RETURN_IF_ERROR(bound->checkHasValue(ref, name, nullptr));
  TensorView view = bound->memory().view(ref.entry, ref.number);
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

//===----------------------------------------------------------------------===//
// Eager runs
//===----------------------------------------------------------------------===//

/// Overwrites buffers with bytes that are NaN in every float type.
Status Executor::Impl::poison(size_t index,
                              const std::vector<uint32_t> &buffers) {
  for (uint32_t number : buffers) {
    BufferRef ref{index, number};
    AICF_RETURN_IF_ERROR(device->fill(*stream, bound->memory().start(ref), 0xff,
                                      bound->memory().buffer(ref).bytes));
  }
  return {};
}

/// After one call of a prepared entry, where isDebugging().
Status Executor::Impl::debugAfter(size_t index, size_t i) {
  const ResolvedCall &call = bound->entry(index).calls[i];
  // Other branches must not run into what is overwritten here.
  AICF_RETURN_IF_ERROR(stream->synchronize());
  if (options.canary)
    AICF_RETURN_IF_ERROR(bound->memory().checkCanaries(
        *stream, "after " + std::string(call.row->kid) + " (call " +
                     std::to_string(call.tag) + " of " +
                     bound->plan().entries[index].name + ")"));
  if (options.poison)
    AICF_RETURN_IF_ERROR(poison(index, bound->entry(index).diesAfter[i]));
  return stream->synchronize();
}

/// One call, with a record of it if somebody traces.
Status Executor::Impl::enqueue(size_t index, const ResolvedCall &call) {
  if (!tracer.enabled())
    return aicf::launch(call, *stream);
  double start = tracer.nowMicros();
  AICF_ASSIGN_OR_RETURN(double micros, stream->enqueueTimed(call));
  tracer.addCall(bound->plan(), index, call, start, micros);
  return {};
}

Status Executor::Impl::runEager(size_t index) {
  AICF_RETURN_IF_ERROR(bound->checkWritten(index));
  const PreparedEntry &entry = bound->entry(index);
  if (options.poison) // what no call has written yet
    for (const auto &dying : entry.diesAfter)
      AICF_RETURN_IF_ERROR(poison(index, dying));
  AICF_RETURN_IF_ERROR(entry.forEachRun(
      [&] { return stream->fork(); },
      [&](size_t i) -> Status {
        if (options.checkIndices)
          AICF_RETURN_IF_ERROR(checkIndices(*device, *stream, entry.calls[i],
                                            bound->plan().entries[index].name));
        AICF_RETURN_IF_ERROR(enqueue(index, entry.calls[i]));
        return isDebugging() ? debugAfter(index, i) : Status();
      }));
  bound->markRun(index);
  ++stats.runs;
  return {};
}

Status Executor::Impl::runOnce(size_t index) {
  Status status = runEager(index);
  if (!status.ok()) // branches that nothing has joined must not run on
    (void)stream->synchronize();
  return status;
}

/// A graph of no steps is an error.
static Status checkSteps(uint32_t steps) {
  if (steps > 0)
    return {};
  return makeError(StatusCode::InvalidArgument,
                   "steps of a graph key is 0, expected 1 or more");
}

Status Executor::Impl::runChecked(size_t index, uint32_t steps) {
  AICF_RETURN_IF_ERROR(checkSteps(steps));
  for (uint32_t step = 0; step < steps; ++step)
    AICF_RETURN_IF_ERROR(runOnce(index));
  return {};
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

/// Entries without loops always do, however many calls they have.
bool Executor::Impl::fitsGraph(size_t index, uint32_t steps) const {
  uint64_t calls = 0;
  for (const PlanPart &part : bound->plan().entries[index].parts)
    calls += uint64_t(part.numCalls) * part.times;
  return calls * steps <= kMaxGraphCalls;
}

Status Executor::Impl::enqueueSteps(size_t index, uint32_t steps) {
  const PreparedEntry &entry = bound->entry(index);
  for (uint32_t step = 0; step < steps; ++step)
    AICF_RETURN_IF_ERROR(entry.forEachRun(
        [&] { return stream->fork(); },
        [&](size_t i) { return aicf::launch(entry.calls[i], *stream); }));
  return {};
}

StatusOr<std::unique_ptr<Graph>> Executor::Impl::captureSteps(size_t index,
                                                              uint32_t steps) {
  AICF_RETURN_IF_ERROR(stream->beginCapture());
  Status enqueued = catchBadAlloc([&] { return enqueueSteps(index, steps); });
  // End the capture whatever happened, so that the stream stays usable.
  StatusOr<std::unique_ptr<Graph>> graph = stream->endCapture();
  AICF_RETURN_IF_ERROR(enqueued);
  return graph;
}

StatusOr<Graph *> Executor::Impl::capture(size_t index, uint32_t steps) {
  if (isDebugging())
    return makeError(StatusCode::FailedState,
                     "cannot capture an entry with poison, canary or index "
                     "checks: they run eagerly only");
  AICF_RETURN_IF_ERROR(checkSteps(steps));
  if (!fitsGraph(index, steps))
    return makeError(StatusCode::FailedState, "entry ",
                     bound->plan().entries[index].name, " makes more than ",
                     kMaxGraphCalls,
                     " calls in a graph: its loops run eagerly only");
  // Another thread can spoil a capture; a second one in a row is not an
  // accident.
  StatusOr<std::unique_ptr<Graph>> graph = captureSteps(index, steps);
  if (!graph.ok())
    graph = captureSteps(index, steps);
  if (!graph.ok())
    return graph.status().withContext("capture of entry " +
                                      bound->plan().entries[index].name +
                                      " failed twice; it still runs eagerly");
  stats.graphNodes = (*graph)->numNodes();
  ++stats.captures;
  return &graphs.insert(index, steps, std::move(*graph));
}

StatusOr<Graph *> Executor::Impl::getGraph(size_t index, uint32_t steps) {
  if (Graph *graph = graphs.find(index, steps))
    return graph;
  return capture(index, steps);
}

Status Executor::Impl::launch(size_t index, Graph &graph) {
  AICF_RETURN_IF_ERROR(bound->checkWritten(index));
  if (tracer.enabled()) {
    double start = tracer.nowMicros();
    AICF_ASSIGN_OR_RETURN(LaunchTimes times, stream->launchTimed(graph));
    tracer.addLaunch(bound->plan(), index, graph, start, times);
  } else {
    AICF_RETURN_IF_ERROR(stream->launch(graph));
  }
  bound->markRun(index);
  ++stats.launches;
  return {};
}

Status Executor::Impl::replay(std::string_view entry, uint64_t n) {
  if (n == 0)
    return makeError(StatusCode::InvalidArgument, "replay of \"", entry,
                     "\": n is 0, expected 1 or more");
  AICF_ASSIGN_OR_RETURN(size_t index, bound->findToRun(entry));
  if (!graphs.isKnown(index, 1))
    return makeError(StatusCode::FailedState, "entry ", entry,
                     " has no captured graph: call capture() first");
  AICF_ASSIGN_OR_RETURN(Graph * graph,
                        catchBadAlloc([&] { return getGraph(index, 1); }));
  for (uint64_t i = 0; i < n; ++i)
    AICF_RETURN_IF_ERROR(launch(index, *graph));
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
  AICF_RETURN_IF_ERROR(catchBadAlloc([&] { return impl->bound->prepare(); }))

Status Executor::bind(std::string_view name, void *memory, uint64_t bytes) {
  AICF_USE_EXECUTOR();
  return catchBadAlloc([&] { return impl->bind(name, memory, bytes); });
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

Status Executor::checkRead(std::string_view name, std::string_view entry) {
  AICF_USE_PREPARED_EXECUTOR();
  AICF_ASSIGN_OR_RETURN(BufferRef ref, impl->bound->memory().find(name));
  AICF_ASSIGN_OR_RETURN(size_t index, impl->bound->findEntry(entry));
  return impl->bound->checkHasValue(ref, name, &impl->bound->entry(index));
}

Status Executor::run(std::string_view entry) {
  AICF_USE_PREPARED_EXECUTOR();
  AICF_ASSIGN_OR_RETURN(size_t index, impl->bound->findToRun(entry));
  return impl->runOnce(index);
}

Status Executor::capture(std::string_view entry) {
  AICF_USE_PREPARED_EXECUTOR();
  AICF_ASSIGN_OR_RETURN(size_t index, impl->bound->findToRun(entry));
  return catchBadAlloc([&] { return impl->getGraph(index, 1).status(); });
}

Status Executor::replay(std::string_view entry, uint64_t n) {
  AICF_USE_PREPARED_EXECUTOR();
  return impl->replay(entry, n);
}

Status Executor::run(const GraphKey &key) {
  AICF_USE_PREPARED_EXECUTOR();
  AICF_ASSIGN_OR_RETURN(size_t index, impl->bound->findToRun(key.entry));
  if (impl->options.checkIndices || !impl->fitsGraph(index, key.steps))
    return impl->runChecked(index, key.steps);
  AICF_ASSIGN_OR_RETURN(Graph * graph, impl->getGraph(index, key.steps));
  return impl->launch(index, *graph);
}

Status Executor::resetGraphs() {
  AICF_USE_EXECUTOR();
  impl->graphs.clear();
  return {};
}

Status Executor::resetState() {
  AICF_USE_PREPARED_EXECUTOR();
  return catchBadAlloc([&] { return impl->bound->initialize(); });
}

Status Executor::sync() {
  AICF_USE_EXECUTOR();
  return impl->stream->synchronize();
}

Status Executor::orderBehind(void *otherStream) {
  AICF_USE_EXECUTOR();
  return impl->stream->orderBehind(otherStream);
}

Status Executor::orderBefore(void *otherStream) {
  AICF_USE_EXECUTOR();
  return impl->stream->orderBefore(otherStream);
}

Status Executor::enableTrace(bool enabled) {
  AICF_USE_EXECUTOR();
  impl->tracer.enable(enabled);
  return {};
}

#undef AICF_USE_PREPARED_EXECUTOR
#undef AICF_USE_EXECUTOR

StatusOr<TensorInfo> Executor::find(std::string_view name) const {
  AICF_ASSIGN_OR_RETURN(BufferRef ref, impl->bound->memory().find(name));
  return plan().tensor(plan().entries[ref.entry], ref.number);
}

const std::vector<TraceRecord> &Executor::trace() const {
  return impl->tracer.trace();
}

std::vector<SlotInfo> Executor::slots() const {
  return impl->bound->memory().slots();
}

ExecutorStatistics Executor::statistics() const {
  ExecutorStatistics stats = impl->stats;
  impl->bound->memory().addBytes(stats);
  return stats;
}

const Plan &Executor::plan() const { return impl->bound->plan(); }
Device &Executor::device() const { return *impl->device; }
void *Executor::nativeStream() const { return impl->stream->nativeHandle(); }

} // namespace aicf
