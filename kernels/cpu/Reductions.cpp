//===- Reductions.cpp - sums, losses, layer norm --------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Sums are kept in f64 and added in an order that does not depend on threads.
//===----------------------------------------------------------------------===//

#include "KernelDecls.h"
#include "Parallel.h"

#include <cmath>
#include <cstdint>

namespace aicf::cpu {
namespace {

/// Columns whose sums one block keeps at a time.
constexpr int64_t kColumns = 64;

/// y[o,k] = sum over i of x[o,i,k].
template <typename T> void reduceSum(const LaunchArgs &args) {
  const T *x = args.in<T>(0);
  T *y = args.out<T>(0);
  const TensorDesc &desc = args.ins[0].desc;
  int64_t axis = args.attrsAs<ReduceSumAttrs>().axis;
  int64_t size = desc.dims[axis], inner = 1;
  for (int64_t d = axis + 1; d < desc.rank; ++d)
    inner *= desc.dims[d];
  int64_t outer = desc.numElements() / (size * inner);
  if (inner == 1) { // rows
    parallelFor(outer, 16, args.numThreads, outer * size,
                [&](int64_t begin, int64_t end) {
                  for (int64_t o = begin; o < end; ++o) {
                    double sum = 0;
                    for (int64_t i = 0; i < size; ++i)
                      sum += double(x[o * size + i]);
                    y[o] = T(sum);
                  }
                });
    return;
  }
  int64_t blocks = (inner + kColumns - 1) / kColumns;
  parallelFor(outer * blocks, 1, args.numThreads, outer * size * inner,
              [&](int64_t block, int64_t) {
                int64_t o = block / blocks, first = block % blocks * kColumns;
                int64_t width =
                    inner - first < kColumns ? inner - first : kColumns;
                double sums[kColumns] = {};
                const T *from = x + o * size * inner + first;
                for (int64_t i = 0; i < size; ++i, from += inner)
                  for (int64_t j = 0; j < width; ++j)
                    sums[j] += double(from[j]);
                for (int64_t j = 0; j < width; ++j)
                  y[o * inner + first + j] = T(sums[j]);
              });
}

/// mean((pred - target)^2)
template <typename T, typename Target = T>
void mseLoss(const LaunchArgs &args) {
  const T *pred = args.in<T>(0);
  const Target *target = args.in<Target>(1);
  int64_t n = args.numElements(0);
  double sum = parallelSum(n, args.numThreads, [&](int64_t begin, int64_t end) {
    double partial = 0;
    for (int64_t i = begin; i < end; ++i) {
      double d = double(pred[i]) - double(target[i]);
      partial += d * d;
    }
    return partial;
  });
  *args.out<Target>(0) = Target(sum / double(n));
}

/// scale · (pred - target) [· loss_scale], as twice the scale times the
/// difference of halves: halving is exact, and the difference of two large
/// numbers does not overflow where the product would not.
template <typename T, typename Target = T>
void mseGrad(const LaunchArgs &args) {
  using C = Compute<T>;
  const T *pred = args.in<T>(0);
  const Target *target = args.in<Target>(1);
  T *grad = args.out<T>(0);
  double factor = args.attrsAs<MseGradAttrs>().scale;
  if (args.ins.size() > 2)
    factor *= double(*args.in<Target>(2));
  C scale = C(2 * factor), half = C(0.5f);
  parallelElements(
      args.numElements(0), args.numThreads, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i)
          grad[i] = scale * (half * C(pred[i]) - half * C(target[i]));
      });
}

/// A 16-bit pred has a target of its own type or of f32.
template <typename T> void mseGradHalf(const LaunchArgs &args) {
  if (args.ins[1].desc.dtype == DType::F32)
    mseGrad<T, float>(args);
  else
    mseGrad<T>(args);
}

/// y = (x - mean)·rstd·gamma + beta over rows of `width`.
template <typename T> void layerNorm(const LaunchArgs &args) {
  const T *x = args.in<T>(0), *gamma = args.in<T>(1), *beta = args.in<T>(2);
  T *y = args.out<T>(0), *mean = args.out<T>(1), *rstd = args.out<T>(2);
  double eps = args.attrsAs<LayerNormAttrs>().eps;
  int64_t width = args.ins[1].desc.dims[0];
  int64_t rows = args.numElements(0) / width;
  parallelFor(rows, 4, args.numThreads, rows * width,
              [&](int64_t begin, int64_t end) {
                for (int64_t r = begin; r < end; ++r) {
                  const T *in = x + r * width;
                  double sum = 0, squares = 0;
                  for (int64_t j = 0; j < width; ++j)
                    sum += double(in[j]);
                  double mu = sum / double(width);
                  for (int64_t j = 0; j < width; ++j) {
                    double d = double(in[j]) - mu;
                    squares += d * d;
                  }
                  double inverse = 1 / std::sqrt(squares / double(width) + eps);
                  for (int64_t j = 0; j < width; ++j)
                    y[r * width + j] =
                        T((double(in[j]) - mu) * inverse * double(gamma[j]) +
                          double(beta[j]));
                  mean[r] = T(mu);
                  rstd[r] = T(inverse);
                }
              });
}

