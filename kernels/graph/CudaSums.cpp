//===- CudaSums.cpp - the text of a graph's kernel with sums --------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Takes a kernel of Skeletons.cu and puts the graph in where its marks stand.
// Who sums what in which order, shapes alone decide: a tensor that cannot be
// accessed in vectors is read element by element.
//===----------------------------------------------------------------------===//

#include "kernels/graph/CudaElements.h"
#include "kernels/graph/CudaProgram.h"
#include "kernels/graph/Family.h"

#include <cstring>

namespace aicf::cuda {
namespace {

using families::ReductionPlan;

/// The sums of a body, in its order.
struct GraphSum {
  uint32_t value, summand;
  double divisor;
};
std::vector<GraphSum> sumsOf(const Body &body, Span<const TensorView> values) {
  std::vector<GraphSum> sums;
  for (uint32_t p = 0; p < body.primitives.size(); ++p) {
    const Primitive &primitive = body.primitives[p];
    if (!infoOf(primitive.kind).isSum())
      continue;
    const uint32_t value = body.numOperands + p;
    const auto summand = uint32_t(primitive.operands[0]);
    const bool isMean = infoOf(primitive.kind).reduction == Reduction::Mean;
    sums.push_back({value, summand,
                    isMean ? double(values[summand].desc.elements() /
                                    values[value].desc.elements())
                           : 1});
  }
  return sums;
}

/// Puts a graph into kernels.
class SumsWriter {
public:
  SumsWriter(const Body &body, Span<const TensorView> values,
             const TensorView &workspace, const DeviceLimits &limits);
  StatusOr<GraphKernel> run();

private:
  StatusOr<std::string> summandsAt(const std::vector<std::string> &words);
  StatusOr<std::string> sumAt(const std::vector<std::string> &words);
  std::string move(const std::string &to, const std::string &from) const;
  Status add(GraphKernel &graph, const std::string &kernel, int64_t threads,
             int waves);

