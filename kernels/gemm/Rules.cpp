//===- Rules.cpp - what matrix products accept ----------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Ops/RuleCall.h"

namespace aicf::rules {

/// Rows of an operand as a matrix, or columns.
static int64_t sizeOf(const Operand &operand, bool columns) {
  return columns ? operand->width() : operand->rows();
}

Status gemm_c1(const GemmView<Call> &c) {
  AICF_RETURN_IF_ERROR(hasRankAtLeast(c.a(), 2));
  return c.attrs().transA && !c.attrs().transB ? hasRankAtLeast(c.b(), 2)
                                               : hasRank(c.b(), 2);
}

Status gemm_c2(const GemmView<Call> &c) {
  DType dtype = c.a()->dtype;
  AICF_RETURN_IF_ERROR(hasElement(c.b(), dtype));
  if (isHalf(dtype) && c.c()->dtype == DType::F32)
    return {};
  return hasElement(c.c(), dtype);
}

Status gemm_c3(const GemmView<Call> &c) {
  int64_t ka = sizeOf(c.a(), !c.attrs().transA);
  int64_t kb = sizeOf(c.b(), c.attrs().transB);
  if (ka == kb)
    return {};
  return makeError(StatusCode::ShapeMismatch, "K is ", ka, " in ", c.a().text(),
                   ", ", c.a()->toString(), ", but ", kb, " in ", c.b().text(),
                   ", ", c.b()->toString());
}

Status gemm_c4(const GemmView<Call> &c) {
  return hasShape(c.c(), infer_gemm_c(c));
}

/// Libraries count rows in 32 bits.
Status gemm_c5(const GemmView<Call> &c) {
  for (const Operand &operand : {c.a(), c.b()})
    if (operand->rows() > INT32_MAX)
      return makeError(StatusCode::ShapeMismatch, operand.text(), " is ",
                       operand->toString(), " of ", operand->rows(),
                       " rows, expected fewer than 2147483648");
  return {};
}

/// [rows, columns] of an operand's matrices as they are multiplied.
static std::pair<int64_t, int64_t> matrixOf(const Operand &operand,
                                            bool isTransposed) {
  int64_t rows = operand->dims[operand->rank - 2], columns = operand->width();
  return isTransposed ? std::pair(columns, rows) : std::pair(rows, columns);
}

Status batched_gemm_c1(const BatchedGemmView<Call> &c) {
  AICF_RETURN_IF_ERROR(hasRankAtLeast(c.a(), 3));
  return hasRank(c.b(), c.a()->rank);
}
Status batched_gemm_c2(const BatchedGemmView<Call> &c) {
  AICF_RETURN_IF_ERROR(hasElement(c.b(), c.a()->dtype));
  return hasElement(c.c(), c.a()->dtype);
}
Status batched_gemm_c3(const BatchedGemmView<Call> &c) {
  auto [m, ka] = matrixOf(c.a(), c.attrs().transA);
  auto [kb, n] = matrixOf(c.b(), c.attrs().transB);
  TensorDesc expected = c.a()->dense();
  expected.dims[expected.rank - 2] = c.attrs().transB ? n : ka;
  expected.dims[expected.rank - 1] = c.attrs().transB ? ka : n;
  return hasShape(c.b(), expected);
}
Status batched_gemm_c4(const BatchedGemmView<Call> &c) {
  TensorDesc expected = c.a()->dense();
  expected.dims[expected.rank - 2] = matrixOf(c.a(), c.attrs().transA).first;
  expected.dims[expected.rank - 1] = matrixOf(c.b(), c.attrs().transB).second;
  return hasShape(c.c(), expected);
}

/// 2·M·N·K, of all matrices.
template <typename Product> static double flopsOfProduct(const Product &c) {
  const double k = double(c.a()->elements()) / double(c.c()->rows());
  return 2.0 * double(c.c()->elements()) * k;
}
double flops_gemm(const GemmView<Call> &c) { return flopsOfProduct(c); }
double flops_batched_gemm(const BatchedGemmView<Call> &c) {
  return flopsOfProduct(c);
}

/// Infers the type while ranks and flags are not yet checked.
TensorDesc infer_gemm_c(const GemmView<Call> &c) {
  int64_t n = sizeOf(c.b(), !c.attrs().transB);
  if (c.attrs().transA)
    return TensorDesc(c.a()->dtype, {c.a()->width(), n});
  TensorDesc result = rowsOf(*c.a());
  result.dims[result.rank++] = n;
  return result;
}

} // namespace aicf::rules
