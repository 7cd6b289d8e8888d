//===- Product.h - a call of any gemm kind, read off once -------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// What the kinds of this family have in common, for kernels and libraries that
// run several of them.
//===----------------------------------------------------------------------===//

#ifndef AICF_KERNELS_GEMM_PRODUCT_H
#define AICF_KERNELS_GEMM_PRODUCT_H

#include "lib/Ops/Launch.h"
#include "kernels/gemm/Batches.h"
#include "kernels/gemm/Extents.h"

#include <string_view>

namespace aicf {

/// c[m,n] = op(a)[m,k] · op(b)[k,n], and what is done on the way out.
struct Product {
  enum class Epilogue {
    None,
    Bias,
    BiasRelu,
    BiasGelu,
    ReluBwd,
    GeluBwd,
    Reduce
  };

  TensorView a, b, c;
  /// bias [n], saved [m,n] or sums [m]; none without epilogue and for GeluBwd
  TensorView extra;
  /// gelu's operand [m,n], written or read; BiasGelu may do without
  TensorView geluOperand = {};
  bool transA, transB;
  Epilogue epilogue = Epilogue::None;
  int64_t m, n, k;       ///< pads included where that changes nothing
  int64_t lda, ldb, ldc; ///< elements between rows as stored
  Batches batches;       ///< one, but for batched_gemm

  Product(const GemmArgs &call) : Product(call, call.c(), TensorView()) {}
  Product(const GemmBiasArgs &call)
      : Product(call.gemm(), call.relu() ? call.relu()->y() : call.bias().out(),
                call.bias().b(), &call.bias().b()) {
    epilogue = call.relu() ? Epilogue::BiasRelu : Epilogue::Bias;
  }
  Product(const GemmBiasGeluArgs &call)
      : Product(call.gemm(), call.gelu().y(), call.bias().b()) {
    epilogue = Epilogue::BiasGelu;
    geluOperand = call.bias().out();
  }
  Product(const GemmGeluBwdArgs &call)
      : Product(call.gemm(), call.bwd().dx(), TensorView()) {
    epilogue = Epilogue::GeluBwd;
    geluOperand = call.bwd().x();
  }
  Product(const GemmReluBwdArgs &call)
      : Product(call.gemm(), call.bwd().dx(), call.bwd().saved()) {
    epilogue = Epilogue::ReluBwd;
  }
  Product(const GemmReduceArgs &call)
      : Product(call.gemm(), call.gemm().c(), call.sum().y()) {
    epilogue = Epilogue::Reduce;
  }
  Product(const BatchedGemmArgs &call)
      : a(call.a()), b(call.b()), c(call.c()),
        transA(call.attrs().transA != 0), transB(call.attrs().transB != 0),
        m(rowsOf(c.desc)), n(c.desc.width()),
        k(transA ? rowsOf(a.desc) : a.desc.width()), lda(pitchOf(a.desc)),
        ldb(pitchOf(b.desc)), ldc(pitchOf(c.desc)),
        batches(a.desc, b.desc, c.desc) {}

  /// c is what `a` and `b` give, and need not be in memory.
  Product(const TensorView &a, const TensorView &b, const TensorView &c,
          bool transA, bool transB)
      : a(a), b(b), c(c), transA(transA), transB(transB), lda(a.desc.pitch()),
        ldb(b.desc.pitch()), ldc(c.desc.pitch()) {
    setExtents(nullptr);
  }

private:
  /// Rows of the matrices in the last two dimensions.
  static int64_t rowsOf(const TensorDesc &desc) {
    return desc.dims[desc.rank - 2];
  }
  static int64_t pitchOf(const TensorDesc &desc) {
    return rowsOf(desc) == 1 ? desc.width() : desc.stride(desc.rank - 2u);
  }
  /// `result` is what is left in memory: c, or what the epilogue made of it.
  Product(const GemmArgs &call, const TensorView &result, TensorView extra,
          const TensorView *bias = nullptr)
      : a(call.a()), b(call.b()), c(result), extra(extra),
        transA(call.attrs().transA != 0), transB(call.attrs().transB != 0),
        lda(a.desc.pitch()), ldb(b.desc.pitch()), ldc(c.desc.pitch()) {
    setExtents(bias ? &bias->desc : nullptr);
  }
  void setExtents(const TensorDesc *bias) {
    ProductExtents extents(a.desc, transA, b.desc, transB, c.desc, bias);
    m = extents.m;
    n = extents.n;
    k = extents.k;
  }
};

/// Reads the product off a call of one kernel.
using ProductReader = Product (*)(const LaunchArgs &);
/// For the kernels that cuBLASLt provides; null for others.
ProductReader findProductReader(std::string_view kid);

} // namespace aicf

#endif // AICF_KERNELS_GEMM_PRODUCT_H
