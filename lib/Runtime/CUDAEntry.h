//===- CUDAEntry.h - what the runtime calls in libaicf_cuda.so --*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_RUNTIME_CUDAENTRY_H
#define AICF_LIB_RUNTIME_CUDAENTRY_H

#include "aicf/Device.h"

namespace aicf {

inline constexpr const char *kCUDALibrary = "libaicf_cuda.so";
/// A hash of the headers that program and library share (lib/Runtime's
/// CMakeLists.txt): two builds with the same one fit.
inline constexpr const char *kCUDAInterface = AICF_CUDA_INTERFACE;
inline constexpr const char *kCUDAInterfaceSymbol = "aicf_cuda_interface";
inline constexpr const char *kCUDACreateSymbol = "aicf_cuda_create_device";

using CUDAInterfaceFunction = const char *(*)();
using CUDACreateFunction = void (*)(const CUDADeviceOptions &options,
                                    StatusOr<std::shared_ptr<Device>> &device);

} // namespace aicf

#endif // AICF_LIB_RUNTIME_CUDAENTRY_H
