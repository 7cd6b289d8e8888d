//===- KernelRows.cpp - the kernels of all families -----------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// One table for each device, from the families' records. What rows mean and who
// finds them stands in lib/Ops/KernelTable.h.
//===----------------------------------------------------------------------===//

#include "kernels/FamilyHeaders.h" // made by CMake
#include "lib/Ops/KernelTable.h"
#include "lib/Ops/RuleCall.h"

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
#define AICF_PAYS(KIND, ...)                                                   \
  PayCondition(                                                                \
      [](const rules::Call &call,                                              \
         [[maybe_unused]] const Costs &costs) -> bool {                        \
        KIND##View<rules::Call> c(call);                                       \
        return __VA_ARGS__;                                                    \
      },                                                                       \
      #__VA_ARGS__)
#define AICF_WORKSPACE(KIND, ...)                                              \
  [](const rules::Call &call) -> uint64_t {                                    \
    KIND##View<rules::Call> c(call);                                           \
    return __VA_ARGS__;                                                        \
  }

/// The slots of a row that may be views; rows with the same ones share them.
template <StridedSlot... slots>
constexpr StridedSlot kStridedSlots[] = {slots...};
template <StridedSlot... slots>
constexpr Span<const StridedSlot> kStrided = {kStridedSlots<slots...>,
                                              sizeof...(slots)};

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

} // namespace

// In the order of DeviceKind.
Span<const Span<const KernelRow>> allKernelRows() {
  static const Span<const KernelRow> tables[] = {
      {kCPURows, std::size(kCPURows)}, {kCUDARows, std::size(kCUDARows)}};
  static_assert(std::size(tables) == kNumDeviceKinds,
                "a device without a table of kernels");
  return {tables, kNumDeviceKinds};
}

} // namespace aicf
