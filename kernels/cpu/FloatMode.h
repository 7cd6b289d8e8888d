//===- FloatMode.h - floats as IEEE 754 says --------------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_CPU_FLOATMODE_H
#define AICF_KERNELS_CPU_FLOATMODE_H

#ifdef __SSE2__
#include <xmmintrin.h>
#else
#include <cfenv>
#endif

namespace aicf::cpu {

/// While one lives, this thread computes floats as IEEE 754 says: with
/// denormals, rounded to nearest. Around each launch: its bits depend neither
/// on the caller's mode nor on the number of threads, of which helpers have a
/// mode of their own. Audio code, torch.set_flush_denormal and libraries that
/// were linked with -ffast-math set something else.
class FloatMode {
public:
#ifdef __SSE2__
  FloatMode() : before(_mm_getcsr()) { _mm_setcsr(kDefault); }
  ~FloatMode() { _mm_setcsr(before); }
#else
  FloatMode() {
    std::fegetenv(&before);
    std::fesetenv(FE_DFL_ENV);
  }
  ~FloatMode() { std::fesetenv(&before); }
#endif
  FloatMode(const FloatMode &) = delete;
  FloatMode &operator=(const FloatMode &) = delete;

private:
#ifdef __SSE2__
  /// No exception is trapped or was raised, nothing is flushed.
  static constexpr unsigned kDefault = 0x1f80;
  unsigned before;
#else
  std::fenv_t before;
#endif
};

} // namespace aicf::cpu

#endif // AICF_KERNELS_CPU_FLOATMODE_H
