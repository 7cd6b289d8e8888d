//===- Levels.cpp - which calls of a list may run side by side ------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Schedule/Levels.h"

#include <algorithm>

namespace aicf {

std::vector<uint32_t>
levelsOf(Span<const std::vector<ByteAccess>> accessesOfCalls) {
  // Where a range begins or ends; between two neighbours lies a piece that a
  // call accesses as a whole or not at all.
  std::vector<uint64_t> bounds;
  for (const std::vector<ByteAccess> &accesses : accessesOfCalls)
    for (const ByteAccess &access : accesses)
      bounds.insert(bounds.end(), {access.begin, access.end});
  std::sort(bounds.begin(), bounds.end());
  bounds.erase(std::unique(bounds.begin(), bounds.end()), bounds.end());

  struct Piece {
    uint32_t afterWrites = 0;   ///< lowest level for who reads it
    uint32_t afterAccesses = 0; ///< lowest level for who writes it
  };
  std::vector<Piece> pieces(bounds.size());
  auto forPieces = [&](const ByteAccess &access, auto function) {
    size_t i =
        size_t(std::lower_bound(bounds.begin(), bounds.end(), access.begin) -
               bounds.begin());
    for (; bounds[i] < access.end; ++i)
      function(pieces[i]);
  };

  std::vector<uint32_t> levels;
  levels.reserve(accessesOfCalls.size());
  for (const std::vector<ByteAccess> &accesses : accessesOfCalls) {
    uint32_t level = 0;
    for (const ByteAccess &access : accesses)
      forPieces(access, [&](Piece &piece) {
        level = std::max(level, access.writes ? piece.afterAccesses
                                              : piece.afterWrites);
      });
    for (const ByteAccess &access : accesses)
      forPieces(access, [&](Piece &piece) {
        piece.afterAccesses = std::max(piece.afterAccesses, level + 1);
        if (access.writes)
          piece.afterWrites = std::max(piece.afterWrites, level + 1);
      });
    levels.push_back(level);
  }
  return levels;
}

} // namespace aicf
