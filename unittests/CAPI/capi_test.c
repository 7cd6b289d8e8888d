//===- capi_test.c - a plan, run from C ---------------------------*- C -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// capi_test PLAN FOLDER VIEWS: the digits example, and a plan of views and constants. Eager and replay must end in the same
// bits, a checkpoint must bring them back, and wrong use must be refused with a
// message. FOLDER is for files.
//===----------------------------------------------------------------------===//
#include "aicf-c/aicf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures = 0;

#define CHECK(condition)                                                       \
  do {                                                                         \
    if (!(condition)) {                                                        \
      printf("%s:%d: %s is false; last error: %s\n", __FILE__, __LINE__,       \
             #condition, aicf_last_error());                                   \
      ++failures;                                                              \
    }                                                                          \
  } while (0)

/* Images, labels and rate of the digits example. */
static void write_inputs(AICFExecutor *executor) {
  static float x[32 * 64];
  static int32_t labels[32];
  float rate = 0.01f;
  int i;
  for (i = 0; i < 32 * 64; ++i)
    x[i] = (float)(i * 7 % 17) / 17;
  for (i = 0; i < 32; ++i)
    labels[i] = i % 10;
  CHECK(aicf_executor_write(executor, "train_step/x", x, sizeof(x)) == AICF_OK);
  CHECK(aicf_executor_write(executor, "train_step/labels", labels, sizeof(labels)) ==
        AICF_OK);
  CHECK(aicf_executor_write(executor, "lr", &rate, sizeof(rate)) == AICF_OK);
}

static void check_same(AICFExecutor *a, AICFExecutor *b, const char *name) {
  AICFTensorInfo info;
  void *of_a, *of_b;
  CHECK(aicf_executor_find(a, name, &info) == AICF_OK);
  of_a = malloc(info.bytes);
  of_b = malloc(info.bytes);
  CHECK(aicf_executor_read(a, name, of_a, info.bytes) == AICF_OK);
  CHECK(aicf_executor_read(b, name, of_b, info.bytes) == AICF_OK);
  CHECK(memcmp(of_a, of_b, info.bytes) == 0);
  free(of_a);
  free(of_b);
}

static void check_training(const AICFPlan *plan, const AICFDevice *device,
                           const char *folder) {
  AICFExecutor *eager = NULL, *graph = NULL, *resumed = NULL;
  AICFTensorInfo info;
  float first = 0, last = 0;
  int i;
  CHECK(aicf_executor_create(plan, device, 7, &eager) == AICF_OK);
  CHECK(aicf_executor_create(plan, device, 7, &graph) == AICF_OK);
  write_inputs(eager);
  write_inputs(graph);
  CHECK(aicf_executor_find(eager, "loss", &info) == AICF_OK);
  CHECK(info.dtype == AICF_F32 && info.role == AICF_OUTPUT && info.rank == 0 &&
        info.bytes == sizeof(first));
  CHECK(aicf_executor_run(eager, "train_step") == AICF_OK);
  CHECK(aicf_executor_read(eager, "loss", &first, sizeof(first)) ==
        AICF_OK);
  for (i = 1; i < 20; ++i)
    CHECK(aicf_executor_run(eager, "train_step") == AICF_OK);
  CHECK(aicf_executor_sync(eager) == AICF_OK);
  CHECK(aicf_executor_replay(graph, "train_step", 1) == AICF_FAILED_STATE);
  CHECK(aicf_executor_capture(graph, "train_step") == AICF_OK);
  CHECK(aicf_executor_replay(graph, "train_step", 0) == AICF_INVALID_ARGUMENT);
  CHECK(strstr(aicf_last_error(), "n is 0") != NULL);
  CHECK(aicf_executor_replay(graph, "train_step", 20) == AICF_OK);
  CHECK(aicf_executor_read(graph, "loss", &last, sizeof(last)) ==
        AICF_OK);
  CHECK(last < first);
  check_same(eager, graph, "fc1.weight");
  check_same(eager, graph, "loss");
  CHECK(aicf_executor_save_checkpoint(graph, folder) == AICF_OK);
  CHECK(aicf_executor_create(plan, device, 8, &resumed) == AICF_OK);
  CHECK(aicf_executor_load_checkpoint(resumed, folder) == AICF_OK);
  check_same(graph, resumed, "fc1.weight");
  aicf_executor_destroy(eager);
  aicf_executor_destroy(graph);
  aicf_executor_destroy(resumed);
}

/* Memory of the caller's is used where it lies. */
static void check_bind(const AICFPlan *plan, const AICFDevice *device) {
  AICFExecutor *executor = NULL;
  AICFTensorInfo info;
  float *memory;
  CHECK(aicf_executor_create(plan, device, 7, &executor) == AICF_OK);
  CHECK(aicf_executor_find(executor, "train_step/x", &info) == AICF_OK);
  CHECK(info.rank == 2 && info.dims[0] == 32 && info.dims[1] == 64);
  memory = aligned_alloc(256, info.bytes);
  memset(memory, 0, info.bytes);
  CHECK(aicf_executor_bind(executor, "train_step/x", memory, info.bytes) == AICF_OK);
  CHECK(aicf_executor_bind(executor, "train_step/x", memory, 3) ==
        AICF_INVALID_ARGUMENT);
  memory[5] = 0;
  write_inputs(executor);
  CHECK(memory[5] != 0);
  aicf_executor_destroy(executor);
  free(memory);
}

/* Every name that has a tensor, and weights that another executor reads. */
static void check_tensors(const AICFPlan *plan, const AICFDevice *device,
                          const char *folder) {
  AICFExecutor *a = NULL, *b = NULL;
  AICFTensorInfo listed, found;
  const char *name = NULL;
  char path[4096];
  size_t i, params = 0, count = aicf_plan_num_tensors(plan);
  CHECK(aicf_executor_create(plan, device, 3, &a) == AICF_OK);
  CHECK(aicf_executor_create(plan, device, 4, &b) == AICF_OK);
  CHECK(count > 5);
  for (i = 0; i < count; ++i) {
    CHECK(aicf_plan_tensor(plan, i, &name, &listed) == AICF_OK);
    CHECK(aicf_executor_find(a, name, &found) == AICF_OK);
    CHECK(memcmp(&listed, &found, sizeof(found)) == 0);
    params += listed.role == AICF_PARAM;
  }
  CHECK(params >= 4);
  CHECK(aicf_plan_tensor(plan, 0, NULL, NULL) == AICF_OK);
  CHECK(aicf_plan_tensor(plan, count, &name, NULL) == AICF_INVALID_ARGUMENT);
  CHECK(aicf_plan_tensor(NULL, 0, &name, NULL) == AICF_INVALID_ARGUMENT);
  CHECK(aicf_plan_num_tensors(NULL) == 0);
  snprintf(path, sizeof(path), "%s/weights.safetensors", folder);
  CHECK(aicf_executor_save_weights(a, path) == AICF_OK);
  CHECK(aicf_executor_load_weights(b, path) == AICF_OK);
  check_same(a, b, "fc1.weight");
  CHECK(aicf_executor_save_weights(a, "/nonexistent/w") == AICF_FILE_NOT_FOUND);
  CHECK(aicf_executor_save_weights(a, NULL) == AICF_INVALID_ARGUMENT);
  aicf_executor_destroy(a);
  aicf_executor_destroy(b);
}

static void check_wrong_use(const AICFPlan *plan, const AICFDevice *device) {
  AICFPlan *none = NULL;
  AICFDevice *no_device = NULL;
  AICFExecutor *executor = NULL;
  AICFTensorInfo info;
  float x = 0;
  CHECK(aicf_plan_load("/nonexistent", &none) == AICF_FILE_NOT_FOUND && !none);
  CHECK(strstr(aicf_last_error(), "/nonexistent") != NULL);
  CHECK(aicf_plan_parse("not a plan", 10, &none) == AICF_INVALID_PLAN && !none);
  CHECK(aicf_plan_load(NULL, &none) == AICF_INVALID_ARGUMENT);
  CHECK(aicf_plan_load("train_step/x", NULL) == AICF_INVALID_ARGUMENT);
  CHECK(aicf_device_create("gpu", 0, &no_device) == AICF_INVALID_ARGUMENT);
  CHECK(strstr(aicf_last_error(), "gpu") != NULL);
  CHECK(aicf_device_create("cpu", -1, &no_device) == AICF_INVALID_ARGUMENT);
  CHECK(aicf_device_create("cuda", 2, &no_device) == AICF_INVALID_ARGUMENT);
  CHECK(!no_device);
  CHECK(aicf_executor_create(plan, device, 0, &executor) == AICF_OK);
  CHECK(aicf_executor_find(executor, "nobody", &info) == AICF_INVALID_ARGUMENT);
  CHECK(strstr(aicf_last_error(), "nobody") != NULL);
  CHECK(aicf_executor_write(executor, "lr", &x, 1) == AICF_INVALID_ARGUMENT);
  CHECK(aicf_executor_write(executor, NULL, &x, 4) == AICF_INVALID_ARGUMENT);
  CHECK(aicf_executor_run(executor, "train_step") == AICF_NOT_INITIALIZED);
  CHECK(aicf_executor_run(executor, "nobody") == AICF_INVALID_ARGUMENT);
  CHECK(aicf_executor_load_weights(executor, "/nonexistent") != AICF_OK);
  CHECK(aicf_executor_run(NULL, "train_step") == AICF_INVALID_ARGUMENT);
  aicf_executor_destroy(executor);
  aicf_executor_destroy(NULL);
  aicf_device_destroy(NULL);
  aicf_plan_destroy(NULL);
  CHECK(aicf_plan_num_entries(NULL) == 0 && !aicf_plan_entry_name(NULL, 0));
  CHECK(strcmp(aicf_status_name(AICF_FAILED_STATE), "FailedState") == 0);
  CHECK(strcmp(aicf_status_name((AICFStatus)99), "?") == 0);
}

/* Constants and i1, and a state that nobody has written. */
static void check_views(const AICFDevice *device, const char *path) {
  AICFPlan *plan = NULL;
  AICFExecutor *executor = NULL;
  AICFTensorInfo info, constant;
  const char *name = NULL, *of_constant = NULL;
  uint8_t mask[12] = {1, 0, 1, 1, 0, 0, 0, 1, 0, 1, 1, 1}, turned[12], data[4096];
  float x[12] = {0}, table[12];
  size_t i;
  memset(&constant, 0, sizeof(constant));
  CHECK(aicf_plan_load(path, &plan) == AICF_OK);
  for (i = 0; i < aicf_plan_num_tensors(plan); ++i) {
    CHECK(aicf_plan_tensor(plan, i, &name, &info) == AICF_OK);
    if (info.role == AICF_CONSTANT) {
      constant = info;
      of_constant = name;
    }
  }
  CHECK(of_constant && constant.bytes <= sizeof(data));
  CHECK(aicf_executor_create(plan, device, 0, &executor) == AICF_OK);
  CHECK(aicf_executor_find(executor, "use/mask", &info) == AICF_OK);
  CHECK(info.dtype == AICF_I1 && info.bytes == sizeof(mask));
  CHECK(aicf_executor_write(executor, "use/x", x, sizeof(x)) == AICF_OK);
  CHECK(aicf_executor_write(executor, "use/mask", mask, sizeof(mask)) == AICF_OK);
  CHECK(aicf_executor_run(executor, "use") == AICF_NOT_INITIALIZED);
  CHECK(strstr(aicf_last_error(), "table") != NULL);
  memset(table, 0, sizeof(table));
  CHECK(aicf_executor_write(executor, "table", table, sizeof(table)) == AICF_OK);
  CHECK(aicf_executor_run(executor, "use") == AICF_OK);
  CHECK(aicf_executor_read(executor, "turned", turned, sizeof(turned)) == AICF_OK);
  for (i = 0; i < 12; ++i) /* [3, 4] -> [4, 3] */
    CHECK(turned[i] == mask[i % 3 * 4 + i / 3]);
  mask[7] = 2;
  CHECK(aicf_executor_write(executor, "use/mask", mask, sizeof(mask)) ==
        AICF_INVALID_ARGUMENT);
  CHECK(strstr(aicf_last_error(), "element 7 of 3x4xi1 is the byte 2") != NULL);
  CHECK(aicf_executor_read(executor, of_constant, data, constant.bytes) == AICF_OK);
  CHECK(aicf_executor_write(executor, of_constant, data, constant.bytes) ==
        AICF_INVALID_ARGUMENT);
  CHECK(strstr(aicf_last_error(), "is a constant of the plan") != NULL);
  aicf_executor_destroy(executor);
  aicf_plan_destroy(plan);
}

int main(int argc, char **argv) {
  AICFPlan *plan = NULL;
  AICFDevice *device = NULL;
  if (argc != 4)
    return 2;
  CHECK(aicf_plan_load(argv[1], &plan) == AICF_OK);
  CHECK(aicf_device_create("cpu", 1, &device) == AICF_OK);
  if (failures)
    return 1;
  CHECK(aicf_plan_num_entries(plan) > 0);
  {
    uint32_t batches = 7;
    CHECK(aicf_plan_batches_per_update(plan, "train_step", &batches) == AICF_OK);
    CHECK(batches == 1);
    CHECK(aicf_plan_batches_per_update(plan, "nothing", &batches) ==
          AICF_INVALID_ARGUMENT);
  }
  CHECK(strcmp(aicf_plan_entry_name(plan, 0), "train_step") == 0);
  CHECK(aicf_plan_entry_name(plan, 99) == NULL);
  check_training(plan, device, argv[2]);
  check_bind(plan, device);
  check_tensors(plan, device, argv[2]);
  check_wrong_use(plan, device);
  check_views(device, argv[3]);
  aicf_device_destroy(device);
  aicf_plan_destroy(plan);
  printf("AICF %s: %d failures\n", aicf_version(), failures);
  return failures != 0;
}
