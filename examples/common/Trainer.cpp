//===- Trainer.cpp - trains and tests a classifier plan -------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// The runtime's public API from end to end: load, create, write, run, read.
//===----------------------------------------------------------------------===//

#include "Trainer.h"
#include "aicf/EntryNames.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>

using namespace aicf;

namespace example {
namespace {

const std::string kAccumulatingEntry =
    std::string("train_step") + kAccumulateSuffix;

double seconds() {
  using Clock = std::chrono::steady_clock;
  return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
}

/// A batch as the plan wants it: images, and the numbers of their classes.
struct Batch {
  std::vector<float> images;
  std::vector<int32_t> labels;

  void fill(const Dataset &data, const std::vector<size_t> &order, size_t first,
            size_t size) {
    images.resize(size * data.width);
    labels.resize(size);
    for (size_t i = 0; i < size; ++i) {
      size_t from = order[first + i];
      std::copy_n(&data.images[from * data.width], data.width,
                  &images[i * data.width]);
      labels[i] = data.labels[from];
    }
  }
};

template <typename T>
Status writeAll(Executor &executor, const std::string &name,
                const std::vector<T> &values) {
  return executor.write(name, values.data(), values.size() * sizeof(T));
}

/// The leading dimension of a tensor of the plan.
StatusOr<size_t> batchSize(const Executor &executor, const char *name) {
  AICF_ASSIGN_OR_RETURN(TensorInfo tensor, executor.find(name));
  if (tensor.desc.rank != 2)
    return makeError(StatusCode::InvalidArgument, "\"", name, "\" is ",
                     tensor.desc.toString(), ", expected [batch, width]");
  return static_cast<size_t>(tensor.desc.dims[0]);
}

Status trainEpochs(Executor &executor, const Dataset &data,
                   const TrainingOptions &options) {
  AICF_ASSIGN_OR_RETURN(size_t size, batchSize(executor, "train_step/x"));
  if (size > data.count)
    return makeError(StatusCode::InvalidArgument, "a batch is ", size,
                     " images, the data has ", data.count);
  std::vector<size_t> order(data.count);
  std::iota(order.begin(), order.end(), 0);
  std::mt19937_64 random(options.seed);
  // All but the last of the batches of an update.
  GraphKey accumulate{kAccumulatingEntry, 1}, step{"train_step", 1};
  Batch batch;
  // Whole updates: an epoch leaves no batch behind for the next.
  const size_t updates = data.count / size / size_t(options.batchesPerUpdate);
  const size_t steps = updates * size_t(options.batchesPerUpdate);
  const bool isTerminal = isatty(STDOUT_FILENO);
  for (int epoch = 1; epoch <= options.epochs; ++epoch) {
    std::shuffle(order.begin(), order.end(), random);
    double start = seconds();
    for (size_t s = 0; s < steps; ++s) {
      batch.fill(data, order, s * size, size);
      const GraphKey &key =
          (s + 1) % size_t(options.batchesPerUpdate) == 0 ? step : accumulate;
      AICF_RETURN_IF_ERROR(writeAll(executor, key.entry + "/x", batch.images));
      AICF_RETURN_IF_ERROR(
          writeAll(executor, key.entry + "/labels", batch.labels));
      AICF_RETURN_IF_ERROR(executor.run(key));
      if (isTerminal && (s % 20 == 19 || s + 1 == steps)) {
        float loss = 0;
        AICF_RETURN_IF_ERROR(
            executor.read(key.entry + "/loss", &loss, sizeof(loss)));
        std::printf("\repoch %d/%d  step %zu/%zu  loss %.5f  %.0f images/s ",
                    epoch, options.epochs, s + 1, steps, double(loss),
                    double((s + 1) * size) / (seconds() - start));
        std::fflush(stdout);
      }
    }
    if (isTerminal)
      std::printf("\n");
  }
  return executor.sync();
}

/// The data is written once; batches are made on the device, and several steps
/// are one launch.
Status trainResident(Executor &executor, const Dataset &data, size_t batch,
                     const TrainingOptions &options) {
  std::vector<size_t> order(data.count);
  std::iota(order.begin(), order.end(), 0);
  Batch all;
  all.fill(data, order, 0, data.count);
  AICF_RETURN_IF_ERROR(writeAll(executor, "images", all.images));
  AICF_RETURN_IF_ERROR(writeAll(executor, "classes", all.labels));
  const bool isTerminal = isatty(STDOUT_FILENO);
  GraphKey launch{"train_step", options.stepsPerLaunch};
  size_t launches = data.count / batch / options.stepsPerLaunch;
  for (int epoch = 1; epoch <= options.epochs; ++epoch) {
    double start = seconds();
    for (size_t i = 0; i < launches; ++i)
      AICF_RETURN_IF_ERROR(executor.run(launch));
    float loss = 0;
    AICF_RETURN_IF_ERROR(executor.read("loss", &loss, sizeof(loss)));
    size_t images = launches * options.stepsPerLaunch * batch;
    if (isTerminal)
      std::printf("epoch %d/%d  loss %.5f  %.0f images/s\n", epoch,
                  options.epochs, double(loss),
                  double(images) / (seconds() - start));
  }
  return executor.sync();
}

/// As the plan says, or for one of before 3.1 the options.
Status setBatches(const Plan &plan, TrainingOptions &options) {
  AICF_ASSIGN_OR_RETURN(
      options.batchesPerUpdate,
      plan.batchesPerUpdate("train_step", options.batchesPerUpdate));
  if (options.batchesPerUpdate > 0)
    return {};
  return makeError(StatusCode::InvalidArgument, "the plan has an entry ",
                   kAccumulatingEntry,
                   " and is older than 3.1: say by "
                   "--batches how many batches make an update");
}

/// The batch size of a plan whose data lives on the device, or 0.
size_t residentBatch(const Plan &plan) {
  const PlanEntry *entry = plan.findEntry("train_step");
  for (const PlanCall &call : entry ? entry->calls : std::vector<PlanCall>())
    if (call.body->isOnly(OpKind::GatherRows))
      return size_t(plan.tensor(*entry, call.outs[0]).desc.dims[0]);
  return 0;
}

StatusOr<std::shared_ptr<Device>> makeDevice(const TrainingOptions &options) {
  AICF_ASSIGN_OR_RETURN(DeviceName name, parseDeviceName(options.device));
  if (name.kind == DeviceKind::CPU)
    return createCPUDevice({options.threads});
  CUDADeviceOptions cuda;
  cuda.ordinal = name.ordinal;
  return createCUDADevice(cuda);
}

/// Percentage of images whose highest score is their label's, counted on the
/// device.
StatusOr<double> testAccuracy(Executor &executor, const Dataset &data) {
  AICF_ASSIGN_OR_RETURN(size_t size, batchSize(executor, "evaluate/x"));
  if (data.count % size != 0)
    return makeError(StatusCode::InvalidArgument, "the ", data.count,
                     " test images do not fill batches of ", size);
  std::vector<size_t> order(data.count);
  std::iota(order.begin(), order.end(), 0);
  Batch batch;
  int64_t correct = 0;
  for (size_t first = 0; first < data.count; first += size) {
    batch.fill(data, order, first, size);
    AICF_RETURN_IF_ERROR(writeAll(executor, "evaluate/x", batch.images));
    AICF_RETURN_IF_ERROR(writeAll(executor, "evaluate/labels", batch.labels));
    AICF_RETURN_IF_ERROR(executor.run("evaluate"));
    int32_t count = 0;
    AICF_RETURN_IF_ERROR(executor.read("correct", &count, sizeof(count)));
    correct += count;
  }
  return 100.0 * double(correct) / double(data.count);
}

} // namespace

Status trainAndTest(const std::string &planPath, const Dataset &train,
                    const Dataset &test, TrainingOptions options) {
  AICF_ASSIGN_OR_RETURN(Plan plan, Plan::load(planPath));
  AICF_RETURN_IF_ERROR(setBatches(plan, options));
  ExecutorOptions executorOptions;
  executorOptions.seed = options.seed;
  AICF_ASSIGN_OR_RETURN(std::shared_ptr<Device> device, makeDevice(options));
  size_t resident = residentBatch(plan);
  AICF_ASSIGN_OR_RETURN(
      auto executor,
      Executor::create(std::make_shared<const Plan>(std::move(plan)), device,
                       executorOptions));
  if (executor->find("lr").ok()) // else the plan has a schedule
    AICF_RETURN_IF_ERROR(executor->write("lr", &options.learningRate,
                                         sizeof(options.learningRate)));
  double start = seconds();
  AICF_RETURN_IF_ERROR(resident
                           ? trainResident(*executor, train, resident, options)
                           : trainEpochs(*executor, train, options));
  double trainingTime = seconds() - start;
  AICF_ASSIGN_OR_RETURN(double accuracy, testAccuracy(*executor, test));
  std::printf("test accuracy: %.2f %%\n", accuracy);
  std::printf("training time: %.1f s for %d epochs\n", trainingTime,
              options.epochs);
  return {};
}

int runExample(
    int argc, char **argv,
    StatusOr<std::pair<Dataset, Dataset>> (*load)(const std::string &dataPath),
    const std::string &defaultDataPath, TrainingOptions defaults) {
  std::string plan, data = defaultDataPath;
  bool isUsage = argc < 2;
  for (int i = 1; i < argc && !isUsage; ++i) {
    std::string arg = argv[i];
    bool hasValue = i + 1 < argc;
    if (arg == "--epochs" && hasValue)
      isUsage = (defaults.epochs = std::atoi(argv[++i])) <= 0;
    else if (arg == "--threads" && hasValue)
      isUsage = (defaults.threads = std::atoi(argv[++i])) < 0;
    else if (arg == "--batches" && hasValue)
      isUsage = !(defaults.batchesPerUpdate =
                      uint32_t(std::max(std::atoi(argv[++i]), 0)));
    else if (arg == "--device" && hasValue)
      defaults.device = argv[++i];
    else if (arg == "--data" && hasValue)
      data = argv[++i];
    else if (arg[0] != '-' && plan.empty())
      plan = arg;
    else
      isUsage = true;
  }
  if (isUsage || plan.empty()) {
    std::fprintf(stderr,
                 "usage: %s PLAN [--device cpu|cuda] [--data PATH] "
                 "[--epochs N] [--threads N] [--batches N]\n",
                 argv[0]);
    return 2;
  }
  auto sets = load(data);
  Status status = sets.ok()
                      ? trainAndTest(plan, sets->first, sets->second, defaults)
                      : sets.status();
  if (!status.ok())
    std::fprintf(stderr, "%s: %s\n", argv[0], status.toString().c_str());
  return status.ok() ? 0 : 2;
}

} // namespace example
