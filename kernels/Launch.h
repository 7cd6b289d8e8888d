//===- Launch.h - what a kernel is called with ------------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_LAUNCH_H
#define AICF_KERNELS_LAUNCH_H

#include "aicf/TensorDesc.h"
#include "kernels/OpViews.h"

#include <vector>

namespace aicf {

/// The tensors of a call for those who treat them all alike; by name: the views
/// of OpViews.h. There is no access by position.
class TensorList {
public:
  TensorList() = default;
  TensorList(const TensorView *first, size_t count)
      : first(first), count(count) {}
  const TensorView *begin() const { return first; }
  const TensorView *end() const { return first + count; }

private:
  const TensorView *first = nullptr;
  size_t count = 0;
};

/// A call as kernels and their planners see it; checked by resolve(), not by
/// kernels. Operands by name: a view, such as GemmArgs, made from it.
class LaunchArgs {
public:
  LaunchArgs(Span<const TensorView> ins, Span<const TensorView> outs,
             Span<const uint8_t> attrs, TensorView workspace = {})
      : workspace(workspace), ins(ins), outs(outs), attrs(attrs) {}

  TensorView workspace;
  /// Threads a CPU kernel may use; results do not depend on it.
  int numThreads = 1;

  TensorList operands() const { return {ins.data(), ins.size()}; }
  TensorList results() const { return {outs.data(), outs.size()}; }

private:
  template <typename> friend class CallView;
  Span<const TensorView> ins, outs;
  Span<const uint8_t> attrs;
};

/// In the record's order, absent ones included.
template <typename Views> std::vector<TensorDesc> descsOf(const Views &views) {
  std::vector<TensorDesc> descs;
  for (const TensorView &view : views)
    descs.push_back(isAbsent(view) ? TensorDesc::absent() : view.desc);
  return descs;
}

#define AICF_ARGS(KIND) using KIND##Args = KIND##View<LaunchArgs>;
AICF_KINDS(AICF_ARGS)
#undef AICF_ARGS

/// A CPU kernel: reads its operands, writes its results, cannot fail, allocates
/// nothing.
using CpuKernel = void (*)(const LaunchArgs &);

} // namespace aicf

#endif // AICF_KERNELS_LAUNCH_H
