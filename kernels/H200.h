//===- H200.h - what is known of one card -----------------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// The numbers of an NVIDIA H200 that decide which kernel a shape gets and how
// sums are partitioned. They hold on every card, so that all give the same
// bits: a card of another size is right, only less full.
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_H200_H
#define AICF_KERNELS_H200_H

#include <cstdint>

namespace aicf::h200 {
inline constexpr int64_t kMultiprocessors = 132;
inline constexpr int kThreadsPerMultiprocessor = 2048;
/// What NVIDIA recommends for cuBLASLt on Hopper.
inline constexpr uint64_t kLibraryWorkspaceBytes = uint64_t(32) << 20;
} // namespace aicf::h200

#endif // AICF_KERNELS_H200_H
