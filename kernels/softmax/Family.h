//===- Family.h - which rows a kernel takes ---------------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_SOFTMAX_FAMILY_H
#define AICF_KERNELS_SOFTMAX_FAMILY_H

#include "kernels/RowLength.h"

#endif // AICF_KERNELS_SOFTMAX_FAMILY_H
