//===- EntryNames.h - entries that the compiler adds ------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_ENTRYNAMES_H
#define AICF_ENTRYNAMES_H

namespace aicf {

/// Behind the name of an entry whose optimizer accumulates: the entry that adds
/// up the gradients of a batch without an update. It runs K-1 times, then the
/// other.
inline constexpr char kAccumulateSuffix[] = ".accumulate";

} // namespace aicf

#endif // AICF_ENTRYNAMES_H
