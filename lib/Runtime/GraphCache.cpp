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

const GraphCache::Cached *GraphCache::lookUp(size_t entry,
                                             uint32_t steps) const {
  for (const Cached &cached : graphs)
    if (cached.entry == entry && cached.steps == steps)
      return &cached;
  return nullptr;
}

Graph *GraphCache::find(size_t entry, uint32_t steps) {
  auto *cached = const_cast<Cached *>(lookUp(entry, steps));
  if (!cached)
    return nullptr;
  cached->lastUse = ++clock;
  return cached->graph.get();
}

bool GraphCache::isKnown(size_t entry, uint32_t steps) const {
  return lookUp(entry, steps) != nullptr;
}

Graph &GraphCache::insert(size_t entry, uint32_t steps,
                          std::unique_ptr<Graph> graph) {
  if (auto *expired = const_cast<Cached *>(lookUp(entry, steps))) {
    expired->graph = std::move(graph);
    return *expired->graph;
  }
  if (graphs.size() >= capacity)
    graphs.erase(std::min_element(
        graphs.begin(), graphs.end(),
        [](const auto &a, const auto &b) { return a.lastUse < b.lastUse; }));
  graphs.push_back({entry, steps, std::move(graph), ++clock});
  return *graphs.back().graph;
}

void GraphCache::erase(size_t entry) {
  graphs.erase(
      std::remove_if(graphs.begin(), graphs.end(),
                     [&](const Cached &c) { return c.entry == entry; }),
      graphs.end());
}

void GraphCache::expire(size_t entry) {
  for (Cached &cached : graphs)
    if (cached.entry == entry)
      cached.graph.reset();
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
