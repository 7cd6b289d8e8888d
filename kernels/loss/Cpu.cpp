//===- Cpu.cpp - losses on the CPU ----------------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Sums are kept in f64 and added in an order that does not depend on threads.
//===----------------------------------------------------------------------===//

#include "kernels/cpu/KernelDecls.h"
#include "kernels/cpu/Parallel.h"

namespace aicf::cpu {
namespace {

/// mean((pred - target)^2)
template <typename T, typename Target> void mseLoss(MseLossArgs call) {
  const T *pred = call.pred().as<T>();
  const Target *target = call.target().as<Target>();
  int64_t n = call.pred().numElements();
  double sum =
      parallelSum(n, call->numThreads, [&](int64_t begin, int64_t end) {
        double partial = 0;
        for (int64_t i = begin; i < end; ++i) {
          double d = double(pred[i]) - double(target[i]);
          partial += d * d;
        }
        return partial;
      });
  *call.loss().as<Target>() = Target(sum / double(n));
}

/// scale · (pred - target) [· loss_scale], as twice the scale times the
/// difference of halves: halving is exact, and the difference of two large
/// numbers does not overflow where the product would not.
template <typename T, typename Target> void mseGradOf(MseGradArgs call) {
  using C = Compute<T>;
  const T *pred = call.pred().as<T>();
  const Target *target = call.target().as<Target>();
  T *grad = call.dpred().as<T>();
  double factor = call.attrs().scale;
  if (const TensorView *lossScale = call.loss_scale())
    factor *= double(*lossScale->as<Target>());
  C scale = C(2 * factor), half = C(0.5f);
  parallelElements(call.pred().numElements(), call->numThreads,
                   [&](int64_t begin, int64_t end) {
                     for (int64_t i = begin; i < end; ++i)
                       grad[i] =
                           scale * (half * C(pred[i]) - half * C(target[i]));
                   });
}

/// A 16-bit pred has a target of its own type or of f32.
template <typename T> void mseGrad(MseGradArgs call) {
  if (sizeof(T) == 2 && call.target().desc.dtype == DType::F32)
    mseGradOf<T, float>(call);
  else
    mseGradOf<T, T>(call);
}

} // namespace

#define AICF_KERNELS_OF_loss_CPU
#include "kernels/Definitions.inc"

} // namespace aicf::cpu
