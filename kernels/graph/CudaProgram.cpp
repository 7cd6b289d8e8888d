//===- CudaProgram.cpp - the text of a graph's kernel ---------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/graph/CudaProgram.h"
#include "kernels/graph/CudaElements.h"
#include "kernels/graph/CudaScalars.h"
#include "lib/Ops/RowGraph.h"

#include <sstream>

namespace aicf::cuda {

static constexpr uint32_t kThreads = 256;

/// Text that puts the thread's first element into `index`, a new register;
/// threads without one return.
static std::string indexText(ElementWriter &writer, int64_t threads,
                             int64_t lanes, std::string &index) {
  const std::string block = writer.newRegister(false);
  const std::string thread = writer.newRegister(false);
  const std::string number = writer.newRegister(true);
  const std::string wideThread = writer.newRegister(true);
  index = writer.newRegister(true);
  return "mov.u32 " + block + ", %ctaid.x;\nmov.u32 " + thread +
         ", %tid.x;\ncvt.u64.u32 " + wideThread + ", " + thread +
         ";\nmad.wide.u32 " + number + ", " + block + ", " +
         std::to_string(kThreads) + ", " + wideThread +
         ";\nsetp.ge.u64 %aq0, " + number + ", " + std::to_string(threads) +
         ";\n@%aq0 ret;\nmul.lo.u64 " + index + ", " + number + ", " +
         std::to_string(lanes) + ";\n";
}

static StatusOr<GraphKernel> writeElementsKernel(const Body &body,
                                                 Span<const TensorView> seen) {
  ElementWriter writer(body, seen,
                       std::vector<Extent>(body.numValues(), Extent::Whole));
  const int64_t lanes = writer.widestVector();
  const int64_t elements = writer.numElements(), threads = elements / lanes;
  writer.setLanes(lanes);
  std::string index;
  std::string code = indexText(writer, threads, lanes, index);
  writer.setParameter(kAddresses);
  AICF_ASSIGN_OR_RETURN(std::string computed, writer.elementsFrom(index));
  code += computed;
  const int64_t blocks = (threads + kThreads - 1) / kThreads;
  if (blocks > INT32_MAX)
    return makeError(StatusCode::NotImplemented, "a graph over ", elements,
                     " elements needs ", blocks, " blocks of threads, at most ",
                     INT32_MAX, " can be launched");
  return kernelOf(writer, code, /*numPredicates=*/1, kThreads, blocks);
}

std::string headOf(const ElementWriter &writer) {
  return ScalarText::get().header() +
         ScalarText::get().define(writer.functions());
}

/// The words of a line from `begin` to the `;`.
static std::vector<std::string> wordsOf(const std::string &line, size_t begin) {
  std::istringstream stream(line.substr(begin, line.find(';') - begin));
  std::vector<std::string> words;
  for (std::string word; stream >> word;)
    words.push_back(word);
  return words;
}

StatusOr<std::string>
fillSkeleton(const std::string &name, ElementWriter &writer,
             const std::vector<std::pair<std::string, MarkWriter>> &marks) {
  writer.setParameter(name + "_param_0");
  std::istringstream lines(ScalarText::get().kernel(name));
  std::string text;
  for (std::string line; std::getline(lines, line);) {
    StatusOr<std::string> part = line + "\n";
    for (const auto &[mark, write] : marks)
      if (size_t at = line.find(mark); at != std::string::npos)
        part = write(wordsOf(line, at + mark.size()));
    AICF_RETURN_IF_ERROR(part.status());
    text += *part;
  }
  const size_t body = text.find("\n{\n") + 3;
  return text.substr(0, body) + writer.registers() + text.substr(body);
}

GraphKernel kernelOf(const ElementWriter &writer, const std::string &code,
                     size_t numPredicates, int64_t threads, int64_t blocks,
                     int64_t blocksTogether, int64_t keptBytes) {
  GraphKernel kernel;
  PlannedLaunch launch;
  launch.params = writer.addresses();
  launch.block[0] = uint32_t(threads);
  launch.grid[0] = uint32_t(blocks);
  launch.sharedBytes = uint32_t(keptBytes);
  const std::string bytes = std::to_string(8 * launch.params.size());
  kernel.text = headOf(writer);
  if (keptBytes > 0)
    kernel.text +=
        std::string(".extern .shared .align 16 .b8 ") + kKeptMemory + "[];\n";
  kernel.text += std::string(".visible .entry ") + kGraphEntry +
                 "(.param .align 8 .b8 " + kAddresses + "[" + bytes +
                 "])\n.maxntid " + std::to_string(threads) + ", 1, 1\n";
  if (blocksTogether > 1)
    kernel.text += ".minnctapersm " + std::to_string(blocksTogether) + "\n";
  kernel.text += "{\n.reg .pred %aq<" + std::to_string(numPredicates) + ">;\n" +
                 writer.registers() + code + "ret;\n}\n";
  kernel.entries = {{kGraphEntry, std::move(launch)}};
  return kernel;
}

StatusOr<GraphKernel> writeGraphKernel(const Body &body,
                                       Span<const TensorView> values,
                                       const TensorView &workspace,
                                       const DeviceLimits &limits) {
  bool hasSums = false, areInside = readsItsSums(body);
  for (const Primitive &primitive : body.primitives) {
    hasSums |= infoOf(primitive.kind).isSum();
    areInside |= isDefinedByRows(primitive.kind);
  }
  if (areInside)
    return writeReductionsKernel(body, values, limits);
  const std::vector<TensorView> seen = graphTensors(body, values);
  if (positionOfProduct(body))
    return writeProductKernel(body, seen);
  return hasSums ? writeSumsKernel(body, seen, workspace, limits)
                 : writeElementsKernel(body, seen);
}

} // namespace aicf::cuda
