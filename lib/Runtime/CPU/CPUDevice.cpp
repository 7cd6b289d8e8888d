//===- CPUDevice.cpp - the CPU as a device --------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Streams run at once; a graph is a list of resolved calls. With one thread
// they run in that order; with more, calls that write nothing that another one
// of them accesses run side by side, in levels (lib/Schedule/Levels.h). Nothing
// here allocates once a graph is recorded.
//===----------------------------------------------------------------------===//

#include "aicf/Device.h"
#include "kernels/cpu/FloatMode.h"
#include "kernels/cpu/Kernels.h"
#include "kernels/cpu/ThreadPool.h"
#include "lib/Base/BadAlloc.h"
#include "lib/Base/Machine.h"
#include "lib/Base/Walk.h"
#include "lib/Runtime/CallArgs.h"
#include "lib/Schedule/Levels.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <numeric>

namespace aicf {
namespace {

/// More would only cost; results do not depend on it.
constexpr int kMaxThreads = 256;

/// Allocations of up to so many bytes are not held against free memory.
constexpr uint64_t kAlwaysFits = uint64_t(64) << 20;

/// Copies and fills go to the threads in pieces of so many bytes.
constexpr uint64_t kPieceBytes = 256 << 10;

struct CPUCall : DeviceCall {
  CpuKernel function = nullptr;
  std::shared_ptr<const CpuPrepared> prepared;
};

void runCall(const ResolvedCall &call, int numThreads) {
  LaunchArgs args = call.launchArgs();
  args.numThreads = numThreads;
  auto &prepared = static_cast<const CPUCall &>(*call.deviceCall);
  args.prepared = prepared.prepared.get();
  prepared.function(args);
}

/// A view of more runs is taken as all that lies between its first and its last
/// byte: each run is a range that calls are compared by.
constexpr int64_t kMaxRuns = 1024;

/// The bytes of a tensor. Columns of a matrix are a run a row, so that calls
/// may write them side by side.
void addAccesses(const TensorView &view, bool writes,
                 std::vector<ByteAccess> &accesses) {
  if (!view.start())
    return;
  const auto begin = reinterpret_cast<uintptr_t>(view.start());
  if (view.desc.layout == Layout::Strided) {
    const Walk walk(view.desc);
    const int last = walk.rank - 1;
    const int64_t run = walk.strides[last] == 1 ? walk.dims[last] : 1;
    const int64_t runs = view.desc.elements() / run;
    const uint64_t bytes = sizeOf(view.desc.dtype);
    for (int64_t r = 0; r < runs && runs <= kMaxRuns; ++r) {
      const uint64_t from = begin + uint64_t(walk.at(r * run)) * bytes;
      accesses.push_back({from, from + uint64_t(run) * bytes, writes});
    }
    if (runs <= kMaxRuns)
      return;
  }
  accesses.push_back({begin, begin + view.desc.spanBytes(), writes});
}

std::vector<ByteAccess> accessesOf(const ResolvedCall &call) {
  std::vector<ByteAccess> accesses;
  auto add = [&](const TensorView &view, bool writes) {
    addAccesses(view, writes, accesses);
  };
  for (size_t i = 0; i < call.body().numOperands; ++i)
    add(call.operand(i), false);
  for (size_t r = 0; r < call.body().results.size(); ++r)
    add(call.result(r), true);
  add(call.workspace, true);
  return accesses;
}

/// Bytes that all calls of a level but its largest must access for a second
/// thread to pay: some 8 us of work. A quarter of that pays on a quiet machine
/// (`seed` by 15 %) and costs more on a busy one (35 %).
constexpr uint64_t kSideBySideBytes = 128 << 10;

/// Calls that need not wait for each other, by their numbers, which are
/// order[begin] to order[end - 1].
struct CallLevel {
  size_t begin = 0, end = 0;
  bool sideBySide = false;
};

struct CPUGraph : Graph {
  std::vector<ResolvedCall> calls;
  std::vector<size_t> order; ///< by level, then as recorded
  std::vector<CallLevel> levels;

  size_t numCalls() const override { return calls.size(); }
  const ResolvedCall &call(size_t i) const override { return calls[i]; }
  size_t numNodes() const override { return calls.size(); }

