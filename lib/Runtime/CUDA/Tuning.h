//===- Tuning.h - what was measured to be fastest ---------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_RUNTIME_CUDA_TUNING_H
#define AICF_LIB_RUNTIME_CUDA_TUNING_H

#include "aicf/Types.h"
#include "lib/Runtime/CUDA/CudaApi.h"

#include <map>
#include <string>
#include <vector>

namespace aicf {

/// A JSON file: {"device": description, "choices": {problem: {"algorithm": hex,
/// "micros": number}}}. Choices of another device, driver or library are not
/// used, and not kept.
class TuningFile {
public:
  /// Reads a file, if it is there; "" never is. Errors: InvalidFile.
  Status load(const std::string &path, const std::string &device);
  Status save(const std::string &path, const std::string &device) const;
  /// Copies a choice of exactly `bytes` bytes to `algorithm`.
  bool find(const std::string &key, void *algorithm, size_t bytes) const;
  void add(const std::string &key, const void *algorithm, size_t bytes,
           double micros);

private:
  struct Choice {
    std::vector<uint8_t> algorithm;
    double micros = 0;
  };
  std::map<std::string, Choice> choices;
};

/// Random finite values with exponents near 1: zeros run faster than data.
Status fillWithNoise(const CudaApi &api, void *memory, uint64_t bytes,
                     DType dtype, cudaStream_t stream);

} // namespace aicf

#endif // AICF_LIB_RUNTIME_CUDA_TUNING_H
