//===- Arrays.h - arrays of others, and our own -----------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// What comes in: anything with DLPack or the buffer protocol (NumPy, PyTorch,
// JAX, CuPy, memoryview, our own arrays) and, where a tensor is 0-d, a number.
// Nothing is converted: another dtype, shape, device or layout is an error that
// says what to do. What goes out: Array, on the device where it was made.
//===----------------------------------------------------------------------===//
#ifndef AICF_PYTHON_ARRAYS_H
#define AICF_PYTHON_ARRAYS_H

#include "aicf/Executor.h"
#include "python/src/Errors.h"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <atomic>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>
#include <utility>

namespace nb = nanobind;

namespace aicf::python {

/// A device with a stream for what no executor runs.
struct DeviceHandle {
  std::shared_ptr<Device> device;
  int ordinal = 0;
  std::unique_ptr<Stream> stream;
  std::mutex mutex; ///< of the stream

  bool isCPU() const { return device->kind() == DeviceKind::CPU; }
  std::string name() const;
  static std::shared_ptr<DeviceHandle> make(std::shared_ptr<Device> device,
                                            int ordinal);
};

/// Memory of a device that is kept for the next array of its size. On a GPU
/// allocating waits for the device; on the CPU the system hands out new pages
/// of large arrays one by one, which takes longer than to fill them.
class MemoryPool : public std::enable_shared_from_this<MemoryPool> {
public:
  explicit MemoryPool(std::shared_ptr<DeviceHandle> device)
      : device(std::move(device)) {}
  ~MemoryPool() { clear(); }
  /// What `isShared` says in the end: whether others' work may still read the
  /// memory when it is given back. Such blocks wait until some of them are
  /// there, of which one is freed: cudaFree() waits for the device, and so for
  /// whoever reads the others, which are kept like any block. On the CPU whoever
  /// reads keeps the memory from being given back.
  StatusOr<std::shared_ptr<void>>
  allocate(uint64_t bytes, std::shared_ptr<std::atomic<bool>> isShared);

private:
  /// On the CPU, where others need the memory too: a few results of a loop.
  static constexpr uint64_t kMostIdleBytes = uint64_t(128) << 20;
  /// On a GPU: what others may still read.
  static constexpr size_t kMostReadBlocks = 64;
  static constexpr uint64_t kMostReadBytes = uint64_t(64) << 20;

  /// False if there is enough of it.
  bool keep(uint64_t bytes, void *block) noexcept;
  void keepRead(uint64_t bytes, void *block) noexcept;
  void clear();

  std::shared_ptr<DeviceHandle> device;
  std::mutex mutex;
  std::unordered_map<uint64_t, std::vector<void *>> idle; ///< by bytes
  uint64_t idleBytes = 0;
  std::vector<std::pair<uint64_t, void *>> read; ///< bytes and block
  uint64_t readBytes = 0;
};

/// What keeps an argument's memory alive: our own array, or another's export.
struct Owner {
  nb::object array;
  nb::ndarray<nb::ro> view;
};

/// An executor, and whatever must live as long. Python's arguments share its
/// one count of owners (enable_shared_from_this): a count for each call would
/// end with the call, and whoever keeps a weak_ptr would lose it then.
struct ExecutorHandle : std::enable_shared_from_this<ExecutorHandle> {
  /// The last owner may be an array that a thread without the GIL drops.
  static std::shared_ptr<ExecutorHandle> make();

