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

/// Element type, row-major shape and layout. Dimensions are positive; rank 0 is
/// a scalar. Does not own memory and never allocates.
struct TensorDesc {
  DType dtype = DType::F32;
  uint8_t rank = 0;
  /// Padded: 16-bit elements, rank 1 or 2 (isLegalLayout()).
  Layout layout = Layout::Dense;
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
  bool isDense() const { return layout == Layout::Dense; }
  /// Elements that are values; pads do not count. Fits: whoever makes a desc
  /// from untrusted data checks it.
  int64_t elements() const {
    int64_t n = 1;
    for (int64_t d : shape())
      n *= d;
    return n;
  }
  /// Of a row: the last dimension, 1 for a scalar.
  int64_t width() const { return rank == 0 ? 1 : dims[rank - 1]; }
  int64_t rows() const { return elements() / width(); }
  /// Elements from the start of a row to that of the next.
  int64_t pitch() const { return stored().width(); }
  /// The dense tensor that takes the same memory, pads as elements.
  TensorDesc stored() const {
    TensorDesc desc = dense();
    for (size_t i = 0; i < rank && !isDense(); ++i)
      desc.dims[i] = (dims[i] + kPadElements - 1) / kPadElements * kPadElements;
    return desc;
  }
  /// As a caller sees it who reads its values.
  TensorDesc dense() const {
    TensorDesc desc = *this;
    desc.layout = Layout::Dense;
    return desc;
  }
  /// False where a padded tensor of the shape would lie as a dense one.
  bool hasPadsIfPadded() const {
    TensorDesc padded = *this;
    padded.layout = Layout::Padded;
    return !padded.stored().sameShape(padded);
  }
  /// From the first byte to the end of the last row, pads included.
  uint64_t spanBytes() const {
    return static_cast<uint64_t>(stored().elements()) * sizeOf(dtype);
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
           layout == other.layout && sameShape(other);
  }
  bool operator!=(const TensorDesc &other) const { return !(*this == other); }

  /// MLIR's spelling: "64x128xf32", or "f32" for a scalar; a padded one as
  /// "5x3xbf16 padded".
  std::string toString() const {
    if (isAbsent)
      return "absent";
    std::string text;
    for (int64_t d : shape())
      text += std::to_string(d) + "x";
    return text + std::string(nameOf(dtype)) + (isDense() ? "" : " padded");
  }
};

/// Largest tensor, and largest segment of a plan: 64 TiB.
inline constexpr uint64_t kMaxTensorBytes = uint64_t(1) << 46;

/// Bytes of a tensor from an untrusted source; nothing if its rank is above
/// kMaxRank, a dimension is not in 1 to INT32_MAX, or it is above
/// kMaxTensorBytes.
std::optional<uint64_t> checkedBytes(const TensorDesc &desc);

/// 16-bit matrices and vectors may be padded, everything may be dense.
inline bool isLegalLayout(const TensorDesc &desc) {
  return desc.isDense() ||
         (sizeOf(desc.dtype) == 2 && desc.rank >= 1 && desc.rank <= 2);
}

/// A tensor in device memory. Not owned.
struct TensorView {
  void *data = nullptr; ///< null in a call's list: nothing stands here
  TensorDesc desc;

  /// The elements, as T; the call's rules say which T it is.
  template <typename T> T *as() const { return static_cast<T *>(data); }
  int64_t elements() const { return desc.elements(); }
};
inline bool isAbsent(const TensorView &view) { return view.data == nullptr; }

} // namespace aicf

#endif // AICF_TENSORDESC_H
