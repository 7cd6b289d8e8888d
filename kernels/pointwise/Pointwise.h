//===- Pointwise.h - the CPU's template of pointwise kernels ---------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Every kernel reads element i of its operands before it writes element i of its
// result, so that working in place is safe where the records' ties allow it.
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_POINTWISE_POINTWISE_H
#define AICF_KERNELS_POINTWISE_POINTWISE_H

#include "kernels/cpu/KernelDecls.h"
#include "kernels/cpu/Parallel.h"
#include "kernels/pointwise/Functors.h"
#include "lib/Base/Walk.h"

#include <tuple>
#include <utility>

namespace aicf::cpu {

/// The elements of operand N of the primitive F, whose numbers are T; i1 is a
/// byte.
template <typename F, typename T, size_t N>
using ElementOf = std::conditional_t<F::kIsBool[N], i1, T>;
template <typename F, typename T>
using ResultOf = std::conditional_t<F::kGivesBool, i1, T>;
/// What F computes with.
template <typename F, typename T, size_t N>
using ScalarOf = std::conditional_t<F::kIsBool[N], bool, Compute<T>>;

template <typename F> using PointwiseArgs = typename F::template View<LaunchArgs>;
template <typename F>
inline constexpr size_t kNumOperands = PointwiseArgs<F>::kNumInputs;

/// y[i] = F(x0[i], x1[i], ...)
template <typename F, typename T, size_t... N>
void pointwise(PointwiseArgs<F> call, std::index_sequence<N...>) {
  auto inputs = call.inputs();
  std::tuple x{inputs[N]->template dense<ElementOf<F, T, N>>()...};
  auto *y = call.output().template dense<ResultOf<F, T>>();
  const auto attrs = call.attrs();
  parallelElements(call.output().elements(), call->numThreads, [=](int64_t i) {
    y[i] = ResultOf<F, T>(F::template apply<Compute<T>>(
        attrs, ScalarOf<F, T, N>(std::get<N>(x)[i])...));
  });
}
template <typename F, typename T> void pointwise(PointwiseArgs<F> call) {
  pointwise<F, T>(call, std::make_index_sequence<kNumOperands<F>>());
}

/// The same of operands that lie anywhere: a row of the shared walk at a time.
template <typename F, typename T, size_t... N>
void pointwiseStrided(PointwiseArgs<F> call, std::index_sequence<N...>) {
  auto inputs = call.inputs();
  std::tuple x{inputs[N]->template strided<ElementOf<F, T, N>>()...};
  auto *y = call.output().template dense<ResultOf<F, T>>();
  const auto attrs = call.attrs();
  const Walks<sizeof...(N)> walks({&inputs[N]->desc...});
  const int64_t width = walks.dims[walks.rank - 1];
  const int64_t elements = call.output().elements();
  parallelFor(elements / width, width >= 16384 ? 1 : 16384 / width,
              call->numThreads, elements, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      int64_t at[sizeof...(N)];
      walks.at(row * width, at);
      for (int64_t i = 0; i < width; ++i)
        y[row * width + i] = ResultOf<F, T>(F::template apply<Compute<T>>(
            attrs, ScalarOf<F, T, N>(std::get<N>(
                       x)[at[N] + i * walks.strides[N][walks.rank - 1]])...));
    }
  });
}
template <typename F, typename T> void pointwiseStrided(PointwiseArgs<F> call) {
  pointwiseStrided<F, T>(call, std::make_index_sequence<kNumOperands<F>>());
}

} // namespace aicf::cpu

#endif // AICF_KERNELS_POINTWISE_POINTWISE_H
