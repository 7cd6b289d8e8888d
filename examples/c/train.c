/* Trains a plan from C, with the runtime's shared library alone (-laicf):
 *     train PLAN WEIGHTS.safetensors
 * PLAN is build/examples/digits.plan, or any that has an entry "train_step" with inputs
 * x (f32 [rows, features]) and labels (i32 [rows]), and a learning rate "lr". The data
 * are made up: each class is a pattern of its own, plus noise.
 *
 * Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 */
#include <aicf-c/aicf.h>

#include <stdio.h>
#include <stdlib.h>

/* Every call says whether it worked; why not is the thread's last error. */
static void check(AICFStatus status, const char *what) {
  if (status == AICF_OK)
    return;
  fprintf(stderr, "%s: %s: %s\n", what, aicf_status_name(status),
          aicf_last_error());
  exit(1);
}

static void fill(float *x, int32_t *labels, int64_t rows, int64_t features) {
  for (int64_t row = 0; row < rows; ++row) {
    labels[row] = rand() % 10;
    for (int64_t i = 0; i < features; ++i)
      x[row * features + i] = (float)((labels[row] * 31 + i * 17) % 10) / 10 +
                              (float)(rand() % 100) / 500;
  }
}

int main(int argc, char **argv) {
  AICFPlan *plan;
  AICFDevice *device;
  AICFExecutor *executor;
  AICFTensorInfo x_info, labels_info;
  float lr = 0.003f, loss = 0;
  if (argc != 3) {
    fprintf(stderr, "usage: train PLAN WEIGHTS.safetensors\n");
    return 2;
  }
  check(aicf_plan_load(argv[1], &plan), argv[1]);
  for (size_t i = 0; i < aicf_plan_num_tensors(plan); ++i) {
    const char *name;
    AICFTensorInfo info;
    check(aicf_plan_tensor(plan, i, &name, &info), "tensor");
    printf("%-24s %8llu bytes\n", name, (unsigned long long)info.bytes);
  }
  check(aicf_device_create("cpu", 0, &device), "cpu");
  check(aicf_executor_create(plan, device, /*seed=*/1, &executor), "executor");
  check(aicf_executor_find(executor, "train_step/x", &x_info), "x");
  check(aicf_executor_find(executor, "train_step/labels", &labels_info), "labels");
  float *x = malloc(x_info.bytes);
  int32_t *labels = malloc(labels_info.bytes);
  check(aicf_executor_write(executor, "lr", &lr, sizeof(lr)), "lr");
  for (int step = 0; step <= 200; ++step) {
    fill(x, labels, x_info.dims[0], x_info.dims[1]);
    check(aicf_executor_write(executor, "train_step/x", x, x_info.bytes), "x");
    check(aicf_executor_write(executor, "train_step/labels", labels,
                              labels_info.bytes), "labels");
    if (step == 0) /* recorded once, replayed from then on */
      check(aicf_executor_capture(executor, "train_step"), "capture");
    check(aicf_executor_replay(executor, "train_step", 1), "train_step");
    check(aicf_executor_read(executor, "loss", &loss, sizeof(loss)), "loss");
    if (step % 50 == 0)
      printf("step %3d  loss %.4f\n", step, loss);
  }
  check(aicf_executor_save_weights(executor, argv[2]), argv[2]);
  printf("wrote %s\n", argv[2]);
  aicf_executor_destroy(executor);
  aicf_device_destroy(device);
  aicf_plan_destroy(plan);
  free(x);
  free(labels);
  return loss < 1 ? 0 : 1;
}
