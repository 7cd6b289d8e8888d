//===- Cpu.cpp - attention on the CPU -------------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Block by block of keys, with the largest score and the sum of each query so far
// (Milakov & Gimelshein 2018; Dao et al. 2022): no more than a tile of scores exists. Its
// columns are queries, so that what is done for a query is done in lanes. A thread does a
// block of queries of one head, so threads do not change bits.
//===----------------------------------------------------------------------===//

#include "kernels/attention/Blocks.h"

#include <cmath>

namespace aicf::cpu {
namespace {

/// A tile of scores, which stays in the first cache with the keys and values that it reads.
constexpr int64_t kTileQueries = 32, kTileKeys = 64;
/// Queries that share copies of keys and values, and their elements.
constexpr int64_t kMostQueries = 256, kQueryElements = 32768;

/// What a thread needs for its queries, and a block of keys.
template <typename C> struct ForwardBuffers {
  alignas(64) C qT[kQueryElements], sums[kQueryElements];
  alignas(64) C k[kBlockElements], v[kBlockElements], scores[kTileQueries * kTileKeys];
  alignas(64) C most[kMostQueries], total[kMostQueries], shrink[kTileQueries];
  C factors[kTileKeys];
};

template <typename T> class Forward {
public:
  using C = Compute<T>;
  explicit Forward(const AttentionArgs &call)
      : call(call), e(call), rules(e, call), wholeV(wholeColumns(e.sizeOfValues)),
        width(std::max(wholeColumns(e.size), wholeV)), keys(blockRows(width, kTileKeys)),
        most(std::min(kMostQueries,
                      kQueryElements / width / kTileQueries * kTileQueries)) {}

  void run() const {
    const int64_t blocks = (e.queries + most - 1) / most;
    parallelFor(e.batches * e.heads * blocks, 1, call->numThreads,
                e.batches * e.heads * e.queries * e.keys * e.size / 8,
                [&](int64_t unit, int64_t, auto set) {
                  ForwardBuffers<C> buffers;
                  const int64_t head = unit / blocks, first = unit % blocks * most;
                  runBlock(set.value, buffers, {head / e.heads, head % e.heads, first, 0},
                           std::min(first + most, e.queries));
                });
  }

private:
  /// Queries [at.i, end) of a head.
  void runBlock(InstructionSet set, ForwardBuffers<C> &x, ScoresAt at,
                int64_t end) const {
    const int64_t kv = at.h / e.group(), first = at.i;
    const HeadRows<const T> q(call.q(), at.b, at.h), k(call.k(), at.b, kv),
        v(call.v(), at.b, kv);
    for (int64_t i = first; i < end; i += kTileQueries)
      wholeColumnsOf(q.row(i), q.pitch, std::min(kTileQueries, end - i), e.size,
                     C(1), x.qT + (i - first) * e.size);
    std::fill_n(x.most, kMostQueries, kHidden<C>);
    std::fill_n(x.total, kMostQueries, C(0));
    std::fill_n(x.sums, (end - first) * wholeV, C(0));
    const int64_t endKey = e.endKey(end - 1);
    for (at.j = e.firstKey(first); at.j < endKey; at.j += keys) {
      const int64_t numKeys = std::min(keys, endKey - at.j);
      // The gradient scales keys, too: its scores have the same bits.
      const RowsOf<C> own =
          wholeRows(k.row(at.j), k.pitch, numKeys, e.size, x.k, C(e.scale));
      const RowsOf<C> values =
          wholeRows(v.row(at.j), v.pitch, numKeys, e.sizeOfValues, x.v);
      for (at.i = first; at.i < end; at.i += kTileQueries) {
        const int64_t last = std::min(at.i + kTileQueries, end) - 1;
        if (e.endKey(last) > at.j && e.firstKey(at.i) < at.j + numKeys)
          addKeys(set, x, at, first, last - at.i + 1, numKeys, own, values);
      }
    }
    at.i = first;
    finish(x, at, end - first);
  }

  /// What a block of keys adds to the queries of a tile; x begins with query `first`.
  void addKeys(InstructionSet set, ForwardBuffers<C> &x, ScoresAt at, int64_t first,
               int64_t count, int64_t numKeys, RowsOf<C> own, RowsOf<C> values) const {
    const int64_t pitch = wholeColumns(count), from = at.i - first;
    C *sums = x.sums + from * wholeV;
    multiply(set, SmallProduct<C>{numKeys, pitch, e.size, own.start, own.pitch, 1,
                                  x.qT + from * e.size, pitch, x.scores, pitch, false});
    rules.finishKeys(at, numKeys, count, pitch, x.scores);
    for (int64_t i = 0; i < pitch; i += kTileColumns)
      makePowers(x.scores + i, numKeys, pitch, x.most + from + i, x.total + from + i,
                 x.shrink + i);
    for (int64_t i = 0; i < count; ++i)
      if (x.shrink[i] != 1)
        multiplyBy(x.shrink[i], wholeV, sums + i * wholeV);
    if (e.drops())
      drop(x, at, count, numKeys, pitch);
    multiply(set, SmallProduct<C>{count, wholeV, numKeys, x.scores, 1, pitch,
                                  values.start, values.pitch, sums, wholeV, true});
  }

  void drop(ForwardBuffers<C> &x, ScoresAt at, int64_t count, int64_t numKeys,
            int64_t pitch) const {
    for (int64_t i = 0; i < count; ++i) {
      rules.drop({at.b, at.h, at.i + i, at.j}, numKeys, x.factors);
      for (int64_t j = 0; j < numKeys; ++j)
        x.scores[j * pitch + i] *= x.factors[j];
    }
  }

  static void multiplyBy(C factor, int64_t count, C *x) {
    AICF_INDEPENDENT_LOOP
    for (int64_t d = 0; d < count; ++d)
      x[d] *= factor;
  }

  /// Does kTileColumns queries, side by side: scores become exp(score - most). Where a
  /// larger score has come, the sums so far are to shrink.
  static void makePowers(C *scores, int64_t numKeys, int64_t pitch, C *most, C *total,
                         C *shrink) {
    C now[kTileColumns], sums[kTileColumns], base[kTileColumns];
    std::copy_n(most, kTileColumns, now);
    for (int64_t j = 0; j < numKeys; ++j) {
      const C *row = scores + j * pitch;
      AICF_INDEPENDENT_LOOP // and one of vectors: unrolled, it is one of scalars
#pragma GCC unroll 1
      for (int64_t lane = 0; lane < kTileColumns; ++lane)
        now[lane] = row[lane] > now[lane] ? row[lane] : now[lane];
    }
    AICF_INDEPENDENT_LOOP
    for (int64_t lane = 0; lane < kTileColumns; ++lane) {
      base[lane] = now[lane] == kHidden<C> ? C(0) : now[lane]; // none is seen yet
      shrink[lane] = now[lane] == most[lane] ? C(1)
                                             : scalar::exp(most[lane] - base[lane]);
      sums[lane] = total[lane] * shrink[lane];
    }
    for (int64_t j = 0; j < numKeys; ++j) {
      C *row = scores + j * pitch;
      AICF_INDEPENDENT_LOOP
      for (int64_t lane = 0; lane < kTileColumns; ++lane) {
        const C power = scalar::exp(row[lane] - base[lane]);
        row[lane] = power;
        sums[lane] += power;
      }
    }
    std::copy_n(now, kTileColumns, most);
    std::copy_n(sums, kTileColumns, total);
  }

  void finish(const ForwardBuffers<C> &x, ScoresAt at, int64_t count) const {
    const HeadRows<T> y(call.y(), at.b, at.h);
    C *lse = call.lse().template dense<C>() + e.rowAt(at.b, at.h, at.i);
    for (int64_t r = 0; r < count; ++r) {
      const C total = x.total[r], inverse = total == 0 ? C(0) : 1 / total;
      const C *sums = x.sums + r * wholeV;
      T *to = y.row(at.i + r);
      AICF_INDEPENDENT_LOOP
      for (int64_t d = 0; d < e.sizeOfValues; ++d)
        to[d] = T(sums[d] * inverse);
      lse[r] = total == 0 ? kHidden<C> : x.most[r] + std::log(total);
    }
  }

  const AttentionArgs &call;
  const AttentionExtents e;
  const ScoreRules<T> rules;
  const int64_t wholeV, width, keys, most;
};

template <typename T> void attention(AttentionArgs call) {
  Forward<T>(call).run();
}

} // namespace

#define AICF_KERNELS_OF_attention_CPU
#include "kernels/Definitions.inc"

} // namespace aicf::cpu
