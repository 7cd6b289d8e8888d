//===- SumsParams.h - what a kernel of sums of a graph is given -*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_GRAPH_SUMSPARAMS_H
#define AICF_KERNELS_GRAPH_SUMSPARAMS_H

#include <cstddef>
#include <cstdint>

namespace aicf::cuda {

/// Operands and results of the largest graph.
inline constexpr size_t kMaxGraphTensors = 24;

/// Sums that the threads of a group put together at a time (Groups.cu): those of
/// f32 and those of f64 of one kernel take less than 48 KiB.
inline constexpr int kSumsOfGroup = 16;
/// Numbers in shared memory for them, of a group of so many threads.
inline constexpr int64_t groupNumbers(int64_t across, int64_t along) {
  const int64_t threads = across * along, block = threads > 256 ? threads : 256;
  return kSumsOfGroup * across * (block / 32 + block / threads);
}

/// The one parameter of the kernels in Skeletons.cu.
struct SumsParams {
  // Of the graph's operands and results, for the text that is put in.
  uint64_t addresses[kMaxGraphTensors];
  // The sums are over the middle of [outer, size, inner], in chunks of it: see
  // kernels/norm/Reductions.cuh.
  int64_t outer, size, inner, chunks, perChunk;
  uint64_t states;    ///< address of [chunks, results], or 0: sums are final
  double divisors[2]; ///< of the sums; 1 changes no bit
};

} // namespace aicf::cuda

#endif // AICF_KERNELS_GRAPH_SUMSPARAMS_H
