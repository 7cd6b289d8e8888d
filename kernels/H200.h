//===- H200.h - what is known of one card -----------------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// The numbers of an NVIDIA H200 that decide which kernel a shape gets, and
// how much workspace. They decide no bits of a kernel with the workspace that a
// plan gives it: see Schedule.h.
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_H200_H
#define AICF_KERNELS_H200_H

#include <cstdint>

namespace aicf::h200 {
inline constexpr int64_t kMultiprocessors = 132;
/// What NVIDIA recommends for cuBLASLt on Hopper.
inline constexpr uint64_t kLibraryWorkspaceBytes = uint64_t(32) << 20;
} // namespace aicf::h200

#endif // AICF_KERNELS_H200_H
