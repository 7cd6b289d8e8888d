//===- Executor.h - runs the entries of a plan ------------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Plan -> create -> bind/write -> run (eager) or capture + replay (graph) ->
// read. Eager and graph walk the same resolved calls. After prepare() every
// tensor has a fixed address (temps until extend() needs more of them): run()
// and replay() do not allocate. They look up
// the name of the entry once for a call, and nothing for a launch. One thread
// at a time: a call while another thread is in one is FailedState and does
// nothing. find(), plan() and device() are always allowed; trace(), slots() and
// statistics() are not while another thread is in a call. Executors are
// independent of each other and may share a device.
//===----------------------------------------------------------------------===//
#ifndef AICF_EXECUTOR_H
#define AICF_EXECUTOR_H

#include "aicf/Device.h"
#include "aicf/Plan.h"

#include <memory>

namespace aicf {

struct ExecutorOptions {
  /// Seed of the plan's random initialisers.
  uint64_t seed = 0;
  /// Off: params and states start unwritten.
  bool useInitializers = true;
  /// After a run every param and state equals its old value, bit for bit:
  /// optimizers write what they read, step_inc returns t, bias_corr uses
  /// max(t, 1). For comparing gradients with a framework's.
  bool isWarmup = false;
  /// Every buffer its own allocation, instead of three segments.
  bool separateAllocations = false;
  /// Eager only: dead temps are overwritten with NaN bytes between calls.
  bool poison = false;
  /// Eager only: guard bytes around every buffer, checked after each call.
  /// Implies separateAllocations.
  bool canary = false;
  /// The indices of each call are read back before it. One that is out of range (and
  /// not the ignored label) is InvalidArgument, and the run ends there. run(GraphKey)
  /// runs its steps eagerly; capture() is an error.
  bool checkIndices = false;
  /// Graphs kept by run(GraphKey); the least recently used one goes first.
  size_t maxCachedGraphs = 8;

  /// Defaults, with isWarmup from AICF_WARMUP=1.
  static ExecutorOptions fromEnvironment();
};

/// Which graph: an entry, and how often it runs a launch.
struct GraphKey {
  std::string entry;
  uint32_t steps = 1;
  bool operator==(const GraphKey &o) const {
    return steps == o.steps && entry == o.entry;
  }
};

/// Where the memory behind a caller's pointer lives.
enum class MemorySpace : uint8_t { Host, Device };

/// One call that really ran.
struct TraceRecord {
  std::string op; ///< its primitives: "gemm", or "gemm, bias_add, relu"
  std::string kid;
  /// Labels of operands, and of the values that the primitives make, results
  /// among them; empty for the executor's own calls and in a plan without debug
  /// table.
  std::vector<int32_t> inVids, outVids;
  bool isReplay = false;
  double startMicros = 0; ///< since enableTrace(true), on the host's clock
  /// On the device: of the call, or, with isWholeLaunch, of the graph launch
  /// that it was part of: CUDA does not time a graph's nodes.
  double micros = 0;
  bool isWholeLaunch = false;
  /// Numbers the graph launches of a trace from 1; 0 for an eager call.
  uint64_t launch = 0;
  uint32_t stream = 0;
  std::string entry;
  /// Names of operands and results, as aicf-plan dump has them.
  std::vector<std::string> inNames, outNames;
  /// Shapes of the same, as "64x128xf32".
  std::vector<std::string> inTypes, outTypes;
  /// The call's number in its entry, or -1 for the executor's own calls, which
  /// have none of what follows.
  int32_t call = -1;
  std::string phase;            ///< "forward", "backward" or "update"
  std::string location;         ///< in the source
  std::vector<uint32_t> after;  ///< calls on other streams that it waits for
  uint64_t bytesAlive = 0;      ///< of temps, while it runs
};

/// Where a buffer of the plan lies.
struct SlotInfo {
  std::string entry;   ///< empty for persistent buffers
  uint32_t buffer = 0; ///< its number, as in Plan::buffer()
  int32_t vid = -1;    ///< label of the first value that lives there
  std::string name;
  Segment segment = Segment::Temp;
  uint64_t offset = 0; ///< in the segment; 0 if bound or allocated by itself
  uint64_t bytes = 0;
  const void *pointer = nullptr;
};

/// The most calls of a graph: more of them run eagerly, one after the other.
inline constexpr uint64_t kMaxGraphCalls = uint64_t(1) << 16;

struct ExecutorStatistics {
  uint64_t persistentBytes = 0, ioBytes = 0, tempBytes = 0;
  uint64_t runs = 0, captures = 0, launches = 0;
  uint64_t graphNodes = 0; ///< of the graph captured last
};

class Executor {
public:
  /// Errors: InvalidArgument (the plan is for another device).
  static StatusOr<std::unique_ptr<Executor>>
  create(std::shared_ptr<const Plan> plan, std::shared_ptr<Device> device,
         ExecutorOptions options = ExecutorOptions::fromEnvironment());
  ~Executor();
  Executor(const Executor &) = delete;
  Executor &operator=(const Executor &) = delete;

  // Names: a persistent tensor, or an input or output; "entry/name" where
  // several entries have one of that name.

