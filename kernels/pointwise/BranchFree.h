//===- BranchFree.h - functions of f32 that become vector code --*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// For the CPU's kernels, where calls of libm keep a loop scalar. They use +, *,
// /, fused multiply-add, comparisons and bits of f32 alone, so that every
// compiler and every set of vector instructions gives the same bits (with
// -ffp-contract=off). Errors in units of the last place are maxima over all
// floats: exp 0.99, expm1 1.5, log 0.9, log1p 1, tanh 1.4, erf 1.2, erfc 4 (that
// of glibc's is 2.9). NaN, infinities, subnormal numbers and the signs of zeros
// are as C says; no errno and no exceptions.
// Ranges are reduced as in Cody and Waite, Software Manual for the Elementary
// Functions, 1980; erfc is Schonfelder's form, Math. Comp. 32, 1978. Coefficients
// have the least maximal relative error: scripts/fit_functions.py.
// Not here: functions of f64, and pow, sin and cos, which are libm's.
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_POINTWISE_BRANCHFREE_H
#define AICF_KERNELS_POINTWISE_BRANCHFREE_H

#include <cmath>
#include <cstdint>
#include <cstring>

namespace aicf::scalar::branchfree {

inline uint32_t bitsOf(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, sizeof(bits));
  return bits;
}
inline float floatOf(uint32_t bits) {
  float x;
  std::memcpy(&x, &bits, sizeof(x));
  return x;
}

/// a b + c, rounded once. An instruction wherever bodies are compiled for AVX2,
/// a call of libm elsewhere.
inline float fma(float a, float b, float c) { return std::fma(a, b, c); }

/// c[kFirst] + c[kFirst + 1] x + c[kFirst + 2] x^2 + ...: no loop, which a
/// compiler might keep inside of one that it would turn into vector code.
template <int kFirst = 0, int kCount>
inline float polynomial(const float (&c)[kCount], float x) {
  if constexpr (kFirst + 1 == kCount)
    return c[kFirst];
  else
    return fma(polynomial<kFirst + 1>(c, x), x, c[kFirst]);
}

/// 2^n; n is -126 to 127.
inline float powerOf2(int32_t n) { return floatOf(uint32_t(n + 127) << 23); }

/// ln 2 in two parts. The first has 9 bits: its products with an exponent are
/// exact.
constexpr float kLn2High = 0.693359375f, kLn2Low = -2.12194440e-4f;

/// e^(x + low) is 2^n (1 + rest).
struct SplitExp {
  int32_t n;
  float rest;
};
/// |x| is 104 or less, and |low| 0.05.
inline SplitExp splitExp(float x, float low) {
  const float kRound = 12582912; // 1.5 * 2^23: sums with it are rounded
  const float shifted = fma(x, 1.44269504f, kRound);
  const float n = shifted - kRound;
  const float r = fma(n, -kLn2Low, fma(n, -kLn2High, x)) + low;
  // (e^r - 1 - r)/r^2
  const float c[] = {0.5f,           0.166666657f,   0.0416663475f,
                     0.00833339151f, 0.00139416521f, 0.000198459587f};
  return {int32_t(bitsOf(shifted) - bitsOf(kRound)),
          fma(r * r, polynomial(c, r), r)};
}

/// factor * e^(x + low), with one rounding where the result is subnormal.
inline float scaledExp(float factor, float x, float low) {
  const SplitExp e = splitExp(x, low);
  const int32_t half = e.n >> 1;
  return factor * (1 + e.rest) * powerOf2(half) * powerOf2(e.n - half);
}

inline float exp(float x) {
  // Masked scores are such numbers, and a processor that rounds a product to 0
  // takes a hundred times as long.
  const bool isZero = x < -104;
  x = x > 89 ? 89 : x; // whose e^x is infinite
  const float y = scaledExp(1, isZero ? 0 : x, 0);
  return isZero ? 0 : y;
}

inline float expm1(float x) {
  float inside = x > 89 ? 89 : x;
  inside = inside < -30 ? -30 : inside;
  const SplitExp e = splitExp(inside, 0);
  const float half = powerOf2(e.n - 1); // of 2^128, which f32 does not have
  const float y = 2 * fma(half, e.rest, half - 0.5f);
  return std::fabs(x) < 0x1p-25f ? x : y; // -0 and subnormal numbers
}

