//===- Trainer.h - trains and tests a classifier plan -----------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_EXAMPLES_COMMON_TRAINER_H
#define AICF_EXAMPLES_COMMON_TRAINER_H

#include "Dataset.h"
#include "aicf/Executor.h"

namespace example {

struct TrainingOptions {
  int epochs = 10;
  float learningRate = 1e-3f;
  uint64_t seed = 1; ///< of the initialisers and of the order of the images
  int threads = 0;   ///< 0: all cores
  std::string device = "cpu";    ///< or "cuda"
  uint32_t batchesPerUpdate = 0; ///< 0: as the plan says
  /// Steps a launch where the data lives on the device.
  uint32_t stepsPerLaunch = 10;
};

/// Runs a plan with
///   @train_step(x [B, width], labels [B] i32, lr) -> loss
/// or, with the whole of the training data on the device and batches gathered
/// and shuffled there,
///   @train_step(images [N, width], classes [N] i32, lr) -> loss
/// with @train_step.accumulate where several batches make an update, and
///   @evaluate(x [P, width], labels [P] i32) -> correct, P divides the test set
/// and prints progress (on a terminal only), the accuracy and the time.
aicf::Status trainAndTest(const std::string &planPath, const Dataset &train,
                          const Dataset &test, TrainingOptions options);

/// The whole of a main(): PLAN [--device D] [--epochs N] [--threads N]
/// [--batches N] and data by `load`. Returns the exit code.
int runExample(int argc, char **argv,
               aicf::StatusOr<std::pair<Dataset, Dataset>> (*load)(
                   const std::string &dataPath),
               const std::string &defaultDataPath, TrainingOptions defaults);

} // namespace example

#endif // AICF_EXAMPLES_COMMON_TRAINER_H
