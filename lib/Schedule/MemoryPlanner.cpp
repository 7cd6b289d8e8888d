//===- MemoryPlanner.cpp - offsets for buffers with lifetimes -------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Schedule/MemoryPlanner.h"
#include "aicf/Types.h"

#include <algorithm>
#include <numeric>
#include <random>

namespace aicf {
namespace {

using Order = std::vector<uint32_t>;
using Offsets = std::vector<uint64_t>;

/// Sizes, lifetimes and which pairs may not share bytes.
struct Problem {
  std::vector<uint64_t> sizes;
  std::vector<uint32_t> start; ///< first access, in list order
  /// First call index from which on every call happens after all accesses.
  std::vector<uint32_t> end;
  std::vector<uint32_t> last; ///< last access, in list order
  /// conflicts[i]: sorted buffers that may not share bytes with i; only filled
  /// up to kPairwiseLimit.
  std::vector<std::vector<uint32_t>> conflicts;
  uint64_t lowerBound = 0;

  size_t size() const { return sizes.size(); }
};

uint64_t maxLive(const Problem &p, size_t numCalls) {
  std::vector<int64_t> change(numCalls + 1, 0);
  for (size_t i = 0; i < p.size(); ++i) {
    change[p.start[i]] += static_cast<int64_t>(p.sizes[i]);
    change[p.last[i] + 1] -= static_cast<int64_t>(p.sizes[i]);
  }
  int64_t live = 0, most = 0;
  for (int64_t c : change)
    most = std::max(most, live += c);
  return static_cast<uint64_t>(most);
}

/// The heaviest set of buffers that conflict pairwise: at least maxLive, and
/// above it where streams leave buffers unordered that list order separates.
uint64_t maxClique(const Problem &p) {
  uint64_t heaviest = 0;
  std::vector<uint32_t> conflictMask(p.size(), 0);
  for (uint32_t i = 0; i < p.size(); ++i)
    for (uint32_t j : p.conflicts[i])
      conflictMask[i] |= 1u << j;
  for (uint32_t set = 1; set < 1u << p.size(); ++set) {
    uint64_t weight = 0;
    bool isClique = true;
    for (uint32_t i = 0; i < p.size() && isClique; ++i)
      if (set >> i & 1) {
        isClique = (set & ~conflictMask[i] & ~(1u << i)) == 0;
        weight += p.sizes[i];
      }
    if (isClique)
      heaviest = std::max(heaviest, weight);
  }
  return heaviest;
}

/// Weight of a heavy set of buffers that conflict pairwise, found greedily from
/// every buffer: a lower bound like maxClique, without its cost. On one stream
/// maxLive is exact; on several, buffers conflict that list order separates.
uint64_t greedyClique(const Problem &p) {
  const size_t n = p.size(), words = (n + 63) / 64;
  Order heavyFirst(n);
  std::iota(heavyFirst.begin(), heavyFirst.end(), 0);
  std::stable_sort(
      heavyFirst.begin(), heavyFirst.end(),
      [&](uint32_t a, uint32_t b) { return p.sizes[a] > p.sizes[b]; });
  std::vector<uint64_t> rows(n * words); // conflicts as bits, heaviest first
  std::vector<uint32_t> rank(n);
  for (uint32_t r = 0; r < n; ++r)
    rank[heavyFirst[r]] = r;
  for (uint32_t r = 0; r < n; ++r)
    for (uint32_t j : p.conflicts[heavyFirst[r]])
      rows[r * words + rank[j] / 64] |= uint64_t(1) << rank[j] % 64;
  uint64_t heaviest = 0;
  std::vector<uint64_t> candidates(words);
  for (uint32_t seed = 0; seed < n; ++seed) {
    std::copy_n(&rows[seed * words], words, candidates.begin());
    uint64_t weight = p.sizes[heavyFirst[seed]];
    for (size_t w = 0; w < words;)
      if (candidates[w] == 0) {
        ++w;
      } else {
        size_t next = w * 64 + size_t(__builtin_ctzll(candidates[w]));
        weight += p.sizes[heavyFirst[next]];
        for (size_t i = w; i < words; ++i)
          candidates[i] &= rows[next * words + i];
      }
    heaviest = std::max(heaviest, weight);
  }
  return heaviest;
}

Problem makeProblem(const std::vector<PlannedBuffer> &buffers,
                    const HappensBefore &order) {
  Problem p;
  const size_t n = buffers.size();
  for (const PlannedBuffer &b : buffers) {
    p.sizes.push_back(alignedBytes(b.bytes));
    p.start.push_back(b.accesses.firstCall());
    p.last.push_back(b.accesses.lastCall());
    p.end.push_back(b.accesses.safeEnd(order));
  }
  p.lowerBound = maxLive(p, order.size());
  if (n > kPairwiseLimit)
    return p;
  p.conflicts.resize(n);
  for (uint32_t i = 0; i < n; ++i)
    for (uint32_t j = i + 1; j < n; ++j)
      if (!buffers[i].accesses.allBefore(order, buffers[j].accesses) &&
          !buffers[j].accesses.allBefore(order, buffers[i].accesses)) {
        p.conflicts[i].push_back(j);
        p.conflicts[j].push_back(i);
      }
  p.lowerBound = n <= kExactLimit ? maxClique(p)
                                  : std::max(p.lowerBound, greedyClique(p));
  return p;
}

constexpr uint64_t kUnplaced = UINT64_MAX;

/// Occupied ranges that buffer i may not touch, sorted by offset.
void occupied(const Problem &p, const Offsets &offsets, uint32_t i,
              std::vector<std::pair<uint64_t, uint64_t>> &ranges) {
  ranges.clear();
  for (uint32_t j : p.conflicts[i])
    if (offsets[j] != kUnplaced)
      ranges.push_back({offsets[j], offsets[j] + p.sizes[j]});
  std::sort(ranges.begin(), ranges.end());
}

/// Places the buffers in `order` at the lowest hole (first fit) or the smallest
/// (best fit). Returns the arena size; gives up at `limit`.
uint64_t place(const Problem &p, const Order &order, bool bestFit,
               Offsets &offsets, uint64_t limit) {
  offsets.assign(p.size(), kUnplaced);
  std::vector<std::pair<uint64_t, uint64_t>> ranges;
  uint64_t total = 0;
  for (uint32_t i : order) {
    occupied(p, offsets, i, ranges);
    uint64_t end = 0, at = kUnplaced, smallest = kUnplaced;
    for (auto [from, to] : ranges) {
      if (from >= end + p.sizes[i] && from - end < smallest) {
        at = end;
        smallest = from - end;
        if (!bestFit)
          break;
      }
      end = std::max(end, to);
    }
    offsets[i] = at == kUnplaced ? end : at;
    total = std::max(total, offsets[i] + p.sizes[i]);
    if (total >= limit)
      return total;
  }
  return total;
}

struct Best {
  uint64_t bytes = kUnplaced;
  Offsets offsets;
  Order order;
  bool bestFit = false;

