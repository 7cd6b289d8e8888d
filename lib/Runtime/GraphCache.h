//===- GraphCache.h - captured graphs of an executor ------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Graphs by entry and steps a launch; the least recently used one goes first.
// Captures and launches nothing. Internal to the runtime.
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_RUNTIME_GRAPHCACHE_H
#define AICF_LIB_RUNTIME_GRAPHCACHE_H

#include "aicf/Device.h"

#include <memory>
#include <vector>

namespace aicf {

class GraphCache {
public:
  /// Keeps up to `capacity` graphs, at least 1.
  explicit GraphCache(size_t capacity);

  /// The graph of `steps` runs of the entry at position `entry`, which counts
  /// as used now; null if there is none, or it has expired.
  Graph *find(size_t entry, uint32_t steps);
  /// Whether there is one, expired or not.
  bool isKnown(size_t entry, uint32_t steps) const;
  Graph &insert(size_t entry, uint32_t steps, std::unique_ptr<Graph> graph);
  void clear() { graphs.clear(); }
  void erase(size_t entry);
  /// The graphs of an entry are gone, and are to be captured anew.
  void expire(size_t entry);
  /// For a plan whose entry i was entry from[i], or -1 for a new one: graphs of
  /// entries that are gone go.
  void renumber(const std::vector<int64_t> &from);

private:
  struct Cached {
    size_t entry;
    uint32_t steps;
    std::unique_ptr<Graph> graph; ///< null where it has expired
    uint64_t lastUse;
  };
  const Cached *lookUp(size_t entry, uint32_t steps) const;

  size_t capacity;
  std::vector<Cached> graphs;
  uint64_t clock = 0;
};

} // namespace aicf

#endif // AICF_LIB_RUNTIME_GRAPHCACHE_H
