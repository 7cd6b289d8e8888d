//===- aicf.cpp - AICF's runtime for C ------------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Handles own what the C++ API shares; every status goes through report().
//===----------------------------------------------------------------------===//

#include "aicf-c/aicf.h"
#include "aicf/Checkpoint.h"
#include "aicf/Executor.h"
#include "aicf/Version.h"
#include "lib/Base/BadAlloc.h"

using namespace aicf;

static_assert(AICF_FILE_ERROR + 1 == kNumStatusCodes &&
              AICF_FAILED_STATE == int(StatusCode::FailedState));
static_assert(AICF_I1 + 1 == kNumDTypes && AICF_I1 == int(DType::I1));
static_assert(AICF_OUTPUT == int(Role::Output) &&
              AICF_CONSTANT == int(Role::Constant));
static_assert(AICF_MAX_RANK == kMaxRank);

struct AICFPlan {
  explicit AICFPlan(std::shared_ptr<const Plan> made) : plan(std::move(made)) {
    for (const TensorInfo &t : plan->tensors())
      tensors.emplace_back(t.name, t);
    for (const PlanEntry &entry : plan->entries)
      for (const TensorInfo &t : plan->tensors(entry))
        tensors.emplace_back(entry.name + "/" + t.name, t);
  }
  std::shared_ptr<const Plan> plan;
  std::vector<std::pair<std::string, TensorInfo>> tensors;
};
struct AICFDevice {
  std::shared_ptr<Device> device;
};
struct AICFExecutor {
  std::unique_ptr<Executor> executor;
};

namespace {

std::string &lastError() {
  static thread_local std::string text;
  return text;
}

AICFStatus report(const Status &status) {
  if (!status.ok())
    lastError() = status.message();
  return AICFStatus(status.code());
}

/// body(), unless one of the pointers is null.
template <typename Body, typename... Pointers>
AICFStatus call(Body body, const Pointers *...pointers) {
  if (((pointers == nullptr) || ...))
    return report(Status(StatusCode::InvalidArgument, "an argument is null"));
  return report(catchBadAlloc([&]() -> Status { return body(); }));
}

/// A new handle of what `made` holds.
template <typename Handle, typename Made>
Status give(StatusOr<Made> made, Handle **to) {
  if (!made.ok())
    return made.status();
  *to = new Handle{std::move(*made)};
  return {};
}

Status givePlan(StatusOr<Plan> plan, AICFPlan **to) {
  if (!plan.ok())
    return plan.status();
  *to = new AICFPlan(std::make_shared<const Plan>(std::move(*plan)));
  return {};
}

StatusOr<std::shared_ptr<Device>> makeDevice(const char *name,
                                             int32_t threads) {
  AICF_ASSIGN_OR_RETURN(DeviceName parsed, parseDeviceName(name));
  if (threads < 0 || (threads > 0 && parsed.kind != DeviceKind::CPU))
    return makeError(StatusCode::InvalidArgument, "threads is ", threads,
                     " for device \"", name, "\", expected 0",
                     parsed.kind == DeviceKind::CPU ? " or more" : "");
  if (parsed.kind == DeviceKind::CPU)
    return createCPUDevice({threads});
  CUDADeviceOptions options;
  options.ordinal = parsed.ordinal;
  return createCUDADevice(options);
}

void describe(const TensorInfo &tensor, AICFTensorInfo *info) {
  *info = {};
  info->dtype = AICFDType(tensor.desc.dtype);
  info->role = AICFRole(tensor.role);
  info->rank = tensor.desc.rank;
  for (int i = 0; i < tensor.desc.rank; ++i)
    info->dims[i] = tensor.desc.dims[i];
  info->bytes = tensor.desc.spanBytes();
}

} // namespace

const char *aicf_version(void) {
  static const std::string text = version();
  return text.c_str();
}

const char *aicf_last_error(void) { return lastError().c_str(); }

const char *aicf_status_name(AICFStatus status) {
  if (int(status) < 0 || int(status) >= kNumStatusCodes)
    return "?";
  return nameOf(StatusCode(status)).data(); // of literals
}

AICFStatus aicf_plan_load(const char *path, AICFPlan **plan) {
  return call([&] { return givePlan(Plan::load(path), plan); }, path, plan);
}

AICFStatus aicf_plan_parse(const void *bytes, size_t size, AICFPlan **plan) {
  return call(
      [&] {
        return givePlan(
            Plan::parse({static_cast<const uint8_t *>(bytes), size}), plan);
      },
      bytes, plan);
}

