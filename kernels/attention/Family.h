//===- Family.h - what kernels of attention take ----------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_ATTENTION_FAMILY_H
#define AICF_KERNELS_ATTENTION_FAMILY_H

#include "lib/Ops/RuleCall.h"

#include <cstdint>
#include <initializer_list>
#include <limits>

namespace aicf::families {

inline constexpr uint64_t kAttentionWorkspaceBytes = uint64_t(1) << 32;

/// A number of f32 for each query of each head.
inline uint64_t rowsWorkspace(const AttentionBwdView<rules::Call> &c) {
  return 4 * uint64_t(c.lse()->elements());
}

/// Heads that are vectors of 16 bytes, of up to 128 elements.
inline bool areVectors(std::initializer_list<rules::Operand> heads) {
  for (const rules::Operand &x : heads) {
    const int64_t ofVector = 16 / int64_t(sizeOf(x->dtype));
    if (x->width() > 128 || x->width() % ofVector != 0)
      return false;
    for (size_t i = 0; i < 3; ++i)
      if (x->dims[i] != 1 && x->stride(i) % ofVector != 0)
        return false;
  }
  return true;
}
inline bool areVectorsOfHeads(const AttentionView<rules::Call> &c) {
  return areVectors({c.q(), c.k(), c.v(), c.y()});
}
inline bool areVectorsOfHeads(const AttentionBwdView<rules::Call> &c) {
  return areVectors({c.dy(), c.q(), c.k(), c.v(), c.y(), c.dq(), c.dk(), c.dv()});
}

/// What cuDNN may ask for beside whole matrices (benchmarks/results says what it did).
inline constexpr uint64_t kCudnnSlackBytes = 4096;
/// A plan holds the largest workspace of its calls once a stream.
inline constexpr uint64_t kCudnnWorkspaceBytes = uint64_t(1) << 31;

/// Scores without a mask, segments, a softcap or dropout, where every query sees a key:
/// all of them, or those up to its own place, from the top or aligned to the end, and a
/// window of these.
template <typename View> bool isPlainWindow(const View &c) {
  const auto attrs = c.attrs();
  if (c.mask() || c.segments() || attrs.softcap != 0 || attrs.p != 0)
    return false;
  const int64_t queries = c.q()->dims[1], keys = c.k()->dims[1];
  if (attrs.window_left < 0 && attrs.window_right < 0)
    return true;
  const bool fromTop = attrs.offset == 0, toEnd = attrs.offset == keys - queries;
  return attrs.window_right == 0 && queries <= keys && (fromTop || toEnd);
}

/// Heads that do not repeat, and a factor that leaves the order of scores as it is: fused
/// kernels take the largest score before they multiply.
inline bool doesRepeat(const rules::Operand &x) {
  for (size_t i = 0; i < 3; ++i)
    if (x->dims[i] != 1 && x->stride(i) == 0)
      return true;
  return false;
}
template <typename View> bool isForCudnn(const View &c) {
  const float scale = float(c.attrs().scale);
  return scale > 0 && scale <= std::numeric_limits<float>::max() && !doesRepeat(c.q()) &&
         !doesRepeat(c.k()) && !doesRepeat(c.v()) && !doesRepeat(c.y());
}

/// What cuDNN's deterministic gradients need: scores of 16 bits in tiles of 64 x 128, D
/// of each row, and the gradients of keys and values of each head of q, which it adds.
inline uint64_t cudnnWorkspace(const AttentionBwdView<rules::Call> &c) {
  const auto upTo = [](int64_t n, int64_t tile) {
    return uint64_t((n + tile - 1) / tile * tile);
  };
  const TensorDesc &q = *c.q(), &k = *c.k();
  const uint64_t heads = uint64_t(q.dims[0]) * uint64_t(q.dims[2]);
  const uint64_t keys = upTo(k.dims[1], 128);
  uint64_t bytes = rowsWorkspace(c) + 2 * heads * upTo(q.dims[1], 64) * keys;
  if (q.dims[2] != k.dims[2])
    bytes += 2 * heads * keys * uint64_t(q.dims[3] + c.v()->dims[3]);
  return bytes + kCudnnSlackBytes;
}

} // namespace aicf::families

#endif // AICF_KERNELS_ATTENTION_FAMILY_H
