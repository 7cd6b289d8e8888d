//===- CudaProgram.h - the text of a graph's kernel -------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// What a thread does with the elements that it has, CudaElements.h says.
// Without sums, each thread has one vector of them. With sums at the end, who
// has which is a kernel of Skeletons.cu, into which the text for elements is
// put, and with a product it is one of Products.cu. With reductions inside, a
// group of threads goes through what is reduced, once for each reduction that
// waits for another one (GroupPlan in Family.h).
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_GRAPH_CUDAPROGRAM_H
#define AICF_KERNELS_GRAPH_CUDAPROGRAM_H

#include "aicf/Status.h"
#include "kernels/cuda/Kernels.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace aicf::cuda {

/// What a kernel that Skeletons.cu does not have is called in its text, and its
/// parameter.
inline constexpr const char *kGraphEntry = "aicf_graph";
inline constexpr const char *kAddresses = "aicf_addresses";
/// What the shared memory is called that a launch asks for.
inline constexpr const char *kKeptMemory = "aicf_kept";

struct GraphKernel {
  struct Entry {
    std::string name;
    PlannedLaunch launch; ///< without its function
  };
  std::string text;           ///< PTX
  std::vector<Entry> entries; ///< in the order in which they run
};

class ElementWriter;
/// What takes the place of a mark in a kernel that nvcc made, given the words
/// behind the mark's name.
using MarkWriter =
    std::function<StatusOr<std::string>(const std::vector<std::string> &words)>;
/// The text of the kernel `name` of nvcc's with what takes the place of its
/// marks, each by its name and a space. `writer` writes that, for the kernel's
/// one parameter.
StatusOr<std::string>
fillSkeleton(const std::string &name, ElementWriter &writer,
             const std::vector<std::pair<std::string, MarkWriter>> &marks);
/// What stands before such kernels: of which PTX they are, and the functions
/// that they call.
std::string headOf(const ElementWriter &writer);

/// Makes such a kernel of its code, which uses the predicates %aq0, %aq1, ...,
/// and so much of kKeptMemory. At least `blocksTogether` blocks have registers
/// on a multiprocessor.
GraphKernel kernelOf(const ElementWriter &writer, const std::string &code,
                     size_t numPredicates, int64_t threads, int64_t blocks,
                     int64_t blocksTogether = 1, int64_t keptBytes = 0);

/// `values` are those of a call that a row of the family takes, with their
/// addresses; `workspace` may be absent.
/// Errors: NotImplemented for a primitive without a function of scalars, and
/// for more elements than a launch has threads.
StatusOr<GraphKernel> writeGraphKernel(const Body &body,
                                       Span<const TensorView> values,
                                       const TensorView &workspace,
                                       const DeviceLimits &limits);
/// The same for a body with reductions inside.
StatusOr<GraphKernel> writeReductionsKernel(const Body &body,
                                            Span<const TensorView> values,
                                            const DeviceLimits &limits);
/// The same for a body with a product. `values` as graphTensors() gives them.
StatusOr<GraphKernel> writeProductKernel(const Body &body,
                                         Span<const TensorView> values);
/// The same for a body with sums. `values` as graphTensors() gives them.
StatusOr<GraphKernel> writeSumsKernel(const Body &body,
                                      Span<const TensorView> values,
                                      const TensorView &workspace,
                                      const DeviceLimits &limits);

} // namespace aicf::cuda

#endif // AICF_KERNELS_GRAPH_CUDAPROGRAM_H