  /// Uses the caller's device memory of exactly the tensor's size for it; bound
  /// before prepare(), the tensor takes no bytes of its own. The caller keeps
  /// the memory alive and has written it (outputs aside): initialisers and
  /// resetState() leave bound tensors alone. After prepare() it waits for what
  /// is running and drops every graph, because a graph holds the old pointer:
  /// run(GraphKey) captures anew, replay() is an error until capture().
  /// Tensors that an entry writes may not share bound memory with others: the
  /// plan's order knows nothing of it. Nobody looks at the bytes of a bound i1,
  /// which are 0 and 1.
  /// Errors: InvalidArgument, Misaligned, DeviceError; what was bound before
  /// stays bound then.
  Status bind(std::string_view name, void *memory, uint64_t bytes);
  /// Allocates the segments, resolves every call, runs the initialisers. Done
  /// by the first call that needs it. Errors: DeviceError, NotImplemented, ...
  Status prepare();

  /// Goes on with a plan that has more: it has every entry, param, state and
  /// hyper of this one. Values, bindings and addresses stay, and the graphs of
  /// entries that run the same calls; new params and states start with their
  /// initialisers. Where a new entry has more temps than all before, those of
  /// all entries move to a larger place: the first run of another entry after
  /// that resolves its calls, and its first replay captures it anew. Nothing is
  /// copied but what the new plan lays out otherwise and derives from a param.
  /// Waits for what is running. What plan() returned before is gone then;
  /// find() and plan() may not run beside it. Errors: InvalidArgument
  /// (something is missing, or of another type), DeviceError, NotImplemented;
  /// everything is as before then.
  Status extend(std::shared_ptr<const Plan> plan);

  /// Copies exactly the tensor's bytes in or out, ordered with runs. write()
  /// refuses outputs and temps. Errors: InvalidArgument (unknown or ambiguous
  /// name, wrong size), NotInitialized (read of what was never written).
  /// From and to memory of the device they return after enqueue: the caller
  /// keeps it, and orders others' work on it, until sync() or behind
  /// nativeStream().
  Status write(std::string_view name, const void *data, uint64_t bytes,
               MemorySpace from = MemorySpace::Host);
  Status read(std::string_view name, void *data, uint64_t bytes,
              MemorySpace to = MemorySpace::Host);
  /// Ok if read(name) has a value now or will have one after a run of `entry`;
  /// otherwise read()'s error. For asking before a long run.
  Status checkRead(std::string_view name, std::string_view entry);
  /// The description of a tensor by name.
  StatusOr<TensorInfo> find(std::string_view name) const;

  /// Runs an entry once, eagerly. Errors: InvalidArgument (no such entry),
  /// NotInitialized (an input, hyper or param was never written).
  Status run(std::string_view entry);
  /// Records an entry as a graph; changes no param, state or output. Tried
  /// twice, because other threads can spoil a capture; when both fail, the
  /// entry still runs eagerly. Errors: DeviceError, FailedState.
  Status capture(std::string_view entry);
  /// Launches the captured graph of an entry `n` times, 1 or more. Errors:
  /// FailedState (not captured), InvalidArgument (0 times).
  Status replay(std::string_view entry, uint64_t n = 1);
  /// Captures if needed, then launches once: key.steps runs of the entry. Runs
  /// eagerly where loops make more than kMaxGraphCalls calls of it.
  Status run(const GraphKey &key);
  /// Drops every graph.
  Status resetGraphs();
  /// Params and states back to their initial values.
  Status resetState();
  /// Waits for everything; device errors surface here.
  Status sync();

  /// Starts (and clears) or stops recording what runs.
  Status enableTrace(bool enabled);
  /// What ran since enableTrace(true), oldest first.
  const std::vector<TraceRecord> &trace() const;

  std::vector<SlotInfo> slots() const;
  ExecutorStatistics statistics() const;
  const Plan &plan() const;
  Device &device() const;
  /// Stream::nativeHandle() of the stream that everything runs on.
  void *nativeStream() const;
  /// Stream::orderBehind() and orderBefore() of that stream, around what uses
  /// memory that somebody else's stream (a cudaStream_t) writes or reads: bound
  /// tensors, and arrays for write() and read(). Errors: DeviceError.
  Status orderBehind(void *otherStream);
  Status orderBefore(void *otherStream);

  /// @name The same under their former names
  /// @{
  [[deprecated("use checkRead")]] Status check_read(std::string_view name,
                                                    std::string_view entry) {
    return checkRead(name, entry);
  }
  [[deprecated("use resetGraphs")]] Status reset_graphs() {
    return resetGraphs();
  }
  [[deprecated("use resetState")]] Status reset_state() { return resetState(); }
  [[deprecated("use enableTrace")]] Status trace_enable(bool enabled) {
    return enableTrace(enabled);
  }
  [[deprecated("use trace")]] const std::vector<TraceRecord> &
  trace_get() const {
    return trace();
  }
  [[deprecated("use nativeStream")]] void *native_stream() const {
    return nativeStream();
  }
  /// @}

private:
  struct Impl;
  explicit Executor(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl;
};

/// The trace in Chrome's JSON trace format, which Perfetto opens: a thread a
/// stream, one more for graph launches, an event a call. `device`: what the
/// process is called, Device::description().
std::string traceToChromeJson(const std::vector<TraceRecord> &trace,
                              const std::string &device = "");
/// What each kernel took for each problem, from the eager records: JSON
/// {"device": ..., "kernels": {KID: {"in,in->out": median microseconds}}}.
std::string traceToProfileJson(const std::vector<TraceRecord> &trace,
                               const std::string &device);

} // namespace aicf

#endif // AICF_EXECUTOR_H
