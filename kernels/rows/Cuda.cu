//===- Cuda.cu - gather_rows, shuffle, record -----------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Movers of rows: bits are copied, never interpreted.
//===----------------------------------------------------------------------===//

#include "kernels/cuda/Common.cuh"
#include "kernels/rows/Shuffle.h"

namespace aicf::cuda {
namespace {

struct RowsParams {
  const void *data, *value, *index;
  void *out;
  int64_t rows;  ///< of data
  int64_t width; ///< units of a row
  int64_t batch; ///< rows of out
  uint32_t size; ///< shuffle
  uint64_t seed;
};

template <typename Int>
__device__ inline int64_t indexAt(const void *index, int64_t i) {
  return int64_t(static_cast<const Int *>(index)[i]);
}

template <typename Unit, typename Int>
__global__ void gatherKernel(const __grid_constant__ RowsParams p) {
  gridStride(p.batch * p.width, [&](int64_t i) {
    int64_t row = indexAt<Int>(p.index, i / p.width);
    row = max(int64_t(0), min(row, p.rows - 1));
    static_cast<Unit *>(p.out)[i] =
        static_cast<const Unit *>(p.data)[row * p.width + i % p.width];
  });
}

template <typename Unit, typename Int>
__global__ void recordKernel(const __grid_constant__ RowsParams p) {
  int64_t step = indexAt<Int>(p.index, 0);
  int64_t row = step < 0 ? 0 : step % p.rows;
  const Unit *value = static_cast<const Unit *>(p.value);
  Unit *out = static_cast<Unit *>(p.out);
  if (p.out == p.data) { // in place: nothing but the row
    gridStride(p.width, [&](int64_t i) { out[row * p.width + i] = value[i]; });
    return;
  }
  gridStride(p.rows * p.width, [&](int64_t i) {
    out[i] = i / p.width == row ? value[i % p.width]
                                : static_cast<const Unit *>(p.data)[i];
  });
}

template <typename Int, typename Out>
__global__ void shuffleKernel(const __grid_constant__ RowsParams p) {
  int64_t step = max(int64_t(0), indexAt<Int>(p.index, 0));
  gridStride(p.batch, [&](int64_t i) {
    static_cast<Out *>(p.out)[i] = Out(shuffledRow(
        uint64_t(step) * uint64_t(p.batch) + uint64_t(i), p.size, p.seed));
  });
}

/// A type of T's size that is copied bit for bit.
template <typename T>
using Bits = std::conditional_t<
    sizeof(T) == 1, uint8_t,
    std::conditional_t<
        sizeof(T) == 2, uint16_t,
        std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>>;

/// True when 16-byte units fit: row size and all addresses.
bool fits16(int64_t rowBytes, std::initializer_list<const void *> pointers) {
  bool fits = rowBytes % 16 == 0;
  for (const void *at : pointers)
    fits &= reinterpret_cast<uintptr_t>(at) % 16 == 0;
  return fits;
}

template <typename T>
LaunchPlan gatherRows(GatherRowsArgs call, const DeviceLimits &limits) {
  const TensorDesc &data = call.data().desc;
  RowsParams p{};
  p.data = call.data().dense();
  p.index = call.index().dense();
  p.out = call.rows().dense();
  p.rows = data.dims[0];
  p.width = data.elements() / p.rows;
  p.batch = call.index().elements();
  bool isI32 = call.index().desc.dtype == DType::I32;
  int64_t bytes = p.width * int64_t(sizeof(T));
  if (fits16(bytes, {p.data, p.out})) {
    p.width = bytes / 16;
    return {plan(isI32 ? gatherKernel<uint4, int32_t>
                       : gatherKernel<uint4, int64_t>,
                 gridFor(p.batch * p.width, limits), kBlock, p)};
  }
  return {plan(isI32 ? gatherKernel<Bits<T>, int32_t>
                     : gatherKernel<Bits<T>, int64_t>,
               gridFor(p.batch * p.width, limits), kBlock, p)};
}

template <typename T>
LaunchPlan record(RecordArgs call, const DeviceLimits &limits) {
  RowsParams p{};
  p.data = call.history().dense();
  p.value = call.value().dense();
  p.index = call.step().dense();
  p.out = call.history_out().dense();
  p.rows = call.history().desc.dims[0];
  p.width = call.value().elements();
  bool isI32 = call.step().desc.dtype == DType::I32;
  int64_t written = p.out == p.data ? p.width : p.rows * p.width;
  return {plan(isI32 ? recordKernel<Bits<T>, int32_t>
                     : recordKernel<Bits<T>, int64_t>,
               gridFor(written, limits), kBlock, p)};
}

template <typename Int, typename Out>
LaunchPlan shuffle(ShuffleArgs call, const DeviceLimits &limits) {
  ShuffleAttrs attrs = call.attrs();
  RowsParams p{};
  p.index = call.step().dense();
  p.out = call.index().dense();
  p.batch = call.index().elements();
  p.size = uint32_t(attrs.size);
  p.seed = uint64_t(attrs.seed);
  return {plan(shuffleKernel<Int, Out>, gridFor(p.batch, limits), kBlock, p)};
}

} // namespace

#define AICF_KERNELS_OF_rows_CUDA
#include "kernels/Definitions.inc"

} // namespace aicf::cuda
