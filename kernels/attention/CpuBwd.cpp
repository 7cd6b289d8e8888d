//===- CpuBwd.cpp - gradients of attention on the CPU ---------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Weights are computed again from lse, tile by tile.
//===----------------------------------------------------------------------===//

#include "kernels/attention/Blocks.h"

namespace aicf::cpu {
namespace {

/// The most queries of a block, of each of which a thread keeps a number.
constexpr int64_t kMostMeans = 256;

/// What a thread needs for blocks of gradients.
template <typename C> struct BackwardBuffers {
  alignas(64) C q[kBlockElements], dy[kBlockElements];
  alignas(64) C k[kBlockElements], kT[kBlockElements], vT[kBlockElements];
  alignas(64) C dk[kBlockElements], dv[kBlockElements], dq[kBlockElements];
  alignas(64) C weights[kTileElements], slopes[kTileElements];
  C factors[kMostBlockRows], bend[kMostBlockRows], means[kMostMeans];
};

/// Blocks of the gradient of scores, and what becomes of them.
template <typename T, typename Args> class Backward {
public:
  using C = Compute<T>;
  using Buffers = BackwardBuffers<C>;
  explicit Backward(const Args &call)
      : call(call), e(call), rules(e, call),
        rows(blockRows(std::max(e.size, e.sizeOfValues))),
        wholeE(wholeColumns(e.size)), wholeV(wholeColumns(e.sizeOfValues)) {}

  /// A block of keys as products read it.
  struct Keys {
    int64_t first, count;
    RowsOf<C> k, kT, vT;
  };
  Keys keysAt(Buffers &x, int64_t b, int64_t kv, int64_t j) const {
    const HeadRows<const T> k(call.k(), b, kv), v(call.v(), b, kv);
    const int64_t count = std::min(rows, e.keys - j);
    return {j, count, wholeRows(k.row(j), k.pitch, count, e.size, x.k),
            wholeColumnsOf(k.row(j), k.pitch, count, e.size, C(e.scale), x.kT),
            wholeColumnsOf(v.row(j), v.pitch, count, e.sizeOfValues, C(1), x.vT)};
  }
  /// A block of queries, the gradient of their results, and of each the mean slope of its
  /// weights, which is Σ dy · y.
  struct Queries {
    int64_t first, count;
    RowsOf<C> q, dy;
    const C *means;

    Queries part(int64_t i, int64_t most) const {
      const int64_t from = i - first;
      return {i, std::min(most, count - from), {q.start + from * q.pitch, q.pitch},
              {dy.start + from * dy.pitch, dy.pitch}, means + from};
    }
  };
  Queries queriesAt(Buffers &x, int64_t b, int64_t h, int64_t i, int64_t most) const {
    const HeadRows<const T> q(call.q(), b, h), dy(call.dy(), b, h), y(call.y(), b, h);
    const int64_t count = std::min(most, e.queries - i);
    const Queries all{
        i, count, wholeRows(q.row(i), q.pitch, count, e.size, x.q),
        wholeRows(dy.row(i), dy.pitch, count, e.sizeOfValues, x.dy), x.means};
    for (int64_t r = 0; r < count; ++r) {
      const T *own = y.row(i + r);
      const C *slope = all.dy.start + r * all.dy.pitch;
      x.means[r] = sumInLanes<C>(e.sizeOfValues,
                                 [=](int64_t d) { return slope[d] * C(own[d]); });
    }
    return all;
  }
  /// True if the window hides these keys from all of the queries.
  bool areApart(int64_t i, int64_t j) const {
    const int64_t lastQuery = std::min(i + rows, e.queries) - 1;
    return e.endKey(lastQuery) <= j || e.firstKey(i) >= std::min(j + rows, e.keys);
  }

  /// weights: those that values are multiplied by. slopes: d loss / d scores, or where
  /// it is `ofProducts`, / d (q · kᵀ).
  void makeTile(InstructionSet set, Buffers &x, int64_t b, int64_t h,
                const Queries &queries, const Keys &keys, bool ofProducts) const {
    const int64_t pitch = keys.kT.pitch;
    multiply(set, SmallProduct<C>{queries.count, pitch, e.size, queries.q.start,
                                  queries.q.pitch, 1, keys.kT.start, pitch,
                                  x.weights, pitch, false});
    multiply(set, SmallProduct<C>{queries.count, pitch, e.sizeOfValues,
                                  queries.dy.start, queries.dy.pitch, 1,
                                  keys.vT.start, pitch, x.slopes, pitch, false});
    for (int64_t r = 0; r < queries.count; ++r)
      makeRow({b, h, queries.first + r, keys.first}, keys.count, pitch, queries.means[r],
              x, x.weights + r * pitch, x.slopes + r * pitch, ofProducts);
  }

  const Args &call;
  const AttentionExtents e;
  const ScoreRules<T> rules;
  const int64_t rows, wholeE, wholeV;

private:
  void makeRow(ScoresAt at, int64_t count, int64_t whole, C mean, Buffers &x,
               C *weights, C *slopes, bool ofProducts) const {
    const bool bends = ofProducts && e.softcap > 0;
    rules.finish(at, count, whole, weights, bends ? x.bend : nullptr);
    const C lse = call.lse().template dense<C>()[e.rowAt(at.b, at.h, at.i)];
    if (lse == kHidden<C>) { // none is seen
      std::fill_n(weights, whole, C(0));
      std::fill_n(slopes, whole, C(0));
      return;
    }
    if (e.drops())
      rules.drop(at, count, x.factors);
    else
      std::fill_n(x.factors, count, C(1));
    const C scale = ofProducts ? C(e.scale) : C(1);
    const C *factors = x.factors;
    AICF_INDEPENDENT_LOOP
    for (int64_t j = 0; j < count; ++j) {
      const C weight = scalar::exp(weights[j] - lse);
      const C slope = weight * (factors[j] * slopes[j] - mean) * scale;
      slopes[j] = weight == 0 ? C(0) : slope;
      weights[j] = weight * factors[j];
    }
    for (int64_t j = 0; bends && j < count; ++j)
      slopes[j] *= x.bend[j];
    std::fill(weights + count, weights + whole, C(0));
    std::fill(slopes + count, slopes + whole, C(0));
  }
};

/// dq, dk and dv. A thread has a head, or where there are few, a block of keys, whose dk
/// and dv it adds up over queries; then dq comes from a second pass.
template <typename T> class Gradients : Backward<T, AttentionBwdArgs> {
public:
  using Base = Backward<T, AttentionBwdArgs>;
  using C = typename Base::C;
  using Buffers = typename Base::Buffers;
  using Base::Base;

  void run() const {
    const int64_t heads = e.batches * e.headsOfKeys;
    const int64_t blocks = (e.keys + rows - 1) / rows;
    const int64_t work = e.batches * e.heads * e.queries * e.keys * e.size / 4;
    // The shape decides, and not the number of threads.
    if constexpr (std::is_same_v<T, C>)
      if (e.size == wholeE && e.sizeOfValues == wholeV && heads >= kManyHeads)
        return parallelFor(heads, 1, call->numThreads, work,
                           [&](int64_t head, int64_t, auto set) {
                             Buffers x;
                             ofHead(set.value, x, head);
                           });
    parallelFor(heads * blocks, 1, call->numThreads, work,
                [&](int64_t unit, int64_t, auto set) {
                  Buffers x;
                  ofKeys(set.value, x, unit / blocks, unit % blocks * rows);
                });
    const int64_t queryBlocks = (e.queries + rows - 1) / rows;
    parallelFor(e.batches * e.heads * queryBlocks, 1, call->numThreads, work,
                [&](int64_t unit, int64_t, auto set) {
                  Buffers x;
                  ofQueries(set.value, x, unit / queryBlocks,
                            unit % queryBlocks * rows);
                });
  }

private:
  using Base::call, Base::e, Base::rows, Base::wholeE, Base::wholeV;
  using Keys = typename Base::Keys;
  using Queries = typename Base::Queries;
  /// So many heads keep the threads of a machine busy.
  static constexpr int64_t kManyHeads = 8;

  /// A head of keys, and the heads of q that share it: dk and dv are added up where they
  /// stay. T is C.
  void ofHead(InstructionSet set, Buffers &x, int64_t head) const {
    const int64_t b = head / e.headsOfKeys, kv = head % e.headsOfKeys;
    const HeadRows<T> dk(call.dk(), b, kv), dv(call.dv(), b, kv);
    for (int64_t j = 0; j < e.keys; ++j) {
      std::fill_n(dk.row(j), e.size, T(0.0f));
      std::fill_n(dv.row(j), e.sizeOfValues, T(0.0f));
    }
    const int64_t width = std::max(wholeE, wholeV);
    const int64_t most = std::min(kMostMeans, kBlockElements / width) / rows * rows;
    for (int64_t h = kv * e.group(); h < (kv + 1) * e.group(); ++h)
      for (int64_t i = 0; i < e.queries; i += most)
        ofQueriesOfHead(set, x, b, h, this->queriesAt(x, b, h, i, most));
  }

  void ofQueriesOfHead(InstructionSet set, Buffers &x, int64_t b, int64_t h,
                       const Queries &all) const {
    const int64_t kv = h / e.group();
    const HeadRows<T> dk(call.dk(), b, kv), dv(call.dv(), b, kv);
    std::fill_n(x.dq, all.count * wholeE, C(0));
    const int64_t end = all.first + all.count, endKey = e.endKey(end - 1);
    for (int64_t j = e.firstKey(all.first) / rows * rows; j < endKey; j += rows) {
      const Keys keys = this->keysAt(x, b, kv, j);
      for (int64_t i = all.first; i < end; i += rows) {
        if (this->areApart(i, j))
          continue;
        const Queries queries = all.part(i, rows);
        this->makeTile(set, x, b, h, queries, keys, true);
        addToKeys(set, x, queries, keys, {dk.row(j), dk.pitch}, {dv.row(j), dv.pitch});
        addDq(set, x, queries, keys, x.dq + (i - all.first) * wholeE, wholeE);
      }
    }
    store(x.dq, wholeE, all.count, e.size, HeadRows<T>(call.dq(), b, h), all.first);
  }

  struct Sums {
    C *start;
    int64_t pitch;
  };
  /// What a tile is worth to dk and dv.
  void addToKeys(InstructionSet set, Buffers &x, const Queries &queries,
                 const Keys &keys, Sums dk, Sums dv) const {
    const int64_t pitch = keys.kT.pitch;
    multiply(set, SmallProduct<C>{keys.count, wholeV, queries.count, x.weights, 1, pitch,
                                  queries.dy.start, queries.dy.pitch, dv.start, dv.pitch,
                                  true});
    multiply(set, SmallProduct<C>{keys.count, wholeE, queries.count, x.slopes, 1, pitch,
                                  queries.q.start, queries.q.pitch, dk.start, dk.pitch,
                                  true});
  }

  /// dk and dv of a block of keys.
  void ofKeys(InstructionSet set, Buffers &x, int64_t head, int64_t j) const {
    const int64_t b = head / e.headsOfKeys, kv = head % e.headsOfKeys;
    const Keys keys = this->keysAt(x, b, kv, j);
    std::fill_n(x.dk, keys.count * wholeE, C(0));
    std::fill_n(x.dv, keys.count * wholeV, C(0));
    for (int64_t h = kv * e.group(); h < (kv + 1) * e.group(); ++h) {
      for (int64_t i = 0; i < e.queries; i += rows) {
        if (this->areApart(i, j))
          continue;
        const Queries queries = this->queriesAt(x, b, h, i, rows);
        this->makeTile(set, x, b, h, queries, keys, true);
        addToKeys(set, x, queries, keys, {x.dk, wholeE}, {x.dv, wholeV});
      }
    }
    store(x.dk, wholeE, keys.count, e.size, HeadRows<T>(call.dk(), b, kv), j);
    store(x.dv, wholeV, keys.count, e.sizeOfValues, HeadRows<T>(call.dv(), b, kv), j);
  }

  /// dq of a block of queries.
  void ofQueries(InstructionSet set, Buffers &x, int64_t head, int64_t i) const {
    const int64_t b = head / e.heads, h = head % e.heads;
    const Queries queries = this->queriesAt(x, b, h, i, rows);
    std::fill_n(x.dq, queries.count * wholeE, C(0));
    for (int64_t j = 0; j < e.keys; j += rows) {
      if (this->areApart(i, j))
        continue;
      const Keys keys = this->keysAt(x, b, h / e.group(), j);
      this->makeTile(set, x, b, h, queries, keys, true);
      addDq(set, x, queries, keys, x.dq, wholeE);
    }
    store(x.dq, wholeE, queries.count, e.size, HeadRows<T>(call.dq(), b, h), i);
  }

  void addDq(InstructionSet set, Buffers &x, const Queries &queries, const Keys &keys,
             C *dq, int64_t pitch) const {
    multiply(set, SmallProduct<C>{queries.count, wholeE, keys.count, x.slopes,
                                  keys.kT.pitch, 1, keys.k.start, keys.k.pitch, dq,
                                  pitch, true});
  }

  static void store(const C *from, int64_t pitch, int64_t count, int64_t width,
                    HeadRows<T> to, int64_t first) {
    for (int64_t r = 0; r < count; ++r) {
      T *row = to.row(first + r);
      const C *sums = from + r * pitch;
      AICF_INDEPENDENT_LOOP
      for (int64_t d = 0; d < width; ++d)
        row[d] = T(sums[d]);
    }
  }
};

template <typename T> void attentionBwd(AttentionBwdArgs call) {
  Gradients<T>(call).run();
}

/// dmask: a thread has the rows of a block of queries, or the one row that all queries
/// share, of a head of the mask.
template <typename T> class MaskGradient : Backward<T, AttentionMaskBwdArgs> {
public:
  using Base = Backward<T, AttentionMaskBwdArgs>;
  using C = typename Base::C;
  using Buffers = typename Base::Buffers;
  explicit MaskGradient(const AttentionMaskBwdArgs &call)
      : Base(call), dims(call.dmask().desc.dims) {}

  void run() const {
    const int64_t blocks = dims[2] == 1 ? 1 : (e.queries + rows - 1) / rows;
    parallelFor(dims[0] * dims[1] * blocks, 1, call->numThreads,
                e.batches * e.heads * e.queries * e.keys * e.size / 8,
                [&](int64_t unit, int64_t, auto set) {
                  Buffers x;
                  ofRows(set.value, x, unit / blocks, unit % blocks * rows);
                });
  }

private:
  using Base::call, Base::e, Base::rows;
  const int64_t *dims;

  /// Rows of head `head` of the mask: one, or those of the block at query i.
  void ofRows(InstructionSet set, Buffers &x, int64_t head, int64_t i) const {
    const int64_t count = dims[2] == 1 ? 1 : std::min(rows, e.queries - i);
    C *sums = x.dk; // [count, rows]
    std::fill_n(sums, count * rows, C(0));
    for (int64_t j = 0; j < e.keys; j += rows) {
      addKeys(set, x, head, i, j, sums);
      if (dims[3] == 1)
        continue; // all keys add to one column
      store(sums, head, i, count, j, std::min(rows, e.keys - j));
      std::fill_n(sums, count * rows, C(0));
    }
    if (dims[3] == 1)
      store(sums, head, i, count, 0, 1);
  }

  /// What a block of keys is worth, over all batches, heads and queries that share these
  /// rows.
  void addKeys(InstructionSet set, Buffers &x, int64_t head, int64_t i, int64_t j,
               C *sums) const {
    const int64_t b = head / dims[1], h = head % dims[1];
    const int64_t endBatch = dims[0] == 1 ? e.batches : b + 1;
    const int64_t endHead = dims[1] == 1 ? e.heads : h + 1;
    const int64_t endQuery = dims[2] == 1 ? e.queries : i + 1;
    for (int64_t batch = b; batch < endBatch; ++batch)
      for (int64_t each = h; each < endHead; ++each)
        for (int64_t first = i; first < endQuery; first += rows)
          if (!this->areApart(first, j))
            addTile(set, x, batch, each, first, j, sums);
  }

  void addTile(InstructionSet set, Buffers &x, int64_t b, int64_t h, int64_t i,
               int64_t j, C *sums) const {
    const auto keys = this->keysAt(x, b, h / e.group(), j);
    const auto queries = this->queriesAt(x, b, h, i, rows);
    this->makeTile(set, x, b, h, queries, keys, false);
    for (int64_t r = 0; r < queries.count; ++r) {
      C *row = sums + (dims[2] == 1 ? 0 : r * rows);
      const C *slopes = x.slopes + r * keys.kT.pitch;
      for (int64_t k = 0; k < keys.count; ++k)
        row[dims[3] == 1 ? 0 : k] += slopes[k];
    }
  }

  void store(const C *sums, int64_t head, int64_t i, int64_t count, int64_t j,
             int64_t keys) const {
    const TensorView &dmask = call.dmask();
    for (int64_t r = 0; r < count; ++r)
      for (int64_t k = 0; k < keys; ++k) {
        const int64_t at = (head * dims[2] + i + r) * dims[3] + j + k;
        if (dmask.desc.dtype == DType::F32)
          dmask.dense<float>()[at] = float(sums[r * rows + k]);
        else
          dmask.dense<T>()[at] = T(sums[r * rows + k]);
      }
  }
};

template <typename T> void attentionMaskBwd(AttentionMaskBwdArgs call) {
  MaskGradient<T>(call).run();
}

} // namespace

#define AICF_KERNELS_OF_attention_bwd_CPU
#include "kernels/Definitions.inc"

} // namespace aicf::cpu
