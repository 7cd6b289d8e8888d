//===- Element.h - one element of any dtype as a double ---------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_BASE_ELEMENT_H
#define AICF_LIB_BASE_ELEMENT_H

#include "aicf/Span.h"
#include "aicf/Types.h"
#include "lib/Base/HalfFloat.h"

#include <algorithm>
#include <cmath>

namespace aicf {

/// Stores `value` at `at` (any alignment), rounded to nearest for floats. For
/// integers the caller has checked that it is one of them.
inline void storeElement(DType dtype, void *at, double value) {
  auto put = [&](auto typed) { std::memcpy(at, &typed, sizeof(typed)); };
  switch (dtype) {
  case DType::F32:
    return put(float(value));
  case DType::F64:
    return put(value);
  case DType::F16:
    return put(floatToHalf(float(value)));
  case DType::BF16:
    return put(floatToBFloat(float(value)));
  case DType::I32:
    return put(int32_t(value));
  case DType::I64:
    return put(int64_t(value));
  case DType::I1:
    return put(uint8_t(value != 0));
  }
}

/// The element at `at` (any alignment). i64 above 2^53 is rounded.
inline double loadElement(DType dtype, const void *at) {
  auto get = [&](auto value) {
    std::memcpy(&value, at, sizeof(value));
    return value;
  };
  switch (dtype) {
  case DType::F32:
    return get(float());
  case DType::F64:
    return get(double());
  case DType::F16:
    return halfToFloat(get(uint16_t()));
  case DType::BF16:
    return bfloatToFloat(get(uint16_t()));
  case DType::I32:
    return get(int32_t());
  case DType::I64:
    return double(get(int64_t()));
  case DType::I1:
    return get(uint8_t());
  }
  return 0;
}

/// The number of the first of these elements that `dtype` does not have, or -1.
/// An i1 is the byte 0 or 1; other types have every pattern of bits.
inline int64_t findWrongElement(DType dtype, Span<const uint8_t> bytes) {
  if (dtype != DType::I1)
    return -1;
  const uint8_t *wrong = std::find_if(bytes.begin(), bytes.end(),
                                      [](uint8_t byte) { return byte > 1; });
  return wrong == bytes.end() ? -1 : wrong - bytes.begin();
}

/// The largest number of a float type below `value`, which is finite.
inline double largestBelow(DType dtype, double value) {
  uint64_t bits = 0; // of this machine's byte order, which is little-endian
  storeElement(dtype, &bits, value);
  double held = loadElement(dtype, &bits);
  if (held < value)
    return held;
  const uint64_t sign = uint64_t(1) << (8 * sizeOf(dtype) - 1);
  if (held == 0)
    bits = sign | 1;
  else
    bits += bits & sign ? 1 : -1;
  return loadElement(dtype, &bits);
}

/// A float type has a finite number for `value`.
inline bool isFiniteAs(DType dtype, double value) {
  uint8_t bytes[8];
  storeElement(dtype, bytes, value);
  return std::isfinite(loadElement(dtype, bytes));
}

} // namespace aicf

#endif // AICF_LIB_BASE_ELEMENT_H
