//===- KernelTable.cpp - Kernels.def as a table ---------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "aicf/Support/KernelTable.h"

#include <unordered_map>

namespace aicf {
namespace {

constexpr KernelRow kRows[] = {
#define AICF_KERNEL(KID, KIND, DEVICE, IN0, OUT0, ALIGNMENT, CONDITION,        \
                    DETERMINISM, WORKSPACE, HOST, SELECTION)                   \
  {#KID,                                                                       \
   OpKind::KIND,                                                               \
   DeviceKind::DEVICE,                                                         \
   DType::IN0,                                                                 \
   DType::OUT0,                                                                \
   ALIGNMENT,                                                                  \
   KernelCondition::CONDITION,                                                 \
   Determinism::DETERMINISM,                                                   \
   WORKSPACE,                                                                  \
   HOST,                                                                       \
   Selection::SELECTION},
#include "aicf/ABI/Kernels.def"
};

} // namespace

Span<const KernelRow> kernelTable() {
  return {kRows, sizeof(kRows) / sizeof(kRows[0])};
}

const KernelRow *findKernel(DeviceKind device, std::string_view kid) {
  static const auto byName = [] {
    std::unordered_map<std::string_view, const KernelRow *>
        map[kNumDeviceKinds];
    for (const KernelRow &row : kRows)
      map[static_cast<uint8_t>(row.device)].emplace(row.kid, &row);
    return std::pair(std::move(map[0]), std::move(map[1]));
  }();
  const auto &map = device == DeviceKind::CPU ? byName.first : byName.second;
  auto it = map.find(kid);
  return it == map.end() ? nullptr : it->second;
}

const KernelRow *selectKernel(DeviceKind device, OpKind kind,
                              Span<const TensorDesc> ins,
                              Span<const TensorDesc> outs) {
  for (const KernelRow &row : kRows)
    if (row.device == device && row.selection == Selection::Auto &&
        row.accepts(kind, ins, outs))
      return &row;
  return nullptr;
}

} // namespace aicf
