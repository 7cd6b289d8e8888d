//===- Scalars.cu - what generated kernels are made of --------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Each pointwise primitive, each conversion, once for each type that is
// computed in. nvcc makes PTX text of it when AICF is built (compute_80, no
// contraction), which CudaScalars.cpp reads; no machine code comes of it. i1 is
// a number, 0 or 1, and a 16-bit element is the low half of one.
//===----------------------------------------------------------------------===//

#include "kernels/cuda/Common.cuh"
#include "kernels/pointwise/Functors.h"
#include "kernels/random/Philox.h"

using namespace aicf;
using namespace aicf::cuda;
using namespace aicf::functor;

using i1_operand = uint32_t;
using i1_result = uint32_t;

#define AICF_SCALAR(RESULT, NAME, PARAMETERS, ...)                             \
  extern "C" __device__ RESULT aicf_##NAME PARAMETERS {                        \
    return RESULT(__VA_ARGS__);                                                \
  }
#include "kernels/graph/Scalars.inc"

// As the kernels of cast convert.
#define AICF_CAST(FROM, TO)                                                    \
  extern "C" __device__ TO aicf_cast_##FROM##_##TO(FROM x) {                   \
    if constexpr (std::is_integral_v<TO>)                                      \
      return scalar::number<TO>(x);                                            \
    else                                                                       \
      return TO(x);                                                            \
  }
#define AICF_CASTS_OF(TYPE)                                                    \
  extern "C" __device__ uint32_t aicf_cast_##TYPE##_i1(TYPE x) {               \
    return x != TYPE(0);                                                       \
  }                                                                            \
  extern "C" __device__ TYPE aicf_cast_i1_##TYPE(uint32_t x) { return TYPE(x); }
AICF_CASTS_OF(f32)
AICF_CASTS_OF(f64)
AICF_CASTS_OF(i32)
AICF_CASTS_OF(i64)
AICF_CAST(f32, f64)
AICF_CAST(f32, i32)
AICF_CAST(f32, i64)
AICF_CAST(f64, f32)
AICF_CAST(f64, i32)
AICF_CAST(f64, i64)
AICF_CAST(i32, f32)
AICF_CAST(i32, f64)
AICF_CAST(i32, i64)
AICF_CAST(i64, f32)
AICF_CAST(i64, f64)
AICF_CAST(i64, i32)

// As the kernel of dropout draws, four elements at a time.
/// Bit k is 1 if element 4 · group + k is kept.
extern "C" __device__ uint32_t aicf_kept(uint64_t seed, uint64_t step,
                                         uint64_t group, uint32_t threshold) {
  const PhiloxWords words = philox(seed, group, step);
  uint32_t kept = 0;
#pragma unroll
  for (int k = 0; k < 4; ++k)
    kept |= uint32_t(words.at[k] >= threshold) << k;
  return kept;
}
#define AICF_DROPOUT(TYPE)                                                     \
  extern "C" __device__ TYPE aicf_dropout_##TYPE(TYPE x, f64 scale,            \
                                                 uint32_t kept, uint32_t k) {  \
    return kept >> k & 1 ? x * TYPE(scale) : TYPE(0);                          \
  }
AICF_DROPOUT(f32)
AICF_DROPOUT(f64)

extern "C" __device__ f32 aicf_cast_f16_f32(uint32_t bits) {
  return __half2float(__ushort_as_half(uint16_t(bits)));
}
extern "C" __device__ f32 aicf_cast_bf16_f32(uint32_t bits) {
  return __bfloat162float(__ushort_as_bfloat16(uint16_t(bits)));
}
extern "C" __device__ uint32_t aicf_cast_f32_f16(f32 x) {
  return __half_as_ushort(__float2half_rn(x));
}
extern "C" __device__ uint32_t aicf_cast_f32_bf16(f32 x) {
  return __bfloat16_as_ushort(__float2bfloat16_rn(x));
}