  std::shared_ptr<DeviceHandle> device;
  std::shared_ptr<MemoryPool> pool;
  /// Bound tensors: the arrays whose memory they are. They outlive the
  /// executor, which waits for what runs when it goes.
  struct Bound {
    Owner owner;
    const char *data;
    uint64_t bytes;
    bool isWritten; ///< by an entry
  };
  std::unordered_map<std::string, Bound> bound;
  /// What the device may still read of calls' arguments; they outlive the
  /// executor, too. Used under `mutex`.
  std::vector<Owner> held;
  uint64_t heldCalls = 0, heldBytes = 0;
  /// Whether it is time to wait for the device, once for all of them.
  bool isMuchHeld() const { return heldCalls >= 16 || heldBytes > 64 << 20; }
  /// All of them, behind such a wait: to be dropped with the GIL, and without
  /// `mutex`, since an owner's end may run any code.
  std::vector<Owner> release() {
    heldCalls = heldBytes = 0;
    return std::exchange(held, {});
  }
  std::unique_ptr<Executor> executor;
  /// For whoever looks something up without `mutex`. Needs the GIL, and does
  /// not wait with it: extend() drops a plan, which may be an object of
  /// Python's.
  std::shared_lock<std::shared_mutex> lockPlan() {
    nb::gil_scoped_release release;
    return std::shared_lock<std::shared_mutex>(planMutex);
  }
  /// extend() exchanges plan and memory: exclusive there, shared by lockPlan().
  std::shared_mutex planMutex;
  /// Held by whoever uses the executor, over the whole of a call. Nobody waits
  /// for it with the GIL.
  std::mutex mutex;
};

/// The executor is this thread's while it lives; FailedState if it is
/// another's.
class Use {
public:
  explicit Use(ExecutorHandle &handle) : lock(handle.mutex, std::try_to_lock) {
    if (!lock.owns_lock())
      fail(StatusCode::FailedState, "another thread is using this program");
  }

private:
  std::unique_lock<std::mutex> lock;
};

/// The values of an Array: memory of its own, or, until the entry runs again,
/// that of an executor's output.
struct ArrayData {
  TensorDesc desc;
  std::shared_ptr<DeviceHandle> device;
  /// Null while the values are the executor's; `small`, not owned, where they
  /// fit in: a loss on the CPU costs no allocation of its own.
  std::shared_ptr<void> memory;
  alignas(16) char small[16];
  std::shared_ptr<std::atomic<bool>> isShared; ///< see MemoryPool; on a GPU
  std::shared_ptr<ExecutorHandle> source; ///< whose output it is; null then
  std::string output;
  /// The executor on whose stream the copy into `memory` is, until somebody
  /// waits.
  std::weak_ptr<ExecutorHandle> writer;

  /// Guards `memory`, `source` and `writer`; taken behind an executor's mutex,
  /// not before.
  std::mutex mutex;

  /// Takes the values out of the executor, which is this thread's.
  Status detach();
  /// Has the values in `memory`, and waits for them, and for whoever uses the
  /// executor: never with the GIL.
  Status synchronize();
  /// Has the values in `memory`; work that others enqueue on `stream` from here
  /// on starts behind them. Waits for whoever uses the executor alone.
  Status orderBefore(void *stream);
};

/// An array on a device: row-major, dense.
struct Array {
  std::shared_ptr<ArrayData> data;

  /// The values on the device, for as long as the result lives.
  std::shared_ptr<void> values() const { return {data, data->memory.get()}; }
};

/// `data` with zeros, or with what is at `from` on the host.
Array makeArray(const std::shared_ptr<DeviceHandle> &device, TensorDesc desc,
                const void *from);
/// The array as NumPy's; bf16 needs the package ml_dtypes.
nb::object toNumPy(Array &array);
/// The same, but bf16 as f32.
nb::object wideNumPy(Array &array);
/// The one element as Python's number.
nb::object item(Array &array);
/// What Array.__dlpack__ gives.
nb::object dlpack(Array &array, nb::kwargs kwargs);

/// What an argument points to.
struct Argument {
  const void *data = nullptr;
  TensorDesc desc;
  MemorySpace space = MemorySpace::Host;
  Owner owner;
  uint8_t scalar[8] = {}; ///< of a number
  bool isScalar = false;
  const void *pointer() const { return isScalar ? scalar : data; }
};

enum class Access { Read, Write };

/// An argument that must be as `expected`, on the host or on `device`. `what`
/// names it in errors. `nativeStream` is where others' work must be ordered
/// behind. Errors: InvalidArgument, DTypeMismatch, ShapeMismatch.
void importAs(nb::handle object, const TensorDesc &expected,
              const DeviceHandle &device, void *nativeStream, Access access,
              const std::string &what, Argument &argument);
/// An argument of any type and shape.
void importAny(nb::handle object, const DeviceHandle &device,
               void *nativeStream, Access access, const std::string &what,
               Argument &argument);

std::optional<DType> dtypeOf(nb::dlpack::dtype dtype);
DType parseDType(const std::string &name);
nb::tuple shapeTuple(const TensorDesc &desc);

void defineArrays(nb::module_ &m);
void definePlan(nb::module_ &m);
void defineExecutor(nb::module_ &m);
void defineOpCall(nb::module_ &m);

} // namespace aicf::python

#endif // AICF_PYTHON_ARRAYS_H
