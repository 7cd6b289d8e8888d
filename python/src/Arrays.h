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

#include <mutex>
#include <unordered_map>

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

/// Memory of a device, kept for the next array of its size where allocating is
/// dear.
class MemoryPool : public std::enable_shared_from_this<MemoryPool> {
public:
  explicit MemoryPool(std::shared_ptr<DeviceHandle> device)
      : device(std::move(device)) {}
  ~MemoryPool();
  StatusOr<std::shared_ptr<void>> allocate(uint64_t bytes);

private:
  std::shared_ptr<DeviceHandle> device;
  std::mutex mutex;
  std::unordered_map<uint64_t, std::vector<void *>> idle; ///< by bytes
};

/// What keeps an argument's memory alive: our own array, or another's export.
struct Owner {
  nb::object array;
  nb::ndarray<nb::ro> view;
};

/// An executor, and whatever must live as long.
struct ExecutorHandle {
  std::shared_ptr<DeviceHandle> device;
  std::shared_ptr<MemoryPool> pool;
  std::unique_ptr<Executor> executor;
  /// Bound tensors: the arrays whose memory they are.
  struct Bound {
    Owner owner;
    const char *data;
    uint64_t bytes;
    bool isWritten; ///< by an entry
  };
  std::unordered_map<std::string, Bound> bound;
};

/// The values of an Array: memory of its own, or, until the entry runs again,
/// that of an executor's output.
struct ArrayData {
  TensorDesc desc;
  std::shared_ptr<DeviceHandle> device;
  std::shared_ptr<void> memory;
  std::shared_ptr<ExecutorHandle> source; ///< null once `memory` is there
  std::string output;

  /// Takes the values out of the executor; work behind is on its stream.
  Status detach();
  /// Waits for the values.
  Status synchronize();
  Status copyToHost(void *to);
};

/// An array on a device: immutable, row-major, dense.
struct Array {
  std::shared_ptr<ArrayData> data;
};

/// `data` with zeros, or with what is at `from` on the host.
Array makeArray(const std::shared_ptr<DeviceHandle> &device, TensorDesc desc,
                const void *from);
/// The array as NumPy's; bf16 needs the package ml_dtypes.
nb::object toNumPy(Array &array);

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
