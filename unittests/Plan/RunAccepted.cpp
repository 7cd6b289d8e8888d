//===- RunAccepted.cpp - runs whatever the loader accepts -----------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "unittests/Plan/RunAccepted.h"
#include "aicf/Executor.h"
#include "aicf/PlanView.h"
#include "lib/Interpreter/Interpreter.h"

namespace aicf::test {

/// True of what a caller may write.
static bool isCallers(const TensorInfo &t) {
  return !t.isDerived() && t.role != Role::Constant;
}

/// Plans of other devices: the interpreter walks the same tensors and calls.
static StatusOr<size_t> interpretAccepted(std::shared_ptr<const Plan> plan) {
  Interpreter interpreter(plan);
  auto fill = [&](std::string_view entry, const TensorInfo &t) {
    std::vector<double> values(size_t(t.desc.elements()));
    return isCallers(t) ? interpreter.write(entry, t.name, values) : Status();
  };
  for (const TensorInfo &t : plan->tensors())
    AICF_RETURN_IF_ERROR(fill("", t));
  for (const PlanEntry &entry : plan->entries) {
    for (const TensorInfo &t : plan->tensors(entry))
      if (t.role == Role::Input)
        AICF_RETURN_IF_ERROR(fill(entry.name, t));
    AICF_RETURN_IF_ERROR(interpreter.run(entry.name));
  }
  return plan->entries.size();
}

/// Whatever is accepted can be shown, and does not differ from itself.
static Status showAccepted(const Plan &plan) {
  if (dumpPlan(plan, true).empty() || !diffPlans(plan, plan).empty())
    return makeError(StatusCode::InvalidPlan, "a plan differs from itself");
  return viewPlans({{&plan, "plan", ""}, {&plan, "plan", ""}}).status();
}

StatusOr<size_t> runAccepted(Plan plan) {
  AICF_RETURN_IF_ERROR(showAccepted(plan));
  uint64_t bytes = plan.persistentBytes;
  for (const PlanEntry &entry : plan.entries)
    bytes += entry.ioBytes + entry.tempBytes;
  auto shared = std::make_shared<const Plan>(std::move(plan));
  ExecutorOptions options;
  options.separateAllocations = true;
  if (bytes > 64 << 20)
    return size_t(0); // legal, but too large
  if (shared->device != DeviceKind::CPU)
    return interpretAccepted(shared);
  auto executor = Executor::create(shared, createCPUDevice({1}), options);
  AICF_RETURN_IF_ERROR(executor.status());
  AICF_RETURN_IF_ERROR((*executor)->prepare());
  auto fill = [&](const std::string &name, const TensorInfo &t) {
    std::vector<uint8_t> data(t.desc.spanBytes(), 0);
    return (*executor)->write(name, data.data(), data.size());
  };
  for (const TensorInfo &t : shared->tensors())
    if (isCallers(t))
      AICF_RETURN_IF_ERROR(fill(t.name, t));
  for (const PlanEntry &entry : shared->entries)
    for (const TensorInfo &t : shared->tensors(entry))
      if (t.role == Role::Input)
        AICF_RETURN_IF_ERROR(fill(entry.name + "/" + t.name, t));
  for (const PlanEntry &entry : shared->entries) {
    AICF_RETURN_IF_ERROR((*executor)->run(entry.name));
    AICF_RETURN_IF_ERROR((*executor)->run(GraphKey{entry.name, 2}));
  }
  return shared->entries.size();
}

} // namespace aicf::test
