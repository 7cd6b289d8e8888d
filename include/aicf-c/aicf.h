//===- aicf.h - AICF's runtime for C ------------------------------*- C -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Load a plan, create a device and an executor, bind or write, run or capture and
// replay, read. Link with -laicf (pkg-config aicf). Nothing of the compiler, no C++
// in sight; what each call does in detail is written in aicf/Executor.h.
//
// Functions return a status; after another than AICF_OK, aicf_last_error() of the
// same thread says more, and nothing was changed. A null handle or string is
// AICF_INVALID_ARGUMENT; destroying null does nothing. A handle keeps what it was
// made from alive. An executor is for one thread at a time.
//===----------------------------------------------------------------------===//
#ifndef AICF_C_AICF_H
#define AICF_C_AICF_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define AICF_API __attribute__((visibility("default")))
#else
#define AICF_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** Why a call was refused: aicf::StatusCode. Append-only. */
typedef enum AICFStatus {
  AICF_OK = 0,
  AICF_NOT_IMPLEMENTED,
  AICF_INVALID_ARGUMENT,
  AICF_BAD_SCHEMA,
  AICF_BAD_ATTR_SIZE,
  AICF_SHAPE_MISMATCH,
  AICF_DTYPE_MISMATCH,
  AICF_MISALIGNED,
  AICF_DEVICE_ERROR,
  AICF_INVALID_PLAN,
  AICF_INVALID_FILE,
  AICF_NOT_INITIALIZED,
  AICF_FAILED_STATE,
  AICF_FILE_NOT_FOUND,
  AICF_FILE_ERROR
} AICFStatus;

/** Element types: aicf::DType. Append-only. */
typedef enum AICFDType {
  AICF_F32 = 0,
  AICF_F16,
  AICF_BF16,
  AICF_F64,
  AICF_I32,
  AICF_I64,
  AICF_I1 /**< one byte, 0 or 1 */
} AICFDType;

/** What a tensor is for: aicf::Role, those that have a name. Append-only. */
typedef enum AICFRole {
  AICF_INPUT = 0,
  AICF_PARAM,
  AICF_STATE,
  AICF_HYPER,
  AICF_OUTPUT,
  AICF_CONSTANT = 8 /**< held by the plan: only read */
} AICFRole;

#define AICF_MAX_RANK 8

typedef struct AICFTensorInfo {
  AICFDType dtype;
  AICFRole role;
  int32_t rank;                /**< 0: a scalar */
  int64_t dims[AICF_MAX_RANK]; /**< row-major; [rank, AICF_MAX_RANK) are 0 */
  uint64_t bytes;              /**< what write, read and bind take */
} AICFTensorInfo;

typedef struct AICFPlan AICFPlan;
typedef struct AICFDevice AICFDevice;
typedef struct AICFExecutor AICFExecutor;

/** "0.1.0". Never freed. */
AICF_API const char *aicf_version(void);
/** What went wrong in this thread's last call that did; "" before. Valid until
    the thread's next call. */
AICF_API const char *aicf_last_error(void);
/** "InvalidPlan"; "?" for what is not a status. Never freed. */
AICF_API const char *aicf_status_name(AICFStatus status);

/** Reads and verifies a plan file. AICF_FILE_NOT_FOUND, AICF_FILE_ERROR
    (cannot be read), AICF_INVALID_PLAN. */
AICF_API AICFStatus aicf_plan_load(const char *path, AICFPlan **plan);
/** The same from `size` bytes at `bytes` (any alignment), which are copied. */
AICF_API AICFStatus aicf_plan_parse(const void *bytes, size_t size,
                                    AICFPlan **plan);
