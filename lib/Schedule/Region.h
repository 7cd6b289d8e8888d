//===- Region.h - the bytes of a value in its buffer ------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Answers whether two values of one buffer share bytes, and whether some values
// together cover another. Exact where all are made of boxes of one array: of a
// range of indices per dimension, such as rows, columns or a tile of a matrix.
// Others are taken for all bytes from their first to their last, or in the
// steps of what may cover them, which is safe: it may see overlap where there
// is none, and never misses one.
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_SCHEDULE_REGION_H
#define AICF_LIB_SCHEDULE_REGION_H

#include "aicf/Span.h"
#include "aicf/Status.h"
#include "aicf/TensorDesc.h"

#include <vector>

namespace aicf {

/// Bytes of a buffer: runs at equal distances, of runs at equal distances, ...
class Region {
public:
  /// A tensor at `byteOffset`, pads included. checkedBytes() accepts `desc`,
  /// and the region ends below 2^63.
  Region(uint64_t byteOffset, const TensorDesc &desc);
  /// The first bytes of a buffer.
  explicit Region(uint64_t bytes) : first(0), last(bytes) {
    dims[rank++] = {bytes, 1};
  }

  uint64_t begin() const { return first; }
  uint64_t end() const { return last; } ///< behind the last byte
  bool overlaps(const Region &other) const;
  /// The same bytes; false where that is not known.
  bool operator==(const Region &other) const;

  /// True only if every byte of `region` lies in one of `parts`.
  static bool isCovered(const Region &region, Span<const Region> parts);

private:
  friend class BoxFrame;
  /// Makes one dimension of two where pieces lie behind each other, or finds
  /// that the pieces of one lie among those of another.
  void mergeRuns();
  /// Itself if it is exact, else all bytes from the first to the last.
  Region asBoxes() const;
  /// `count` pieces, the starts of two neighbours `stride` bytes apart.
  struct Dimension {
    uint64_t count, stride;
  };
  uint64_t first, last;
  /// False where the pieces of a dimension overlap those of another.
  bool isExact = true;
  uint8_t rank = 0; ///< dimensions, strides falling; the last has stride 1
  Dimension dims[kMaxRank + 1];
};

/// The different regions of values, by the buffer that they lie in.
class RegionMap {
public:
  struct Entry {
    uint32_t buffer;
    Region region;
  };
  /// Builds the map of values in this order. Errors: InvalidArgument (more than
  /// kMaxOverlaps pairs of different regions share bytes).
  static StatusOr<RegionMap> create(Span<const Entry> values);
  static constexpr size_t kMaxOverlaps = size_t(1) << 20;

  /// Values of the same bytes have the same region, numbered from 0.
  uint32_t regionOf(size_t value) const { return regionOfValue[value]; }
  size_t numRegions() const { return regions.size(); }
  bool overlap(uint32_t a, uint32_t b) const {
    return a == b || (regions[a].buffer == regions[b].buffer &&
                      regions[a].region.overlaps(regions[b].region));
  }
  /// The regions that share bytes with region `r`, but for itself.
  Span<const uint32_t> overlapping(uint32_t r) const {
    return {others.data() + firstOther[r], firstOther[r + 1] - firstOther[r]};
  }
  /// True only if the regions that are marked cover all bytes of region `r`.
  bool isCovered(uint32_t r, const std::vector<bool> &isMarked) const;

private:
  std::vector<uint32_t> regionOfValue;
  std::vector<Entry> regions;
  std::vector<uint32_t>
      others; ///< lists of overlapping(), one behind the other
  std::vector<size_t> firstOther;
};

} // namespace aicf

#endif // AICF_LIB_SCHEDULE_REGION_H
