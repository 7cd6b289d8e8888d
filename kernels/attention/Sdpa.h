//===- Sdpa.h - attention as a library is told of it ------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// "Scaled dot product attention", as cuDNN and PyTorch call it.
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_ATTENTION_SDPA_H
#define AICF_KERNELS_ATTENTION_SDPA_H

#include "kernels/attention/Extents.h"
#include "kernels/cuda/Kernels.h"

namespace aicf {

/// A call of attention or of its gradients, of those that isPlainWindow() takes. Heads
/// are [batch, length, heads, size] at any strides with rows that lie together; lse is
/// [batch, heads, length] of f32, dense.
struct Sdpa {
  TensorView q, k, v, y, lse;
  TensorView dy, dq, dk, dv; ///< of gradients; else without memory
  AttentionExtents extents;

  bool isGradient() const { return dy.start() != nullptr; }
  bool isCausal() const { return extents.right == 0; }
  bool isAlignedToEnd() const { return extents.offset != 0; }
};

struct SdpaKernel {
  Sdpa (*read)(const LaunchArgs &);
  /// Plans the kernels of ours that compute the same.
  cuda::Planner own;
};
/// For the kernels that cuDNN provides; null for others.
const SdpaKernel *findSdpaKernel(std::string_view kid);

} // namespace aicf

#endif // AICF_KERNELS_ATTENTION_SDPA_H
