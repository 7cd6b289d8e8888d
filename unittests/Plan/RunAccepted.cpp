//===- RunAccepted.cpp - runs whatever the loader accepts -----------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "unittests/Plan/RunAccepted.h"
#include "aicf/Runtime/Executor.h"

namespace aicf::test {

StatusOr<size_t> runAccepted(Plan plan) {
  uint64_t bytes = plan.persistentBytes;
  for (const PlanEntry &entry : plan.entries)
    bytes += entry.ioBytes + entry.tempBytes;
  auto shared = std::make_shared<const Plan>(std::move(plan));
  ExecutorOptions options;
  options.separateAllocations = true;
  auto executor = Executor::create(shared, createCPUDevice({1}), options);
  if (bytes > 64 << 20 || !executor.ok())
    return size_t(0); // legal, but too large, or for another device
  AICF_RETURN_IF_ERROR((*executor)->prepare());
  auto fill = [&](const std::string &name, const PlanTensor &t) {
    std::vector<uint8_t> data(t.desc.numBytes(), 0);
    return (*executor)->write(name, data.data(), data.size());
  };
  for (const PlanTensor &t : shared->persistent)
    AICF_RETURN_IF_ERROR(fill(t.name, t));
  for (const PlanEntry &entry : shared->entries)
    for (const PlanTensor &t : entry.tensors)
      if (t.role == Role::Input)
        AICF_RETURN_IF_ERROR(fill(entry.name + "/" + t.name, t));
  for (const PlanEntry &entry : shared->entries) {
    AICF_RETURN_IF_ERROR((*executor)->run(entry.name));
    AICF_RETURN_IF_ERROR((*executor)->run(GraphKey{entry.name, 2}));
  }
  return shared->entries.size();
}

} // namespace aicf::test
