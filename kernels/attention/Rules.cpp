//===- Rules.cpp - what attention accepts ---------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Ops/RuleCall.h"

#include <algorithm>
#include <cmath>

namespace aicf::rules {
namespace {

/// The most elements of a head: kernels keep some of these vectors near the processor.
constexpr int64_t kMostHeadSize = 1024;

/// Returns an error unless the dimension is `expected`, which `why` explains.
Status hasSize(const Operand &operand, size_t dimension, int64_t expected,
               std::string_view why) {
  if (operand->dims[dimension] == expected)
    return {};
  return makeError(StatusCode::ShapeMismatch, operand.text(), " is ",
                   operand->toString(), ", expected ", expected,
                   " in dimension ", dimension, ", ", why);
}

template <typename View> Status haveHeads(const View &c) {
  for (const Operand &operand : {c.q(), c.k(), c.v()}) {
    AICF_RETURN_IF_ERROR(hasRank(operand, 4));
    AICF_RETURN_IF_ERROR(hasElement(operand, c.q()->dtype));
    if (operand->width() > kMostHeadSize)
      return makeError(StatusCode::ShapeMismatch, operand.text(), " is ",
                       operand->toString(), ", expected heads of at most ",
                       kMostHeadSize, " elements");
  }
  return {};
}

template <typename View> Status keysFit(const View &c) {
  AICF_RETURN_IF_ERROR(hasSize(c.k(), 0, c.q()->dims[0], "as q"));
  AICF_RETURN_IF_ERROR(hasSize(c.k(), 3, c.q()->dims[3], "as q"));
  if (c.q()->dims[2] % c.k()->dims[2] == 0)
    return {};
  return makeError(StatusCode::ShapeMismatch, c.k().text(), " has ",
                   c.k()->dims[2], " heads, expected a divisor of the ",
                   c.q()->dims[2], " of q");
}

template <typename View> Status valuesFit(const View &c) {
  for (size_t i : {0, 1, 2})
    AICF_RETURN_IF_ERROR(hasSize(c.v(), i, c.k()->dims[i], "as k"));
  return {};
}

template <typename View> Status maskFits(const View &c) {
  const std::optional<Operand> mask = c.mask();
  if (!mask)
    return {};
  AICF_RETURN_IF_ERROR(hasRank(*mask, 4));
  const int64_t scores[] = {c.q()->dims[0], c.q()->dims[2], c.q()->dims[1],
                            c.k()->dims[1]};
  for (size_t i = 0; i < 4; ++i)
    if ((*mask)->dims[i] != 1)
      AICF_RETURN_IF_ERROR(hasSize(*mask, i, scores[i], "as the scores, or 1"));
  const DType dtype = (*mask)->dtype;
  if (dtype == DType::I1 || dtype == DType::F32)
    return {};
  return hasElement(*mask, c.q()->dtype);
}

template <typename View> Status segmentsFit(const View &c) {
  if (!c.segments())
    return {};
  AICF_RETURN_IF_ERROR(
      hasShape(*c.segments(), TensorDesc(DType::I32, {c.q()->dims[0],
                                                      c.q()->dims[1]})));
  return hasSize(c.k(), 1, c.q()->dims[1], "as q, where segments are given");
}

template <typename View> Status stepFits(const View &c) {
  const double p = c.attrs().p;
  if (c.step())
    return isScalar(*c.step());
  if (p == 0)
    return {};
  return makeError(StatusCode::InvalidArgument, "p is ", formatNumber(p),
                   " without step, which is the count that weights are "
                   "dropped by");
}

/// Checks y, or its gradient.
template <typename View>
Status isOfValues(const View &c, const Operand &y) {
  TensorDesc expected = c.q()->dense();
  expected.dims[3] = c.v()->dims[3];
  return hasType(y, expected);
}

template <typename View> Status lseFits(const View &c) {
  return hasType(c.lse(), TensorDesc(wide(c.q()->dtype),
                                     {c.q()->dims[0], c.q()->dims[2],
                                      c.q()->dims[1]}));
}

template <typename View> Status gradientsFit(const View &c) {
  AICF_RETURN_IF_ERROR(isOfValues(c, c.y()));
  return isOfValues(c, c.dy());
}

template <typename View> double defaultScale(const View &c) {
  return 1 / std::sqrt(double(std::max<int64_t>(1, c.q()->width())));
}

/// Counts products of the scores' shape, so many over sizes of q's heads and over those
/// of v's. Scores that a window hides are not computed.
template <typename View>
double flopsOf(const View &c, double overSize, double overValues) {
  const auto attrs = c.attrs();
  const double keys = double(c.k()->dims[1]);
  double seen = 0;
  for (int64_t i = 0; i < c.q()->dims[1]; ++i) {
    const double at = double(i + attrs.offset);
    const double first =
        attrs.window_left < 0 ? 0 : at - double(attrs.window_left);
    const double end =
        attrs.window_right < 0 ? keys : at + double(attrs.window_right) + 1;
    seen += std::max(0.0, std::min(end, keys) - std::max(first, 0.0));
  }
  return 2 * seen * double(c.q()->dims[0] * c.q()->dims[2]) *
         (overSize * double(c.q()->dims[3]) + overValues * double(c.v()->dims[3]));
}

} // namespace

#define AICF_ATTENTION_RULES(OP, VIEW)                                         \
  Status OP##_c1(const VIEW &c) { return haveHeads(c); }                       \
  Status OP##_c2(const VIEW &c) { return keysFit(c); }                         \
  Status OP##_c3(const VIEW &c) { return valuesFit(c); }                       \
  Status OP##_c4(const VIEW &c) { return maskFits(c); }                        \
  Status OP##_c5(const VIEW &c) { return segmentsFit(c); }                     \
  Status OP##_c6(const VIEW &c) { return stepFits(c); }                        \
  Status OP##_c8(const VIEW &c) { return lseFits(c); }                         \
  double default_##OP##_scale(const VIEW &c) { return defaultScale(c); }
AICF_ATTENTION_RULES(attention, AttentionView<Call>)
AICF_ATTENTION_RULES(attention_bwd, AttentionBwdView<Call>)
AICF_ATTENTION_RULES(attention_mask_bwd, AttentionMaskBwdView<Call>)
#undef AICF_ATTENTION_RULES

Status attention_c7(const AttentionView<Call> &c) { return isOfValues(c, c.y()); }
Status attention_bwd_c7(const AttentionBwdView<Call> &c) {
  return gradientsFit(c);
}
Status attention_mask_bwd_c7(const AttentionMaskBwdView<Call> &c) {
  return gradientsFit(c);
}

double flops_attention(const AttentionView<Call> &c) {
  return flopsOf(c, 1, 1);
}
/// The scores once more, gradients of weights, and those of q, k and v.
double flops_attention_bwd(const AttentionBwdView<Call> &c) {
  return flopsOf(c, 3, 2);
}
double flops_attention_mask_bwd(const AttentionMaskBwdView<Call> &c) {
  return flopsOf(c, 1, 1);
}

} // namespace aicf::rules
