//===- Initializers.h - first values of persistent tensors ------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_RUNTIME_IO_INITIALIZERS_H
#define AICF_LIB_RUNTIME_IO_INITIALIZERS_H

#include "aicf/Plan.h"

namespace aicf {

/// The first value of a tensor whose init is not None, as bytes. Random values
/// depend on (seed, name, index) only: Philox4x32-10 (Salmon et al. 2011,
/// "Parallel random numbers: as easy as 1, 2, 3"), keyed by the XXH3-64 of the
/// name with the seed; normals by Box-Muller.
std::vector<uint8_t> initialValue(const TensorInfo &tensor, uint64_t seed);

} // namespace aicf

#endif // AICF_LIB_RUNTIME_IO_INITIALIZERS_H
