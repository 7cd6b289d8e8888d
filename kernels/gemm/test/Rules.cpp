//===- Rules.cpp - every rule of the family, violated once ----------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "unittests/Kernels/RuleCases.h"

namespace aicf::test {

std::vector<RuleCase> gemmRuleCases() {
  return {
      {"batched_gemm NN", "", Code::InvalidArgument,
       attr(&BatchedGemmAttrs::transA, 2), "transA"},
      {"batched_gemm NN", "", Code::InvalidArgument,
       attr(&BatchedGemmAttrs::transB, -1), "transB"},
      {"batched_gemm NN", "C1", Code::ShapeMismatch, in("a", {3, 3})},
      {"batched_gemm NN", "C1", Code::ShapeMismatch, in("b", {3, 6})},
      {"batched_gemm NN", "C1", Code::ShapeMismatch,
       both(in("a", {3, 4}), in("b", {4, 6})), "operand 0 (a)"},
      {"batched_gemm NN", "C2", Code::DTypeMismatch, in("b", F64)},
      {"batched_gemm NN", "C2", Code::DTypeMismatch, out("c", F64)},
      {"batched_gemm NN", "C3", Code::ShapeMismatch, in("b", {3, 4, 6})},
      {"batched_gemm NN", "C3", Code::ShapeMismatch, in("b", {2, 3, 6})},
      {"batched_gemm NT", "C3", Code::ShapeMismatch, in("b", {2, 3, 6, 4})},
      {"batched_gemm TN", "C3", Code::ShapeMismatch, in("a", {2, 1, 2, 4, 3})},
      {"batched_gemm NN", "C4", Code::ShapeMismatch, out("c", {3, 6, 3})},
      {"gemm NN", "", Code::InvalidArgument, attr(&GemmAttrs::transA, 2),
       "transA"},
      {"gemm NN", "", Code::InvalidArgument, attr(&GemmAttrs::transA, -1),
       "transA"},
      {"gemm NN", "", Code::InvalidArgument, attr(&GemmAttrs::transB, 2),
       "transB"},
      {"gemm NN", "", Code::InvalidArgument, attr(&GemmAttrs::transB, -1),
       "transB"},
      {"gemm NN", "C1", Code::ShapeMismatch, in("a", {15})},
      {"gemm NN", "C1", Code::ShapeMismatch, in("b", {5, 6, 1})},
      {"gemm NN", "C4", Code::ShapeMismatch, out("c", {3, 6, 1})},
      {"gemm TT", "C1", Code::ShapeMismatch, in("b", {6, 5, 1})},
      {"gemm rows NT", "C1", Code::ShapeMismatch, in("b", {6, 5, 1})},
      {"gemm rows NT", "C3", Code::ShapeMismatch, in("a", {2, 3, 4})},
      {"gemm rows NT", "C4", Code::ShapeMismatch, out("c", {6, 6})},
      {"gemm rows NT", "C4", Code::ShapeMismatch, out("c", {3, 2, 6})},
      {"gemm rows TN", "C1", Code::ShapeMismatch, in("b", {10})},
      {"gemm rows TN", "C3", Code::ShapeMismatch, in("b", {3, 5, 6})},
      {"gemm rows TN", "C4", Code::ShapeMismatch, out("c", {2, 3, 6})},
      {"gemm rows TN", "C5", Code::ShapeMismatch,
       both(in("a", {65536, 32768, 3}), in("b", {65536, 32768, 6})),
       "of 2147483648 rows, expected fewer than 2147483648"},
      {"gemm rows NT", "C5", Code::ShapeMismatch,
       both(in("a", {65536, 32768, 5}), out("c", {65536, 32768, 6})),
       "of 2147483648 rows"},
      {"gemm NN", "", Code::DTypeMismatch, all(I32), "operand 0 (a)"},
      {"gemm NN", "C2", Code::DTypeMismatch, in("b", F64)},
      {"gemm NN", "C2", Code::DTypeMismatch, out("c", F16)},
      {"gemm to f32", "C2", Code::DTypeMismatch, out("c", F64)},
      {"gemm to f32", "C2", Code::DTypeMismatch, in("b", F16)},
      {"gemm NN", "C2", Code::DTypeMismatch, both(in("a", F64), in("b", F64))},
      {"gemm NN", "C3", Code::ShapeMismatch, in("a", {3, 4})},
      {"gemm NT", "C3", Code::ShapeMismatch, in("b", {6, 4})},
      {"gemm TN", "C3", Code::ShapeMismatch, in("a", {4, 3})},
      {"gemm TT", "C3", Code::ShapeMismatch, in("b", {6, 4})},
      {"gemm NN", "C4", Code::ShapeMismatch, out("c", {4, 6})},
      {"gemm NT", "C4", Code::ShapeMismatch, out("c", {3, 5})},
      {"gemm TN", "C4", Code::ShapeMismatch, out("c", {5, 6})},
      {"gemm TT", "C4", Code::ShapeMismatch, out("c", {6, 3})},
  };
}

} // namespace aicf::test
