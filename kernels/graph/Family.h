//===- Family.h - which graphs the kernels take -----------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_GRAPH_FAMILY_H
#define AICF_KERNELS_GRAPH_FAMILY_H

#include "lib/Ops/Graphs.h"
#include "lib/Ops/RuleCall.h"

namespace aicf::families {

/// Two parts of a graph that share no value may have different shapes: no rule
/// of a primitive compares them.
inline bool haveOneShape(const PointwiseGraphView<rules::Call> &c) {
  std::vector<TensorDesc> types = graphTypes(c.body(), c.values());
  for (const TensorDesc &desc : types)
    if (!desc.sameShape(types[0]))
      return false;
  return true;
}

} // namespace aicf::families

#endif // AICF_KERNELS_GRAPH_FAMILY_H
