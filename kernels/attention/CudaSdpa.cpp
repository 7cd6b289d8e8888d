//===- CudaSdpa.cpp - which calls a library runs as attention -------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/attention/Sdpa.h"

#include <unordered_map>

namespace aicf {
namespace {

Sdpa read(const AttentionArgs &c) {
  return {c.q(), c.k(), c.v(), c.y(), c.lse(), {}, {}, {}, {}, AttentionExtents(c)};
}
Sdpa read(const AttentionBwdArgs &c) {
  return {c.q(),  c.k(),  c.v(),  c.y(), c.lse(),
          c.dy(), c.dq(), c.dk(), c.dv(), AttentionExtents(c)};
}

template <typename Args> Sdpa readSdpa(const LaunchArgs &args) {
  return read(Args(args));
}

/// The name of our kernel for the library's: both have the same types and operands.
std::string ownKid(std::string_view kid) {
  constexpr std::string_view theirs = "cudnn";
  std::string own(kid);
  return own.replace(own.find(theirs), theirs.size(), "mma");
}

} // namespace

const SdpaKernel *findSdpaKernel(std::string_view kid) {
  static const std::unordered_map<std::string_view, SdpaKernel> kernels = {
// All that cuDNN runs is attention.
#define AICF_ROWS_OF_CUDA
#define AICF_ROW_Cudnn(KID, PATTERN, ...)                                      \
  {#KID, {&readSdpa<PATTERN##Args>, cuda::findPlanner(ownKid(#KID))}},
#include "kernels/Rows.def"
  };
  auto it = kernels.find(kid);
  return it == kernels.end() ? nullptr : &it->second;
}

} // namespace aicf
