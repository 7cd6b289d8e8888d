//===- TensorDesc.cpp - sizes from untrusted sources ----------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "aicf/TensorDesc.h"

namespace aicf {

std::optional<uint64_t> checkedBytes(const TensorDesc &desc) {
  uint64_t bytes = sizeOf(desc.dtype);
  if (desc.rank > kMaxRank)
    return std::nullopt;
  if (!isLegalLayout(desc))
    return std::nullopt;
  for (int64_t d : desc.shape())
    if (d <= 0 || d > INT32_MAX)
      return std::nullopt;
  const TensorDesc stored = desc.stored();
  for (int64_t d : stored.shape())
    if (d > INT32_MAX ||
        __builtin_mul_overflow(bytes, static_cast<uint64_t>(d), &bytes) ||
        bytes > kMaxTensorBytes)
      return std::nullopt;
  return bytes;
}

} // namespace aicf
