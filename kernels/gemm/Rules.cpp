//===- Rules.cpp - what matrix products accept ----------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/RuleCall.h"

namespace aicf::rules {
namespace {

template <typename Product> Status ranks(const Product &c) {
  AICF_RETURN_IF_ERROR(hasRank(c.a(), 2));
  AICF_RETURN_IF_ERROR(hasRank(c.b(), 2));
  return hasRank(c.c(), 2);
}

template <typename Product> Status elements(const Product &c) {
  DType dtype = c.a()->dtype;
  AICF_RETURN_IF_ERROR(hasElement(c.b(), dtype));
  if (isHalf(dtype) && c.c()->dtype == DType::F32)
    return {};
  return hasElement(c.c(), dtype);
}

template <typename Product> Status depth(const Product &c) {
  int64_t ka = c.a()->dims[1 - c.attrs().transA];
  int64_t kb = c.b()->dims[c.attrs().transB];
  if (ka == kb)
    return {};
  return makeError(StatusCode::ShapeMismatch, "K is ", ka, " in ", c.a().text(),
                   ", ", c.a()->toString(), ", but ", kb, " in ", c.b().text(),
                   ", ", c.b()->toString());
}

template <typename Product> Status resultShape(const Product &c) {
  return hasShape(c.c(), {c.a()->dims[c.attrs().transA],
                          c.b()->dims[1 - c.attrs().transB]});
}

} // namespace

#define AICF_PRODUCT(OP, VIEW)                                                 \
  Status OP##_c1(const VIEW##View<Call> &c) { return ranks(c); }               \
  Status OP##_c2(const VIEW##View<Call> &c) { return elements(c); }            \
  Status OP##_c3(const VIEW##View<Call> &c) { return depth(c); }               \
  Status OP##_c4(const VIEW##View<Call> &c) { return resultShape(c); }
AICF_PRODUCT(gemm, Gemm)
AICF_PRODUCT(gemm_bias, GemmBias)
AICF_PRODUCT(gemm_relu_bwd, GemmReluBwd)
AICF_PRODUCT(gemm_reduce, GemmReduce)
#undef AICF_PRODUCT

Status gemm_bias_c5(const GemmBiasView<Call> &c) {
  return hasType(c.bias(), TensorDesc(c.c()->dtype, {c.c()->dims[1]}));
}

Status gemm_relu_bwd_c5(const GemmReluBwdView<Call> &c) {
  return hasType(c.saved(), *c.c());
}

Status gemm_reduce_c5(const GemmReduceView<Call> &c) {
  return hasType(c.sums(), TensorDesc(c.c()->dtype, {c.c()->dims[0]}));
}

} // namespace aicf::rules
