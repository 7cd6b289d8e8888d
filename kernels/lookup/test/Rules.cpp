//===- Rules.cpp - every rule of the family, violated once -----------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "unittests/Kernels/RuleCases.h"

namespace aicf::test {

std::vector<RuleCase> lookupRuleCases() {
  return {
      {"pick", "", Code::DTypeMismatch, in("index", F32), "operand 1 (index)"},
      {"pick", "", Code::ShapeMismatch, out("y", {6}), "result 0 (y)"},
      {"pick", "C1", Code::ShapeMismatch, in("x", std::vector<int64_t>{})},
      {"pick", "C2", Code::ShapeMismatch, in("index", {6})},
      {"pick_bwd", "C1", Code::ShapeMismatch, in("index", {3, 1})},
      {"pick_bwd", "C2", Code::ShapeMismatch, out("dx", {3, 6})},
      {"pick_bwd", "C2", Code::DTypeMismatch, out("dx", F64)},
      {"pick_bwd", "", Code::InvalidArgument, attr(&PickBwdAttrs::size, 0),
       "size"},
      {"embedding", "C1", Code::ShapeMismatch, in("table", {66})},
      {"embedding", "C2", Code::ShapeMismatch, out("y", {3, 5})},
      {"embedding", "C2", Code::DTypeMismatch, out("y", F64)},
      {"embedding", "C2", Code::ShapeMismatch,
       in("index", {1, 1, 1, 1, 1, 1, 1, 1}), "would have rank 9"},
      {"embedding_bwd", "C1", Code::ShapeMismatch, in("index", {6})},
      {"embedding_bwd", "C1", Code::ShapeMismatch,
       in("dy", std::vector<int64_t>{}), "operand 0 (dy) is f32 of rank 0"},
      {"embedding_bwd", "C2", Code::ShapeMismatch, out("dtable", {5, 6})},
      {"embedding_bwd", "C2", Code::DTypeMismatch, out("dtable", F64)},
      {"embedding_bwd", "", Code::InvalidArgument,
       attr(&EmbeddingBwdAttrs::rows, 0), "rows"},
  };
}

} // namespace aicf::test
