//===- Indices.h - integers of either width ---------------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// For kernels that read labels or indices: a plain struct that a GPU's kernel can
// take too. Does not check that an index is one.
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_BASE_INDICES_H
#define AICF_LIB_BASE_INDICES_H

#include "aicf/TensorDesc.h"
#include "lib/Base/HostDevice.h"
#include "lib/Base/Walk.h"

namespace aicf {

/// The elements of a dense tensor of i32 or i64.
struct Indices {
  const void *start = nullptr;
  bool isWide = false; ///< i64

  Indices() = default;
  explicit Indices(const TensorView &tensor)
      : start(tensor.dense()), isWide(tensor.desc.dtype == DType::I64) {}

  AICF_HOST_DEVICE int64_t operator[](int64_t i) const {
    return isWide ? static_cast<const int64_t *>(start)[i]
                  : int64_t(static_cast<const int32_t *>(start)[i]);
  }
};

/// The same of a tensor that lies anywhere.
struct StridedIndices {
  Indices memory;
  Walk walk;

  StridedIndices() = default;
  explicit StridedIndices(const TensorView &tensor) : walk(tensor.desc) {
    memory.start = tensor.start();
    memory.isWide = tensor.desc.dtype == DType::I64;
  }
  AICF_HOST_DEVICE int64_t operator[](int64_t i) const {
    return memory[walk.at(i)];
  }
};

} // namespace aicf

#endif // AICF_LIB_BASE_INDICES_H
