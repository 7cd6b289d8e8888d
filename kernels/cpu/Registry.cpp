//===- Registry.cpp - CPU kernels by KID ----------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/cpu/KernelDecls.h"
#include "kernels/graph/CpuProgram.h"

#include <unordered_map>

namespace aicf::cpu {

#define AICF_ELEMENTS(FAMILY) Span<const ElementsRow> FAMILY##Elements();
#include "kernels/FamilyElements.inc" // made by CMake

CpuKernel findFunction(std::string_view kid) {
  static const std::unordered_map<std::string_view, CpuKernel> functions = {
#define AICF_ROWS_OF_CPU
#define AICF_ROW(KID, ...) {#KID, &KID},
#include "kernels/Rows.def"
  };
  auto it = functions.find(kid);
  return it == functions.end() ? nullptr : it->second;
}

ElementsFunction findElementsFunction(std::string_view kid) {
  static const auto functions = [] {
    std::unordered_map<std::string_view, ElementsFunction> all;
    auto add = [&](Span<const ElementsRow> rows) {
      for (const ElementsRow &row : rows)
        if (row.function)
          all.emplace(row.kid, row.function);
    };
#define AICF_ELEMENTS(FAMILY) add(FAMILY##Elements());
#include "kernels/FamilyElements.inc"
    return all;
  }();
  auto it = functions.find(kid);
  return it == functions.end() ? nullptr : it->second;
}

StatusOr<std::shared_ptr<const CpuPrepared>>
prepare(const KernelRow &row, const Body &body, Span<const TensorView> values,
        int numThreads) {
  if (row.provider == KernelProvider::Blas)
    AICF_RETURN_IF_ERROR(prepareProduct(body, values, numThreads));
  if (row.provider == KernelProvider::Generated)
    return GraphProgram::create(body, values);
  return std::shared_ptr<const CpuPrepared>();
}

} // namespace aicf::cpu
