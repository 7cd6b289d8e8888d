//===- train.cpp - trains on the 8x8 digits -------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// train-digits PLAN [--data digits.csv.gz] [--epochs N] [--threads N]
// The first 1,500 rows to train on, the other 297 to test on.
//===----------------------------------------------------------------------===//

#include "../common/Trainer.h"

using namespace aicf;
using example::Dataset;

static StatusOr<std::pair<Dataset, Dataset>> load(const std::string &path) {
  AICF_ASSIGN_OR_RETURN(Dataset all, example::readCsv(path, 64, 16));
  if (all.count < 1797)
    return makeError(StatusCode::InvalidFile, "'", path, "' has ", all.count,
                     " rows, expected 1797");
  return std::pair(example::slice(all, 0, 1500),
                   example::slice(all, 1500, 1797));
}

int main(int argc, char **argv) {
  example::TrainingOptions options;
  options.epochs = 30;
  return example::runExample(argc, argv, load, "examples/digits/digits.csv.gz",
                             options);
}
