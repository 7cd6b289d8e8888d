//===- Machine.h - what this process may use of the machine -----*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A container or a batch system gives a process less than the machine has: a
// set of processors (sched_setaffinity, cpusets), a share of their time (the
// quota of a cgroup, version 1 or 2), memory (a cgroup's limit, RLIMIT_AS).
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_BASE_MACHINE_H
#define AICF_LIB_BASE_MACHINE_H

#include <cstdint>
#include <string>

namespace aicf {

/// The processors that this process may run on, 1 or more. A quota does not
/// count: it may change while the process runs.
int numAllowedProcessors();

/// The number of threads that this process can keep busy, 1 or more: its
/// processors, or fewer where its cgroup has a quota of CPU time.
int numUsableProcessors();

/// Bytes of memory that are free for this process: what Linux says is available
/// without swapping, what its cgroup has left, what RLIMIT_AS leaves of its
/// address space; the least of them.
uint64_t availableMemory();

/// True if the address space has room for `bytes` more at one place now.
bool hasAddressSpace(uint64_t bytes);

/// The limits of a process's cgroup and of those around it.
struct CgroupLimits {
  // Of CPU time in each second; infinite without a quota.
  double processors;
  // To the memory limit, with caches that are dropped for it; infinite without one.
  double freeBytes;
};
/// Reads them from /proc/self/cgroup and /sys/fs/cgroup under the folder
/// `root`: "" for those of this process.
CgroupLimits readCgroupLimits(const std::string &root);

} // namespace aicf

#endif // AICF_LIB_BASE_MACHINE_H
