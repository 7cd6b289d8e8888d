//===- GraphText.h - the text of a graph's kernel ---------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_UNITTESTS_RUNTIME_CUDA_GRAPHTEXT_H
#define AICF_UNITTESTS_RUNTIME_CUDA_GRAPHTEXT_H

#include "kernels/graph/CudaProgram.h"
#include "unittests/Common/SampleCalls.h"

#include <gtest/gtest.h>

namespace aicf::test {

constexpr cuda::DeviceLimits kCard = {132, 2048, 226 << 10};

/// The kernel for a call of the sample whose tensors lie nowhere.
inline StatusOr<cuda::GraphKernel>
kernelFor(const Sample &sample, const TensorView &workspace = {},
          const cuda::DeviceLimits &card = kCard) {
  StatusOr<TypedBody> typed = typedBodyOf(sample);
  EXPECT_TRUE(typed.ok()) << typed.status().toString();
  std::vector<TensorView> values;
  for (const TensorDesc &desc : typed->values())
    values.push_back({nullptr, desc});
  return cuda::writeGraphKernel(*sample.body, values, workspace, card);
}

/// Its text.
inline std::string textOf(const Sample &sample,
                          const TensorView &workspace = {}) {
  auto kernel = kernelFor(sample, workspace);
  EXPECT_TRUE(kernel.ok()) << kernel.status().toString();
  return kernel.ok() ? kernel->text : "";
}

} // namespace aicf::test

#endif // AICF_UNITTESTS_RUNTIME_CUDA_GRAPHTEXT_H
