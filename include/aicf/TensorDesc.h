//===- TensorDesc.h - dtype, shape and layout -------------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_TENSORDESC_H
#define AICF_TENSORDESC_H

#include "aicf/Span.h"
#include "aicf/Types.h"

#include <cassert>
#include <optional>
#include <string>

namespace aicf {

/// Elements from one index of each dimension to the next.
struct Strides {
  uint8_t size = 0;
  int64_t at[kMaxRank] = {};

  int64_t operator[](size_t i) const { return at[i]; }
  Span<const int64_t> all() const { return {at, size}; }
  bool operator==(const Strides &o) const {
    for (size_t i = 0; i < kMaxRank; ++i)
      if (at[i] != o.at[i])
        return false;
    return size == o.size;
  }
};

/// Element type, shape and layout. Dimensions are positive; rank 0 is a scalar.
/// Does not own memory and never allocates.
struct TensorDesc {
  DType dtype = DType::F32;
  uint8_t rank = 0;
  /// Padded: 16-bit elements, rank 1 or 2 (isLegalLayout()).
  Layout layout = Layout::Dense;
  /// In lists of a call: nothing stands here.
  bool isAbsent = false;
  int64_t dims[kMaxRank] = {};
  /// Empty but for the layout Strided; see stride().
  Strides strides;

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
  /// Elements from one index of each dimension to the next; as many as there
  /// are dimensions. Where they are those of a dense tensor, it is one.
  static TensorDesc strided(DType dtype, Span<const int64_t> shape,
                            Span<const int64_t> strides) {
    TensorDesc desc(dtype, shape);
    for (size_t i = 0; i < desc.rank; ++i)
      if (desc.dims[i] != 1 && strides[i] != desc.stride(i))
        desc.layout = Layout::Strided;
    // The stride of a dimension of one index says nothing: equal descs are
    // equal lists.
    if (!desc.isDense())
      desc.strides.size = desc.rank;
    for (size_t i = 0; i < desc.strides.size; ++i)
      desc.strides.at[i] = desc.dims[i] == 1 ? 0 : strides[i];
    return desc;
  }

  Span<const int64_t> shape() const { return {dims, rank}; }
  /// One element behind the other, in row-major order.
  bool isDense() const { return layout == Layout::Dense; }
  /// How many values there are; pads do not count. Does not overflow if
  /// checkedBytes() accepts the desc.
  int64_t elements() const {
    int64_t n = 1;
    for (int64_t d : shape())
      n *= d;
    return n;
  }
  /// Length of a row: the last dimension, 1 for a scalar.
  int64_t width() const { return rank == 0 ? 1 : dims[rank - 1]; }
  int64_t rows() const { return elements() / width(); }
  /// Elements from one index of dimension `i` to the next.
  int64_t stride(size_t i) const {
    if (layout == Layout::Strided)
      return strides[i];
    const TensorDesc whole = stored();
    int64_t n = 1;
    for (size_t inner = i + 1; inner < rank; ++inner)
      n *= whole.dims[inner];
    return n;
  }
  /// Elements from the start of a row to that of the next; of a strided tensor
  /// one whose rows lie at equal distances (hasRows()).
  int64_t pitch() const {
    for (size_t i = rank; layout == Layout::Strided && i-- > 1;)
      if (dims[i - 1] != 1)
        return strides[i - 1];
    return stored().width();
  }
  /// True if a strided tensor is a matrix of rows: the elements of a row lie
  /// behind each other, and the rows, over all dimensions but the last, at
  /// equal distances of a row's length or more.
  bool hasRows() const {
    return rank == 0 ||
           ((dims[rank - 1] == 1 || stride(rank - 1u) == 1) &&
            mergedOuterDims(rank - 1u) && (rows() == 1 || pitch() >= width()));
  }
  /// True if the elements of a row lie behind each other, and the rows of each
  /// matrix, over the last dimension but one, not closer than a row is long.
  /// Matrices may lie anywhere.
  bool hasMatrices() const {
    return rank == 0 ||
           ((dims[rank - 1] == 1 || stride(rank - 1u) == 1) &&
            (rank < 2 || dims[rank - 2] == 1 || stride(rank - 2u) >= width()));
  }
  /// True if no two elements share bytes: each dimension steps over all that the
  /// dimensions with smaller strides reach. False for some lists of strides that
  /// nobody writes on purpose, such as [2, 3] of 2x2.
  bool hasDistinctElements() const;
  /// The dense tensor that takes the same memory as this dense or padded one,
  /// with pads as elements.
  TensorDesc stored() const {
    TensorDesc desc = dense();
    for (size_t i = 0; i < rank && layout == Layout::Padded; ++i)
      desc.dims[i] = (dims[i] + kPadElements - 1) / kPadElements * kPadElements;
    return desc;
  }
  /// The same shape without pads or strides: what a caller reads and writes.
  TensorDesc dense() const {
    TensorDesc desc = *this;
    desc.layout = Layout::Dense;
    desc.strides = {};
    return desc;
  }
  /// False where a padded tensor of the shape would lie as a dense one.
  bool hasPadsIfPadded() const {
    TensorDesc padded = *this;
    padded.layout = Layout::Padded;
    return !padded.stored().sameShape(padded);
  }
  /// Bytes from the first element to the end of the last one, pads included.
  uint64_t spanBytes() const {
    uint64_t last = 0; // element
    if (layout != Layout::Strided)
      return static_cast<uint64_t>(stored().elements()) * sizeOf(dtype);
    for (size_t i = 0; i < rank; ++i)
      last += static_cast<uint64_t>(dims[i] - 1) *
              static_cast<uint64_t>(strides[i]);
    return (last + 1) * sizeOf(dtype);
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
    if (dtype != other.dtype || isAbsent != other.isAbsent ||
        layout != other.layout || !sameShape(other))
      return false;
    return strides == other.strides;
  }
  bool operator!=(const TensorDesc &other) const { return !(*this == other); }

