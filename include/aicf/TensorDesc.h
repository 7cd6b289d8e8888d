//===- TensorDesc.h - dtype and shape ---------------------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_TENSORDESC_H
#define AICF_TENSORDESC_H

#include "aicf/Span.h"
#include "aicf/Types.h"

#include <optional>
#include <string>

namespace aicf {

/// Element type and row-major shape. Dimensions are positive; rank 0 is a
/// scalar. Does not own memory and never allocates.
struct TensorDesc {
  DType dtype = DType::F32;
  uint8_t rank = 0;
  /// In lists of a call: nothing stands here.
  bool isAbsent = false;
  int64_t dims[kMaxRank] = {};

  TensorDesc() = default;
  TensorDesc(DType dtype, Span<const int64_t> shape)
      : dtype(dtype), rank(static_cast<uint8_t>(shape.size())) {
    for (size_t i = 0; i < shape.size() && i < kMaxRank; ++i)
      dims[i] = shape[i];
  }

  static TensorDesc absent() {
    TensorDesc desc;
    desc.isAbsent = true;
    return desc;
  }

  Span<const int64_t> shape() const { return {dims, rank}; }
  /// Elements. Fits: whoever makes a desc from untrusted data checks it.
  int64_t numElements() const {
    int64_t n = 1;
    for (int64_t d : shape())
      n *= d;
    return n;
  }
  uint64_t numBytes() const {
    return static_cast<uint64_t>(numElements()) * sizeOf(dtype);
  }
  bool sameShape(const TensorDesc &other) const {
    if (rank != other.rank)
      return false;
    for (size_t i = 0; i < rank; ++i)
      if (dims[i] != other.dims[i])
        return false;
    return true;
  }
  bool operator==(const TensorDesc &other) const {
    return dtype == other.dtype && isAbsent == other.isAbsent &&
           sameShape(other);
  }
  bool operator!=(const TensorDesc &other) const { return !(*this == other); }

  /// MLIR's spelling: "64x128xf32", or "f32" for a scalar.
  std::string toString() const {
    if (isAbsent)
      return "absent";
    std::string text;
    for (int64_t d : shape())
      text += std::to_string(d) + "x";
    return text + std::string(nameOf(dtype));
  }
};

/// Largest tensor, and largest segment of a plan: 64 TiB.
inline constexpr uint64_t kMaxTensorBytes = uint64_t(1) << 46;

/// Bytes of a tensor from an untrusted source; nothing if its rank is above
/// kMaxRank, a dimension is not in 1 to INT32_MAX, or it is above
/// kMaxTensorBytes.
std::optional<uint64_t> checkedBytes(const TensorDesc &desc);

/// A tensor in device memory. Row-major, dense. Not owned.
struct TensorView {
  void *data = nullptr; ///< null in a call's list: nothing stands here
  TensorDesc desc;

  /// The elements, as T; the call's rules say which T it is.
  template <typename T> T *as() const { return static_cast<T *>(data); }
  int64_t numElements() const { return desc.numElements(); }
};
inline bool isAbsent(const TensorView &view) { return view.data == nullptr; }

} // namespace aicf

#endif // AICF_TENSORDESC_H
