//===- CudaProgram.h - the text of a graph's kernel -------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A thread loads a vector of each operand, computes every primitive for each of
// its elements, and stores a vector of each result: all loads stand before all
// stores. Shapes and strides are numbers in the text, addresses are parameters.
// Values are in the type that is computed in, f32 for 16-bit elements. Every one
// is rounded to its type, as if it were stored: bits do not depend on what is in
// one call.
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_GRAPH_CUDAPROGRAM_H
#define AICF_KERNELS_GRAPH_CUDAPROGRAM_H

#include "aicf/Status.h"
#include "kernels/cuda/Kernels.h"

#include <string>

namespace aicf::cuda {

/// What the kernel is called in its text.
inline constexpr const char *kGraphEntry = "aicf_graph";

struct GraphKernel {
  std::string text;     ///< PTX
  PlannedLaunch launch; ///< without its function
};

/// Errors: NotImplemented for a primitive without a function of scalars.
StatusOr<GraphKernel> writeGraphKernel(const Body &body,
                                       Span<const TensorView> values);

} // namespace aicf::cuda

#endif // AICF_KERNELS_GRAPH_CUDAPROGRAM_H
