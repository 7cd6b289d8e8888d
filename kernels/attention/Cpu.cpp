//===- Cpu.cpp - attention on the CPU -------------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Block by block of keys, with the largest score and the sum of each row so far
// (Milakov & Gimelshein 2018; Dao et al. 2022): no more than a tile of scores exists. A
// thread does a block of queries of one head, so threads do not change bits.
//===----------------------------------------------------------------------===//

#include "kernels/attention/Blocks.h"

#include <cmath>

namespace aicf::cpu {
namespace {

/// Sums for y of so many elements: queries that share what a block of keys is made into.
constexpr int64_t kSums = 32768, kMostQueries = 256;

/// What a thread needs for a block of queries.
template <typename C> struct ForwardBuffers {
  alignas(64) C q[kBlockElements], kT[kBlockElements], v[kBlockElements];
  alignas(64) C scores[kTileElements], sums[kSums], factors[kMostKeys];
  C most[kMostQueries], total[kMostQueries];
};

template <typename T> class Forward {
public:
  using C = Compute<T>;
  explicit Forward(const AttentionArgs &call)
      : call(call), e(call), rules(e, call), wholeV(wholeColumns(e.sizeOfValues)),
        rows(blockRows(std::max(e.size, e.sizeOfValues))),
        keys(blockRows(std::max(e.size, e.sizeOfValues), kMostKeys)),
        most(std::min(kMostQueries, kSums / wholeV)) {}

  void run() const {
    const int64_t blocks = (e.queries + most - 1) / most;
    parallelFor(e.batches * e.heads * blocks, 1, call->numThreads,
                e.batches * e.heads * e.queries * e.keys * e.size / 8,
                [&](int64_t unit, int64_t, auto set) {
                  ForwardBuffers<C> buffers;
                  const int64_t head = unit / blocks,
                                first = unit % blocks * most;
                  runBlock(set.value, buffers, head / e.heads, head % e.heads,
                           first, std::min(first + most, e.queries));
                });
  }

private:
  /// Queries [first, end) of head h in batch b.
  void runBlock(InstructionSet set, ForwardBuffers<C> &x, int64_t b, int64_t h,
                int64_t first, int64_t end) const {
    const int64_t kv = h / e.group();
    const HeadRows<const T> k(call.k(), b, kv), v(call.v(), b, kv);
    std::fill_n(x.most, end - first, kHidden<C>);
    std::fill_n(x.total, end - first, C(0));
    std::fill_n(x.sums, (end - first) * wholeV, C(0));
    const int64_t endKey = e.endKey(end - 1);
    for (int64_t j = e.firstKey(first); j < endKey; j += keys) {
      const int64_t count = std::min(keys, endKey - j);
      const RowsOf<C> kT =
          wholeColumnsOf(k.row(j), k.pitch, count, e.size, C(e.scale), x.kT);
      const RowsOf<C> values =
          wholeRows(v.row(j), v.pitch, count, e.sizeOfValues, x.v);
      for (int64_t i = first; i < end; i += rows) {
        const int64_t last = std::min(i + rows, end) - 1;
        if (e.endKey(last) <= j || e.firstKey(i) >= j + count)
          continue; // none of these is seen
        addKeys(set, x, {b, h, i, j}, first, last - i + 1, count, kT, values);
      }
    }
    finish(x, b, h, first, end);
  }

  /// What a block of keys adds to `queries` rows.
  void addKeys(InstructionSet set, ForwardBuffers<C> &x, ScoresAt at,
               int64_t first, int64_t queries, int64_t count, RowsOf<C> kT,
               RowsOf<C> values) const {
    const HeadRows<const T> q(call.q(), at.b, at.h);
    const RowsOf<C> own = wholeRows(q.row(at.i), q.pitch, queries, e.size, x.q);
    multiply(set, SmallProduct<C>{queries, kT.pitch, e.size, own.start, own.pitch, 1,
                                  kT.start, kT.pitch, x.scores, kT.pitch, false});
    for (int64_t r = 0; r < queries; ++r) {
      C *scores = x.scores + r * kT.pitch;
      const int64_t row = at.i - first + r;
      rules.finish({at.b, at.h, at.i + r, at.j}, count, kT.pitch, scores, nullptr);
      addRow({at.b, at.h, at.i + r, at.j}, count, kT.pitch, scores, x,
             x.most[row], x.total[row], x.sums + row * wholeV);
    }
    multiply(set, SmallProduct<C>{queries, wholeV, count, x.scores, kT.pitch, 1,
                                  values.start, values.pitch,
                                  x.sums + (at.i - first) * wholeV, wholeV, true});
  }

  /// Makes weights of scores. Where a larger score has come, the sums so far shrink.
  void addRow(ScoresAt at, int64_t count, int64_t whole, C *scores,
              ForwardBuffers<C> &x, C &most, C &total, C *sums) const {
    const C now = mostOf(scores, whole, most);
    const C base = now == kHidden<C> ? C(0) : now; // none is seen yet
    const C sum = makePowers(scores, whole, base);
    if (now != most) {
      const C shrink = scalar::exp(most - base);
      total *= shrink;
      AICF_INDEPENDENT_LOOP
      for (int64_t d = 0; d < wholeV; ++d)
        sums[d] *= shrink;
      most = now;
    }
    total += sum;
    if (!e.drops())
      return;
    rules.drop(at, count, x.factors);
    for (int64_t j = 0; j < count; ++j)
      scores[j] *= x.factors[j];
  }

  void finish(const ForwardBuffers<C> &x, int64_t b, int64_t h, int64_t first,
              int64_t end) const {
    const HeadRows<T> y(call.y(), b, h);
    C *lse = call.lse().template dense<C>() + e.rowAt(b, h, first);
    for (int64_t r = 0; r < end - first; ++r) {
      const C total = x.total[r], inverse = total == 0 ? C(0) : 1 / total;
      const C *sums = x.sums + r * wholeV;
      T *to = y.row(first + r);
      AICF_INDEPENDENT_LOOP
      for (int64_t d = 0; d < e.sizeOfValues; ++d)
        to[d] = T(sums[d] * inverse);
      lse[r] = total == 0 ? kHidden<C> : x.most[r] + std::log(total);
    }
  }

  const AttentionArgs &call;
  const AttentionExtents e;
  const ScoreRules<T> rules;
  const int64_t wholeV, rows, keys, most;
};

template <typename T> void attention(AttentionArgs call) {
  Forward<T>(call).run();
}

} // namespace

#define AICF_KERNELS_OF_attention_CPU
#include "kernels/Definitions.inc"

} // namespace aicf::cpu
