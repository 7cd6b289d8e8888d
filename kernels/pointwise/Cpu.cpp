//===- Cpu.cpp - pointwise primitives, copies and casts on the CPU --------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Every kernel reads element i of its operands before it writes element i of
// its result, so that working in place is safe where the records' ties allow
// it.
//===----------------------------------------------------------------------===//

#include "kernels/pointwise/ConvertCpu.h"
#include "kernels/pointwise/CopyViewCpu.h"
#include "kernels/pointwise/Pointwise.h"
#include "lib/Base/ElementSize.h"

#include <cstring>

namespace aicf::cpu {
namespace {

/// out[o,i,k] = y[o,i,k] + b[i]: `axis` of y has b's size.
template <typename T> void biasAdd(BiasAddArgs call) {
  using C = Compute<T>;
  const T *y = call.y().dense<T>(), *b = call.b().dense<T>();
  T *out = call.out().dense<T>();
  const TensorDesc &desc = call.y().desc;
  int64_t axis = call.attrs().axis;
  if (axis < 0)
    axis = desc.rank - 1;
  int64_t size = desc.dims[axis], inner = 1;
  for (int64_t d = axis + 1; d < desc.rank; ++d)
    inner *= desc.dims[d];
  int64_t rows = desc.elements() / (inner == 1 ? size : inner);
  int64_t width = inner == 1 ? size : inner;
  int64_t block = width >= 16384 ? 1 : 16384 / width;
  parallelFor(rows, block, call->numThreads, rows * width,
              [&](int64_t begin, int64_t end) {
                for (int64_t r = begin; r < end; ++r) {
                  const T *from = y + r * width;
                  T *to = out + r * width;
                  if (inner == 1)
                    AICF_INDEPENDENT_LOOP
                  for (int64_t j = 0; j < width; ++j)
                    to[j] = C(from[j]) + C(b[j]);
                  else AICF_INDEPENDENT_LOOP for (int64_t j = 0; j < width; ++j)
                      to[j] = C(from[j]) + C(b[r % size]);
                }
              });
}

/// A copy into a part of another tensor, which lies anywhere.
void copyInto(CopyArgs call) {
  byElementSize(call.x().desc.dtype, [&](auto element) {
    using T = decltype(element);
    const Walks<2> walks({&call.x().desc, &call.y().desc});
    parallelRows(walks, call.x().elements(), call->numThreads,
                 [&](const int64_t (&at)[2], int64_t width) {
                   const T *from = call.x().strided<T>() + at[0];
                   T *to = call.y().strided<T>() + at[1];
                   if (walks.step(0) == 1 && walks.step(1) == 1)
                     std::memcpy(to, from, size_t(width) * sizeof(T));
                   else
                     for (int64_t i = 0; i < width; ++i)
                       to[i * walks.step(1)] = from[i * walks.step(0)];
                 });
  });
}

/// copy and copy_saved.
template <typename Args> void copy(Args call) {
  if (!call.x().desc.isDense()) {
    byElementSize(call.x().desc.dtype, [&](auto element) {
      copyView<decltype(element)>(call.x(), call.y(), call->numThreads);
    });
    return;
  }
  const char *from = call.x().template dense<char>();
  char *to = call.y().template dense<char>();
  int64_t bytes = static_cast<int64_t>(call.x().desc.spanBytes());
  const bool isStreamed = goesPastCaches(call.y(), {&call.x()});
  parallelFor(bytes, 65536, call->numThreads, bytes / 4,
              [&](int64_t begin, int64_t end) {
                if (!isStreamed) {
                  std::memcpy(to + begin, from + begin, size_t(end - begin));
                  return;
                }
                streamBytes(to + begin, from + begin, end - begin);
                endStreaming();
              });
}

/// What lies behind y's values gets zeros.
template <typename From, typename To>
void paddedCast(const TensorView &from, const TensorView &to) {
  const TensorDesc &x = from.desc, &y = to.desc;
  for (int64_t row = 0; row < y.stored().rows(); ++row)
    for (int64_t i = 0; i < y.pitch(); ++i)
      to.strided<To>()[row * y.pitch() + i] =
          row < x.rows() && i < x.width()
              ? convert<To>(from.strided<From>()[row * x.pitch() + i])
              : To(Compute<To>(0));
}

template <typename From, typename To>
void castLoop(const void *, const void *const *x, void *y, int64_t count) {
  convertAll(static_cast<const From *>(x[0]), static_cast<To *>(y), count);
}

template <typename Args, typename From, typename To> struct CastKernel {
  void operator()(Args call) const {
    if (!call.x().desc.isDense() || !call.y().desc.isDense())
      return paddedCast<From, To>(call.x(), call.y());
    const TensorView *from = &call.x();
    runDense(
        {castLoop<From, To>, nullptr, {&from, 1}, call.y(), call->numThreads});
  }
};
template <typename Args, typename From, typename To>
inline constexpr CastKernel<Args, From, To> cast{};

template <typename Args, typename From, typename To>
constexpr ElementsFunction elementsOf(const CastKernel<Args, From, To> &) {
  return [](Span<const uint8_t>, const void *const *x, void *y, int64_t count) {
    castLoop<From, To>(nullptr, x, y, count);
  };
}

} // namespace

#define AICF_KERNELS_OF_pointwise_CPU
#include "kernels/Definitions.inc"

Span<const ElementsRow> pointwiseElements() {
  static const ElementsRow rows[] = {
#define AICF_KERNEL(KID, ...) {#KID, elementsOf(__VA_ARGS__)},
#include "kernels/Definitions.inc"
  };
  return {rows, std::size(rows)};
}

} // namespace aicf::cpu
