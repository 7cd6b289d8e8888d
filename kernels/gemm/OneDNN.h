//===- OneDNN.h - matrix products by oneDNN ---------------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// f32 and bf16, one thread per call. oneDNN is loaded at run time; without it
// these functions report that they handled nothing.
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_GEMM_ONEDNN_H
#define AICF_KERNELS_GEMM_ONEDNN_H

#include "aicf/Status.h"
#include "aicf/Types.h"
#include "lib/Base/HalfFloat.h"

#include <cstdint>

namespace aicf::cpu {

/// One library call: c[m,n] = op(a)[m,k] · op(b)[k,n]; the strides are elements
/// between rows as stored.
struct Tile {
  int64_t m, n, k;
  bool transA, transB;
  int64_t lda, ldb, ldc;
};

/// The types of a product's operands and of its result.
struct ProductTypes {
  DType in, out;
};

/// The build found oneDNN's headers, this machine has the library, and
/// AICF_CPU_GEMM does not say to leave it out. The first call loads it.
bool hasOneDNN();

/// Lets multiplyWithOneDNN() find all that the library makes for such a tile:
/// it generates machine code, and ends the process where it gets no memory for
/// that. What it makes, it makes once for the process. Errors: DeviceError.
Status prepareOneDNN(const Tile &tile, ProductTypes types);

/// Multiplies, or returns false: without oneDNN, where another library is
/// faster, or where it cannot. Then c holds nothing of use, and the caller
/// multiplies.
bool multiplyWithOneDNN(const Tile &tile, const float *a, const float *b,
                        float *c);
/// Sums of f32; where the machine has instructions for bf16.
bool multiplyWithOneDNN(const Tile &tile, const BFloat *a, const BFloat *b, BFloat *c);
bool multiplyWithOneDNN(const Tile &tile, const BFloat *a, const BFloat *b, float *c);

} // namespace aicf::cpu

#endif // AICF_KERNELS_GEMM_ONEDNN_H