  void makeLevels() {
    std::vector<std::vector<ByteAccess>> accesses;
    std::vector<uint64_t> bytes;
    for (const ResolvedCall &call : calls) {
      accesses.push_back(accessesOf(call));
      bytes.push_back(0);
      for (const ByteAccess &access : accesses.back())
        bytes.back() += access.end - access.begin;
    }
    std::vector<uint32_t> levelOf = levelsOf(accesses);
    order.resize(calls.size());
    std::iota(order.begin(), order.end(), size_t(0));
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return levelOf[a] < levelOf[b];
    });
    for (size_t i = 0; i < order.size();) {
      CallLevel level{i, i, false};
      uint64_t sum = 0, largest = 0;
      for (;
           i < order.size() && levelOf[order[i]] == levelOf[order[level.begin]];
           ++i) {
        sum += bytes[order[i]];
        largest = std::max(largest, bytes[order[i]]);
      }
      level.end = i;
      level.sideBySide = sum - largest >= kSideBySideBytes;
      levels.push_back(level);
    }
  }

  void run(const CallLevel &level, int numThreads) const {
    auto runOne = [&](int64_t i) {
      runCall(calls[order[level.begin + size_t(i)]], numThreads);
    };
    auto count = int64_t(level.end - level.begin);
    if (level.sideBySide)
      return cpu::runBlocks(count, numThreads, cpu::BlockFunction::of(runOne));
    for (int64_t i = 0; i < count; ++i)
      runOne(i);
  }
};

class CPUStream : public Stream {
public:
  explicit CPUStream(int numThreads) : numThreads(numThreads) {}

  // One branch after the other, in the order of the calls, which respects every
  // event: a wait stands behind its signal.
  Status reserve(uint32_t, uint32_t) override { return {}; }
  Status fork() override { return {}; }

  Status enqueue(const ResolvedCall &call) override {
    if (recording) {
      recording->calls.push_back(call);
      return {};
    }
    cpu::FloatMode mode; // whatever the caller's is
    runCall(call, numThreads);
    return {};
  }
  Status synchronize() override {
    if (recording)
      return makeError(StatusCode::FailedState,
                       "cannot wait for a stream that is capturing");
    return {};
  }
  Status beginCapture() override {
    if (recording)
      return makeError(StatusCode::FailedState,
                       "the stream is capturing already");
    recording = std::make_unique<CPUGraph>();
    return {};
  }
  StatusOr<std::unique_ptr<Graph>> endCapture() override {
    if (!recording)
      return makeError(StatusCode::FailedState, "the stream is not capturing");
    std::unique_ptr<CPUGraph> graph = std::move(recording);
    AICF_RETURN_IF_ERROR(catchBadAlloc([&]() -> Status {
      graph->makeLevels(); // whoever launches it may have threads
      return {};
    }));
    return std::unique_ptr<Graph>(std::move(graph));
  }
  Status launch(Graph &graph) override {
    if (recording)
      return makeError(StatusCode::FailedState,
                       "cannot launch a graph on a stream that is capturing");
    auto &recorded = static_cast<CPUGraph &>(graph);
    cpu::FloatMode mode; // whatever the caller's is
    if (numThreads > 1)
      for (const CallLevel &level : recorded.levels)
        recorded.run(level, numThreads);
    else
      for (const ResolvedCall &call : recorded.calls)
        runCall(call, numThreads);
    return {};
  }
  bool isCapturing() const override { return recording != nullptr; }
  StatusOr<double> enqueueTimed(const ResolvedCall &call) override {
    return timed([&] { return enqueue(call); });
  }
  StatusOr<LaunchTimes> launchTimed(Graph &graph) override {
    LaunchTimes times;
    for (size_t i = 0; i < graph.numCalls(); ++i) {
      AICF_ASSIGN_OR_RETURN(double micros, enqueueTimed(graph.call(i)));
      times.micros += micros;
      times.calls.push_back(micros);
    }
    return times;
  }

private:
  template <typename Work> StatusOr<double> timed(Work work) {
    auto start = std::chrono::steady_clock::now();
    AICF_RETURN_IF_ERROR(work());
    return std::chrono::duration<double, std::micro>(
               std::chrono::steady_clock::now() - start)
        .count();
  }

  int numThreads;
  std::unique_ptr<CPUGraph> recording;
};

class CPUDevice : public Device {
public:
  explicit CPUDevice(int numThreads) : threads(numThreads) {}

