//===- KernelTable.cpp - the kernels of all families ----------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/KernelTable.h"
#include "kernels/FamilyHeaders.h" // made by CMake
#include "kernels/H200.h"
#include "kernels/RuleCall.h"

#include <algorithm>
#include <array>
#include <unordered_map>

namespace aicf {
namespace {

/// An expression of a family's record, of `c`, as a function of any call.
#define AICF_CONDITION(KIND, ...)                                              \
  RowCondition(                                                                \
      [](const rules::Call &call) -> bool {                                    \
        KIND##View<rules::Call> c(call);                                       \
        return __VA_ARGS__;                                                    \
      },                                                                       \
      #__VA_ARGS__)
#define AICF_WORKSPACE(KIND, ...)                                              \
  [](const rules::Call &call) -> uint64_t {                                    \
    KIND##View<rules::Call> c(call);                                           \
    return __VA_ARGS__;                                                        \
  }

using namespace families; // the caps

#define AICF_ROWS_OF_CPU
#define AICF_ROW(KID, PATTERN, ...)                                            \
  {.kid = #KID,                                                                \
   .pattern = PatternId(patterns::PATTERN),                                    \
   .device = DeviceKind::CPU,                                                  \
   __VA_ARGS__},
constexpr KernelRow kCPURows[] = {
#include "kernels/Rows.def"
};

#define AICF_ROWS_OF_CUDA
#define AICF_ROW(KID, PATTERN, ...)                                            \
  {.kid = #KID,                                                                \
   .pattern = PatternId(patterns::PATTERN),                                    \
   .device = DeviceKind::CUDA,                                                 \
   __VA_ARGS__},
constexpr KernelRow kCUDARows[] = {
#include "kernels/Rows.def"
};

/// The rows of one device, by pattern and by KID.
class DeviceTable {
public:
  template <size_t N>
  explicit DeviceTable(const KernelRow (&rows)[N])
      : rows(rows, N), first(kNumOpKinds + allPatterns().size() + 1) {
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
  // In the order of DeviceKind: a device without a table does not build.
  static const std::array<DeviceTable, kNumDeviceKinds> tables = {
      DeviceTable(kCPURows), DeviceTable(kCUDARows)};
  auto index = static_cast<size_t>(device);
  return index < tables.size() ? &tables[index] : nullptr;
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
  return table ? table->find(kid) : nullptr;
}

const KernelRow *selectKernel(DeviceKind device, const TypedBody &call,
                              SelectOptions options) {
  const KernelRow *misaligned = nullptr;
  size_t numOperands = call.body().numOperands;
  for (const KernelRow &row : kernelsFor(device, call.pattern())) {
    bool isChosen = row.selection == Selection::Auto ||
                    (row.selection == Selection::AutoTF32 && options.allowTF32);
    if (!isChosen || !row.accepts(call))
      continue;
    bool isAligned = true;
    for (size_t i = 0; i < options.addresses.size(); ++i) {
      const TensorDesc &desc =
          i < numOperands ? call.operand(i) : call.result(i - numOperands);
      isAligned &= options.addresses[i] % row.neededAlignment(desc) == 0;
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
    return uint64_t(desc.stored().elements()) < width
               ? element
               : std::max(element, std::min<uint64_t>(16, width * element));
  bool isMain = desc.dtype == in0 || desc.dtype == out0;
  return isMain && desc.spanBytes() >= alignment
             ? std::max<uint64_t>(alignment, element)
             : element;
}

std::optional<TypedBody> KernelRow::launched(const TypedBody &call) const {
  return needsStored(call) ? call.stored() : call;
}

Mismatch KernelRow::mismatch(const TypedBody &call) const {
  if (call.pattern() != pattern)
    return Mismatch::Body;
  if (call.operand(0).dtype != in0 || call.result(0).dtype != out0)
    return Mismatch::Types;
  if (needsStored(call)) {
    std::optional<TypedBody> stored = call.stored();
    return stored ? mismatch(*stored) : Mismatch::Layout;
  }
  const TensorDesc &x = call.operand(0);
  if (width > 1 && (x.rank == 0 || x.dims[x.rank - 1] % width != 0))
    return Mismatch::Width;
  if (condition.holds &&
      !condition.holds(rules::Call(call.body(), call.values())))
    return Mismatch::Condition;
  return Mismatch::None;
}

bool KernelRow::runsAtFullSpeed(const TypedBody &call) const {
  return !fullSpeed.holds ||
         fullSpeed.holds(rules::Call(call.body(), call.values()));
}

uint64_t KernelRow::workspaceBytes(const TypedBody &call) const {
  if (!workspace)
    return 0;
  if (needsStored(call)) {
    std::optional<TypedBody> stored = call.stored();
    return stored ? workspaceBytes(*stored) : 0;
  }
  uint64_t bytes = workspace(rules::Call(call.body(), call.values()));
  return alignedBytes(std::min(bytes, workspaceCap));
}

bool TypedBody::isDense() const {
  return std::all_of(values().begin(), values().end(),
                     [](const TensorDesc &desc) { return desc.isDense(); });
}

bool TypedBody::keepsZeros(const BodyStep &step) const {
  const OpInfo &info = infoOf(step.kind);
  if (info.keepsZeros != KeepsZeros::InColumns)
    return info.keepsZeros == KeepsZeros::Everywhere;
  TensorDesc into = values()[size_t(step.operands[0])];
  into.layout = Layout::Padded;
  if (into.stored().rows() != into.rows())
    return false;
  for (const FieldInfo &field : Span(info.fields, info.numFields))
    if (field.name == "axis") {
      int64_t axis = std::get<int64_t>(decodeField(field, step.attrs));
      return axis == -1 || axis + 1 == into.rank;
    }
  return false;
}

std::optional<TypedBody> TypedBody::stored() const {
  for (const BodyStep &step : body().steps)
    if (!keepsZeros(step))
      return std::nullopt;
  std::vector<TensorDesc> ins, outs;
  for (size_t i = 0; i < body().numOperands + body().results.size(); ++i) {
    bool isResult = i >= body().numOperands;
    const TensorDesc &desc =
        isResult ? result(i - body().numOperands) : operand(i);
    if (desc.layout == Layout::Strided ||
        (desc.isDense() && desc.hasPadsIfPadded()))
      return std::nullopt;
    (isResult ? outs : ins).push_back(desc.stored());
  }
  StatusOr<std::vector<TensorDesc>> types = describeValues(body(), ins, outs);
  if (!types.ok())
    return std::nullopt;
  return TypedBody({sharedBody(), std::move(*types)}, id);
}

StatusOr<TypedBody> TypedBody::create(std::shared_ptr<const Body> body,
                                      const BodyFacts &facts,
                                      Span<const TensorDesc> ins,
                                      Span<const TensorDesc> outs) {
  if (!facts.pattern)
    return makeError(StatusCode::InvalidArgument, "no kernel family takes ",
                     primitiveNames(*body), " in one call");
  AICF_ASSIGN_OR_RETURN(std::vector<TensorDesc> types,
                        describeValues(*body, ins, outs));
  return TypedBody({std::move(body), std::move(types)}, *facts.pattern);
}

StatusOr<TypedBody> TypedBody::create(std::shared_ptr<const Body> body,
                                      Span<const TensorDesc> ins,
                                      Span<const TensorDesc> outs) {
  AICF_RETURN_IF_ERROR(checkForm(*body));
  BodyFacts facts = factsOf(*body);
  return create(std::move(body), facts, ins, outs);
}

StatusOr<TypedBody> TypedBody::create(OpKind kind, Span<const uint8_t> attrs,
                                      Span<const TensorDesc> ins,
                                      Span<const TensorDesc> outs) {
  std::vector<bool> hasOperand, hasResult;
  std::vector<TensorDesc> in, out;
  for (auto [descs, has, dense] : {std::tuple(&ins, &hasOperand, &in),
                                   std::tuple(&outs, &hasResult, &out)})
    for (const TensorDesc &desc : *descs) {
      has->push_back(!desc.isAbsent);
      if (!desc.isAbsent)
        dense->push_back(desc);
    }
  return create(std::make_shared<Body>(makeBody(
                    kind, {attrs.begin(), attrs.end()}, hasOperand, hasResult)),
                in, out);
}

} // namespace aicf
