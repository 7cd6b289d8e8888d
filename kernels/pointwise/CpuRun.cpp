//===- CpuRun.cpp - runs the loops of pointwise primitives ----------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Threads, strides, stores past the caches and 16-bit types, once for all
// primitives.
//===----------------------------------------------------------------------===//

#include "kernels/pointwise/ConvertCpu.h"
#include "kernels/pointwise/Pointwise.h"
#include "lib/Base/ElementSize.h"

namespace aicf::cpu {
namespace {

/// Elements of 16 bits are widened, so many at once.
constexpr int64_t kPiece = 256;
struct alignas(64) Piece {
  Piece() {} // no zeros
  char bytes[kPiece * sizeof(double)];
};

void *elementAt(void *first, int64_t index, DType dtype) {
  return static_cast<char *>(first) + index * int64_t(sizeOf(dtype));
}

} // namespace

void runDense(const PointwiseCall &call) {
  const TensorView &y = call.result;
  const int64_t elements = y.elements(), size = int64_t(sizeOf(y.desc.dtype));
  auto make = [&](int64_t at, int64_t count, void *to) {
    const void *x[kMostPointwiseOperands];
    for (size_t n = 0; n < call.operands.size(); ++n)
      x[n] = elementAt(call.operands[n]->start(), at,
                       call.operands[n]->desc.dtype);
    call.loop(call.attrs, x, to, count);
  };
  const bool isStreamed = goesPastCaches(y, call.operands);
  parallelFor(elements, 16384, call.numThreads, elements,
              [&](int64_t begin, int64_t end) {
                if (!isStreamed)
                  return make(begin, end - begin,
                              elementAt(y.start(), begin, y.desc.dtype));
                makeStreamed(static_cast<char *>(y.start()), begin * size,
                             end * size,
                             [&](int64_t at, int64_t bytes, char *to) {
                               make(at / size, bytes / size, to);
                             });
              });
}

template <typename T>
void runInF32(PointwiseLoop loop, Span<const bool> isBool, bool givesBool,
              const void *attrs, const void *const *x, void *y, int64_t count) {
  Piece pieces[kMostPointwiseOperands], results;
  const void *from[kMostPointwiseOperands];
  for (int64_t i = 0, some; i < count; i += some) {
    some = std::min(kPiece, count - i);
    for (size_t n = 0; n < isBool.size(); ++n) {
      from[n] = isBool[n] ? static_cast<const i1 *>(x[n]) + i
                          : static_cast<const void *>(pieces[n].bytes);
      if (!isBool[n])
        convertAll(static_cast<const T *>(x[n]) + i,
                   reinterpret_cast<float *>(pieces[n].bytes), some);
    }
    if (givesBool) {
      loop(attrs, from, static_cast<i1 *>(y) + i, some);
      continue;
    }
    loop(attrs, from, results.bytes, some);
    convertAll(reinterpret_cast<const float *>(results.bytes),
               static_cast<T *>(y) + i, some);
  }
}
template void runInF32<f16>(PointwiseLoop, Span<const bool>, bool, const void *,
                            const void *const *, void *, int64_t);
template void runInF32<bf16>(PointwiseLoop, Span<const bool>, bool,
                             const void *, const void *const *, void *,
                             int64_t);

} // namespace aicf::cpu
