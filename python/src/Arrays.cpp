//===- Arrays.cpp - memory of arrays, and who uses it -------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "python/src/Arrays.h"

namespace aicf::python {

std::string DeviceHandle::name() const {
  std::string kind(nameOf(device->kind()));
  return isCPU() ? kind : kind + ":" + std::to_string(ordinal);
}

std::shared_ptr<DeviceHandle> DeviceHandle::make(std::shared_ptr<Device> device,
                                                 int ordinal) {
  auto handle = std::make_shared<DeviceHandle>();
  handle->stream = check(device->createStream());
  handle->device = std::move(device);
  handle->ordinal = ordinal;
  return handle;
}

std::shared_ptr<ExecutorHandle> ExecutorHandle::make() {
  return {new ExecutorHandle, [](ExecutorHandle *handle) noexcept {
            if (!nb::is_alive())
              return; // bound arrays went with the interpreter
            nb::gil_scoped_acquire acquire;
            delete handle;
          }};
}

void MemoryPool::clear() {
  std::lock_guard<std::mutex> lock(mutex);
  for (auto &[bytes, blocks] : idle)
    for (void *block : blocks)
      device->device->deallocate(block);
  idle.clear();
  idleBytes = 0;
  for (auto &[bytes, block] : read)
    device->device->deallocate(block);
  read.clear();
  readBytes = 0;
}

bool MemoryPool::keep(uint64_t bytes, void *block) noexcept {
  std::lock_guard<std::mutex> lock(mutex);
  if (device->isCPU() && idleBytes + bytes > kMostIdleBytes)
    return false;
  try {
    idle[bytes].push_back(block);
  } catch (const std::bad_alloc &) {
    return false;
  }
  idleBytes += bytes;
  return true;
}

void MemoryPool::keepRead(uint64_t bytes, void *block) noexcept {
  decltype(read) over;
  try {
    std::lock_guard<std::mutex> lock(mutex);
    read.emplace_back(bytes, block);
    readBytes += bytes;
    if (read.size() <= kMostReadBlocks && readBytes <= kMostReadBytes)
      return;
    over.swap(read);
    readBytes = 0;
  } catch (const std::bad_alloc &) {
    return device->device->deallocate(block);
  }
  device->device->deallocate(block); // waits for whatever reads one of them
  over.pop_back();
  for (auto &[itsBytes, other] : over)
    if (!keep(itsBytes, other))
      device->device->deallocate(other);
}

StatusOr<std::shared_ptr<void>>
MemoryPool::allocate(uint64_t bytes,
                     std::shared_ptr<std::atomic<bool>> isShared) {
  void *block = nullptr;
  {
    std::lock_guard<std::mutex> lock(mutex);
    std::vector<void *> &blocks = idle[bytes];
    if (!blocks.empty()) {
      block = blocks.back();
      blocks.pop_back();
      idleBytes -= bytes;
    }
  }
  if (!block) {
    StatusOr<void *> made = device->device->allocate(bytes);
    if (!made.ok()) {
      clear();
      made = device->device->allocate(bytes);
    }
    AICF_RETURN_IF_ERROR(made.status());
    block = *made;
  }
  return std::shared_ptr<void>(
      block, [pool = shared_from_this(), bytes, isShared](void *unused) {
        // On the CPU whoever reads keeps the memory: nobody does any more.
        if (!pool->device->isCPU() && isShared->load())
          pool->keepRead(bytes, unused);
        else if (!pool->keep(bytes, unused))
          pool->device->device->deallocate(unused);
      });
}

Status ArrayData::detach() {
  std::lock_guard<std::mutex> guard(mutex);
  if (!source)
    return {};
  bool isSmall = device->isCPU() && desc.spanBytes() <= sizeof(small);
  std::shared_ptr<void> own(std::shared_ptr<void>(), small);
  if (!isSmall) {
    isShared = std::make_shared<std::atomic<bool>>(false);
    AICF_ASSIGN_OR_RETURN(own,
                          source->pool->allocate(desc.spanBytes(), isShared));
  }
  AICF_RETURN_IF_ERROR(source->executor->read(
      output, own.get(), desc.spanBytes(), MemorySpace::Device));
  memory = std::move(own);
  if (!device->isCPU()) // there the copy is over
    writer = source;
  source.reset();
  return {};
}

Status ArrayData::synchronize() {
  std::shared_ptr<ExecutorHandle> handle;
  {
    std::lock_guard<std::mutex> guard(mutex);
    handle = source ? source : writer.lock();
  }
  if (!handle) // or its executor waited when it went
    return {};
  std::lock_guard<std::mutex> lock(handle->mutex);
  AICF_RETURN_IF_ERROR(detach());
  std::lock_guard<std::mutex> guard(mutex);
  AICF_RETURN_IF_ERROR(handle->executor->sync());
  writer.reset();
  return {};
}

Status ArrayData::orderBefore(void *stream) {
  std::shared_ptr<ExecutorHandle> handle;
  {
    std::lock_guard<std::mutex> guard(mutex);
    handle = source ? source : writer.lock();
  }
  if (!handle)
    return {};
  std::lock_guard<std::mutex> lock(handle->mutex);
  AICF_RETURN_IF_ERROR(detach());
  return handle->executor->orderBefore(stream);
}
Array makeArray(const std::shared_ptr<DeviceHandle> &device, TensorDesc desc,
                const void *from) {
  auto data = std::make_shared<ArrayData>();
  void *block = check(device->device->allocate(desc.spanBytes()));
  data->memory = std::shared_ptr<void>(
      block, [device](void *unused) { device->device->deallocate(unused); });
  data->desc = desc;
  data->device = device;
  if (from) {
    std::lock_guard<std::mutex> lock(device->mutex);
    check(device->device->copyToDevice(*device->stream, block, from,
                                       desc.spanBytes()));
    check(device->stream->synchronize()); // other streams know nothing of ours
  }
  return {std::move(data)};
}

} // namespace aicf::python