  const std::vector<GraphSum> sums;
  const DType type; ///< that is summed in
  const ReductionPlan plan;
  const DeviceLimits limits;
  int64_t vector; ///< elements that a thread adds at a time
  SumsParams params{};
  ElementWriter writer;
  std::string texts;
};

SumsWriter::SumsWriter(const Body &body, Span<const TensorView> values,
                       const TensorView &workspace, const DeviceLimits &limits)
    : sums(sumsOf(body, values)),
      type(rules::wide(values[sums[0].summand].desc.dtype)), plan([&] {
        std::vector<TensorDesc> types;
        for (const TensorView &value : values)
          types.push_back(value.desc);
        return *families::sumsPlan(body, types);
      }()),
      limits(limits), writer(body, values, graphExtents(body)) {
  const int64_t widest =
      int64_t(16 / sizeOf(values[sums[0].summand].desc.dtype));
  vector = plan.inner > 1 ? plan.columns : plan.size % widest == 0 ? widest : 1;
  writer.setLanes(vector);
  const std::vector<uint64_t> addresses = writer.addresses();
  std::copy(addresses.begin(), addresses.end(), params.addresses);
  params.outer = plan.outer;
  params.size = plan.size;
  params.inner = plan.inner;
  for (size_t k = 0; k < sums.size(); ++k)
    params.divisors[k] = sums[k].divisor;
  const uint64_t chunkBytes =
      sums.size() * sizeOf(type) * uint64_t(plan.outer * plan.inner);
  const uint64_t fits =
      workspace.dense() ? workspace.desc.spanBytes() / chunkBytes : 0;
  params.chunks =
      std::max<int64_t>(std::min<int64_t>(plan.chunks, int64_t(fits)), 1);
  params.perChunk = (plan.size + params.chunks - 1) / params.chunks;
  if (plan.inner == 1) // whole vectors
    params.perChunk = (params.perChunk + vector - 1) / vector * vector;
  if (params.chunks > 1)
    params.states = reinterpret_cast<uintptr_t>(workspace.dense());
}

std::string SumsWriter::move(const std::string &to,
                             const std::string &from) const {
  return (sizeOf(type) == 8 ? "mov.b64 " : "mov.b32 ") + to + ", " + from +
         ";\n";
}

/// "aicf.summands x0 x1 ... at;"
StatusOr<std::string>
SumsWriter::summandsAt(const std::vector<std::string> &words) {
  const std::string index = writer.newRegister(true);
  std::string text = "mov.b64 " + index + ", " + words.back() + ";\n";
  AICF_ASSIGN_OR_RETURN(std::string computed, writer.elementsFrom(index));
  text += computed;
  for (size_t k = 0; k < sums.size(); ++k)
    for (size_t v = 0; v < size_t(vector); ++v)
      text += move(words[k * size_t(vector) + v],
                   writer.lanesOf(sums[k].summand)[v]);
  return text;
}

/// "aicf.sum <which> sum at;"
StatusOr<std::string> SumsWriter::sumAt(const std::vector<std::string> &words) {
  const std::string sum = writer.newRegister(sizeOf(type) == 8);
  const std::string index = writer.newRegister(true);
  AICF_ASSIGN_OR_RETURN(
      std::string stored,
      writer.storeOne(sums[std::stoul(words[0])].value, sum, index));
  return move(sum, words[1]) + "mov.b64 " + index + ", " + words[2] + ";\n" +
         stored;
}

Status SumsWriter::add(GraphKernel &graph, const std::string &kernel,
                       int64_t threads, int waves) {
  AICF_ASSIGN_OR_RETURN(
      std::string text,
      fillSkeleton(kernel, writer,
                   {{"aicf.summands ", [&](auto &w) { return summandsAt(w); }},
                    {"aicf.sum ", [&](auto &w) { return sumAt(w); }}}));
  texts += text;
  PlannedLaunch launch;
  launch.block[0] = uint32_t(ReductionPlan::kThreads);
  launch.grid[0] = uint32_t(gridFor(threads, limits, kBlock, waves));
  launch.params.resize(sizeof(params) / 8);
  std::memcpy(launch.params.data(), &params, sizeof(params));
  graph.entries.push_back({kernel, std::move(launch)});
  return {};
}

/// "aicf_<what>_f32_1_4_32": type, sums, and what else there is a kernel for.
std::string kernelName(const char *what, DType type, size_t numSums,
                       std::initializer_list<int64_t> numbers) {
  std::string name = std::string("aicf_") + what + "_" +
                     std::string(nameOf(type)) + "_" + std::to_string(numSums);
  for (int64_t number : numbers)
    name += "_" + std::to_string(number);
  return name;
}

StatusOr<GraphKernel> SumsWriter::run() {
  GraphKernel graph;
  const int64_t results = plan.outer * plan.inner;
  if (plan.inner == 1) {
    AICF_RETURN_IF_ERROR(
        add(graph, kernelName("rows", type, sums.size(), {vector, plan.lanes}),
            plan.outer * params.chunks * plan.lanes, 8));
  } else {
    const int64_t warps = plan.warpsAlone ? 1 : ReductionPlan::kThreads / 32;
    AICF_RETURN_IF_ERROR(add(
        graph,
        kernelName("columns", type, sums.size(), {vector, plan.lanes, warps}),
        plan.strips() * plan.outer * params.chunks * warps * 32, 8));
  }
  if (params.chunks > 1) {
    const int64_t lanes = results < 4096 ? 32 : 1;
    AICF_RETURN_IF_ERROR(add(graph,
                             kernelName("combine", type, sums.size(), {lanes}),
                             results * lanes, 4));
  }
  graph.text = headOf(writer) + texts;
  return graph;
}

} // namespace

StatusOr<GraphKernel> writeSumsKernel(const Body &body,
                                      Span<const TensorView> values,
                                      const TensorView &workspace,
                                      const DeviceLimits &limits) {
  return SumsWriter(body, values, workspace, limits).run();
}

} // namespace aicf::cuda
