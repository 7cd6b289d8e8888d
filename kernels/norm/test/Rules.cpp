//===- Rules.cpp - every rule of the family, violated once ----------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "unittests/Kernels/RuleCases.h"

namespace aicf::test {

std::vector<RuleCase> normRuleCases() {
  return {
      {"reduce_sum leading", "C3", Code::ShapeMismatch, out("y", {3})},
      {"reduce_sum all", "C3", Code::ShapeMismatch, out("y", {1})},
      {"expand 0", "C1", Code::InvalidArgument, attr(&ExpandAttrs::axis, -1)},
      {"expand 0", "C1", Code::InvalidArgument, attr(&ExpandAttrs::axis, 2)},
      {"expand 0", "", Code::DTypeMismatch, all(I32), "operand 0 (x)"},
      {"expand 0", "C2", Code::DTypeMismatch, out("y", F64)},
      {"expand 0", "C3", Code::ShapeMismatch, in("x", {3})},
      {"expand 1", "C3", Code::ShapeMismatch, in("x", {1, 6})},
      {"expand middle", "C3", Code::ShapeMismatch, in("x", {6, 3})},
      {"expand leading", "C3", Code::ShapeMismatch, in("x", {1, 6})},
      {"reduce_sum 0", "C1", Code::InvalidArgument,
       attr(&ReduceSumAttrs::axis, -1)},
      {"reduce_sum 0", "C1", Code::InvalidArgument,
       attr(&ReduceSumAttrs::axis, 2)},
      {"reduce_sum 0", "", Code::DTypeMismatch, all(I32), "operand 0 (x)"},
      {"reduce_sum 0", "C2", Code::DTypeMismatch, out("y", F64)},
      {"reduce_sum 0", "C3", Code::ShapeMismatch, out("y", {3})},
      {"reduce_sum 1", "C3", Code::ShapeMismatch, out("y", {1, 6})},
      {"reduce_sum middle", "C3", Code::ShapeMismatch, out("y", {6, 3})},
      {"layer_norm", "C1", Code::ShapeMismatch,
       in("x", std::vector<int64_t>{})},
      {"layer_norm", "C2", Code::ShapeMismatch, in("gamma", {3})},
      {"layer_norm", "C2", Code::ShapeMismatch, in("beta", {6, 1})},
      {"layer_norm", "", Code::DTypeMismatch, all(I32), "operand 0 (x)"},
      {"layer_norm", "C3", Code::DTypeMismatch, in("gamma", F64)},
      {"layer_norm", "C3", Code::DTypeMismatch, in("beta", F64)},
      {"layer_norm", "", Code::DTypeMismatch, out("mean", F64),
       "result 1 (mean)"},
      {"layer_norm", "", Code::ShapeMismatch, out("y", {6, 3}), "result 0 (y)"},
      {"layer_norm", "", Code::ShapeMismatch, out("mean", {6}),
       "result 1 (mean)"},
      {"layer_norm", "", Code::ShapeMismatch, out("rstd", {3, 1}),
       "result 2 (rstd)"},
      {"layer_norm", "", Code::InvalidArgument,
       attr(&LayerNormAttrs::eps, -1e-9), "eps"},
      {"layer_norm", "", Code::InvalidArgument,
       attr(&LayerNormAttrs::eps, INFINITY), "eps"},
      {"layer_norm", "", Code::InvalidArgument, attr(&LayerNormAttrs::eps, NAN),
       "eps"},
      {"layer_norm_bwd", "C1", Code::ShapeMismatch,
       in("dy", std::vector<int64_t>{})},
      {"layer_norm_bwd", "C1", Code::ShapeMismatch, in("x", {6, 3})},
      {"layer_norm_bwd", "C2", Code::ShapeMismatch, in("gamma", {3})},
      {"layer_norm_bwd", "C3", Code::ShapeMismatch, in("mean", {6})},
      {"layer_norm_bwd", "C3", Code::ShapeMismatch, in("rstd", {6})},
      {"layer_norm_bwd", "", Code::ShapeMismatch, out("dx", {6, 3}),
       "result 0 (dx)"},
      {"layer_norm_bwd", "", Code::ShapeMismatch, out("dgamma", {3}),
       "result 1 (dgamma)"},
      {"layer_norm_bwd", "", Code::ShapeMismatch, out("dbeta", {3}),
       "result 2 (dbeta)"},
      {"layer_norm_bwd", "", Code::DTypeMismatch, all(I32), "operand 0 (dy)"},
      {"layer_norm_bwd", "C1", Code::ShapeMismatch,
       both(in("dy", std::vector<int64_t>{}), in("x", std::vector<int64_t>{})),
       "of rank 0"},
      {"layer_norm_bwd", "C4", Code::DTypeMismatch, in("gamma", F64)},
      {"layer_norm_bwd", "C4", Code::DTypeMismatch, in("mean", F64)},
      {"layer_norm_bwd", "C4", Code::DTypeMismatch, in("rstd", F64)},
      {"layer_norm_bwd", "", Code::DTypeMismatch, out("dbeta", F64),
       "result 2 (dbeta)"},
  };
}

} // namespace aicf::test
