//===- Blocks.h - blocks of scores on the CPU -------------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// What attention and its gradients share: rows of heads as the products want them, and
// what becomes of a row of q · kᵀ. All is in the type that is computed in, C, in buffers
// of a thread.
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_ATTENTION_BLOCKS_H
#define AICF_KERNELS_ATTENTION_BLOCKS_H

#include "kernels/attention/Extents.h"
#include "kernels/attention/Tiles.h"
#include "kernels/cpu/KernelDecls.h"
#include "kernels/pointwise/Scalars.h"
#include "lib/Base/Indices.h"

#include <algorithm>
#include <limits>

namespace aicf::cpu {

/// Elements of a buffer, for rows of a block or for the same as columns.
inline constexpr int64_t kBlockElements = 16384;
inline constexpr int64_t kMostBlockRows = 64;
/// Rows of a block whose vectors have up to `size` elements: whole columns, too.
inline int64_t blockRows(int64_t size, int64_t most = kMostBlockRows) {
  return std::min(most, kBlockElements / wholeColumns(size) / kTileColumns *
                            kTileColumns);
}
/// A tile of scores of the gradient: keys are its columns.
inline constexpr int64_t kTileElements = kMostBlockRows * kMostBlockRows;

template <typename C> inline constexpr C kHidden = -std::numeric_limits<C>::infinity();

/// Rows of `pitch` elements.
template <typename C> struct RowsOf {
  const C *start;
  int64_t pitch;
};

/// `count` rows of `width` elements times `scale`, as C, behind which there are zeros up to
/// whole columns: where they lie, if one stands behind the other, else a copy in `buffer`.
/// Products read them several times, at two thirds of their rate if rows are apart.
template <typename T, typename C>
inline RowsOf<C> wholeRows(const T *from, int64_t pitch, int64_t count, int64_t width,
                           C *buffer, C scale = C(1)) {
  const int64_t whole = wholeColumns(width);
  if constexpr (std::is_same_v<T, C>)
    if (width == whole && pitch == whole && scale == 1)
      return {from, pitch};
  for (int64_t r = 0; r < count; ++r) {
    const T *row = from + r * pitch;
    C *to = buffer + r * whole;
    AICF_INDEPENDENT_LOOP
    for (int64_t d = 0; d < width; ++d)
      to[d] = C(row[d]) * scale;
    std::fill(to + width, to + whole, C(0));
  }
  return {buffer, whole};
}
/// The same rows as columns, times `scale`.
template <typename T, typename C>
inline RowsOf<C> wholeColumnsOf(const T *from, int64_t pitch, int64_t count,
                                int64_t width, C scale, C *buffer) {
  const int64_t whole = wholeColumns(count);
  for (int64_t d = 0; d < width; ++d) {
    C *to = buffer + d * whole;
    for (int64_t r = 0; r < count; ++r)
      to[r] = C(from[r * pitch + d]) * scale;
    std::fill(to + count, to + whole, C(0));
  }
  return {buffer, whole};
}

/// The sum of term(j), for j in [0, count).
template <typename C, typename Term>
inline C sumInLanes(int64_t count, Term term) {
  C lanes[kTileColumns] = {};
  int64_t j = 0;
  for (; j + kTileColumns <= count; j += kTileColumns)
    for (int64_t lane = 0; lane < kTileColumns; ++lane)
      lanes[lane] += term(j + lane);
  for (int64_t lane = 0; j < count; ++j, ++lane)
    lanes[lane] += term(j);
  for (int64_t half = kTileColumns / 2; half > 0; half /= 2)
    for (int64_t lane = 0; lane < half; ++lane)
      lanes[lane] += lanes[lane + half];
  return lanes[0];
}

/// Where a tile or a row of it starts: query i of head h in batch b, key j.
struct ScoresAt {
  int64_t b, h, i, j;
};

/// Makes scores of scale · q · kᵀ, and says what is dropped of their weights.
template <typename T> class ScoreRules {
public:
  using C = Compute<T>;

  template <typename Args>
  ScoreRules(const AttentionExtents &e, const Args &call) : e(e) {
    if (const TensorView *given = present(call.mask())) {
      mask = given->start();
      maskType = given->desc.dtype;
      strides = MaskStrides(given->desc);
    }
    if (call.segments())
      segments = call.segments()->template dense<int32_t>();
    if (e.drops())
      step = uint64_t(Indices(*call.step())[0]);
  }

  /// Makes the scores of `count` keys of products; behind them, up to `whole`, all are
  /// hidden. `slopes`, unless null, gets the slope of the softcap.
  void finish(ScoresAt at, int64_t count, int64_t whole, C *scores,
              C *slopes) const {
    if (e.softcap > 0)
      bend(count, scores, slopes);
    if (mask)
      putMask(at, strides.key, count, scores);
    if (segments)
      putSegments(at.b, at.i, at.j, count, scores);
    const int64_t first = std::clamp(e.firstKey(at.i) - at.j, int64_t(0), count);
    const int64_t end = std::clamp(e.endKey(at.i) - at.j, first, count);
    std::fill(scores, scores + first, kHidden<C>);
    std::fill(scores + end, scores + whole, kHidden<C>);
  }

  /// The same of a tile whose rows, of `pitch`, are keys, and whose columns are queries.
  void finishKeys(ScoresAt at, int64_t numKeys, int64_t queries, int64_t pitch,
                  C *scores) const {
    if (e.softcap > 0)
      bend(numKeys * pitch, scores, nullptr);
    for (int64_t j = at.j; j < at.j + numKeys; ++j, scores += pitch) {
      if (mask)
        putMask({at.b, at.h, at.i, j}, strides.query, queries, scores);
      if (segments)
        putSegments(at.b, j, at.i, queries, scores);
      const int64_t first = std::clamp(e.firstQuery(j) - at.i, int64_t(0), queries);
      const int64_t end = std::clamp(e.endQuery(j) - at.i, first, queries);
      std::fill(scores, scores + first, kHidden<C>);
      std::fill(scores + end, scores + queries, kHidden<C>);
    }
  }

  /// factors[j]: 0 where the weight of key at.j + j is dropped, else what it is
  /// multiplied by.
  void drop(ScoresAt at, int64_t count, C *factors) const {
    const uint64_t first = e.elementAt(at.b, at.h, at.i, at.j);
    const C factor = C(e.factor);
    for (int64_t j = 0; j < count;) {
      const uint64_t element = first + uint64_t(j);
      const PhiloxWords words = philox(e.seed, element / 4, step);
      for (uint64_t word = element % 4; word < 4 && j < count; ++word, ++j)
        factors[j] = words.at[word] >= e.threshold ? factor : C(0);
    }
  }

private:
  static const TensorView *present(const TensorView &view) { return &view; }
  static const TensorView *present(const TensorView *view) { return view; }

  void bend(int64_t count, C *scores, C *slopes) const {
    const C cap = C(e.softcap), inverse = 1 / cap;
    AICF_INDEPENDENT_LOOP
    for (int64_t j = 0; j < count; ++j) {
      const C bent = scalar::tanh(scores[j] * inverse);
      scores[j] = cap * bent;
      if (slopes)
        slopes[j] = 1 - bent * bent;
    }
  }
  template <typename M>
  static void addMask(const M *from, int64_t stride, int64_t count, C *scores) {
    AICF_INDEPENDENT_LOOP
    for (int64_t j = 0; j < count; ++j)
      scores[j] += C(from[j * stride]);
  }
  /// The mask's elements from `at` on, `stride` apart.
  void putMask(ScoresAt at, int64_t stride, int64_t count, C *scores) const {
    const int64_t first =
        strides.at(at.b, at.h, at.i) + at.j * strides.key;
    if (maskType == DType::I1) {
      const auto *from = static_cast<const uint8_t *>(mask) + first;
      AICF_INDEPENDENT_LOOP
      for (int64_t j = 0; j < count; ++j)
        scores[j] = from[j * stride] ? scores[j] : kHidden<C>;
    } else if (maskType == DType::F32) {
      addMask(static_cast<const float *>(mask) + first, stride, count, scores);
    } else {
      addMask(static_cast<const T *>(mask) + first, stride, count, scores);
    }
  }
  /// Hides those of `count` places from `first` on that have another segment than `one`.
  void putSegments(int64_t b, int64_t one, int64_t first, int64_t count,
                   C *scores) const {
    const int32_t *all = segments + b * e.keys, mine = all[one];
    AICF_INDEPENDENT_LOOP
    for (int64_t j = 0; j < count; ++j)
      scores[j] = all[first + j] == mine ? scores[j] : kHidden<C>;
  }

  const AttentionExtents &e;
  const void *mask = nullptr;
  DType maskType = DType::F32;
  MaskStrides strides;
  const int32_t *segments = nullptr;
  uint64_t step = 0;
};

/// The start of a head of a tensor, and elements from one of its rows to the next.
template <typename T> struct HeadRows {
  T *start;
  int64_t pitch;

  HeadRows(const TensorView &tensor, int64_t b, int64_t h)
      : start(tensor.strided<T>() + HeadStrides(tensor.desc).at(b, 0, h)),
        pitch(HeadStrides(tensor.desc).row) {}
  T *row(int64_t i) const { return start + i * pitch; }
};

} // namespace aicf::cpu

#endif // AICF_KERNELS_ATTENTION_BLOCKS_H
