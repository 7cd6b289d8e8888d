//===- ConvertCpu.h - elements of one type as another on the CPU -*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_POINTWISE_CONVERTCPU_H
#define AICF_KERNELS_POINTWISE_CONVERTCPU_H

#include "kernels/cpu/KernelDecls.h"
#include "kernels/cpu/Parallel.h"
#include "kernels/pointwise/Scalars.h"

namespace aicf::cpu {

/// True where To is i1, which C++ stores as a byte.
template <typename To, typename From> To convert(From x) {
  if constexpr (std::is_same_v<To, i1>)
    return x != Compute<From>(0);
  else if constexpr (std::is_integral_v<To>)
    return scalar::number<To>(Compute<From>(x));
  else
    return To(Compute<To>(Compute<From>(x)));
}

/// A function of its own, so that it is compiled once.
template <typename From, typename To>
[[gnu::noinline]] void convertAll(const From *x, To *y, int64_t count) {
  runWithBestISA(
      [=](int64_t begin, int64_t end) {
        AICF_INDEPENDENT_LOOP
        for (int64_t i = begin; i < end; ++i)
          y[i] = convert<To>(x[i]);
      },
      0, count);
}

} // namespace aicf::cpu

#endif // AICF_KERNELS_POINTWISE_CONVERTCPU_H