  bool offer(const Problem &p, const Order &candidate, bool fit) {
    Offsets trial;
    uint64_t total = place(p, candidate, fit, trial, bytes);
    if (total >= bytes)
      return false;
    bytes = total;
    offsets = std::move(trial);
    order = candidate;
    bestFit = fit;
    return true;
  }
};

/// Descending by `key`, ties by start, then by number.
template <typename Key> Order sortedBy(const Problem &p, Key key) {
  Order order(p.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    auto ka = key(a), kb = key(b);
    return ka != kb ? ka > kb : p.start[a] < p.start[b];
  });
  return order;
}

void tryHeuristics(const Problem &p, Best &best) {
  auto length = [&](uint32_t i) {
    return uint64_t(p.last[i] - p.start[i] + 1);
  };
  const Order orders[] = {
      sortedBy(p, [&](uint32_t i) { return p.sizes[i]; }),
      sortedBy(p, length),
      sortedBy(p, [&](uint32_t i) { return p.sizes[i] * length(i); }),
      sortedBy(p, [&](uint32_t i) { return -int64_t(p.start[i]); }),
      sortedBy(p, [&](uint32_t i) { return int64_t(p.last[i]); }),
      sortedBy(p,
               [&](uint32_t i) { // the most conflicted bytes first
                 uint64_t sum = p.sizes[i];
                 for (uint32_t j : p.conflicts[i])
                   sum += p.sizes[j];
                 return sum;
               })};
  for (const Order &order : orders)
    for (bool fit : {false, true}) {
      best.offer(p, order, fit);
      if (best.bytes == p.lowerBound)
        return;
    }
}

/// Buffer pairs that search() may look at: about half a second.
constexpr size_t kSearchWork = 30'000'000;

/// Random exchanges and moves to the front in the best order so far; accepts
/// what is not worse, so that it drifts across plateaus. Stops within 0.5 % of
/// the bound.
void search(const Problem &p, Best &best) {
  std::mt19937 random(static_cast<uint32_t>(p.size()) * 2654435761u + 1);
  const size_t n = p.size();
  Order current = best.order;
  uint64_t currentBytes = best.bytes;
  Offsets trial;
  // A budget of work, not of time: the same input gives the same plan.
  size_t work = n;
  for (const auto &conflicts : p.conflicts)
    work += conflicts.size();
  const size_t rounds = kSearchWork / work;
  auto isGood = [&] { return best.bytes <= p.lowerBound + p.lowerBound / 200; };
  for (size_t round = 0; round < rounds && !isGood(); ++round) {
    if (round % (rounds / 4 + 1) == 0) {
      current = best.order;
      currentBytes = best.bytes;
    }
    Order next = current;
    size_t a = random() % n, b = random() % n;
    if (random() % 2)
      std::swap(next[a], next[b]);
    else
      std::rotate(next.begin() + std::min(a, b), next.begin() + std::max(a, b),
                  next.begin() + std::max(a, b) + 1);
    uint64_t total = place(p, next, best.bestFit, trial, currentBytes + 1);
    if (total > currentBytes)
      continue;
    current = std::move(next);
    currentBytes = total;
    if (total < best.bytes) {
      best.bytes = total;
      best.offsets = trial;
      best.order = current;
    }
  }
}

/// Branch and bound. Any packing can be pushed down until every buffer rests on
/// 0 or on a conflicting one; placing by rising offset, each at the top of the
/// conflicting buffers placed before, reaches all such packings.
/// Buffers that are alike in size and conflicts are placed in their own order.
struct ExactSearch {
  const Problem &p;
  Best &best;
  Offsets offsets;
  /// Guards against inputs that are symmetric in other ways; no test and no
  /// single-stream input of kExactLimit buffers comes near it.
  uint64_t budget = 20'000'000;

