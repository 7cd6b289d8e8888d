//===- Reference.h - every primitive, plain and in f64 ----------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// For tests only: obvious loops, no blocking, no threads, nothing shared with
// the kernels under test.
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_REFERENCE_REFERENCE_H
#define AICF_KERNELS_REFERENCE_REFERENCE_H

#include "aicf/Support/OpRules.h"

#include <vector>

namespace aicf::reference {

/// Values of a tensor as f64, whatever its dtype.
struct Tensor {
  TensorDesc desc;
  std::vector<double> values;
};

/// Computes the results of one legal call; `outs` come with their descs.
void run(OpKind kind, const std::vector<Tensor> &ins, std::vector<Tensor> &outs,
         const std::vector<uint8_t> &attrs);

} // namespace aicf::reference

#endif // AICF_KERNELS_REFERENCE_REFERENCE_H