size_t aicf_plan_num_entries(const AICFPlan *plan) {
  return plan ? plan->plan->entries.size() : 0;
}

const char *aicf_plan_entry_name(const AICFPlan *plan, size_t index) {
  return index < aicf_plan_num_entries(plan)
             ? plan->plan->entries[index].name.c_str()
             : nullptr;
}

AICFStatus aicf_plan_batches_per_update(const AICFPlan *plan, const char *entry,
                                        uint32_t *batches) {
  return call(
      [&]() -> Status {
        AICF_ASSIGN_OR_RETURN(*batches, plan->plan->batchesPerUpdate(entry));
        return {};
      },
      plan, entry, batches);
}

size_t aicf_plan_num_tensors(const AICFPlan *plan) {
  return plan ? plan->tensors.size() : 0;
}

AICFStatus aicf_plan_tensor(const AICFPlan *plan, size_t index,
                            const char **name, AICFTensorInfo *info) {
  return call(
      [&]() -> Status {
        if (index >= plan->tensors.size())
          return makeError(StatusCode::InvalidArgument, "the tensor index is ",
                           index, ", expected less than ",
                           plan->tensors.size());
        const auto &[text, tensor] = plan->tensors[index];
        if (name)
          *name = text.c_str();
        if (info)
          describe(tensor, info);
        return {};
      },
      plan);
}

void aicf_plan_destroy(AICFPlan *plan) { delete plan; }

AICFStatus aicf_device_create(const char *name, int32_t num_threads,
                              AICFDevice **device) {
  return call([&] { return give(makeDevice(name, num_threads), device); }, name,
              device);
}

void aicf_device_destroy(AICFDevice *device) { delete device; }

AICFStatus aicf_executor_create(const AICFPlan *plan, const AICFDevice *device,
                                uint64_t seed, AICFExecutor **executor) {
  return call(
      [&] {
        ExecutorOptions options = ExecutorOptions::fromEnvironment();
        options.seed = seed;
        return give(Executor::create(plan->plan, device->device, options),
                    executor);
      },
      plan, device, executor);
}

void aicf_executor_destroy(AICFExecutor *executor) { delete executor; }

AICFStatus aicf_executor_find(const AICFExecutor *executor, const char *name,
                              AICFTensorInfo *info) {
  return call(
      [&]() -> Status {
        AICF_ASSIGN_OR_RETURN(TensorInfo tensor,
                              executor->executor->find(name));
        describe(tensor, info);
        return {};
      },
      executor, name, info);
}

AICFStatus aicf_executor_bind(AICFExecutor *executor, const char *name,
                              void *memory, uint64_t bytes) {
  return call([&] { return executor->executor->bind(name, memory, bytes); },
              executor, name, memory);
}

AICFStatus aicf_executor_write(AICFExecutor *executor, const char *name,
                               const void *data, uint64_t bytes) {
  return call([&] { return executor->executor->write(name, data, bytes); },
              executor, name, data);
}

AICFStatus aicf_executor_read(AICFExecutor *executor, const char *name,
                              void *data, uint64_t bytes) {
  return call([&] { return executor->executor->read(name, data, bytes); },
              executor, name, data);
}

AICFStatus aicf_executor_run(AICFExecutor *executor, const char *entry) {
  return call([&] { return executor->executor->run(entry); }, executor, entry);
}

AICFStatus aicf_executor_capture(AICFExecutor *executor, const char *entry) {
  return call([&] { return executor->executor->capture(entry); }, executor,
              entry);
}

AICFStatus aicf_executor_replay(AICFExecutor *executor, const char *entry,
                                uint64_t times) {
  return call([&] { return executor->executor->replay(entry, times); },
              executor, entry);
}

AICFStatus aicf_executor_sync(AICFExecutor *executor) {
  return call([&] { return executor->executor->sync(); }, executor);
}

AICFStatus aicf_executor_save_checkpoint(AICFExecutor *executor,
                                         const char *folder) {
  return call([&] { return saveCheckpoint(*executor->executor, folder); },
              executor, folder);
}

AICFStatus aicf_executor_load_checkpoint(AICFExecutor *executor,
                                         const char *folder) {
  return call([&] { return loadCheckpoint(*executor->executor, folder); },
              executor, folder);
}

AICFStatus aicf_executor_load_weights(AICFExecutor *executor,
                                      const char *path) {
  return call([&] { return loadWeights(*executor->executor, path); }, executor,
              path);
}

AICFStatus aicf_executor_save_weights(AICFExecutor *executor,
                                      const char *path) {
  return call([&] { return saveWeights(*executor->executor, path); }, executor,
              path);
}
