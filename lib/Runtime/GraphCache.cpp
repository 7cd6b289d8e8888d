//===- GraphCache.cpp - captured graphs of an executor --------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Runtime/GraphCache.h"

#include <algorithm>

namespace aicf {

GraphCache::GraphCache(size_t capacity)
    : capacity(std::max<size_t>(capacity, 1)) {}

Graph *GraphCache::find(size_t entry, uint32_t steps) {
  for (Cached &cached : graphs)
    if (cached.entry == entry && cached.steps == steps) {
      cached.lastUse = ++clock;
      return cached.graph.get();
    }
  return nullptr;
}

Graph &GraphCache::insert(size_t entry, uint32_t steps,
                          std::unique_ptr<Graph> graph) {
  if (graphs.size() >= capacity)
    graphs.erase(std::min_element(
        graphs.begin(), graphs.end(),
        [](const auto &a, const auto &b) { return a.lastUse < b.lastUse; }));
  graphs.push_back({entry, steps, std::move(graph), ++clock});
  return *graphs.back().graph;
}

void GraphCache::renumber(const std::vector<int64_t> &from) {
  for (size_t i = 0; i < graphs.size();) {
    auto to = std::find(from.begin(), from.end(), int64_t(graphs[i].entry));
    if (to == from.end()) {
      graphs.erase(graphs.begin() + int64_t(i));
      continue;
    }
    graphs[i++].entry = size_t(to - from.begin());
  }
}

} // namespace aicf
