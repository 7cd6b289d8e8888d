//===- Element.h - one element of any dtype as a double ---------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_BASE_ELEMENT_H
#define AICF_LIB_BASE_ELEMENT_H

#include "aicf/Types.h"
#include "lib/Base/HalfFloat.h"

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
  }
  return 0;
}

/// A float type has a finite number for `value`.
inline bool isFiniteAs(DType dtype, double value) {
  uint8_t bytes[8];
  storeElement(dtype, bytes, value);
  return std::isfinite(loadElement(dtype, bytes));
}

} // namespace aicf

#endif // AICF_LIB_BASE_ELEMENT_H