  /// True if the dimensions below `end` lie as one would: an index of each goes
  /// as far as all of the next one.
  bool mergedOuterDims(size_t end) const {
    int64_t next = -1; // as far as one index of the dimension before must go
    for (size_t i = end; i-- > 0;) {
      if (dims[i] == 1)
        continue;
      if (next >= 0 && stride(i) != next)
        return false;
      next = stride(i) * dims[i];
    }
    return true;
  }

  /// MLIR's spelling: "64x128xf32", or "f32" for a scalar; with another layout
  /// than dense "5x3xbf16 padded", "5x3xf32 strided [8, 1]".
  std::string toString() const;
};

/// Largest tensor, and largest segment of a plan: 64 TiB.
inline constexpr uint64_t kMaxTensorBytes = uint64_t(1) << 46;

/// spanBytes() of a tensor from an untrusted source; nothing if its rank is
/// above kMaxRank, a dimension is not in 1 to INT32_MAX, a stride is negative,
/// or the span is above kMaxTensorBytes.
std::optional<uint64_t> checkedBytes(const TensorDesc &desc);

/// 16-bit matrices and vectors may be padded, everything may be dense or
/// strided.
inline bool isLegalLayout(const TensorDesc &desc) {
  return desc.layout != Layout::Padded ||
         (sizeOf(desc.dtype) == 2 && desc.rank >= 1 && desc.rank <= 2);
}

/// A tensor in device memory. Not owned.
class TensorView {
public:
  TensorDesc desc;

  /// A view of nothing, for an operand that is absent.
  TensorView() = default;
  TensorView(void *start, const TensorDesc &desc) : desc(desc), first(start) {}

  /// The address of the first element; null in a call's list where nothing
  /// stands. Where the others are, `desc` says.
  void *start() const { return first; }
  /// The elements of a dense tensor as T, which is what `desc` says or void.
  template <typename T = void> T *dense() const {
    assert((!first || desc.isDense()) && "the tensor is not dense");
    return static_cast<T *>(first);
  }
  /// The elements as T, for who goes by the tensor's strides or pitch.
  template <typename T> T *strided() const { return static_cast<T *>(first); }
  int64_t elements() const { return desc.elements(); }
  /// Makes `start` the address of the first element.
  void moveTo(void *start) { first = start; }

private:
  void *first = nullptr;
};
inline bool isAbsent(const TensorView &view) { return !view.start(); }

} // namespace aicf

#endif // AICF_TENSORDESC_H
