//===- KernelTable.cpp - the kernels of all families ----------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/KernelTable.h"
#include "kernels/H200.h"
#include "kernels/RuleCall.h"
#include "kernels/counter/Family.h"
#include "kernels/gemm/Family.h"
#include "kernels/loss/Family.h"
#include "kernels/norm/Family.h"
#include "kernels/optimizer/Family.h"

#include <algorithm>
#include <unordered_map>

namespace aicf {
namespace {

/// An expression of a family's record, of `c`, as a function of any call.
#define AICF_CONDITION(KIND, ...)                                              \
  [](const rules::Call &call) -> bool {                                        \
    KIND##View<rules::Call> c(call);                                           \
    return __VA_ARGS__;                                                        \
  }
#define AICF_WORKSPACE(KIND, ...)                                              \
  [](const rules::Call &call) -> uint64_t {                                    \
    KIND##View<rules::Call> c(call);                                           \
    return __VA_ARGS__;                                                        \
  }

using namespace families; // the caps

constexpr KernelRow kRows[] = {
#define AICF_ROW(KID, KIND, DEVICE, PROVIDER, MATH, IN, OUT, WIDTH, ALIGNMENT, \
                 CONDITION, WORKSPACE, CAP, SELECTION, FREE)                   \
  {#KID,                                                                       \
   OpKind::KIND,                                                               \
   DeviceKind::DEVICE,                                                         \
   KernelProvider::PROVIDER,                                                   \
   Math::MATH,                                                                 \
   DType::IN,                                                                  \
   DType::OUT,                                                                 \
   WIDTH,                                                                      \
   ALIGNMENT,                                                                  \
   CONDITION,                                                                  \
   WORKSPACE,                                                                  \
   CAP,                                                                        \
   Selection::SELECTION,                                                       \
   FREE},
#include "kernels/Rows.def"
};

/// What a family's functions look at; nothing for a number of operands that the
/// kind does not take.
std::optional<rules::Call> describe(OpKind kind, Span<const TensorDesc> ins,
                                    Span<const TensorDesc> outs) {
  std::optional<CallSlots> slots = CallSlots::of(infoOf(kind), ins.size());
  if (!slots || !slots->takesResults(outs.size()))
    return std::nullopt;
  return rules::Call(*slots, ins, outs, {});
}

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
                              Span<const TensorDesc> outs,
                              SelectOptions options) {
  const KernelRow *misaligned = nullptr;
  for (const KernelRow &row : kRows) {
    bool isChosen = row.selection == Selection::Auto ||
                    (row.selection == Selection::AutoTF32 && options.allowTF32);
    if (row.device != device || !isChosen || !row.accepts(kind, ins, outs))
      continue;
    bool isAligned = true;
    for (size_t i = 0; i < options.addresses.size(); ++i) {
      const TensorDesc &desc = i < ins.size() ? ins[i] : outs[i - ins.size()];
      if (desc.isAbsent)
        continue;
      uint64_t needed = row.neededAlignment(desc);
      isAligned &= options.addresses[i] % needed == 0;
    }
    if (isAligned)
      return &row;
    misaligned = &row;
  }
  return misaligned;
}

uint64_t KernelRow::neededAlignment(const TensorDesc &desc) const {
  uint64_t element = sizeOf(desc.dtype);
  if (width > 1) // every operand, of whatever type, is accessed in vectors
    return uint64_t(desc.numElements()) < width
               ? element
               : std::max(element, std::min<uint64_t>(16, width * element));
  bool isMain = desc.dtype == in0 || desc.dtype == out0;
  return isMain && desc.numBytes() >= alignment
             ? std::max<uint64_t>(alignment, element)
             : element;
}

bool KernelRow::accepts(OpKind callKind, Span<const TensorDesc> ins,
                        Span<const TensorDesc> outs) const {
  if (callKind != kind || ins.empty() || outs.empty() || ins[0].dtype != in0 ||
      outs[0].dtype != out0)
    return false;
  const TensorDesc &x = ins[0];
  if (width > 1 && (x.rank == 0 || x.dims[x.rank - 1] % width != 0))
    return false;
  if (!condition)
    return true;
  std::optional<rules::Call> call = describe(kind, ins, outs);
  return call && condition(*call);
}

uint64_t KernelRow::workspaceBytes(Span<const TensorDesc> ins,
                                   Span<const TensorDesc> outs) const {
  std::optional<rules::Call> call;
  if (workspace)
    call = describe(kind, ins, outs);
  uint64_t bytes = call ? std::min(workspace(*call), workspaceCap) : 0;
  return alignedBytes(bytes);
}

} // namespace aicf
