//===- Extents.h - sizes, strides and numbers of attention ------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// What kernels of all devices read of a call of attention or of one of its gradients.
// Plain structs, which a GPU's kernel takes as parameters, too.
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_ATTENTION_EXTENTS_H
#define AICF_KERNELS_ATTENTION_EXTENTS_H

#include "aicf/TensorDesc.h"
#include "kernels/random/Philox.h"
#include "lib/Base/HostDevice.h"

namespace aicf {

/// Elements from one batch, row or head of a tensor [batch, row, head, size] to the
/// next. Those of a head lie together.
struct HeadStrides {
  int64_t batch = 0, row = 0, head = 0;

  HeadStrides() = default;
  explicit HeadStrides(const TensorDesc &desc)
      : batch(desc.stride(0)), row(desc.stride(1)), head(desc.stride(2)) {}
  AICF_HOST_DEVICE int64_t at(int64_t b, int64_t t, int64_t h) const {
    return b * batch + t * row + h * head;
  }
};

/// The mask as a function of [batch, head, query, key]: 0 elements from one index to the
/// next where it repeats.
struct MaskStrides {
  int64_t batch = 0, head = 0, query = 0, key = 0;

  MaskStrides() = default;
  explicit MaskStrides(const TensorDesc &desc) {
    auto along = [&](size_t i) { return desc.dims[i] == 1 ? 0 : desc.stride(i); };
    batch = along(0), head = along(1), query = along(2), key = along(3);
  }
  AICF_HOST_DEVICE int64_t at(int64_t b, int64_t h, int64_t i) const {
    return b * batch + h * head + i * query;
  }
};

struct AttentionExtents {
  int64_t batches, queries, keys;
  int64_t heads, headsOfKeys, size, sizeOfValues;
  double scale, softcap;
  int64_t left, right, offset; ///< the window: -1 is open
  uint64_t threshold, seed;    ///< dropout: words below are dropped
  double factor;               ///< of what is kept

  template <typename Args> explicit AttentionExtents(const Args &c) {
    const TensorDesc &q = c.q().desc, &k = c.k().desc;
    batches = q.dims[0], queries = q.dims[1], heads = q.dims[2];
    size = q.dims[3], sizeOfValues = c.v().desc.dims[3];
    keys = k.dims[1], headsOfKeys = k.dims[2];
    const auto attrs = c.attrs();
    scale = attrs.scale, softcap = attrs.softcap;
    left = attrs.window_left, right = attrs.window_right, offset = attrs.offset;
    threshold = dropThreshold(attrs.p), seed = uint64_t(attrs.seed);
    factor = 1 / (1 - attrs.p);
  }

  AICF_HOST_DEVICE bool drops() const { return threshold > 0; }
  AICF_HOST_DEVICE int64_t group() const { return heads / headsOfKeys; }
  /// The keys that the window shows to query i: [firstKey, endKey), which may be empty.
  AICF_HOST_DEVICE int64_t firstKey(int64_t i) const {
    return left < 0 ? 0 : inRange(i + offset - left, keys);
  }
  AICF_HOST_DEVICE int64_t endKey(int64_t i) const {
    return right < 0 ? keys : inRange(i + offset + right + 1, keys);
  }
  /// The queries that see key j: [firstQuery, endQuery).
  AICF_HOST_DEVICE int64_t firstQuery(int64_t j) const {
    return right < 0 ? 0 : inRange(j - offset - right, queries);
  }
  AICF_HOST_DEVICE int64_t endQuery(int64_t j) const {
    return left < 0 ? queries : inRange(j - offset + left + 1, queries);
  }
  /// The number of an element of the scores, by which weights are dropped.
  AICF_HOST_DEVICE uint64_t elementAt(int64_t b, int64_t h, int64_t i,
                                      int64_t j) const {
    return uint64_t(((b * heads + h) * queries + i) * keys + j);
  }
  /// The place of a query in lse.
  AICF_HOST_DEVICE int64_t rowAt(int64_t b, int64_t h, int64_t i) const {
    return (b * heads + h) * queries + i;
  }

private:
  AICF_HOST_DEVICE static int64_t inRange(int64_t i, int64_t end) {
    return i < 0 ? 0 : i < end ? i : end;
  }
};

} // namespace aicf

#endif // AICF_KERNELS_ATTENTION_EXTENTS_H
