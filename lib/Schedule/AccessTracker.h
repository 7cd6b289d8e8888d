//===- AccessTracker.h - reads and writes of regions, in order --*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Follows the calls of an entry through the regions of its buffers. Two accesses
// of the same bytes, one of which is a write, must be ordered by happens-before;
// what is read must have been written. What one call does to itself (in place,
// one result twice) is the caller's matter.
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_SCHEDULE_ACCESSTRACKER_H
#define AICF_LIB_SCHEDULE_ACCESSTRACKER_H

#include "lib/Schedule/HappensBefore.h"
#include "lib/Schedule/Region.h"

#include <optional>

namespace aicf {

class AccessTracker {
public:
  /// Both must outlive it.
  AccessTracker(const RegionMap &regions, const HappensBefore &order)
      : regions(regions), order(order), seen(regions.numRegions()),
        isMarked(regions.numRegions()) {}

  /// Records an access of call number `call`; calls come in list order. Returns
  /// an earlier call that it races with, or nothing.
  std::optional<uint32_t> read(uint32_t region, uint32_t call);
  std::optional<uint32_t> write(uint32_t region, uint32_t call);
  /// Whether the calls so far have written all bytes of a region.
  bool isWritten(uint32_t region) const {
    return regions.isCovered(region, isMarked);
  }

private:
  struct Seen {
    int64_t lastWrite = -1;
    std::vector<uint32_t> reads; ///< the last one of each stream
  };
  std::optional<uint32_t> raceOfWrites(const Seen &with, uint32_t call) const;
  std::optional<uint32_t> raceOfReads(const Seen &with, uint32_t call) const;

  const RegionMap &regions;
  const HappensBefore &order;
  std::vector<Seen> seen;     ///< by region
  std::vector<bool> isMarked; ///< by region: written as a whole
};

} // namespace aicf

#endif // AICF_LIB_SCHEDULE_ACCESSTRACKER_H
