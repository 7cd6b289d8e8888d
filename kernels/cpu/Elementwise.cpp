//===- Elementwise.cpp - one result element a time ------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// bias_add, relu, relu_bwd, add, copy, copy_saved, cast. Every kernel reads
// element i of its operands before it writes element i of its result, so that
// working in place is safe where the ABI's tie table allows it.
//===----------------------------------------------------------------------===//

#include "KernelDecls.h"
#include "Parallel.h"
#include "aicf/Support/HalfFloat.h"

#include <cstring>

namespace aicf::cpu {
namespace {

/// out[o,i,k] = y[o,i,k] + b[i]: `axis` of y has b's size.
template <typename T> void biasAdd(const LaunchArgs &args) {
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
                      to[j] = from[j] + b[j];
                  else
                    for (int64_t j = 0; j < width; ++j)
                      to[j] = from[j] + b[r % size];
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
                       y[i] = x[i] < 0 ? T(0) : x[i];
                   });
}

template <typename T> void reluBwd(const LaunchArgs &args) {
  const T *dy = args.in<T>(0), *saved = args.in<T>(1);
  T *dx = args.out<T>(0);
  parallelElements(args.numElements(0), args.numThreads,
                   [&](int64_t begin, int64_t end) {
                     for (int64_t i = begin; i < end; ++i)
                       dx[i] = saved[i] > 0 ? dy[i] : T(0);
                   });
}

template <typename T> void add(const LaunchArgs &args) {
  const T *a = args.in<T>(0), *b = args.in<T>(1);
  T *c = args.out<T>(0);
  parallelElements(args.numElements(0), args.numThreads,
                   [&](int64_t begin, int64_t end) {
                     for (int64_t i = begin; i < end; ++i)
                       c[i] = a[i] + b[i];
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

/// IEEE 754 binary16 and bfloat16 as stored.
struct Half {
  uint16_t bits;
};
struct BFloat {
  uint16_t bits;
};

void convert(float x, Half &out) { out.bits = floatToHalf(x); }
void convert(float x, BFloat &out) { out.bits = floatToBFloat(x); }
void convert(Half x, float &out) { out = halfToFloat(x.bits); }
void convert(BFloat x, float &out) { out = bfloatToFloat(x.bits); }
void convert(float x, double &out) { out = x; }
void convert(double x, float &out) { out = static_cast<float>(x); }

template <typename From, typename To> void cast(const LaunchArgs &args) {
  const From *x = args.in<From>(0);
  To *y = args.out<To>(0);
  parallelElements(args.numElements(0), args.numThreads,
                   [&](int64_t begin, int64_t end) {
                     for (int64_t i = begin; i < end; ++i)
                       convert(x[i], y[i]);
                   });
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

} // namespace aicf::cpu
