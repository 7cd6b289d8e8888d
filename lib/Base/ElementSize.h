//===- ElementSize.h - code for elements of one size ------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_BASE_ELEMENTSIZE_H
#define AICF_LIB_BASE_ELEMENTSIZE_H

#include "aicf/Types.h"

namespace aicf {

/// Returns run(element) for an unsigned integer of as many bytes as an element
/// of `dtype`: for code that moves elements and does not look at them.
template <typename Run> auto byElementSize(DType dtype, Run run) {
  switch (sizeOf(dtype)) {
  case 1:
    return run(uint8_t());
  case 2:
    return run(uint16_t());
  case 4:
    return run(uint32_t());
  default:
    return run(uint64_t());
  }
}

} // namespace aicf

#endif // AICF_LIB_BASE_ELEMENTSIZE_H
