//===- Samples.cpp - legal calls of the family ----------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "aicf/OpCall.h"
#include "unittests/Common/SampleCalls.h"

#include <algorithm>

namespace aicf::test {
namespace {

/// q is [2, m, 4, 8], k [2, keys, 2, 8] and v [2, keys, 2, n]: two heads of q share one.
struct Sizes {
  int64_t m, keys, n;
};
template <typename Attrs>
Sample forward(const Sizes &s, Attrs attrs, TensorDesc mask, TensorDesc segments) {
  const TensorDesc step = attrs.p > 0 ? i32() : TensorDesc::absent();
  return {{f({2, s.m, 4, 8}), f({2, s.keys, 2, 8}), f({2, s.keys, 2, s.n}), mask,
           segments, step},
          {f({2, s.m, 4, s.n}), f({2, 4, s.m})},
          encodeAttrs(attrs)};
}
template <typename Attrs>
Sample backward(const Sizes &s, Attrs attrs, TensorDesc mask, TensorDesc segments) {
  const TensorDesc step = attrs.p > 0 ? i32() : TensorDesc::absent();
  const TensorDesc q = f({2, s.m, 4, 8}), k = f({2, s.keys, 2, 8}),
                   v = f({2, s.keys, 2, s.n}), y = f({2, s.m, 4, s.n});
  return {{y, q, k, v, y, f({2, 4, s.m}), mask, segments, step},
          {q, k, v},
          encodeAttrs(attrs)};
}
Sample ofMask(const Sizes &s, AttentionMaskBwdAttrs attrs, TensorDesc mask,
              TensorDesc segments = TensorDesc::absent()) {
  Sample sample = backward(s, attrs, mask, segments);
  sample.outs = {mask};
  return sample;
}
const TensorDesc kNone = TensorDesc::absent();
/// Heads of whole vectors, of which there are enough for a thread each. A thread copies 256
/// queries at once, and 64 where values have 160 elements.
Sample ofManyHeads(const Sizes &s, int64_t values, AttentionBwdAttrs attrs) {
  const TensorDesc q = f({2, s.m, 8, 16}), k = f({2, s.keys, 4, 16}),
                   v = f({2, s.keys, 4, values}), y = f({2, s.m, 8, values});
  return {{y, q, k, v, y, f({2, 8, s.m}), kNone, kNone, kNone},
          {q, k, v},
          encodeAttrs(attrs)};
}
Sample ofManyHeads(const Sizes &s, int64_t values, AttentionAttrs attrs) {
  return {{f({2, s.m, 8, 16}), f({2, s.keys, 4, 16}), f({2, s.keys, 4, values}), kNone,
           kNone, kNone},
          {f({2, s.m, 8, values}), f({2, 8, s.m})},
          encodeAttrs(attrs)};
}
/// The same with 16 bits in the first operands and results; masks and lse stay f32.
Sample halved(Sample sample, size_t operands, size_t results) {
  for (size_t i = 0; i < operands; ++i)
    sample.ins[i].dtype = DType::F16;
  for (size_t i = 0; i < results; ++i)
    sample.outs[i].dtype = DType::F16;
  return sample;
}

/// Fields in the order of the record: scale, softcap, window_left, window_right, offset,
/// p, seed.
template <typename Attrs> Attrs plain() { return {0.5, 0, -1, -1, 0, 0, 0}; }
template <typename Attrs> Attrs causal() { return {0.5, 0, -1, 0, 0, 0, 0}; }
/// The last query sees the last key.
template <typename Attrs> Attrs window(const Sizes &s) {
  return {0.5, 3, 2, 0, s.keys - s.m, 0, 0};
}
template <typename Attrs> Attrs dropped() { return {0.5, 0, -1, -1, 0, 0.25, 7}; }

} // namespace

std::vector<KindRow> attentionSamples() {
  auto row = [](std::string name, OpKind kind, auto make) {
    return KindRow{std::move(name), kind, [=](auto m, auto n) {
                     // More is slow in f64, and no other case for kernels.
                     const int64_t queries = std::min<int64_t>(m, 130);
                     return make(Sizes{queries, queries + 3,
                                       std::min<int64_t>(n, 136)});
                   }};
  };
  using A = AttentionAttrs;
  using B = AttentionBwdAttrs;
  using M = AttentionMaskBwdAttrs;
  return {
      row("attention", OpKind::Attention,
          [](Sizes s) { return forward(s, plain<A>(), kNone, kNone); }),
      row("attention causal", OpKind::Attention,
          [](Sizes s) { return forward(s, causal<A>(), kNone, kNone); }),
      row("attention window softcap", OpKind::Attention,
          [](Sizes s) { return forward(s, window<A>(s), kNone, kNone); }),
      row("attention dropout", OpKind::Attention,
          [](Sizes s) { return forward(s, dropped<A>(), kNone, kNone); }),
      row("attention many heads", OpKind::Attention,
          [](Sizes s) { return ofManyHeads(s, 48, window<A>(s)); }),
      row("attention mask", OpKind::Attention,
          [](Sizes s) {
            return forward(s, plain<A>(), f({1, 4, s.m, s.keys}), kNone);
          }),
      row("attention f32 mask", OpKind::Attention,
          [](Sizes s) {
            return halved(forward(s, causal<A>(), f({1, 4, s.m, s.keys}), kNone), 3, 1);
          })
          .mixed(),
      row("attention flags", OpKind::Attention,
          [](Sizes s) {
            return forward(s, plain<A>(), {DType::I1, {2, 1, 1, s.keys}}, kNone);
          }),
      row("attention segments", OpKind::Attention,
          [](Sizes s) {
            s.keys = s.m;
            return forward(s, causal<A>(), kNone, {DType::I32, {2, s.m}});
          }),
      row("attention_bwd", OpKind::AttentionBwd,
          [](Sizes s) { return backward(s, plain<B>(), kNone, kNone); }),
      row("attention_bwd causal", OpKind::AttentionBwd,
          [](Sizes s) { return backward(s, causal<B>(), kNone, kNone); }),
      row("attention_bwd window softcap", OpKind::AttentionBwd,
          [](Sizes s) { return backward(s, window<B>(s), kNone, kNone); }),
      row("attention_bwd many heads", OpKind::AttentionBwd,
          [](Sizes s) { return ofManyHeads(s, 16, window<B>(s)); }),
      row("attention_bwd many wide heads", OpKind::AttentionBwd,
          [](Sizes s) { return ofManyHeads(s, 160, plain<B>()); }),
      row("attention_bwd many heads causal", OpKind::AttentionBwd,
          [](Sizes s) { return ofManyHeads(s, 48, causal<B>()); }),
      row("attention_bwd dropout", OpKind::AttentionBwd,
          [](Sizes s) { return backward(s, dropped<B>(), kNone, kNone); }),
      row("attention_bwd mask", OpKind::AttentionBwd,
          [](Sizes s) {
            return backward(s, plain<B>(), f({2, 1, s.m, s.keys}), kNone);
          }),
      row("attention_bwd f32 mask", OpKind::AttentionBwd,
          [](Sizes s) {
            return halved(backward(s, causal<B>(), f({1, 4, s.m, s.keys}), kNone), 5, 3);
          })
          .mixed(),
      row("attention_bwd segments", OpKind::AttentionBwd,
          [](Sizes s) {
            s.keys = s.m;
            return backward(s, plain<B>(), kNone, {DType::I32, {2, s.m}});
          }),
      row("attention_mask_bwd", OpKind::AttentionMaskBwd,
          [](Sizes s) { return ofMask(s, plain<M>(), f({2, 4, s.m, s.keys})); }),
      row("attention_mask_bwd repeated", OpKind::AttentionMaskBwd,
          [](Sizes s) { return ofMask(s, window<M>(s), f({1, 4, s.m, s.keys})); }),
      row("attention_mask_bwd of keys", OpKind::AttentionMaskBwd,
          [](Sizes s) { return ofMask(s, dropped<M>(), f({2, 1, 1, s.keys})); }),
      row("attention_mask_bwd f32 mask", OpKind::AttentionMaskBwd,
          [](Sizes s) {
            return halved(ofMask(s, causal<M>(), f({1, 4, s.m, s.keys})), 5, 0);
          })
          .mixed(),
      row("attention_mask_bwd segments", OpKind::AttentionMaskBwd,
          [](Sizes s) {
            s.keys = s.m;
            return ofMask(s, plain<M>(), f({1, 1, s.m, 1}), {DType::I32, {2, s.m}});
          }),
      row("attention_mask_bwd of queries", OpKind::AttentionMaskBwd,
          [](Sizes s) { return ofMask(s, causal<M>(), f({1, 1, s.m, 1})); }),
  };
}

} // namespace aicf::test
