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
#include <map>
#include <string>
#include <vector>

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

#ifdef AICF_HAVE_CUBLASLT
/// What the fake library answers, and what it was told. Attributes are by the
/// number of their name, and only those that were set.
struct FakeLibrary {
  /// Numbered from 1.
  struct Algorithm {
    cublasStatus_t state = CUBLAS_STATUS_SUCCESS, run = CUBLAS_STATUS_SUCCESS;
    float milliseconds = 0.001f;
  };
  struct Object {
    std::map<int, uint64_t> attributes;
    std::vector<int64_t> numbers; ///< that it was made of
  };
  std::vector<Algorithm> algorithms = std::vector<Algorithm>(2);
  cublasStatus_t offered = CUBLAS_STATUS_SUCCESS;
  cublasStatus_t checked = CUBLAS_STATUS_SUCCESS;
  uint64_t checkedWorkspace = 0;
  bool takesAddresses = true; ///< offers algorithms for batches of addresses

  std::vector<int> wanted; ///< of each question for algorithms
  uint64_t runs = 0;       ///< products
  /// The last product; the matrices in the library's order.
  Object product, matrices[3];
  uint64_t algorithm = 0, workspaceBytes = 0;
};
/// For one thread at a time.
FakeLibrary &fakeLibrary();
#endif

/// A copy of `base` in which call number `failing` (from 0) fails, counted over
/// the whole table; UINT64_MAX: none. What frees frees first, as in CUDA.
CudaApi faultyCudaApi(const CudaApi &base);
void failCall(uint64_t failing);
/// Calls since failCall, and the name of the one that failed ("" if none did).
uint64_t callsMade();
const char *failedCall();
/// The names of the calls since failCall, with blanks between them.
std::string callNames();

} // namespace aicf::test

#endif // AICF_UNITTESTS_RUNTIME_CUDA_FAKECUDA_H
