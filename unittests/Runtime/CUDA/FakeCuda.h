//===- FakeCuda.h - CUDA on host memory, for tests --------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A table of CUDA calls without a GPU: memory is the host's, copies happen at
// once, kernels are counted but not run, capture builds graphs with the rules
// that CUDA has (branches join through events, must be joined again, and what
// is illegal during a capture fails). It knows what is alive, so that tests see
// leaks, double frees and use of what is gone.
//===----------------------------------------------------------------------===//
#ifndef AICF_UNITTESTS_RUNTIME_CUDA_FAKECUDA_H
#define AICF_UNITTESTS_RUNTIME_CUDA_FAKECUDA_H

#include "lib/Runtime/CUDA/CudaApi.h"

#include <cstdint>

namespace aicf::test {

/// The fake table.
const CudaApi &fakeCudaApi();

/// Objects alive: allocations, streams, events, graphs, library objects.
size_t fakeObjectsAlive();
/// Kernels that ran, in graphs and outside.
uint64_t fakeKernelsRun();
/// Misuse seen so far: an unknown or freed handle, memory that is not there.
uint64_t fakeMisuses();
/// What the library was last told that addresses are multiples of, in bytes: an
/// attribute CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_*.
uint32_t fakeMinAlignment(int attribute);
/// The next captured kernel gets another function, or an extra node of this
/// type (-1: none) before it; with both it becomes a node of this type. A call
/// of the library gets the extra node, or for another function no node at all.
void fakeSpoilNextKernel(bool otherFunction, int extraNodeType);

/// A copy of `base` in which call number `failing` (from 0) fails, counted over
/// the whole table; UINT64_MAX: none. What frees frees first, as in CUDA.
CudaApi faultyCudaApi(const CudaApi &base);
void failCall(uint64_t failing);
/// Calls since failCall, and the name of the one that failed ("" if none did).
uint64_t callsMade();
const char *failedCall();

} // namespace aicf::test

#endif // AICF_UNITTESTS_RUNTIME_CUDA_FAKECUDA_H
