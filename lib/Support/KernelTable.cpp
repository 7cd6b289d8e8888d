//===- KernelTable.cpp - Kernels.def as a table ---------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "aicf/Support/KernelTable.h"

#include <algorithm>
#include <unordered_map>

namespace aicf {
namespace {

constexpr KernelRow kRows[] = {
#define AICF_KERNEL(KID, KIND, DEVICE, IN0, OUT0, ALIGNMENT, CONDITION,        \
                    DETERMINISM, WORKSPACE, SELECTION)                         \
  {#KID,                                                                       \
   OpKind::KIND,                                                               \
   DeviceKind::DEVICE,                                                         \
   DType::IN0,                                                                 \
   DType::OUT0,                                                                \
   ALIGNMENT,                                                                  \
   KernelCondition::CONDITION,                                                 \
   Determinism::DETERMINISM,                                                   \
   WORKSPACE,                                                                  \
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
  uint64_t width = condition == KernelCondition::Vec2   ? 2
                   : condition == KernelCondition::Vec4 ? 4
                   : condition == KernelCondition::Vec8 ? 8
                                                        : 1;
  if (width > 1) // every operand, of whatever type, is accessed in vectors
    return uint64_t(desc.numElements()) < width
               ? element
               : std::max(element, std::min<uint64_t>(16, width * element));
  bool isMain = desc.dtype == in0 || desc.dtype == out0;
  return isMain && desc.numBytes() >= alignment
             ? std::max<uint64_t>(alignment, element)
             : element;
}

namespace {

struct GemmSize {
  int64_t m, n, k;
  GemmSize(Span<const TensorDesc> ins, Span<const TensorDesc> outs)
      : m(outs[0].dims[0]), n(outs[0].dims[1]),
        k(ins[0].numElements() / std::max<int64_t>(m, 1)) {}
};

/// Up to two waves of 32x32 tiles on an H200, and few k steps: there the tile
/// kernels took less time than cuBLASLt (benchmarks/results).
bool isSmallGemm(const GemmSize &s) {
  int64_t tiles = (s.m + 31) / 32 * ((s.n + 31) / 32);
  return tiles <= 264 && s.k <= 512 && tiles * s.k <= 16384;
}

bool isHalf(DType dtype) { return dtype == DType::F16 || dtype == DType::BF16; }

bool groupsFit(OpKind kind, Span<const TensorDesc> ins,
               Span<const TensorDesc> outs) {
  const OpInfo &info = infoOf(kind);
  std::optional<CallSlots> slots = CallSlots::of(info, ins.size());
  if (!slots || slots->groups > size_t(kMaxUpdateGroups))
    return false;
  size_t perIn = info.groupOperands, count = slots->groups;
  DType grad = ins[1].dtype;
  for (size_t i = 0; i < count; ++i)
    if (ins[i * perIn + 1].dtype != grad)
      return false;
  size_t firstCopy = slots->groupedResults();
  for (size_t i = firstCopy; i < outs.size(); ++i)
    if (outs[i].dtype != outs[firstCopy].dtype ||
        (isHalf(grad) && outs[i].dtype != grad))
      return false;
  return outs.size() == firstCopy || ins[0].dtype == DType::F32;
}

uint64_t roundUp(uint64_t bytes) {
  return (bytes + kTensorAlignment - 1) / kTensorAlignment * kTensorAlignment;
}

} // namespace

bool KernelRow::conditionHolds(Span<const TensorDesc> ins,
                               Span<const TensorDesc> outs) const {
  auto divides = [&](int64_t v) {
    const TensorDesc &x = ins[0];
    return x.rank > 0 && x.dims[x.rank - 1] % v == 0;
  };
  switch (condition) {
  case KernelCondition::Any:
    return true;
  case KernelCondition::Vec2:
    return divides(2);
  case KernelCondition::Vec4:
    return divides(4);
  case KernelCondition::Vec8:
    return divides(8);
  case KernelCondition::SmallGemm:
    return isSmallGemm(GemmSize(ins, outs));
  case KernelCondition::Groups:
    return groupsFit(kind, ins, outs);
  }
  return false;
}

uint64_t KernelRow::workspaceBytes(Span<const TensorDesc> ins,
                                   Span<const TensorDesc> outs) const {
  if (workspaceCap == 0)
    return 0;
  bool isGemm = kind == OpKind::Gemm || kind == OpKind::GemmBias ||
                kind == OpKind::GemmReduce;
  uint64_t elements = 0;
  for (const TensorDesc &in : ins)
    elements += uint64_t(in.numElements());
  bool isOneBlock = elements <= uint64_t(kSingleBlockElements) &&
                    ins.size() <= size_t(kMaxAllFiniteOperands);
  if (!isGemm && isOneBlock)
    return 0;
  // cuBLASLt's heuristic weighs split-K only when offered the 32 MiB that
  // NVIDIA recommends for Hopper, even where 8 MiB would do; others hold a
  // partial result a block. Calls of one stream share the memory.
  uint64_t wanted = workspaceCap;
  if (kind == OpKind::ReduceSum) // partial sums of up to 64 chunks of rows
    wanted = 64 * 8 * uint64_t(outs[0].numElements());
  if (kind == OpKind::ReluBwdReduce)
    wanted = 64 * 8 * uint64_t(outs[1].numElements());
  return roundUp(std::min(wanted, workspaceCap));
}

} // namespace aicf
