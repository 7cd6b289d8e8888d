//===- Cpu.cpp - cumsum on the CPU -----------------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/cpu/KernelDecls.h"
#include "kernels/cpu/Parallel.h"
#include "kernels/pointwise/Scalars.h"
#include "kernels/scan/Scan.h"

#include <algorithm>

namespace aicf::cpu {
namespace {

/// Neighbouring rows that are added up side by side.
constexpr int64_t kSideBySide = 64;

template <typename T> void cumsum(CumsumArgs call) {
  using Sum = std::conditional_t<std::is_integral_v<T>, T, double>;
  using C = Compute<T>;
  const T *x = call.x().dense<T>();
  T *y = call.y().dense<T>();
  const ScanRows rows(call.x().desc, call.attrs().axis, call.attrs().reversed);
  int64_t groups = (rows.inner + kSideBySide - 1) / kSideBySide;
  parallelFor(rows.outer * groups, 1, call->numThreads, call.x().elements(),
              [&](int64_t begin, int64_t end) {
    for (int64_t group = begin; group < end; ++group) {
      int64_t first = group % groups * kSideBySide;
      int64_t width = std::min(kSideBySide, rows.inner - first);
      int64_t start = group / groups * rows.n * rows.inner + first;
      Sum sums[kSideBySide] = {};
      for (int64_t k = 0; k < rows.n; ++k) {
        int64_t at = start + rows.at(k) * rows.inner;
        for (int64_t j = 0; j < width; ++j) {
          sums[j] = scalar::add(sums[j], Sum(C(x[at + j])));
          y[at + j] = T(C(sums[j]));
        }
      }
    }
  });
}

} // namespace

#define AICF_KERNELS_OF_scan_CPU
#include "kernels/Definitions.inc"

} // namespace aicf::cpu
