//===- KernelTable.cpp - the kernels of all families ----------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Ops/KernelTable.h"
#include "lib/Ops/Graphs.h"
#include "lib/Ops/RuleCall.h"

#include <algorithm>
#include <unordered_map>

namespace aicf {
namespace {

/// The rows of one device, by pattern and by KID.
class DeviceTable {
public:
  explicit DeviceTable(Span<const KernelRow> rows)
      : rows(rows), first(kNumOpKinds + allPatterns().size() + 1) {
    for (const KernelRow &row : rows) {
      byKid.emplace(row.kid, &row);
      ++first[size_t(row.pattern) + 1];
    }
    for (size_t i = 1; i < first.size(); ++i)
      first[i] += first[i - 1];
  }
  Span<const KernelRow> all() const { return rows; }
  Span<const KernelRow> of(PatternId pattern) const {
    return {rows.data() + first[pattern], first[pattern + 1u] - first[pattern]};
  }
  const KernelRow *find(std::string_view kid) const {
    auto it = byKid.find(kid);
    return it == byKid.end() ? nullptr : it->second;
  }

private:
  Span<const KernelRow> rows;
  std::vector<size_t> first; ///< row of each pattern
  std::unordered_map<std::string_view, const KernelRow *> byKid;
};

/// Null for a device without kernels.
const DeviceTable *tableOf(DeviceKind device) {
  static const std::vector<DeviceTable> tables = [] {
    std::vector<DeviceTable> all;
    for (Span<const KernelRow> rows : allKernelRows())
      all.emplace_back(rows);
    return all;
  }();
  auto index = static_cast<size_t>(device);
  return index < tables.size() ? &tables[index] : nullptr;
}

/// Plans up to 4.5 name kernels of elementwise primitives for views, one for
/// each type, such as "less_f32_i1_strided_v0". What they computed, a graph of
/// the primitive computes to the bit. Returns its name, or an empty one.
std::string successorOf(std::string_view kid) {
  auto removeEnd = [&kid](std::string_view end) {
    if (kid.size() <= end.size() || kid.substr(kid.size() - end.size()) != end)
      return false;
    kid.remove_suffix(end.size());
    return true;
  };
  if (!removeEnd("_strided_v0"))
    return {};
  auto removeType = [&] {
    for (uint8_t type = 0; type < kNumDTypes; ++type)
      if (removeEnd("_" + std::string(nameOf(DType(type)))))
        return true;
    return false;
  };
  while (removeType())
    ;
  return std::string(kid) + "_graph_v0";
}

} // namespace

Span<const KernelRow> kernelsOn(DeviceKind device) {
  const DeviceTable *table = tableOf(device);
  return table ? table->all() : Span<const KernelRow>();
}

Span<const KernelRow> kernelsFor(DeviceKind device, PatternId pattern) {
  const DeviceTable *table = tableOf(device);
  return table ? table->of(pattern) : Span<const KernelRow>();
}

const KernelRow *findKernel(DeviceKind device, std::string_view kid) {
  const DeviceTable *table = tableOf(device);
  const KernelRow *row = table ? table->find(kid) : nullptr;
  if (row || !table)
    return row;
  row = table->find(successorOf(kid));
  return row && mayBeInGraph(OpKind(row->pattern)) ? row : nullptr;
}

const KernelRow *selectKernel(DeviceKind device, const TypedBody &call,
                              SelectOptions options) {
  const KernelRow *misaligned = nullptr;
  const Costs &costs = options.costs ? *options.costs : defaultCosts(device);
  for (const KernelRow &row : kernelsFor(device, call.pattern())) {
    bool isChosen = row.selection == Selection::Auto ||
                    (row.selection == Selection::AutoTF32 && options.allowTF32);
    if (!isChosen || !row.accepts(call) || !row.isWorthChoosing(call, costs))
      continue;
    if (row.suits(call, options.addresses))
      return &row;
    misaligned = &row;
  }
  return misaligned;
}

bool KernelRow::suits(const TypedBody &call,
                      Span<const uintptr_t> addresses) const {
  size_t numOperands = call.body().numOperands;
  for (size_t i = 0; i < addresses.size(); ++i) {
    const TensorDesc &desc =
        i < numOperands ? call.operand(i) : call.result(i - numOperands);
    if (addresses[i] % neededAlignment(desc) != 0)
      return false;
  }
  return true;
}

uint64_t KernelRow::neededAlignment(const TensorDesc &desc) const {
  uint64_t element = sizeOf(desc.dtype);
  if (width > 1) // every operand, of whatever type, is accessed in vectors
    return uint64_t(desc.stored().elements()) < width
               ? element
               : std::max(element, std::min<uint64_t>(16, width * element));
  bool isMain = !anyTypes && (desc.dtype == in0 || desc.dtype == out0);
  return isMain && desc.spanBytes() >= alignment
             ? std::max<uint64_t>(alignment, element)
             : element;
}

std::optional<TypedBody> KernelRow::launched(const TypedBody &call) const {
  return needsStored(call) ? call.stored() : call;
}

/// Libraries count the distance between rows in 32 bits.
static bool holds(StrideRule rule, const TensorDesc &desc) {
  switch (rule) {
  case StrideRule::Any:
    return true;
  case StrideRule::Rows:
    return desc.hasRows() && desc.pitch() <= INT32_MAX;
  case StrideRule::RowsAnywhere:
    return desc.width() == 1 || desc.stride(desc.rank - 1u) == 1;
  case StrideRule::Matrices:
    return desc.hasMatrices() && desc.pitch() <= INT32_MAX;
  }
  return false;
}

bool KernelRow::takesView(OpKind kind, size_t slot, bool isResult,
                          const TensorDesc &desc) const {
  for (const StridedSlot &known : strided)
    if (std::tuple(known.kind, size_t(known.slot), known.isResult) ==
        std::tuple(kind, slot, isResult))
      return holds(known.rule, desc);
  return anyStrides;
}

bool KernelRow::takesViewedOperands(const TypedBody &call) const {
  for (const Primitive &primitive : call.body().primitives) {
    CallSlots slots =
        *CallSlots::of(infoOf(primitive.kind), primitive.operands.size());
    for (size_t slot = 0; slot < primitive.operands.size(); ++slot) {
      const int32_t value = primitive.operands[slot]; // negative: not there
      if (value >= 0 && uint32_t(value) < call.body().numOperands &&
          call.operand(size_t(value)).layout == Layout::Strided &&
          !takesView(primitive.kind, slots.operandAt(slot), /*isResult=*/false,
                     call.operand(size_t(value))))
        return false;
    }
  }
  return true;
}

/// Where elements of a view share bytes, as those of a broadcast do, they
/// cannot be written.
bool KernelRow::takesViewedResult(const TypedBody &call, size_t value) const {
  auto [primitive, slot] = call.body().makerOf(uint32_t(value));
  const TensorDesc &desc = call.values()[value];
  return takesView(call.body().primitives[primitive].kind, slot,
                   /*isResult=*/true, desc) &&
         desc.hasDistinctElements();
}

bool KernelRow::takesViews(const TypedBody &call) const {
  for (size_t value = call.body().numOperands; value < call.values().size();
       ++value)
    if (call.values()[value].layout == Layout::Strided &&
        !takesViewedResult(call, value))
      return false;
  return takesViewedOperands(call);
}

Mismatch KernelRow::mismatch(const TypedBody &call) const {
  if (call.pattern() != pattern)
    return Mismatch::Body;
  if (!anyTypes &&
      (call.operand(0).dtype != in0 || call.result(0).dtype != out0))
    return Mismatch::Types;
  if (!takesViews(call))
    return Mismatch::Strides;
  if (needsStored(call)) {
    std::optional<TypedBody> stored = call.stored();
    return stored ? mismatch(*stored) : Mismatch::Layout;
  }
  if (call.operand(0).width() % width != 0)
    return Mismatch::Width;
  if (takes.holds && !takes.holds(rules::Call(call.body(), call.values())))
    return Mismatch::Condition;
  return Mismatch::None;
}

bool KernelRow::isWorthChoosing(const TypedBody &call,
                                const Costs &costs) const {
  if (!pays.holds)
    return true;
  const TypedBody given = *launched(call); // which the row accepts
  return pays.holds(rules::Call(given.body(), given.values()), costs);
}

bool KernelRow::runsAtFullSpeed(const TypedBody &call) const {
  return !fullSpeed.holds ||
         fullSpeed.holds(rules::Call(call.body(), call.values()));
}

uint64_t KernelRow::workspaceBytes(const TypedBody &call) const {
  if (!workspace)
    return 0;
  TypedBody given = *launched(call); // which the row accepts
  uint64_t bytes = workspace(rules::Call(given.body(), given.values()));
  return alignedBytes(std::min(bytes, workspaceCap));
}

} // namespace aicf
