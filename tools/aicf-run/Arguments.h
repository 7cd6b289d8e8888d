//===- Arguments.h - tensors on the command line ----------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_TOOLS_AICF_RUN_ARGUMENTS_H
#define AICF_TOOLS_AICF_RUN_ARGUMENTS_H

#include "aicf/Checkpoint.h"
#include "aicf/Executor.h"

namespace aicf {

struct NamedTensor {
  std::string name;
  HostTensor tensor;
};
struct NamedFile {
  std::string name, path;
};

/// "name=@file.npy" or "name=2x3xf32=1,2,...": as many numbers as elements, or
/// one for all.
StatusOr<NamedTensor> parseTensorArgument(const std::string &argument);
/// "name=@file".
StatusOr<NamedFile> parseFileArgument(const std::string &argument);
/// "name=number" for a hyper of the plan: a finite number in its dtype.
StatusOr<NamedTensor> parseSetArgument(const Plan &plan,
                                       const std::string &argument);

/// "entry/name" if the entry has an input or output `name`, else `name`.
std::string qualify(const Executor &executor, const std::string &entry,
                    const std::string &name);

/// Writes or reads a tensor by name; write checks dtype and shape.
Status writeTensor(Executor &executor, const NamedTensor &tensor);
StatusOr<HostTensor> readTensor(Executor &executor, const std::string &name);

/// Element `i` as a number.
double elementAsDouble(const HostTensor &tensor, size_t i);
/// ||a - e||_2 / ||e||_2 (or ||a||_2 if e is zero); infinite if a NaN or Inf
/// stands where e has another value. Errors: different types.
StatusOr<double> relativeError(const HostTensor &actual,
                               const HostTensor &expected);

/// Params, states and the entry's outputs; the entry's 0-d outputs.
std::vector<std::string> comparableNames(const Plan &plan,
                                         const std::string &entry);
std::vector<std::string> scalarOutputs(const Plan &plan,
                                       const std::string &entry);

} // namespace aicf

#endif // AICF_TOOLS_AICF_RUN_ARGUMENTS_H
