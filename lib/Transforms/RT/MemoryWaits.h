//===- MemoryWaits.h - waits that let storage be used again -----*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_TRANSFORMS_RT_MEMORYWAITS_H
#define AICF_LIB_TRANSFORMS_RT_MEMORYWAITS_H

#include "lib/Transforms/RT/Storage.h"

namespace aicf::rt {

/// For each call the earlier calls that it must come after.
using Dependences = std::vector<SmallVector<uint32_t>>;

/// Adds to `dependences` what calls of stream 0 have to wait for so that the
/// temps of the schedule take little more memory than those of the serial order
/// would. A storage that a side stream reads is free only for calls behind that
/// read: without a wait, nothing is. Nothing is added while less than
/// `freeBytes` are alive. `streams` is the stream of each call.
void addMemoryWaits(const CallList &list, const StoragePlan &storages,
                    ArrayRef<uint32_t> streams, uint64_t freeBytes,
                    Dependences &dependences);

} // namespace aicf::rt

#endif // AICF_LIB_TRANSFORMS_RT_MEMORYWAITS_H
