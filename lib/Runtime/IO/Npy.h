//===- Npy.h - NumPy's array files ------------------------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Versions 1.0 and 2.0, little endian, C order; dtypes f4, f8, f2, i4, i8.
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_RUNTIME_IO_NPY_H
#define AICF_LIB_RUNTIME_IO_NPY_H

#include "aicf/Checkpoint.h"

namespace aicf {

/// Errors: InvalidFile: magic, version, header syntax, dtype, Fortran order,
/// shape, or a size that does not match the shape.
StatusOr<HostTensor> parseNpy(Span<const uint8_t> bytes);
/// Errors: NotImplemented for bf16, which NumPy does not have.
StatusOr<std::vector<uint8_t>> serializeNpy(const TensorDesc &desc,
                                            Span<const uint8_t> bytes);

} // namespace aicf

#endif // AICF_LIB_RUNTIME_IO_NPY_H
