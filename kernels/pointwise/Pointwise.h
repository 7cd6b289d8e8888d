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
#include "kernels/cpu/Stream.h"
#include "kernels/pointwise/Functors.h"

#include <iterator>
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
inline constexpr size_t kMostPointwiseOperands = 3;

/// y[i] = F(x[0][i], x[1][i], ...) for `count` elements that lie together;
/// `attrs` are F's Attrs. All that is compiled for each F and T: what calls it
/// is compiled once (CpuRun.cpp).
using PointwiseLoop = void (*)(const void *attrs, const void *const *x, void *y,
                               int64_t count);

/// A call of a pointwise primitive.
struct PointwiseCall {
  PointwiseLoop loop;
  const void *attrs;
  Span<const TensorView *const> operands;
  const TensorView &result;
  int numThreads;
};
/// Runs it on tensors whose elements lie together. (A graph of the primitive
/// runs it on others, kernels/graph.)
void runDense(const PointwiseCall &call);
/// The loop of a primitive on 16-bit T, from that on f32: operands are widened
/// in pieces, and the result is rounded once. i1 stays as it is.
template <typename T>
void runInF32(PointwiseLoop loop, Span<const bool> isBool, bool givesBool,
              const void *attrs, const void *const *x, void *y, int64_t count);

template <typename F, typename T, size_t... N>
void runLoop(const void *attrs, const void *const *x, void *y, int64_t count) {
  if constexpr (!std::is_same_v<Compute<T>, T>) {
    runInF32<T>(&runLoop<F, Compute<T>, N...>,
                Span<const bool>(F::kIsBool, sizeof...(N)), F::kGivesBool,
                attrs, x, y, count);
  } else {
    const std::tuple<const ElementOf<F, T, N> *...> operands{
        static_cast<const ElementOf<F, T, N> *>(x[N])...};
    const auto given = *static_cast<const typename F::Attrs *>(attrs);
    auto *const result = static_cast<ResultOf<F, T> *>(y);
    auto loop = [=](int64_t begin, int64_t end) {
      // Copies: a byte or a double that is stored might be a part of the
      // closure, and a compiler that thinks so makes no vector code.
      const auto own = given;
      const auto from = operands;
      auto *const to = result;
      AICF_INDEPENDENT_LOOP
      for (int64_t i = begin; i < end; ++i)
        to[i] = ResultOf<F, T>(F::template apply<T>(
            own, ScalarOf<F, T, N>(std::get<N>(from)[i])...));
    };
    runWithBestISA(loop, 0, count);
  }
}
template <typename F, typename T, size_t... N>
constexpr PointwiseLoop loopOf(std::index_sequence<N...>) {
  static_assert(sizeof...(N) <= kMostPointwiseOperands);
  return &runLoop<F, T, N...>;
}
template <typename F, typename T>
inline constexpr PointwiseLoop kLoopOf =
    loopOf<F, T>(std::make_index_sequence<kNumOperands<F>>());

/// The kernel of F on elements of type T.
template <typename F, typename T> struct PointwiseKernel {
  void operator()(PointwiseArgs<F> call) const {
    const auto inputs = call.inputs();
    const typename F::Attrs attrs = call.attrs();
    runDense({kLoopOf<F, T>,
              &attrs,
              {inputs.data(), inputs.size()},
              call.output(),
              call->numThreads});
  }
};
template <typename F, typename T>
inline constexpr PointwiseKernel<F, T> pointwise{};

/// What the kernel does to some elements; null for one that is not pointwise.
template <typename F, typename T>
constexpr ElementsFunction elementsOf(const PointwiseKernel<F, T> &) {
  return [](Span<const uint8_t> attrs, const void *const *x, void *y,
            int64_t count) {
    typename F::Attrs own{};
    if constexpr (!std::is_same_v<typename F::Attrs, NoAttrs>)
      own = decodeAttrs<typename F::Attrs>(attrs);
    kLoopOf<F, T>(&own, x, y, count);
  };
}
template <typename Other> constexpr ElementsFunction elementsOf(const Other &) {
  return nullptr;
}

} // namespace aicf::cpu

#endif // AICF_KERNELS_POINTWISE_POINTWISE_H
