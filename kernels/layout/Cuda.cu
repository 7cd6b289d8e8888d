//===- Cuda.cu - pad and concat on CUDA -----------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Elements are moved by their size, whatever their type. A concat is a launch a
// part; they write bytes of their own.
//===----------------------------------------------------------------------===//

#include "kernels/cuda/Common.cuh"
#include "kernels/layout/Family.h"
#include "lib/Base/ElementSize.h"

namespace aicf::cuda {
namespace {

struct PlaceParams {
  const void *x;
  void *y;
  int64_t elements; ///< of x
  families::PartOf part;
};

template <typename T>
__global__ void placeKernel(const __grid_constant__ PlaceParams p) {
  gridStride(p.elements, [&](int64_t i) {
    static_cast<T *>(p.y)[p.part.at(i)] =
        static_cast<const T *>(p.x)[p.part.walk.at(i)];
  });
}

struct PadParams {
  const void *x;
  void *y;
  int64_t elements; ///< of y
  families::PartOf part;
};

/// y[o,j,k] = x[o,i,k] where j = begin + i·step, else 0.
template <typename T>
__global__ void padKernel(const __grid_constant__ PadParams p) {
  gridStride(p.elements, [&](int64_t at) {
    int64_t row = at / p.part.inner, k = at % p.part.inner;
    int64_t past = row % p.part.whole - p.part.begin, i = past / p.part.step;
    bool isInside = past >= 0 && past % p.part.step == 0 && i < p.part.size;
    int64_t from = (row / p.part.whole * p.part.size + i) * p.part.inner + k;
    static_cast<T *>(p.y)[at] =
        isInside ? static_cast<const T *>(p.x)[p.part.walk.at(from)] : T(0);
  });
}

LaunchPlan pad(PadArgs call, const DeviceLimits &limits) {
  auto [axis, begin, step] = call.attrs();
  PadParams p{call.x().start(),
              call.y().dense(),
              call.y().elements(),
              {call.x().desc, call.y().desc, axis, begin, step}};
  return byElementSize(call.x().desc.dtype, [&](auto element) -> LaunchPlan {
    return {plan(padKernel<decltype(element)>, gridFor(p.elements, limits),
                 kBlock, p)};
  });
}

LaunchPlan concat(ConcatArgs call, const DeviceLimits &limits) {
  LaunchPlan launches;
  int64_t axis = call.attrs().axis, begin = 0;
  for (size_t i = 0; i < call.numPart(); ++i) {
    const TensorView &part = call.part(i);
    PlaceParams p{part.start(),
                  call.y().dense(),
                  part.elements(),
                  {part.desc, call.y().desc, axis, begin, 1}};
    LaunchPlan one =
        byElementSize(part.desc.dtype, [&](auto element) -> LaunchPlan {
          return {plan(placeKernel<decltype(element)>,
                       gridFor(p.elements, limits), kBlock, p)};
        });
    launches.push_back(std::move(one.front()));
    begin += part.desc.dims[axis];
  }
  return launches;
}

} // namespace

#define AICF_KERNELS_OF_layout_CUDA
#include "kernels/Definitions.inc"

} // namespace aicf::cuda
