//===- Entry.h - what the runtime calls in libaicf_cuda.so ------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_RUNTIME_CUDA_ENTRY_H
#define AICF_LIB_RUNTIME_CUDA_ENTRY_H

#include "aicf/Device.h"

namespace aicf {

inline constexpr const char *kCUDALibrary = "libaicf_cuda.so";
/// Raised whenever Device, Stream, Graph or ResolvedCall change.
inline constexpr int kCUDAInterfaceVersion = 1;
inline constexpr const char *kCUDAVersionSymbol = "aicf_cuda_interface_version";
inline constexpr const char *kCUDACreateSymbol = "aicf_cuda_create_device";

using CUDAVersionFunction = int (*)();
using CUDACreateFunction = void (*)(const CUDADeviceOptions &options,
                                    StatusOr<std::shared_ptr<Device>> &device);

} // namespace aicf

#endif // AICF_LIB_RUNTIME_CUDA_ENTRY_H