/// dx = rstd·(g - mean(g) - h·mean(g·h)) with h = (x - mean)·rstd, g =
/// dy·gamma.
template <typename T> void layerNormDx(const LaunchArgs &args, int64_t r) {
  int64_t width = args.ins[2].desc.dims[0];
  const T *dy = args.in<T>(0) + r * width, *x = args.in<T>(1) + r * width;
  const T *gamma = args.in<T>(2);
  double mean = double(args.in<T>(3)[r]), rstd = double(args.in<T>(4)[r]);
  double sumG = 0, sumGH = 0;
  for (int64_t j = 0; j < width; ++j) {
    double g = double(dy[j]) * double(gamma[j]);
    sumG += g;
    sumGH += g * (double(x[j]) - mean) * rstd;
  }
  T *dx = args.out<T>(0) + r * width;
  for (int64_t j = 0; j < width; ++j) {
    double g = double(dy[j]) * double(gamma[j]);
    double h = (double(x[j]) - mean) * rstd;
    dx[j] = T(rstd * (g - sumG / double(width) - h * sumGH / double(width)));
  }
}

template <typename T> void layerNormBwd(const LaunchArgs &args) {
  int64_t width = args.ins[2].desc.dims[0];
  int64_t rows = args.numElements(0) / width;
  parallelFor(rows, 4, args.numThreads, rows * width,
              [&](int64_t begin, int64_t end) {
                for (int64_t r = begin; r < end; ++r)
                  layerNormDx<T>(args, r);
              });
  const T *dy = args.in<T>(0), *x = args.in<T>(1);
  const T *mean = args.in<T>(3), *rstd = args.in<T>(4);
  T *dgamma = args.out<T>(1), *dbeta = args.out<T>(2);
  parallelFor(width, kColumns, args.numThreads, rows * width,
              [&](int64_t begin, int64_t end) {
                double sumDyH[kColumns] = {}, sumDy[kColumns] = {};
                for (int64_t r = 0; r < rows; ++r)
                  for (int64_t j = begin; j < end; ++j) {
                    double d = double(dy[r * width + j]);
                    double h = (double(x[r * width + j]) - double(mean[r])) *
                               double(rstd[r]);
                    sumDyH[j - begin] += d * h;
                    sumDy[j - begin] += d;
                  }
                for (int64_t j = begin; j < end; ++j) {
                  dgamma[j] = T(sumDyH[j - begin]);
                  dbeta[j] = T(sumDy[j - begin]);
                }
              });
}

/// 1 when every element of every operand is finite.
template <typename T> void allFinite(const LaunchArgs &args) {
  bool finite = true;
  for (size_t i = 0; i < args.ins.size() && finite; ++i) {
    const T *x = args.in<T>(i);
    double bad = parallelSum(args.numElements(i), args.numThreads,
                             [&](int64_t begin, int64_t end) {
                               bool any = false;
                               for (int64_t j = begin; j < end; ++j)
                                 any |= !std::isfinite(Compute<T>(x[j]));
                               return any ? 1.0 : 0.0;
                             });
    finite = bad == 0;
  }
  *args.out<int32_t>(0) = finite;
}

} // namespace

AICF_DEFINE_KERNEL(reduce_sum_f32_v0, reduceSum<float>)
AICF_DEFINE_KERNEL(reduce_sum_f64_v0, reduceSum<double>)
AICF_DEFINE_KERNEL(mse_loss_f32_v0, mseLoss<float>)
AICF_DEFINE_KERNEL(mse_loss_f64_v0, mseLoss<double>)
AICF_DEFINE_KERNEL(mse_grad_f32_v1, mseGrad<float>)
AICF_DEFINE_KERNEL(mse_grad_f64_v1, mseGrad<double>)
AICF_DEFINE_KERNEL(layer_norm_f32_v0, layerNorm<float>)
AICF_DEFINE_KERNEL(layer_norm_f64_v0, layerNorm<double>)
AICF_DEFINE_KERNEL(layer_norm_bwd_f32_v0, layerNormBwd<float>)
AICF_DEFINE_KERNEL(layer_norm_bwd_f64_v0, layerNormBwd<double>)
AICF_DEFINE_KERNEL(all_finite_f32_v0, allFinite<float>)
AICF_DEFINE_KERNEL(all_finite_f64_v0, allFinite<double>)
AICF_DEFINE_KERNEL(reduce_sum_f16_v0, reduceSum<Half>)
AICF_DEFINE_KERNEL(reduce_sum_bf16_v0, reduceSum<BFloat>)
AICF_DEFINE_KERNEL(layer_norm_f16_v0, layerNorm<Half>)
AICF_DEFINE_KERNEL(layer_norm_bf16_v0, layerNorm<BFloat>)
AICF_DEFINE_KERNEL(layer_norm_bwd_f16_v0, layerNormBwd<Half>)
AICF_DEFINE_KERNEL(layer_norm_bwd_bf16_v0, layerNormBwd<BFloat>)
AICF_DEFINE_KERNEL(mse_loss_f16_v0, mseLoss<Half>)
AICF_DEFINE_KERNEL(mse_loss_bf16_v0, mseLoss<BFloat>)
AICF_DEFINE_KERNEL(all_finite_f16_v0, allFinite<Half>)
AICF_DEFINE_KERNEL(all_finite_bf16_v0, allFinite<BFloat>)
AICF_DEFINE_KERNEL(mse_grad_f16_v1, mseGradHalf<Half>)
AICF_DEFINE_KERNEL(mse_grad_bf16_v1, mseGradHalf<BFloat>)
AICF_DEFINE_KERNEL(mse_loss_f16_f32_v0, mseLoss<Half, float>)
AICF_DEFINE_KERNEL(mse_loss_bf16_f32_v0, mseLoss<BFloat, float>)

} // namespace aicf::cpu
