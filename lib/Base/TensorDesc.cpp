//===- TensorDesc.cpp - names of types, sizes from untrusted sources ------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "aicf/TensorDesc.h"

#include <algorithm>
#include <vector>

namespace aicf {

std::string TensorDesc::toString() const {
  if (isAbsent)
    return "absent";
  std::string text;
  for (int64_t d : shape())
    text += std::to_string(d) + "x";
  text += nameOf(dtype);
  if (!isDense())
    text += " " + std::string(nameOf(layout));
  for (size_t i = 0; i < rank && layout == Layout::Strided; ++i)
    text += (i ? ", " : " [") + std::to_string(strides[i]);
  return text + (layout == Layout::Strided ? "]" : "");
}

bool TensorDesc::hasDistinctElements() const {
  if (layout != Layout::Strided)
    return true;
  std::vector<std::pair<int64_t, int64_t>> steps; // strides and dimensions
  for (size_t i = 0; i < rank; ++i)
    if (dims[i] != 1)
      steps.push_back({stride(i), dims[i]});
  std::sort(steps.begin(), steps.end());
  int64_t reach = 0; // elements from the first one to the last
  for (auto [step, size] : steps) {
    if (step <= reach)
      return false;
    reach += (size - 1) * step;
  }
  return true;
}

std::optional<uint64_t> checkedBytes(const TensorDesc &desc) {
  if (desc.rank > kMaxRank || !isLegalLayout(desc))
    return std::nullopt;
  uint64_t bytes = sizeOf(desc.dtype);
  for (int64_t d : desc.shape())
    if (d <= 0 || d > INT32_MAX)
      return std::nullopt;
  const TensorDesc stored = desc.stored();
  for (int64_t d : stored.shape())
    if (d > INT32_MAX ||
        __builtin_mul_overflow(bytes, static_cast<uint64_t>(d), &bytes) ||
        bytes > kMaxTensorBytes)
      return std::nullopt;
  if (desc.layout != Layout::Strided)
    return bytes;
  bytes = 0; // in front of the last element
  for (size_t i = 0; i < desc.rank; ++i) {
    uint64_t step = 0;
    if (desc.strides[i] < 0 ||
        __builtin_mul_overflow(static_cast<uint64_t>(desc.strides[i]),
                               sizeOf(desc.dtype), &step) ||
        __builtin_mul_overflow(step, static_cast<uint64_t>(desc.dims[i] - 1),
                               &step) ||
        __builtin_add_overflow(bytes, step, &bytes) || bytes >= kMaxTensorBytes)
      return std::nullopt;
  }
  return bytes + sizeOf(desc.dtype);
}

} // namespace aicf
