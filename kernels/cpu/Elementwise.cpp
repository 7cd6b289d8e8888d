//===- Elementwise.cpp - one result element a time ------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// bias_add, relu, relu_bwd, add, copy, copy_saved, cast, reciprocal, and the
// movers of rows: gather_rows, shuffle, record. Every kernel reads
// element i of its operands before it writes element i of its result, so that
// working in place is safe where the ABI's tie table allows it.
//===----------------------------------------------------------------------===//

#include "KernelDecls.h"
#include "Parallel.h"
#include "aicf/Support/Shuffle.h"

#include <algorithm>
#include <cstring>

namespace aicf::cpu {
namespace {

/// out[o,i,k] = y[o,i,k] + b[i]: `axis` of y has b's size.
template <typename T> void biasAdd(const LaunchArgs &args) {
  using C = Compute<T>;
  const T *y = args.in<T>(0), *b = args.in<T>(1);
  T *out = args.out<T>(0);
  const TensorDesc &desc = args.ins[0].desc;
  int64_t axis = args.attrsAs<BiasAddAttrs>().axis;
  if (axis < 0)
    axis = desc.rank - 1;
  int64_t size = desc.dims[axis], inner = 1;
  for (int64_t d = axis + 1; d < desc.rank; ++d)
    inner *= desc.dims[d];
  int64_t rows = desc.numElements() / (inner == 1 ? size : inner);
  int64_t width = inner == 1 ? size : inner;
  int64_t block = width >= 16384 ? 1 : 16384 / width;
  parallelFor(rows, block, args.numThreads, rows * width,
              [&](int64_t begin, int64_t end) {
                for (int64_t r = begin; r < end; ++r) {
                  const T *from = y + r * width;
                  T *to = out + r * width;
                  if (inner == 1)
                    for (int64_t j = 0; j < width; ++j)
                      to[j] = C(from[j]) + C(b[j]);
                  else
                    for (int64_t j = 0; j < width; ++j)
                      to[j] = C(from[j]) + C(b[r % size]);
                }
              });
}

/// max(x, 0); NaN stays NaN.
template <typename T> void relu(const LaunchArgs &args) {
  const T *x = args.in<T>(0);
  T *y = args.out<T>(0);
  parallelElements(args.numElements(0), args.numThreads,
                   [&](int64_t begin, int64_t end) {
                     for (int64_t i = begin; i < end; ++i)
                       y[i] = Compute<T>(x[i]) < 0 ? T(0) : x[i];
                   });
}

template <typename T> void reluBwd(const LaunchArgs &args) {
  const T *dy = args.in<T>(0), *saved = args.in<T>(1);
  T *dx = args.out<T>(0);
  parallelElements(args.numElements(0), args.numThreads,
                   [&](int64_t begin, int64_t end) {
                     for (int64_t i = begin; i < end; ++i)
                       dx[i] = Compute<T>(saved[i]) > 0 ? dy[i] : T(0);
                   });
}

template <typename T> void add(const LaunchArgs &args) {
  const T *a = args.in<T>(0), *b = args.in<T>(1);
  T *c = args.out<T>(0);
  parallelElements(args.numElements(0), args.numThreads,
                   [&](int64_t begin, int64_t end) {
                     for (int64_t i = begin; i < end; ++i)
                       c[i] = Compute<T>(a[i]) + Compute<T>(b[i]);
                   });
}

void copy(const LaunchArgs &args) {
  const char *from = args.in<char>(0);
  char *to = args.out<char>(0);
  int64_t bytes = static_cast<int64_t>(args.ins[0].desc.numBytes());
  parallelFor(bytes, 65536, args.numThreads, bytes / 4,
              [&](int64_t begin, int64_t end) {
                std::memcpy(to + begin, from + begin, size_t(end - begin));
              });
}

template <typename From, typename To> void cast(const LaunchArgs &args) {
  const From *x = args.in<From>(0);
  To *y = args.out<To>(0);
  parallelElements(args.numElements(0), args.numThreads,
                   [&](int64_t begin, int64_t end) {
                     for (int64_t i = begin; i < end; ++i)
                       y[i] = To(Compute<From>(x[i]));
                   });
}

template <typename T> void reciprocal(const LaunchArgs &args) {
  const T *x = args.in<T>(0);
  T *y = args.out<T>(0);
  parallelElements(args.numElements(0), args.numThreads,
                   [&](int64_t begin, int64_t end) {
                     for (int64_t i = begin; i < end; ++i)
                       y[i] = Compute<T>(1) / Compute<T>(x[i]);
                   });
}

/// Element `i` of an i32 or i64 tensor.
int64_t integerAt(const TensorView &view, int64_t i) {
  return view.desc.dtype == DType::I32
             ? static_cast<const int32_t *>(view.data)[i]
             : static_cast<const int64_t *>(view.data)[i];
}

void gatherRows(const LaunchArgs &args) {
  int64_t last = args.ins[0].desc.dims[0] - 1;
  size_t bytes = args.ins[0].desc.numBytes() / size_t(last + 1);
  for (int64_t i = 0; i < args.numElements(1); ++i) {
    int64_t row = std::clamp<int64_t>(integerAt(args.ins[1], i), 0, last);
    std::memcpy(args.out<char>(0) + size_t(i) * bytes,
                args.in<char>(0) + size_t(row) * bytes, bytes);
  }
}

void shuffle(const LaunchArgs &args) {
  auto attrs = args.attrsAs<ShuffleAttrs>();
  int64_t batch = args.outs[0].desc.numElements();
  int64_t step = std::max<int64_t>(integerAt(args.ins[0], 0), 0);
  for (int64_t i = 0; i < batch; ++i) {
    int64_t row = shuffledRow(uint64_t(step) * uint64_t(batch) + uint64_t(i),
                              uint32_t(attrs.size), uint64_t(attrs.seed));
    if (args.outs[0].desc.dtype == DType::I32)
      args.out<int32_t>(0)[i] = int32_t(row);
    else
      args.out<int64_t>(0)[i] = row;
  }
}

void record(const LaunchArgs &args) {
  int64_t rows = args.ins[0].desc.dims[0];
  size_t bytes = args.ins[1].desc.numBytes();
  if (args.outs[0].data != args.ins[0].data)
    std::memcpy(args.outs[0].data, args.ins[0].data, bytes * size_t(rows));
  int64_t row = std::max<int64_t>(integerAt(args.ins[2], 0), 0) % rows;
  std::memcpy(args.out<char>(0) + size_t(row) * bytes, args.ins[1].data, bytes);
}

} // namespace

AICF_DEFINE_KERNEL(bias_add_f32_v0, biasAdd<float>)
AICF_DEFINE_KERNEL(bias_add_f64_v0, biasAdd<double>)
AICF_DEFINE_KERNEL(relu_f32_v0, relu<float>)
AICF_DEFINE_KERNEL(relu_f64_v0, relu<double>)
AICF_DEFINE_KERNEL(relu_bwd_f32_v0, reluBwd<float>)
AICF_DEFINE_KERNEL(relu_bwd_f64_v0, reluBwd<double>)
AICF_DEFINE_KERNEL(add_f32_v0, add<float>)
AICF_DEFINE_KERNEL(add_f64_v0, add<double>)
AICF_DEFINE_KERNEL(copy_f32_v0, copy)
AICF_DEFINE_KERNEL(copy_f64_v0, copy)
AICF_DEFINE_KERNEL(copy_f16_v0, copy)
AICF_DEFINE_KERNEL(copy_bf16_v0, copy)
AICF_DEFINE_KERNEL(copy_i32_v0, copy)
AICF_DEFINE_KERNEL(copy_i64_v0, copy)
AICF_DEFINE_KERNEL(copy_saved_f32_v0, copy)
AICF_DEFINE_KERNEL(copy_saved_f64_v0, copy)
AICF_DEFINE_KERNEL(copy_saved_f16_v0, copy)
AICF_DEFINE_KERNEL(copy_saved_bf16_v0, copy)
AICF_DEFINE_KERNEL(copy_saved_i32_v0, copy)
AICF_DEFINE_KERNEL(copy_saved_i64_v0, copy)
AICF_DEFINE_KERNEL(cast_f32_f64_v0, cast<float, double>)
AICF_DEFINE_KERNEL(cast_f64_f32_v0, cast<double, float>)
AICF_DEFINE_KERNEL(cast_f32_f16_v0, cast<float, Half>)
AICF_DEFINE_KERNEL(cast_f16_f32_v0, cast<Half, float>)
AICF_DEFINE_KERNEL(cast_f32_bf16_v0, cast<float, BFloat>)
AICF_DEFINE_KERNEL(cast_bf16_f32_v0, cast<BFloat, float>)
AICF_DEFINE_KERNEL(bias_add_f16_v0, biasAdd<Half>)
AICF_DEFINE_KERNEL(bias_add_bf16_v0, biasAdd<BFloat>)
AICF_DEFINE_KERNEL(relu_f16_v0, relu<Half>)
AICF_DEFINE_KERNEL(relu_bf16_v0, relu<BFloat>)
AICF_DEFINE_KERNEL(relu_bwd_f16_v0, reluBwd<Half>)
AICF_DEFINE_KERNEL(relu_bwd_bf16_v0, reluBwd<BFloat>)
AICF_DEFINE_KERNEL(add_f16_v0, add<Half>)
AICF_DEFINE_KERNEL(add_bf16_v0, add<BFloat>)
AICF_DEFINE_KERNEL(reciprocal_f32_v0, reciprocal<float>)
AICF_DEFINE_KERNEL(reciprocal_f64_v0, reciprocal<double>)
AICF_DEFINE_KERNEL(gather_rows_f32_v0, gatherRows)
AICF_DEFINE_KERNEL(gather_rows_f64_v0, gatherRows)
AICF_DEFINE_KERNEL(gather_rows_f16_v0, gatherRows)
AICF_DEFINE_KERNEL(gather_rows_bf16_v0, gatherRows)
AICF_DEFINE_KERNEL(gather_rows_i32_v0, gatherRows)
AICF_DEFINE_KERNEL(gather_rows_i64_v0, gatherRows)
AICF_DEFINE_KERNEL(record_f32_v0, record)
AICF_DEFINE_KERNEL(record_f64_v0, record)
AICF_DEFINE_KERNEL(record_f16_v0, record)
AICF_DEFINE_KERNEL(record_bf16_v0, record)
AICF_DEFINE_KERNEL(record_i32_v0, record)
AICF_DEFINE_KERNEL(record_i64_v0, record)
AICF_DEFINE_KERNEL(shuffle_i32_i32_v0, shuffle)
AICF_DEFINE_KERNEL(shuffle_i32_i64_v0, shuffle)
AICF_DEFINE_KERNEL(shuffle_i64_i32_v0, shuffle)
AICF_DEFINE_KERNEL(shuffle_i64_i64_v0, shuffle)

} // namespace aicf::cpu
