//===- Results.h - what a run says of itself --------------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// The 0-d outputs while and after a run (--log-every, --log), and their judges:
// --expected, --accuracy, and the rule that a loss is a finite number.
//===----------------------------------------------------------------------===//
#ifndef AICF_TOOLS_AICF_RUN_RESULTS_H
#define AICF_TOOLS_AICF_RUN_RESULTS_H

#include "Arguments.h"

#include <chrono>
#include <fstream>

namespace aicf {

struct Scalar {
  std::string name, text;
  double value = 0;
};

/// The entry's 0-d outputs; one called loss comes last.
StatusOr<std::vector<Scalar>> readScalars(Executor &executor,
                                          const std::string &entry);
/// Whether all are finite, save those that --expected speaks of; says on
/// standard error which are not, and after how many steps.
bool areFinite(const Executor &executor, const std::string &entry,
               const std::vector<Scalar> &scalars,
               const std::vector<NamedTensor> &expected, uint64_t steps);
void printScalars(const std::vector<Scalar> &scalars);

/// Compares with --expected; prints what differs.
StatusOr<bool> compareExpected(Executor &executor, const std::string &entry,
                               const std::vector<NamedTensor> &expected,
                               double tolerance);

/// --accuracy: labels (i32, or i64) of the rows of an output whose last
/// dimension is the classes. Errors: InvalidArgument for other types and
/// shapes.
Status checkAccuracy(Executor &executor, const std::string &entry,
                     const NamedTensor &labels);
/// How many rows have their largest value at the label; prints it.
Status showAccuracy(Executor &executor, const std::string &entry,
                    const NamedTensor &labels);

/// --log-every and --log.
class TrainingLog {
public:
  /// Every `every` steps (0: never) a line on standard output and, where `path`
  /// is not empty, one JSON object a line there: step, seconds since open(),
  /// and each 0-d output by its name (null where it is not finite). `append`:
  /// after what the file holds.
  Status open(uint64_t every, const std::string &path, bool append);
  bool isDue(uint64_t step) const { return every && step % every == 0; }
  Status write(uint64_t step, const std::vector<Scalar> &scalars);

private:
  uint64_t every = 0;
  std::string path;
  std::ofstream file;
  std::chrono::steady_clock::time_point start;
};

} // namespace aicf

#endif // AICF_TOOLS_AICF_RUN_RESULTS_H
