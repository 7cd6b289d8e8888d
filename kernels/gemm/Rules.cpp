//===- Rules.cpp - what matrix products accept ----------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/RuleCall.h"

namespace aicf::rules {

Status gemm_c1(const GemmView<Call> &c) {
  for (const Operand *operand : {&c.a(), &c.b(), &c.c()})
    AICF_RETURN_IF_ERROR(hasRank(*operand, 2));
  return {};
}

Status gemm_c2(const GemmView<Call> &c) {
  DType dtype = c.a()->dtype;
  AICF_RETURN_IF_ERROR(hasElement(c.b(), dtype));
  if (isHalf(dtype) && c.c()->dtype == DType::F32)
    return {};
  return hasElement(c.c(), dtype);
}

Status gemm_c3(const GemmView<Call> &c) {
  int64_t ka = c.a()->dims[1 - c.attrs().transA];
  int64_t kb = c.b()->dims[c.attrs().transB];
  if (ka == kb)
    return {};
  return makeError(StatusCode::ShapeMismatch, "K is ", ka, " in ", c.a().text(),
                   ", ", c.a()->toString(), ", but ", kb, " in ", c.b().text(),
                   ", ", c.b()->toString());
}

Status gemm_c4(const GemmView<Call> &c) {
  return hasShape(c.c(), {c.a()->dims[c.attrs().transA],
                          c.b()->dims[1 - c.attrs().transB]});
}

/// Nothing is checked yet: ranks, flags.
TensorDesc infer_gemm_c(const GemmView<Call> &c) {
  return TensorDesc(c.a()->dtype, {c.a()->dims[c.attrs().transA != 0],
                                   c.b()->dims[c.attrs().transB == 0]});
}

} // namespace aicf::rules
