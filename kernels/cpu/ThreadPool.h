//===- ThreadPool.h - helpers that may be late ------------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// One pool a process. The caller never waits for a helper to start: blocks are
// claimed one by one, and what no helper claims the caller does itself. So a
// machine that is busy with other work costs little more than one thread would;
// an OpenMP barrier waits for threads that are not even scheduled. Which thread
// runs a block changes no bits: blocks are independent and the same for any
// number of threads.
//===----------------------------------------------------------------------===//
#ifndef AICF_KERNELS_CPU_THREADPOOL_H
#define AICF_KERNELS_CPU_THREADPOOL_H

#include <cstdint>

namespace aicf::cpu {

/// A function of a block's number, by reference: `context` outlives the call.
struct BlockFunction {
  void (*function)(const void *context, int64_t block);
  const void *context;

  template <typename Body> static BlockFunction of(const Body &body) {
    return {[](const void *context, int64_t block) {
              (*static_cast<const Body *>(context))(block);
            },
            &body};
  }
  template <typename Body> static BlockFunction of(const Body &&) = delete;
};

/// Calls `body` for every block in [0, numBlocks), on this thread and up to
/// numThreads - 1 helpers; returns when all are done. A call from inside a
/// block is shared with threads that have nothing left to claim, of those that
/// numThreads of the outer call and its own both admit. A call from a second
/// thread, or two blocks deep, runs on its own thread alone.
void runBlocks(int64_t numBlocks, int numThreads, BlockFunction body);
/// Calls `body` for every block on this thread alone. Not in a header, where
/// each body would be compiled twice: for this loop and for the other threads.
void runInOrder(int64_t numBlocks, BlockFunction body);

} // namespace aicf::cpu

#endif // AICF_KERNELS_CPU_THREADPOOL_H
