//===- Cpu.cpp - movers of rows on the CPU --------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Bits are copied, never interpreted.
//===----------------------------------------------------------------------===//

#include "kernels/cpu/KernelDecls.h"
#include "kernels/rows/Shuffle.h"

#include <algorithm>
#include <cstring>

namespace aicf::cpu {
namespace {

/// Element `i` of an i32 or i64 tensor.
int64_t integerAt(const TensorView &view, int64_t i) {
  return view.desc.dtype == DType::I32 ? view.dense<const int32_t>()[i]
                                       : view.dense<const int64_t>()[i];
}

void gatherRows(GatherRowsArgs call) {
  int64_t last = call.data().desc.dims[0] - 1;
  size_t bytes = call.data().desc.spanBytes() / size_t(last + 1);
  for (int64_t i = 0; i < call.index().elements(); ++i) {
    int64_t row = std::clamp<int64_t>(integerAt(call.index(), i), 0, last);
    std::memcpy(call.rows().dense<char>() + size_t(i) * bytes,
                call.data().dense<char>() + size_t(row) * bytes, bytes);
  }
}

void shuffle(ShuffleArgs call) {
  ShuffleAttrs attrs = call.attrs();
  int64_t batch = call.index().elements();
  int64_t step = std::max<int64_t>(integerAt(call.step(), 0), 0);
  for (int64_t i = 0; i < batch; ++i) {
    int64_t row = shuffledRow(uint64_t(step) * uint64_t(batch) + uint64_t(i),
                              uint32_t(attrs.size), uint64_t(attrs.seed));
    if (call.index().desc.dtype == DType::I32)
      call.index().dense<int32_t>()[i] = int32_t(row);
    else
      call.index().dense<int64_t>()[i] = row;
  }
}

void record(RecordArgs call) {
  int64_t rows = call.history().desc.dims[0];
  size_t bytes = call.value().desc.spanBytes();
  char *out = call.history_out().dense<char>();
  if (out != call.history().dense<char>())
    std::memcpy(out, call.history().dense(), bytes * size_t(rows));
  int64_t row = std::max<int64_t>(integerAt(call.step(), 0), 0) % rows;
  std::memcpy(out + size_t(row) * bytes, call.value().dense(), bytes);
}

} // namespace

#define AICF_KERNELS_OF_rows_CPU
#include "kernels/Definitions.inc"

} // namespace aicf::cpu