/// log(x) + exponent * log(2) + low, of a normal x.
inline float logOfNormal(float x, float exponent, float low) {
  // x = 2^e (1 + f) with sqrt(1/2) <= 1 + f < sqrt(2).
  const uint32_t kRootOfHalf = 0x3f3504f3;
  const uint32_t shifted = bitsOf(x) - kRootOfHalf;
  const float e = float(int32_t(shifted) >> 23) + exponent;
  const float f = floatOf((shifted & 0x7fffff) + kRootOfHalf) - 1;
  // (log(1 + f) - f + f^2/2)/f^3
  const float c[] = {0.333333313f, -0.250008374f, 0.200012922f, -0.166227654f,
                     0.14199695f,  -0.13164188f,  0.127791211f, -0.0764610544f};
  const float square = f * f;
  const float rest =
      fma(-0.5f, square, fma(f * square, polynomial(c, f), kLn2Low * e)) + low;
  return fma(kLn2High, e, f + rest);
}

inline float log(float x) {
  const bool isSubnormal = x < 0x1p-126f;
  float y =
      logOfNormal(isSubnormal ? x * 0x1p23f : x, isSubnormal ? -23 : 0, 0);
  y = x == 0 ? -INFINITY : y;
  y = x < 0 ? NAN : y;
  return x < INFINITY ? y : x; // infinity and NaN
}

inline float log1p(float x) {
  const float sum = 1 + x;
  float y = logOfNormal(sum, 0, (x - (sum - 1)) / sum); // what the sum lost
  y = std::fabs(x) < 0x1p-25f ? x : y; // -0 and subnormal numbers
  y = x == -1 ? -INFINITY : y;
  y = x < -1 ? NAN : y;
  return x < INFINITY ? y : x; // infinity and NaN
}

inline float tanh(float x) {
  const float size = std::fabs(x), square = x * x;
  // (tanh(x)/x - 1)/x^2
  const float c[] = {-0.333332986f, 0.133319244f, -0.0537838303f,
                     0.0207959693f, -0.00589515548f};
  const float near = fma(size * square, polynomial(c, square), size);
  const float far = 1 - 2 / (exp(2 * size) + 1);
  return std::copysign(size < 0.6f ? near : far, x);
}

/// erfc of 0.45 and more.
inline float erfcFar(float size) {
  size = size > 10.5f ? 10.5f : size; // whose erfc is 0
  // x^2 is high^2, which is exact, and low.
  const float high = floatOf(bitsOf(size) & 0xfffff000);
  const float low = (size - high) * (size + high);
  // (1 + 2x) e^(x^2) erfc(x) in q
  const float q = (size - 2) / (size + 2);
  const float c[] = {1.27697837f,    -0.0927637741f,  -0.166030988f,
                     0.164049178f,   -0.0542087294f,  -0.00801113341f,
                     0.0086468691f,  0.00117008097f,  -0.001247218f,
                     -0.000258362445f};
  return scaledExp(polynomial(c, q) / fma(2, size, 1), -high * high, -low);
}

inline float erfc(float x) {
  const float size = std::fabs(x), far = erfcFar(size);
  // erf(x)/x in x^2, next to 1
  const float c[] = {1.12837911f, -0.37612471f, 0.112809144f, -0.0266574658f,
                     0.00454393355f};
  const float near = fma(-x, polynomial(c, x * x), 1);
  const float whole = x < 0 ? 2 - far : far;
  return size < 0.5f ? near : whole;
}

inline float erf(float x) {
  // erf(x)/x - 1 in x^2
  const float c[] = {0.128379166f,   -0.37612623f,  0.112835653f,
                     -0.0268528815f, 0.00518638361f, -0.000799161789f,
                     7.78769754e-05f};
  const float size = std::fabs(x), near = fma(x, polynomial(c, x * x), x);
  return size < 1 ? near : std::copysign(1 - erfcFar(size), x);
}

} // namespace aicf::scalar::branchfree

#endif // AICF_KERNELS_POINTWISE_BRANCHFREE_H
