//===- Stream.cpp - stores past the caches --------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/cpu/Stream.h"

namespace aicf::cpu {

template <InstructionSet set>
static void streamWith(char *to, const char *from, int64_t bytes) {
  const auto past = int64_t(reinterpret_cast<uintptr_t>(to) % kLineBytes);
  int64_t at = std::min((kLineBytes - past) % kLineBytes, bytes);
  std::memcpy(to, from, size_t(at));
  for (; at + kLineBytes <= bytes; at += kLineBytes)
    LineStream<set>::write(to + at, from + at);
  std::memcpy(to + at, from + at, size_t(bytes - at));
}

void streamBytes(void *to, const void *from, int64_t bytes) {
  runWithBestISA(
      [=](int64_t, int64_t n, auto set) {
        streamWith<decltype(set)::value>(static_cast<char *>(to),
                                         static_cast<const char *>(from), n);
      },
      0, bytes);
}

} // namespace aicf::cpu
