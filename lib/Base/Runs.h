//===- Runs.h - the elements of a tensor, run by run ------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// The one loop over elements that need not lie behind each other. Touches no
// memory of the tensor.
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_BASE_RUNS_H
#define AICF_LIB_BASE_RUNS_H

#include "aicf/TensorDesc.h"

namespace aicf {

/// Calls `run(first, start, count)` for runs of elements that lie behind each
/// other, in row-major order, as long ones as there are: elements `first` to
/// `first + count - 1` in that order lie from `start` on, counted in elements
/// from the first one. Pads belong to no run. checkedBytes() accepts `desc`.
template <typename Run> void forEachRun(const TensorDesc &desc, Run run) {
  size_t outer = desc.rank; // dimensions whose indices begin a new run
  int64_t count = 1;
  while (outer > 0 &&
         (desc.dims[outer - 1] == 1 || desc.stride(outer - 1) == count))
    count *= desc.dims[--outer];
  int64_t strides[kMaxRank], index[kMaxRank] = {}, start = 0;
  for (size_t i = 0; i < outer; ++i)
    strides[i] = desc.stride(i);
  for (int64_t first = 0, n = desc.elements(); first < n; first += count) {
    run(first, start, count);
    for (size_t i = outer; i-- > 0;) {
      start += strides[i];
      if (++index[i] < desc.dims[i])
        break;
      start -= strides[i] * desc.dims[i];
      index[i] = 0;
    }
  }
}

} // namespace aicf

#endif // AICF_LIB_BASE_RUNS_H
