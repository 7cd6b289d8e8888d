//===- Cpu.cpp - pad and concat on the CPU --------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Elements are moved by their size, whatever their type.
//===----------------------------------------------------------------------===//

#include "kernels/cpu/KernelDecls.h"
#include "kernels/cpu/Parallel.h"
#include "kernels/layout/Family.h"
#include "lib/Base/ElementSize.h"

#include <cstring>

namespace aicf::cpu {
namespace {

/// Run by run: what lies together along x's innermost loop and in y.
template <typename T>
void place(const TensorView &x, const TensorView &y,
           const families::PartOf &part, int numThreads) {
  const T *from = x.strided<T>();
  T *to = y.dense<T>();
  const Walk &walk = part.walk;
  const int64_t n = x.elements();
  const int64_t width = walk.dims[walk.rank - 1];
  const int64_t stride = walk.strides[walk.rank - 1];
  parallelFor(n / width, width >= 16384 ? 1 : 16384 / width, numThreads, n,
              [&](int64_t begin, int64_t end) {
                for (int64_t row = begin; row < end; ++row) {
                  const T *start = from + walk.at(row * width);
                  for (int64_t i = 0; i < width; ++i)
                    to[part.at(row * width + i)] = start[i * stride];
                }
              });
}

void placeAny(const TensorView &x, const TensorView &y,
              const families::PartOf &part, int numThreads) {
  byElementSize(x.desc.dtype, [&](auto element) {
    place<decltype(element)>(x, y, part, numThreads);
  });
}

void pad(PadArgs call) {
  auto [axis, begin, step] = call.attrs();
  char *to = call.y().dense<char>();
  auto bytes = int64_t(call.y().desc.spanBytes());
  parallelFor(bytes, 65536, call->numThreads, bytes / 4,
              [&](int64_t first, int64_t last) {
                std::memset(to + first, 0, size_t(last - first));
              });
  placeAny(call.x(), call.y(),
           {call.x().desc, call.y().desc, axis, begin, step}, call->numThreads);
}

void concat(ConcatArgs call) {
  int64_t axis = call.attrs().axis, begin = 0;
  for (size_t i = 0; i < call.numPart(); ++i) {
    const TensorView &part = call.part(i);
    placeAny(part, call.y(), {part.desc, call.y().desc, axis, begin, 1},
             call->numThreads);
    begin += part.desc.dims[axis];
  }
}

} // namespace

#define AICF_KERNELS_OF_layout_CPU
#include "kernels/Definitions.inc"

} // namespace aicf::cpu
