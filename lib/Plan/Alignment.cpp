//===- Alignment.cpp - which items of two lists stand for each other ------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Plan/Alignment.h"

#include <algorithm>
#include <map>
#include <string_view>

namespace aicf {
namespace {

/// Pairs of equal items in order: items that both lists have once, as many of
/// them as rise in both (patience diff, Bram Cohen); between those, equal items
/// from both ends.
class Aligner {
public:
  Aligner(const std::vector<std::string> &a,
          const std::vector<std::string> &b)
      : a(a), b(b), partner(a.size(), kUnpaired) {
    align(0, a.size(), 0, b.size());
  }
  /// For each item of `a` the position in `b`, or kUnpaired.
  const std::vector<size_t> &partners() const { return partner; }

private:
  void pair(size_t i, size_t j) { partner[i] = j; }

  void align(size_t a0, size_t a1, size_t b0, size_t b1) {
    while (a0 < a1 && b0 < b1 && a[a0] == b[b0])
      pair(a0++, b0++);
    while (a0 < a1 && b0 < b1 && a[a1 - 1] == b[b1 - 1])
      pair(--a1, --b1);
    if (a0 == a1 || b0 == b1)
      return;
    std::vector<std::pair<size_t, size_t>> anchors = anchorsOf(a0, a1, b0, b1);
    if (anchors.empty())
      return alignSmall(a0, a1, b0, b1);
    size_t i = a0, j = b0;
    for (auto [x, y] : anchors) {
      align(i, x, j, y);
      pair(x, y);
      i = x + 1;
      j = y + 1;
    }
    align(i, a1, j, b1);
  }

  std::vector<std::pair<size_t, size_t>> anchorsOf(size_t a0, size_t a1,
                                                   size_t b0, size_t b1) const {
    struct Seen {
      size_t inA = 0, inB = 0, i = 0, j = 0;
    };
    std::map<std::string_view, Seen> seen;
    for (size_t i = a0; i < a1; ++i) {
      Seen &s = seen[a[i]];
      ++s.inA;
      s.i = i;
    }
    for (size_t j = b0; j < b1; ++j) {
      Seen &s = seen[b[j]];
      ++s.inB;
      s.j = j;
    }
    std::vector<std::pair<size_t, size_t>> both;
    for (const auto &[text, s] : seen)
      if (s.inA == 1 && s.inB == 1)
        both.push_back({s.i, s.j});
    std::sort(both.begin(), both.end());
    return longestRise(both);
  }

  /// The longest subsequence whose second numbers rise.
  static std::vector<std::pair<size_t, size_t>>
  longestRise(const std::vector<std::pair<size_t, size_t>> &pairs) {
    std::vector<size_t> tails, before(pairs.size(), kUnpaired);
    for (size_t p = 0; p < pairs.size(); ++p) {
      auto at = std::lower_bound(
          tails.begin(), tails.end(), pairs[p].second,
          [&](size_t t, size_t second) { return pairs[t].second < second; });
      if (at != tails.begin())
        before[p] = *(at - 1);
      if (at == tails.end())
        tails.push_back(p);
      else
        *at = p;
    }
    std::vector<std::pair<size_t, size_t>> rise;
    for (size_t p = tails.empty() ? kUnpaired : tails.back(); p != kUnpaired;
         p = before[p])
      rise.push_back(pairs[p]);
    std::reverse(rise.begin(), rise.end());
    return rise;
  }

  /// The longest common subsequence of a part without anchors; of a large one,
  /// items in order as they come.
  void alignSmall(size_t a0, size_t a1, size_t b0, size_t b1) {
    size_t n = a1 - a0, m = b1 - b0;
    if (n * m > 1000000) {
      for (size_t i = a0, j = b0; i < a1; ++i)
        if (auto it = std::find(b.begin() + long(j), b.begin() + long(b1), a[i]);
            it != b.begin() + long(b1)) {
          pair(i, size_t(it - b.begin()));
          j = size_t(it - b.begin()) + 1;
        }
      return;
    }
    std::vector<uint32_t> best((n + 1) * (m + 1));
    auto at = [&](size_t i, size_t j) -> uint32_t & {
      return best[i * (m + 1) + j];
    };
    for (size_t i = n; i-- > 0;)
      for (size_t j = m; j-- > 0;)
        at(i, j) = a[a0 + i] == b[b0 + j]
                       ? at(i + 1, j + 1) + 1
                       : std::max(at(i + 1, j), at(i, j + 1));
    for (size_t i = 0, j = 0; i < n && j < m;)
      if (a[a0 + i] == b[b0 + j])
        pair(a0 + i++, b0 + j++);
      else if (at(i + 1, j) >= at(i, j + 1))
        ++i;
      else
        ++j;
  }

  const std::vector<std::string> &a, &b;
  std::vector<size_t> partner;
};

} // namespace

std::vector<size_t> align(const std::vector<std::string> &a,
                          const std::vector<std::string> &b) {
  return Aligner(a, b).partners();
}

std::vector<size_t> alignTwice(const std::vector<std::string> &strongA,
                               const std::vector<std::string> &strongB,
                               const std::vector<std::string> &weakA,
                               const std::vector<std::string> &weakB) {
  std::vector<size_t> partner = align(strongA, strongB);
  size_t i = 0, j = 0;
  auto fill = [&](size_t endA, size_t endB) {
    std::vector<std::string> a(weakA.begin() + long(i), weakA.begin() + long(endA));
    std::vector<std::string> b(weakB.begin() + long(j), weakB.begin() + long(endB));
    std::vector<size_t> inside = align(a, b);
    for (size_t k = 0; k < inside.size(); ++k)
      if (inside[k] != kUnpaired)
        partner[i + k] = j + inside[k];
  };
  for (size_t end = 0; end < partner.size(); ++end) {
    if (partner[end] == kUnpaired)
      continue;
    size_t other = partner[end];
    fill(end, other);
    i = end + 1;
    j = other + 1;
  }
  fill(strongA.size(), strongB.size());
  return partner;
}

} // namespace aicf
