//===- Cpu.cpp - sums and layer norm on the CPU ---------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Sums are kept in f64 and added in an order that does not depend on threads.
//===----------------------------------------------------------------------===//

#include "kernels/cpu/KernelDecls.h"
#include "kernels/cpu/RowSum.h"
#include "kernels/norm/Family.h"
#include "kernels/norm/StridedSum.h"
#include "lib/Base/Indices.h"
#include "lib/Base/Walk.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace aicf::cpu {
namespace {

/// Columns that one block adds at least.
constexpr int64_t kColumns = 64;

/// y[r] = sum over i of x[r,i], divided by `divisor`, for kRows rows side by
/// side: additions of one row wait for each other.
template <int kRows, typename T>
void sumRows(const T *x, int64_t size, double divisor, T *y) {
  double sums[kRows] = {};
  for (int64_t i = 0; i < size; ++i)
    for (int64_t r = 0; r < kRows; ++r)
      sums[r] += double(x[r * size + i]);
  for (int64_t r = 0; r < kRows; ++r)
    y[r] = T(sums[r] / divisor);
}

/// The same of rows [begin, end) of any size.
template <typename T>
void sumRows(const T *x, int64_t begin, int64_t end, int64_t size,
             double divisor, int numThreads, T *y) {
  int64_t o = begin;
  for (; size >= kVeryLongRow && o < end; ++o)
    y[o] = T(parallelSum(
                 size, numThreads, size,
                 [from = x + o * size](int64_t i) { return double(from[i]); }) /
             divisor);
  for (; size >= kLongRow && o < end; ++o)
    y[o] = T(rowSum(x + o * size, size) / divisor);
  for (; o + 8 <= end; o += 8)
    sumRows<8>(x + o * size, size, divisor, y + o);
  if (o + 4 <= end) {
    sumRows<4>(x + o * size, size, divisor, y + o);
    o += 4;
  }
  if (o + 2 <= end) {
    sumRows<2>(x + o * size, size, divisor, y + o);
    o += 2;
  }
  if (o < end)
    sumRows<1>(x + o * size, size, divisor, y + o);
}

/// y[o,k] = sum over i of x[o,i,k], divided by `divisor`. Blocks are wide, so
/// that a processor fetches runs ahead. Few of them share their parts.
template <typename T>
void sumColumns(const T *x, const families::SumExtents &e, double divisor,
                int numThreads, T *y) {
  constexpr int64_t kFewBlocks = 16;
  auto blocksOf = [&](int64_t columns) {
    return (e.inner + columns - 1) / columns;
  };
  const int64_t parts = columnParts(e.size);
  int64_t columns =
      std::clamp(e.inner / 4 / kColumns * kColumns, kColumns, kMostColumns);
  const bool shareParts = parts > 1 && e.outer * blocksOf(columns) < kFewBlocks;
  if (shareParts)
    columns = kMostColumns;
  const int64_t blocks = blocksOf(columns);
  parallelFor(e.outer * blocks, 1, shareParts ? 1 : numThreads,
              e.outer * e.size * e.inner, [&](int64_t block, int64_t) {
                const int64_t o = block / blocks,
                              first = block % blocks * columns;
                const int64_t width = std::min(e.inner - first, columns);
                double sums[kMostColumns];
                sumOfParts<kMostColumnParts, kMostColumns>(
                    e.size, parts, width, shareParts ? numThreads : 1,
                    [&](int64_t begin, int64_t end, double *to) {
                      std::fill_n(to, width, 0.0);
                      addColumns(x + (o * e.size + begin) * e.inner + first,
                                 e.inner, end - begin, width, to);
                    },
                    sums);
                for (int64_t j = 0; j < width; ++j)
                  y[o * e.inner + first + j] = T(sums[j] / divisor);
              });
}

template <typename T, typename Args>
void sumAndDivide(const Args &call, double divisor) {
  const T *x = call.x().template dense<T>();
  T *y = call.y().template dense<T>();
  const families::SumExtents e(call.x().desc, call.y().desc, call.attrs().axis);
  if (e.inner > 1)
    return sumColumns(x, e, divisor, call->numThreads, y);
  if (e.size >= kVeryLongRow && e.outer < kPartials)
    return sumRows(x, 0, e.outer, e.size, divisor, call->numThreads, y);
  parallelFor(e.outer, 16, call->numThreads, e.outer * e.size,
              [&](int64_t begin, int64_t end) {
                sumRows(x, begin, end, e.size, divisor, 1, y);
              });
}

template <typename T> void reduceSum(ReduceSumArgs call) {
  sumAndDivide<T>(call, 1);
}
template <typename T> void reduceMean(ReduceMeanArgs call) {
  sumAndDivide<T>(call, double(call.x().elements() / call.y().elements()));
}

/// Elements [begin, end) of each of `count` sums, whose first elements lie
/// `step` apart: in order, or in lanes. A function of its own, so that it is
/// compiled once for all who call it.
template <int64_t kMost, bool kInLanes, typename T>
[[gnu::noinline]] void addAnywhere(const T *start, int64_t step, int64_t count,
                                   const Walk &summed, int64_t begin,
                                   int64_t end, double *sums) {
  auto add = [=, &summed](int64_t begin, int64_t end) {
    constexpr int64_t kLanes = kInLanes ? kRowLanes : 1;
    double lanes[kLanes][kMost];
    for (auto &lane : lanes)
      std::fill_n(lane, count, 0.0);
    const int64_t run = summed.dims[summed.rank - 1];
    const int64_t runStep = summed.strides[summed.rank - 1];
    for (int64_t i = begin, length; i < end; i += length) {
      length = std::min(run - i % run, end - i);
      const T *from = start + summed.at(i);
      for (int64_t k = 0; k < length; ++k, from += runStep) {
        double *to = lanes[(i - begin + k) % kLanes];
        for (int64_t j = 0; j < count; ++j)
          to[j] += double(from[j * step]);
      }
    }
    for (int64_t half = kLanes / 2; half > 0; half /= 2)
      for (int64_t lane = 0; lane < half; ++lane)
        for (int64_t j = 0; j < count; ++j)
          lanes[lane][j] += lanes[lane + half][j];
    std::copy_n(lanes[0], count, sums);
  };
  runWithBestISA(add, begin, end);
}

/// The same of an x that lies anywhere, with the same order of additions. A
/// block of sums is kept at once: wide where neighbours lie together.
template <typename T, typename Args>
void sumAnywhere(const Args &call, double divisor) {
  const T *x = call.x().template strided<T>();
  T *y = call.y().template dense<T>();
  const StridedSum sum(call.x().desc, call.y().desc, call.attrs().axis);
  const bool isOfRows =
      families::SumExtents(call.x().desc, call.y().desc, call.attrs().axis)
          .inner == 1;
  const int64_t width = sum.kept.dims[sum.kept.rank - 1];
  const int64_t step = sum.kept.strides[sum.kept.rank - 1];
  const bool isLong = isOfRows && sum.size >= kLongRow;
  const int64_t mostTogether = isLong ? kColumns : kMostColumns;
  const int64_t most = sum.liesAlongSums() ? mostTogether : 8;
  const int64_t blocks = (width + most - 1) / most;
  auto add = [&](const T *start, int64_t count, int64_t begin, int64_t end,
                 double *sums) {
    if (!isLong)
      addAnywhere<kMostColumns, false>(start, step, count, sum.summed, begin,
                                       end, sums);
    else
      addAnywhere<kColumns, true>(start, step, count, sum.summed, begin, end,
                                  sums);
  };
  const int64_t rowParts = sum.size >= kVeryLongRow ? kPartials : 1;
  const int64_t parts = isOfRows ? rowParts : columnParts(sum.size);
  const int64_t numBlocks = sum.outputs / width * blocks;
  const bool shareParts = parts > 1 && numBlocks < parts;
  auto block = [&](int64_t number, int64_t) {
    const int64_t first = number / blocks * width + number % blocks * most;
    const int64_t count = std::min(most, width - number % blocks * most);
    const T *start = x + sum.kept.at(first);
    double sums[kMostColumns];
    auto addPart = [&](int64_t begin, int64_t end, double *to) {
      add(start, count, begin, end, to);
    };
    const int threads = shareParts ? call->numThreads : 1;
    if (isLong)
      sumOfParts<kPartials, kColumns>(sum.size, parts, count, threads, addPart,
                                      sums);
    else
      sumOfParts<kMostColumnParts, kMostColumns>(sum.size, parts, count,
                                                 threads, addPart, sums);
    for (int64_t j = 0; j < count; ++j)
      y[first + j] = T(sums[j] / divisor);
  };
  parallelFor(numBlocks, 1, shareParts ? 1 : call->numThreads,
              sum.outputs * sum.size, block);
}
template <typename T> void reduceSumStrided(ReduceSumArgs call) {
  sumAnywhere<T>(call, 1);
}
template <typename T> void reduceMeanStrided(ReduceMeanArgs call) {
  sumAnywhere<T>(call, double(call.x().elements() / call.y().elements()));
}

/// y[o,k] = the largest or smallest x[o,i,k], index[o,k] the first such i.
template <typename T, bool isMax, typename Args>
void reduceExtremum(Args call) {
  const T *x = call.x().template dense<T>();
  T *y = call.y().template dense<T>();
  int32_t *index = call.index().template dense<int32_t>();
  families::SumExtents e(call.x().desc, call.y().desc, call.attrs().axis);
  parallelFor(e.outer * e.inner, 64, call->numThreads,
              e.outer * e.size * e.inner, [&](int64_t begin, int64_t end) {
                for (int64_t at = begin; at < end; ++at) {
                  const T *from =
                      x + at / e.inner * e.size * e.inner + at % e.inner;
                  int64_t best = 0;
                  for (int64_t i = 1; i < e.size; ++i) {
                    Compute<T> a(from[i * e.inner]), b(from[best * e.inner]);
                    if (b == b && (a != a || (isMax ? a > b : a < b)))
                      best = i;
                  }
                  y[at] = from[best * e.inner];
                  index[at] = int32_t(best);
                }
              });
}

/// dx[o,i,k] = i == index[o,k] ? dy[o,k] : 0.
template <typename T> void extremumBwd(ExtremumBwdArgs call) {
  const T *dy = call.dy().dense<T>();
  const Indices index(call.index());
  T *dx = call.dx().dense<T>();
  families::SumExtents e(call.dx().desc, call.dy().desc, call.attrs().axis);
  parallelFor(e.outer * e.size, std::max<int64_t>(1, 16384 / e.inner),
              call->numThreads, call.dx().elements(),
              [&](int64_t begin, int64_t end) {
                for (int64_t row = begin; row < end; ++row) {
                  int64_t first = row / e.size * e.inner;
                  for (int64_t k = 0; k < e.inner; ++k)
                    dx[row * e.inner + k] =
                        index[first + k] == row % e.size ? dy[first + k] : T(0);
                }
              });
}

/// y[o,i,k] = x[o,k].
template <typename T> void expand(ExpandArgs call) {
  const T *x = call.x().dense<T>();
  T *y = call.y().dense<T>();
  families::SumExtents e(call.y().desc, call.x().desc, call.attrs().axis);
  if (e.inner == 1) {
    parallelFor(e.outer, std::max<int64_t>(1, 16384 / e.size), call->numThreads,
                call.y().elements(), [&](int64_t begin, int64_t end) {
                  for (int64_t o = begin; o < end; ++o)
                    std::fill_n(y + o * e.size, e.size, x[o]);
                });
    return;
  }
  int64_t blockSize = std::max<int64_t>(1, 16384 / e.inner);
  parallelFor(e.outer * e.size, blockSize, call->numThreads,
              call.y().elements(), [&](int64_t begin, int64_t end) {
                for (int64_t row = begin; row < end; ++row)
                  std::copy_n(x + row / e.size * e.inner, e.inner,
                              y + row * e.inner);
              });
}

/// y = (x - mean)·rstd·gamma + beta over rows of `width`.
template <typename T> void layerNorm(LayerNormArgs call) {
  const T *x = call.x().dense<T>(), *gamma = call.gamma().dense<T>();
  const T *beta = call.beta().dense<T>();
  T *y = call.y().dense<T>(), *mean = call.mean().dense<T>();
  T *rstd = call.rstd().dense<T>();
  double eps = call.attrs().eps;
  int64_t width = call.gamma().desc.dims[0];
  int64_t rows = call.x().elements() / width;
  parallelFor(
      rows, 4, call->numThreads, rows * width, [&](int64_t begin, int64_t end) {
        for (int64_t r = begin; r < end; ++r) {
          const T *in = x + r * width;
          const double mu = rowSum(in, width) / double(width);
          const double squares = rowSum<double>(width, [=](int64_t j) {
            const double d = double(in[j]) - mu;
            return d * d;
          });
          const double inverse = 1 / std::sqrt(squares / double(width) + eps);
          AICF_INDEPENDENT_LOOP
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
template <typename T>
void layerNormDx(LayerNormBwdArgs call, const Walk &dyRows, int64_t r) {
  int64_t width = call.gamma().desc.dims[0];
  const T *dy = call.dy().strided<T>() + dyRows.at(r);
  const T *x = call.x().dense<T>() + r * width;
  const T *gamma = call.gamma().dense<T>();
  double mean = double(call.mean().dense<T>()[r]);
  double rstd = double(call.rstd().dense<T>()[r]);
  auto g = [=](int64_t j) { return double(dy[j]) * double(gamma[j]); };
  auto gh = [=](int64_t j) { return g(j) * (double(x[j]) - mean) * rstd; };
  const double meanG = rowSum<double>(width, g) / double(width);
  const double meanGH = rowSum<double>(width, gh) / double(width);
  T *dx = call.dx().dense<T>() + r * width;
  AICF_INDEPENDENT_LOOP
  for (int64_t j = 0; j < width; ++j) {
    const double h = (double(x[j]) - mean) * rstd;
    dx[j] = T(rstd * (g(j) - meanG - h * meanGH));
  }
}

template <typename T> void layerNormBwd(LayerNormBwdArgs call) {
  int64_t width = call.gamma().desc.dims[0];
  int64_t rows = call.x().elements() / width;
  const Walk dyRows = rowsOf(call.dy().desc);
  parallelFor(rows, 4, call->numThreads, rows * width,
              [&](int64_t begin, int64_t end) {
                for (int64_t r = begin; r < end; ++r)
                  layerNormDx<T>(call, dyRows, r);
              });
  const T *dy = call.dy().strided<T>(), *x = call.x().dense<T>();
  const T *mean = call.mean().dense<T>(), *rstd = call.rstd().dense<T>();
  T *dgamma = call.dgamma().dense<T>(), *dbeta = call.dbeta().dense<T>();
  parallelFor(width, kColumns, call->numThreads, rows * width,
              [&](int64_t begin, int64_t end) {
                double sumDyH[kColumns] = {}, sumDy[kColumns] = {};
                const int64_t count = end - begin;
                for (int64_t r = 0; r < rows; ++r) {
                  const T *dyRow = dy + dyRows.at(r) + begin;
                  const T *xRow = x + r * width + begin;
                  const double mu = double(mean[r]), inverse = double(rstd[r]);
                  for (int64_t j = 0; j < count; ++j) {
                    const double d = double(dyRow[j]);
                    sumDyH[j] += d * ((double(xRow[j]) - mu) * inverse);
                    sumDy[j] += d;
                  }
                }
                for (int64_t j = 0; j < count; ++j) {
                  dgamma[begin + j] = T(sumDyH[j]);
                  dbeta[begin + j] = T(sumDy[j]);
                }
              });
}

} // namespace

#define AICF_KERNELS_OF_norm_CPU
#include "kernels/Definitions.inc"

} // namespace aicf::cpu
