//===- HostDevice.h - functions for host and GPU ----------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_BASE_HOSTDEVICE_H
#define AICF_LIB_BASE_HOSTDEVICE_H

/// In front of a function that nvcc compiles for both.
#ifdef __CUDACC__
#define AICF_HOST_DEVICE __host__ __device__
#else
#define AICF_HOST_DEVICE
#endif

#endif // AICF_LIB_BASE_HOSTDEVICE_H