  /// The buffers before each one that are like it.
  std::vector<std::vector<uint32_t>> twins;

  ExactSearch(const Problem &p, Best &best)
      : p(p), best(best), offsets(p.size(), kUnplaced), twins(p.size()) {
    for (uint32_t i = 0; i < p.size(); ++i)
      for (uint32_t j = 0; j < i; ++j)
        if (isAlike(i, j))
          twins[i].push_back(j);
  }
  bool isAlike(uint32_t a, uint32_t b) const {
    auto without = [&](uint32_t of, uint32_t other) {
      std::vector<uint32_t> list = p.conflicts[of];
      list.erase(std::remove(list.begin(), list.end(), other), list.end());
      return list;
    };
    return p.sizes[a] == p.sizes[b] && without(a, b) == without(b, a);
  }
  /// An unplaced twin of `i` with a lower number goes first.
  bool hasEarlierTwin(uint32_t i) const {
    return std::any_of(twins[i].begin(), twins[i].end(),
                       [&](uint32_t j) { return offsets[j] == kUnplaced; });
  }

  void run(size_t numPlaced, uint64_t floor, uint64_t top) {
    if (budget == 0)
      return;
    --budget;
    if (numPlaced == p.size()) {
      best.bytes = top;
      best.offsets = offsets;
      return;
    }
    for (uint32_t i = 0; i < p.size() && best.bytes > p.lowerBound; ++i) {
      if (offsets[i] != kUnplaced)
        continue;
      uint64_t at = 0;
      for (uint32_t j : p.conflicts[i])
        if (offsets[j] != kUnplaced)
          at = std::max(at, offsets[j] + p.sizes[j]);
      if (at < floor || at + p.sizes[i] >= best.bytes || hasEarlierTwin(i))
        continue; // another order reaches it, or no better
      offsets[i] = at;
      run(numPlaced + 1, at, std::max(top, at + p.sizes[i]));
      offsets[i] = kUnplaced;
    }
  }
};

/// First fit in time over the free holes: for steps too large for pairs.
uint64_t placeInTime(const Problem &p, bool backwards, Offsets &offsets) {
  const size_t n = p.size();
  Order starts(n), ends(n);
  std::iota(starts.begin(), starts.end(), 0);
  ends = starts;
  auto born = [&](uint32_t i) {
    return backwards ? -int64_t(p.end[i]) : int64_t(p.start[i]);
  };
  auto dies = [&](uint32_t i) {
    return backwards ? -int64_t(p.start[i]) : int64_t(p.end[i]);
  };
  std::stable_sort(starts.begin(), starts.end(), [&](uint32_t a, uint32_t b) {
    return born(a) != born(b) ? born(a) < born(b) : p.sizes[a] > p.sizes[b];
  });
  std::stable_sort(ends.begin(), ends.end(),
                   [&](uint32_t a, uint32_t b) { return dies(a) < dies(b); });
  struct Hole {
    uint64_t from, to;
  };
  std::vector<Hole> holes = {{0, kUnplaced}}; // by offset
  offsets.assign(n, 0);
  uint64_t total = 0;
  size_t nextEnd = 0;
  for (uint32_t i : starts) {
    for (; nextEnd < n && dies(ends[nextEnd]) <= born(i); ++nextEnd) {
      uint64_t from = offsets[ends[nextEnd]];
      uint64_t to = from + p.sizes[ends[nextEnd]];
      auto after =
          std::lower_bound(holes.begin(), holes.end(), from,
                           [](Hole h, uint64_t at) { return h.from < at; });
      if (after != holes.end() && after->from == to) {
        to = after->to;
        after = holes.erase(after);
      }
      if (after != holes.begin() && std::prev(after)->to == from)
        std::prev(after)->to = to;
      else
        holes.insert(after, {from, to});
    }
    auto hole = holes.begin();
    while (hole->to - hole->from < p.sizes[i])
      ++hole;
    offsets[i] = hole->from;
    hole->from += p.sizes[i];
    total = std::max(total, hole->from);
    if (hole->from == hole->to)
      holes.erase(hole);
  }
  return total;
}

} // namespace

MemoryPlan planMemory(const std::vector<PlannedBuffer> &buffers,
                      const HappensBefore &order) {
  MemoryPlan plan;
  if (buffers.empty())
    return plan;
  Problem p = makeProblem(buffers, order);
  plan.lowerBound = p.lowerBound;
  if (buffers.size() > kPairwiseLimit) {
    plan.bytes = placeInTime(p, false, plan.offsets);
    if (plan.bytes == plan.lowerBound)
      return plan;
    Offsets backwards;
    uint64_t bytes = placeInTime(p, true, backwards);
    if (bytes < plan.bytes) {
      plan.bytes = bytes;
      plan.offsets = std::move(backwards);
    }
    return plan;
  }
  Best best;
  tryHeuristics(p, best);
  if (best.bytes > p.lowerBound && p.size() <= kExactLimit)
    ExactSearch(p, best).run(0, 0, 0);
  else if (best.bytes > p.lowerBound && p.size() <= kSearchLimit)
    search(p, best);
  plan.bytes = best.bytes;
  plan.offsets = std::move(best.offsets);
  return plan;
}

} // namespace aicf
