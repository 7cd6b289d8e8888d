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
#include "lib/Base/Walk.h"

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

/// y[i] = F(x0[i], x1[i], ...) for `count` elements that lie together. A function
/// of its own, so that it is compiled once for all kernels of F.
template <typename F, typename T, size_t... N>
[[gnu::noinline]] void
compute(const typename F::Attrs &attrs,
        const std::tuple<const ElementOf<F, T, N> *...> &x, ResultOf<F, T> *y,
        int64_t count) {
  auto loop = [=](int64_t begin, int64_t end) {
    // Copies: a byte or a double that is stored might be a part of the closure,
    // and a compiler that thinks so makes no vector code.
    const auto own = attrs;
    const auto from = x;
    auto *const to = y;
    AICF_INDEPENDENT_LOOP
    for (int64_t i = begin; i < end; ++i)
      to[i] = ResultOf<F, T>(F::template apply<Compute<T>>(
          own, ScalarOf<F, T, N>(std::get<N>(from)[i])...));
  };
  runWithBestISA(loop, 0, count);
}

/// The kernel of F on tensors whose elements lie together.
template <typename F, typename T> struct PointwiseKernel {
  void operator()(PointwiseArgs<F> call) const {
    run(call, std::make_index_sequence<kNumOperands<F>>());
  }

private:
  template <size_t... N>
  static void run(PointwiseArgs<F> call, std::index_sequence<N...>) {
    auto inputs = call.inputs();
    std::tuple<const ElementOf<F, T, N> *...> x{
        inputs[N]->template dense<ElementOf<F, T, N>>()...};
    auto *y = call.output().template dense<ResultOf<F, T>>();
    const auto attrs = call.attrs();
    const int64_t elements = call.output().elements();
    auto make = [&](int64_t at, int64_t count, ResultOf<F, T> *to) {
      compute<F, T, N...>(attrs, {std::get<N>(x) + at...}, to, count);
    };
    const bool isStreamed = goesPastCaches(call.output(), *inputs[N]...);
    parallelFor(elements, 16384, call->numThreads, elements,
                [&](int64_t begin, int64_t end) {
                  if (isStreamed)
                    makeStreamed(y, begin, end, make);
                  else
                    make(begin, end - begin, y + begin);
                });
  }
};
template <typename F, typename T>
inline constexpr PointwiseKernel<F, T> pointwise{};

template <typename F, typename T, size_t... N>
void computeElements(Span<const uint8_t> attrs, const void *const *x, void *y,
                     int64_t count) {
  using Attrs = typename F::Attrs;
  Attrs own{};
  if constexpr (!std::is_same_v<Attrs, NoAttrs>)
    own = decodeAttrs<Attrs>(attrs);
  compute<F, T, N...>(own, {static_cast<const ElementOf<F, T, N> *>(x[N])...},
                      static_cast<ResultOf<F, T> *>(y), count);
}
template <typename F, typename T, size_t... N>
constexpr ElementsFunction elementsFunction(std::index_sequence<N...>) {
  return &computeElements<F, T, N...>;
}
/// What the kernel does to some elements; null for any other kernel.
template <typename F, typename T>
constexpr ElementsFunction elementsOf(const PointwiseKernel<F, T> &) {
  return elementsFunction<F, T>(std::make_index_sequence<kNumOperands<F>>());
}
template <typename Other> constexpr ElementsFunction elementsOf(const Other &) {
  return nullptr;
}

/// Elements that lie apart are brought together, so many at once.
inline constexpr int64_t kPiece = 256;
template <typename E> struct Piece {
  Piece() {} // no zeros
  E *at() { return reinterpret_cast<E *>(bytes); }
  alignas(64) char bytes[kPiece * sizeof(E)];
};
template <typename E>
const E *together(const E *from, int64_t step, int64_t count, Piece<E> &piece) {
  if (step == 1)
    return from;
  for (int64_t i = 0; i < count; ++i)
    piece.at()[i] = from[i * step];
  return piece.at();
}

/// The same of operands and a result that lie anywhere: a row of the shared walk
/// at a time.
template <typename F, typename T, size_t... N>
void runStrided(PointwiseArgs<F> call, std::index_sequence<N...>) {
  constexpr size_t kResult = sizeof...(N);
  auto inputs = call.inputs();
  std::tuple<const ElementOf<F, T, N> *...> x{
      inputs[N]->template strided<ElementOf<F, T, N>>()...};
  auto *y = call.output().template strided<ResultOf<F, T>>();
  const auto attrs = call.attrs();
  const Walks<kResult + 1> walks({&inputs[N]->desc..., &call.output().desc});
  const int64_t yStep = walks.step(kResult);
  const bool areTogether = ((walks.step(N) == 1) && ... && (yStep == 1));
  parallelRows(
      walks, call.output().elements(), call->numThreads,
      [&](const int64_t(&at)[kResult + 1], int64_t width) {
        std::tuple<Piece<ElementOf<F, T, N>>...> pieces;
        Piece<ResultOf<F, T>> results;
        const int64_t most = areTogether ? width : kPiece;
        for (int64_t i = 0, count; i < width; i += count) {
          count = std::min(most, width - i);
          ResultOf<F, T> *to = y + at[kResult] + i * yStep;
          compute<F, T, N...>(
              attrs,
              {together(std::get<N>(x) + at[N] + i * walks.step(N),
                        walks.step(N), count, std::get<N>(pieces))...},
              yStep == 1 ? to : results.at(), count);
          for (int64_t j = 0; j < count && yStep != 1; ++j)
            to[j * yStep] = results.at()[j];
        }
      });
}
/// An object, as PointwiseKernel is, so that elementsOf() takes it.
template <typename F, typename T> struct StridedPointwiseKernel {
  void operator()(PointwiseArgs<F> call) const {
    runStrided<F, T>(call, std::make_index_sequence<kNumOperands<F>>());
  }
};
template <typename F, typename T>
inline constexpr StridedPointwiseKernel<F, T> pointwiseStrided{};

} // namespace aicf::cpu

#endif // AICF_KERNELS_POINTWISE_POINTWISE_H