/** The number of entries; 0 for null. */
AICF_API size_t aicf_plan_num_entries(const AICFPlan *plan);
/** The name of entry `index`, or null. Lives as long as the plan. */
AICF_API const char *aicf_plan_entry_name(const AICFPlan *plan, size_t index);
/** How many batches make an update of an entry: 1, or K >= 2 where its optimizer
    accumulates; all but the last of them run "entry.accumulate". 0: it accumulates,
    and the plan, older than 3.1, does not say over how many.
    AICF_INVALID_ARGUMENT: no such entry. */
AICF_API AICFStatus aicf_plan_batches_per_update(const AICFPlan *plan,
                                                 const char *entry,
                                                 uint32_t *batches);
AICF_API void aicf_plan_destroy(AICFPlan *plan);

/** "cpu", "cuda" or "cuda:1". `num_threads` is for the CPU; 0: all cores. */
AICF_API AICFStatus aicf_device_create(const char *name, int32_t num_threads,
                                       AICFDevice **device);
AICF_API void aicf_device_destroy(AICFDevice *device);

/** An executor of the plan; `seed` is that of its random initialisers.
    AICF_INVALID_ARGUMENT: the plan is for another device. */
AICF_API AICFStatus aicf_executor_create(const AICFPlan *plan,
                                         const AICFDevice *device,
                                         uint64_t seed,
                                         AICFExecutor **executor);
AICF_API void aicf_executor_destroy(AICFExecutor *executor);

/** How many tensors have a name: params, states and hypers, then inputs and outputs
    of each entry; 0 for null. */
AICF_API size_t aicf_plan_num_tensors(const AICFPlan *plan);
/** Tensor `index` of those: `name` as aicf_executor_find takes it ("entry/name" for
    inputs and outputs), which lives as long as the plan, and `info`; either may be
    null. AICF_INVALID_ARGUMENT: there are not so many. */
AICF_API AICFStatus aicf_plan_tensor(const AICFPlan *plan, size_t index,
                                     const char **name, AICFTensorInfo *info);

/** The tensor called `name`: a persistent one, an input or an output;
    "entry/name" where several entries have one of that name. */
AICF_API AICFStatus aicf_executor_find(const AICFExecutor *executor,
                                       const char *name, AICFTensorInfo *info);
/** Uses the caller's device memory for a tensor, until the executor is
    destroyed. */
AICF_API AICFStatus aicf_executor_bind(AICFExecutor *executor, const char *name,
                                       void *memory, uint64_t bytes);
/** Host memory to a tensor, and back; all of it. */
AICF_API AICFStatus aicf_executor_write(AICFExecutor *executor,
                                        const char *name, const void *data,
                                        uint64_t bytes);
AICF_API AICFStatus aicf_executor_read(AICFExecutor *executor, const char *name,
                                       void *data, uint64_t bytes);
/** Runs an entry once, call by call. */
AICF_API AICFStatus aicf_executor_run(AICFExecutor *executor,
                                      const char *entry);
/** Records an entry as a graph, and launches it `times` times, 1 or more. */
AICF_API AICFStatus aicf_executor_capture(AICFExecutor *executor,
                                          const char *entry);
AICF_API AICFStatus aicf_executor_replay(AICFExecutor *executor,
                                         const char *entry, uint64_t times);
/** Waits for everything; a device's error surfaces here. */
AICF_API AICFStatus aicf_executor_sync(AICFExecutor *executor);
/** Params and states: to and from a folder, and from a .safetensors file. */
AICF_API AICFStatus aicf_executor_save_checkpoint(AICFExecutor *executor,
                                                  const char *folder);
AICF_API AICFStatus aicf_executor_load_checkpoint(AICFExecutor *executor,
                                                  const char *folder);
AICF_API AICFStatus aicf_executor_load_weights(AICFExecutor *executor,
                                               const char *path);
/** Params alone, to a .safetensors file: what PyTorch and other plans of the model
    read. An older file stays whole until the new one is complete. */
AICF_API AICFStatus aicf_executor_save_weights(AICFExecutor *executor,
                                               const char *path);

#ifdef __cplusplus
}
#endif

#endif /* AICF_C_AICF_H */
