//===- AccessTracker.cpp - reads and writes of regions, in order ----------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Schedule/AccessTracker.h"

namespace aicf {

std::optional<uint32_t> AccessTracker::raceOfWrites(const Seen &with,
                                                    uint32_t call) const {
  if (with.lastWrite >= 0 && uint32_t(with.lastWrite) != call &&
      !order.before(size_t(with.lastWrite), call))
    return uint32_t(with.lastWrite);
  return std::nullopt;
}

std::optional<uint32_t> AccessTracker::raceOfReads(const Seen &with,
                                                   uint32_t call) const {
  for (uint32_t reader : with.reads)
    if (reader != call && !order.before(reader, call))
      return reader;
  return std::nullopt;
}

std::optional<uint32_t> AccessTracker::read(uint32_t region, uint32_t call) {
  if (auto race = raceOfWrites(seen[region], call))
    return race;
  for (uint32_t other : regions.overlapping(region))
    if (auto race = raceOfWrites(seen[other], call))
      return race;
  std::vector<uint32_t> &reads = seen[region].reads;
  for (uint32_t &reader : reads)
    if (order.streamOf(reader) == order.streamOf(call)) {
      reader = call; // which comes after
      return std::nullopt;
    }
  reads.push_back(call);
  return std::nullopt;
}

std::optional<uint32_t> AccessTracker::write(uint32_t region, uint32_t call) {
  auto raceWith = [&](const Seen &with) {
    auto race = raceOfWrites(with, call);
    return race ? race : raceOfReads(with, call);
  };
  if (auto race = raceWith(seen[region]))
    return race;
  for (uint32_t other : regions.overlapping(region))
    if (auto race = raceWith(seen[other]))
      return race;
  seen[region].lastWrite = call;
  seen[region].reads.clear();
  isMarked[region] = true;
  return std::nullopt;
}

} // namespace aicf
