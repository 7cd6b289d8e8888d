//===- Cpu.cpp - elements and rows that integers choose, on the CPU --------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/cpu/KernelDecls.h"
#include "kernels/cpu/Parallel.h"
#include "lib/Base/Indices.h"

#include <cstring>
#include <limits>

namespace aicf::cpu {
namespace {

template <typename T> T notANumber() {
  return T(std::numeric_limits<Compute<T>>::quiet_NaN());
}

template <typename T> void pick(PickArgs call) {
  const Indices index(call.index());
  const T *x = call.x().dense<T>();
  T *y = call.y().dense<T>();
  int64_t width = call.x().desc.width();
  parallelElements(call.y().elements(), call->numThreads, [=](int64_t row) {
    int64_t at = index[row];
    y[row] = at < 0 || at >= width ? notANumber<T>() : x[row * width + at];
  });
}

template <typename T> void pickBwd(PickBwdArgs call) {
  const Indices index(call.index());
  const T *dy = call.dy().dense<T>();
  T *dx = call.dx().dense<T>();
  int64_t size = call.attrs().size;
  parallelFor(call.dy().elements(), 16384 / size + 1, call->numThreads,
              call.dx().elements(), [&](int64_t begin, int64_t end) {
                std::fill(dx + begin * size, dx + end * size, T(Compute<T>(0)));
                for (int64_t row = begin; row < end; ++row)
                  if (int64_t at = index[row]; at >= 0 && at < size)
                    dx[row * size + at] = dy[row];
              });
}

template <typename T> void embedding(EmbeddingArgs call) {
  const StridedIndices index(call.index());
  const T *table = call.table().dense<T>();
  T *y = call.y().strided<T>();
  const Walk yRows = rowsOf(call.y().desc);
  int64_t rows = call.table().desc.dims[0], width = call.table().desc.dims[1];
  parallelFor(call.index().elements(), 16384 / width + 1, call->numThreads,
              call.y().elements(), [&](int64_t begin, int64_t end) {
                for (int64_t i = begin; i < end; ++i) {
                  int64_t row = index[i];
                  T *to = y + yRows.at(i);
                  if (row < 0 || row >= rows)
                    std::fill_n(to, width, notANumber<T>());
                  else
                    std::memcpy(to, table + row * width,
                                size_t(width) * sizeof(T));
                }
              });
}

/// The rows of dy by their index: positions[begin[r]] to positions[begin[r + 1]]
/// have index r and rise. Without room for that, a row looks at all of them.
struct SortedRows {
  const int32_t *begin = nullptr, *positions = nullptr;

  SortedRows(const TensorView &workspace, const Indices &index, int64_t count,
             int64_t rows) {
    bool fits = workspace.start() && count <= INT32_MAX &&
                int64_t(workspace.desc.spanBytes() / 4) >= rows + 1 + count;
    if (!fits)
      return;
    int32_t *ends = workspace.dense<int32_t>(), *sorted = ends + rows + 1;
    std::fill_n(ends, rows + 1, 0);
    auto isRow = [&](int64_t row) { return row >= 0 && row < rows; };
    for (int64_t i = 0; i < count; ++i)
      if (isRow(index[i]))
        ++ends[index[i]];
    for (int64_t row = 0; row < rows; ++row) // now where each row's positions end
      ends[row + 1] += ends[row];
    for (int64_t i = count; i-- > 0;) // and, once filled from behind, begin
      if (isRow(index[i]))
        sorted[--ends[index[i]]] = int32_t(i);
    begin = ends;
    positions = sorted;
  }
};

/// Columns that are added up at a time.
constexpr int64_t kColumns = 256;

template <typename T> void embeddingBwd(EmbeddingBwdArgs call) {
  using C = Compute<T>;
  const Indices index(call.index());
  const T *dy = call.dy().strided<T>();
  const Walk dyRows = rowsOf(call.dy().desc);
  T *dtable = call.dtable().dense<T>();
  int64_t count = call.index().elements(), width = call.dy().desc.width();
  int64_t rows = call.attrs().rows, padding = call.attrs().padding;
  const SortedRows sorted(call->workspace, index, count, rows);
  auto addUp = [&](int64_t row, int64_t first, int64_t last) {
    C sums[kColumns] = {};
    auto add = [&](int64_t i) {
      const T *from = dy + dyRows.at(i);
      for (int64_t j = first; j < last; ++j)
        sums[j - first] += C(from[j]);
    };
    if (row != padding && sorted.begin) {
      for (int64_t k = sorted.begin[row]; k < sorted.begin[row + 1]; ++k)
        add(sorted.positions[k]);
    } else if (row != padding) {
      for (int64_t i = 0; i < count; ++i)
        if (index[i] == row)
          add(i);
    }
    for (int64_t j = first; j < last; ++j)
      dtable[row * width + j] = T(sums[j - first]);
  };
  parallelFor(rows, 16384 / width + 1, call->numThreads, rows * width,
              [&](int64_t begin, int64_t end) {
                for (int64_t row = begin; row < end; ++row)
                  for (int64_t j = 0; j < width; j += kColumns)
                    addUp(row, j, std::min(width, j + kColumns));
              });
}

} // namespace

#define AICF_KERNELS_OF_lookup_CPU
#include "kernels/Definitions.inc"

} // namespace aicf::cpu