  DeviceKind kind() const override { return DeviceKind::CPU; }
  StatusOr<void *> allocate(uint64_t bytes) override {
    bytes = std::max<uint64_t>(bytes, 1);
    void *memory = nullptr;
    // The system would promise more than it has, and kill whoever uses it.
    if (bytes <= kAlwaysFits || bytes <= freeBytes())
      memory = std::aligned_alloc(kTensorAlignment,
                                  (bytes + kTensorAlignment - 1) /
                                      kTensorAlignment * kTensorAlignment);
    if (!memory)
      return makeError(StatusCode::DeviceError, "cannot allocate ", bytes,
                       " bytes of host memory, of which ", freeBytes(),
                       " are free");
    countAllocation();
    inPieces(bytes, [&](uint64_t at, uint64_t count) {
      std::memset(static_cast<char *>(memory) + at, 0, count);
    });
    return memory;
  }
  void deallocate(void *memory) noexcept override { std::free(memory); }
  StatusOr<std::unique_ptr<Stream>> createStream() override {
    return std::unique_ptr<Stream>(std::make_unique<CPUStream>(threads));
  }
  Status copyToDevice(Stream &, void *to, const void *from,
                      uint64_t bytes) override {
    copyInPieces(to, from, bytes);
    return {};
  }
  Status copyToHost(Stream &, void *to, const void *from,
                    uint64_t bytes) override {
    copyInPieces(to, from, bytes);
    return {};
  }
  Status copyOnDevice(Stream &, void *to, const void *from,
                      uint64_t bytes) override {
    copyInPieces(to, from, bytes);
    return {};
  }
  Status copy2D(Stream &, void *to, uint64_t toPitch, const void *from,
                uint64_t fromPitch, uint64_t rowBytes,
                uint64_t numRows) override {
    for (uint64_t row = 0; row < numRows; ++row)
      std::memcpy(static_cast<char *>(to) + row * toPitch,
                  static_cast<const char *>(from) + row * fromPitch, rowBytes);
    return {};
  }
  Status fill(Stream &, void *at, uint8_t value, uint64_t bytes) override {
    inPieces(bytes, [&](uint64_t begin, uint64_t count) {
      std::memset(static_cast<char *>(at) + begin, value, count);
    });
    return {};
  }
  StatusOr<std::shared_ptr<const DeviceCall>>
  prepareCall(const ResolvedCall &call) override {
    auto prepared = std::make_shared<CPUCall>();
    prepared->function = cpu::findFunction(call.row->kid);
    if (!prepared->function)
      return makeError(StatusCode::NotImplemented,
                       nameOfPattern(call.row->pattern), ": kernel ",
                       call.row->kid, " is not in this build");
    AICF_ASSIGN_OR_RETURN(
        prepared->prepared,
        cpu::prepare(*call.row, call.body(), call.values(), threads));
    return std::shared_ptr<const DeviceCall>(std::move(prepared));
  }
  std::string description() const override {
    return "cpu, " + cpu::gemmLibrary();
  }
  uint64_t freeBytes() const override { return availableMemory(); }
  int numThreads() const override { return threads; }

private:
  /// run(begin, count) for pieces of [0, bytes), on the device's threads.
  template <typename Run> void inPieces(uint64_t bytes, const Run &run) const {
    if (threads == 1 || bytes <= kPieceBytes)
      return run(0, bytes);
    auto piece = [&](int64_t i) {
      uint64_t begin = uint64_t(i) * kPieceBytes;
      run(begin, std::min(kPieceBytes, bytes - begin));
    };
    cpu::runBlocks(int64_t((bytes + kPieceBytes - 1) / kPieceBytes), threads,
                   cpu::BlockFunction::of(piece));
  }
  void copyInPieces(void *to, const void *from, uint64_t bytes) const {
    const auto target = reinterpret_cast<uintptr_t>(to);
    const auto source = reinterpret_cast<uintptr_t>(from);
    // A caller's array may be a part of what is bound here.
    if (target < source + bytes && source < target + bytes) {
      std::memmove(to, from, bytes);
      return;
    }
    inPieces(bytes, [&](uint64_t begin, uint64_t count) {
      std::memcpy(static_cast<char *>(to) + begin,
                  static_cast<const char *>(from) + begin, count);
    });
  }

  int threads;
};

} // namespace

std::shared_ptr<Device> createCPUDevice(CPUDeviceOptions options) {
  static std::once_flag once;
  std::call_once(once, cpu::initialize);
  int numThreads = options.numThreads;
  if (numThreads <= 0)
    numThreads = numUsableProcessors();
  numThreads = std::min(numThreads, kMaxThreads);
  return std::make_shared<CPUDevice>(numThreads);
}

} // namespace aicf
