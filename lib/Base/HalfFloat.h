//===- HalfFloat.h - 16-bit floats as bits ----------------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// IEEE 754 binary16 and bfloat16, rounding to nearest even; NaN stays NaN.
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_BASE_HALFFLOAT_H
#define AICF_LIB_BASE_HALFFLOAT_H

#include <cstdint>
#include <cstring>

namespace aicf {

template <typename To, typename From> To bitCast(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof(to));
  return to;
}

inline float bfloatToFloat(uint16_t bits) {
  return bitCast<float>(uint32_t(bits) << 16);
}

inline uint16_t floatToBFloat(float x) {
  uint32_t bits = bitCast<uint32_t>(x);
  if ((bits & 0x7fffffff) > 0x7f800000)
    return uint16_t(bits >> 16 | 0x40);
  return uint16_t((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

inline float halfToFloat(uint16_t bits) {
  uint32_t sign = uint32_t(bits & 0x8000) << 16;
  uint32_t exponent = bits >> 10 & 0x1f, mantissa = bits & 0x3ff;
  if (exponent == 0x1f)
    return bitCast<float>(sign | 0x7f800000 | mantissa << 13);
  if (exponent == 0) { // zero and subnormals: mantissa * 2^-24
    float value = float(mantissa) * 0x1p-24f;
    return sign ? -value : value;
  }
  return bitCast<float>(sign | (exponent + 112) << 23 | mantissa << 13);
}

inline uint16_t floatToHalf(float x) {
  uint32_t bits = bitCast<uint32_t>(x);
  uint16_t sign = uint16_t(bits >> 16 & 0x8000);
  uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) // NaN
    return sign | 0x7e00;
  if (magnitude >= 0x477ff000) // rounds to 65536 or more: infinity
    return sign | 0x7c00;
  if (magnitude < 0x38800000) { // below 2^-14: subnormal or zero
    // Adding 0.5 lines the bits up with 2^-24 and rounds to nearest even.
    float shifted = bitCast<float>(magnitude) + 0.5f;
    return sign | uint16_t(bitCast<uint32_t>(shifted) - 0x3f000000);
  }
  uint32_t odd = magnitude >> 13 & 1;
  return sign | uint16_t((magnitude - 0x38000000 + 0xfff + odd) >> 13);
}

/// IEEE 754 binary16 and bfloat16 as stored. Arithmetic happens in float; what
/// is assigned is rounded to nearest even.
struct Half {
  uint16_t bits;
  Half() = default;
  Half(float x) : bits(floatToHalf(x)) {}
  operator float() const { return halfToFloat(bits); }
};
struct BFloat {
  uint16_t bits;
  BFloat() = default;
  BFloat(float x) : bits(floatToBFloat(x)) {}
  operator float() const { return bfloatToFloat(bits); }
};

} // namespace aicf

#endif // AICF_LIB_BASE_HALFFLOAT_H
