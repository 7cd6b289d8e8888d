//===- OldTensors.h - tensors of plans before version 4.0 -------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_PLAN_OLDTENSORS_H
#define AICF_LIB_PLAN_OLDTENSORS_H

#include "aicf/Plan.h"

namespace aicf {

/// Before version 4.0: a buffer and the value that is all of it.
struct OldTensor {
  PlanBuffer buffer;
  PlanValue value;
};

/// The numbers that the tensors of a table got, in its order.
struct OldNumbers {
  uint32_t first = 0; ///< number of values in front of the table's
  std::vector<uint32_t> valueOf, bufferOf; ///< UINT32_MAX: it has no value

  /// The new number of a tensor that calls named by its number `tid`.
  static uint32_t at(const std::vector<uint32_t> &persistent,
                     const std::vector<uint32_t> &own, uint32_t tid) {
    if (tid < persistent.size())
      return persistent[tid];
    size_t position = tid - persistent.size();
    return position < own.size() ? own[position] : UINT32_MAX;
  }
};

/// A buffer for each tensor, inputs and outputs first; and a value, but for
/// workspaces. The tables before this one have `first` tensors.
inline OldNumbers splitTensors(std::vector<OldTensor> &tensors, size_t first,
                               std::vector<PlanBuffer> &buffers,
                               std::vector<PlanValue> &values) {
  OldNumbers numbers;
  numbers.first = uint32_t(first);
  numbers.bufferOf.assign(tensors.size(), UINT32_MAX);
  numbers.valueOf = numbers.bufferOf;
  auto isIO = [](const OldTensor &t) {
    return segmentOf(t.buffer.role) == Segment::IO;
  };
  for (bool wantsIO : {true, false})
    for (size_t i = 0; i < tensors.size(); ++i) {
      OldTensor &t = tensors[i];
      if (isIO(t) != wantsIO)
        continue;
      numbers.bufferOf[i] = uint32_t(first + buffers.size());
      if (t.buffer.role != Role::Workspace) {
        numbers.valueOf[i] = uint32_t(first + values.size());
        t.value.buffer = numbers.bufferOf[i];
        values.push_back(t.value);
      }
      buffers.push_back(std::move(t.buffer));
    }
  return numbers;
}

} // namespace aicf

#endif // AICF_LIB_PLAN_OLDTENSORS_H
