//===- train.cpp - trains on Fashion-MNIST --------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// train-fashion-mnist PLAN [--device cpu|cuda] [--data FOLDER] [--epochs N]
//                     [--threads N] [--batches N]
// The data is Debian's dataset-fashion-mnist (Xiao, Rasul, Vollgraf 2017):
// 60,000 images of 28x28 to train on, 10,000 to test on.
//===----------------------------------------------------------------------===//

#include "../common/Trainer.h"

using namespace aicf;
using example::Dataset;

static StatusOr<std::pair<Dataset, Dataset>> load(const std::string &folder) {
  AICF_ASSIGN_OR_RETURN(
      Dataset train, example::readIdx(folder + "/train-images-idx3-ubyte.gz",
                                      folder + "/train-labels-idx1-ubyte.gz"));
  AICF_ASSIGN_OR_RETURN(
      Dataset test, example::readIdx(folder + "/t10k-images-idx3-ubyte.gz",
                                     folder + "/t10k-labels-idx1-ubyte.gz"));
  return std::pair(std::move(train), std::move(test));
}

int main(int argc, char **argv) {
  example::TrainingOptions options;
  options.epochs = 10;
  return example::runExample(argc, argv, load,
                             "/usr/share/datasets/fashion-mnist", options);
}
