//===- Reference.cpp - every primitive, plain and in f64 ------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/reference/Reference.h"

namespace aicf::reference {

void run(OpKind kind, const std::vector<Tensor> &ins, std::vector<Tensor> &outs,
         Span<const uint8_t> attrs) {
  Call call(ins, outs, attrs);
  switch (kind) {
#define AICF_RUN(KIND)                                                         \
  case OpKind::KIND:                                                           \
    return compute(KIND##View<Call>(call));
    AICF_KINDS(AICF_RUN)
#undef AICF_RUN
  }
}

} // namespace aicf::reference
