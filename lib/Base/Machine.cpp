//===- Machine.cpp - what this process may use of the machine -------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Base/Machine.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <optional>
#include <sstream>
#include <thread>

#ifdef __linux__
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#endif

namespace aicf {

constexpr double kNoLimit = std::numeric_limits<double>::infinity();

#ifdef __linux__
int numAllowedProcessors() {
  // cpu_set_t has 1,024 processors; the kernel refuses a set that is too small.
  for (int size = CPU_SETSIZE; size <= 64 * CPU_SETSIZE; size *= 4) {
    cpu_set_t *set = CPU_ALLOC(size);
    if (!set)
      break;
    bool isRead = sched_getaffinity(0, CPU_ALLOC_SIZE(size), set) == 0;
    int count = isRead ? CPU_COUNT_S(CPU_ALLOC_SIZE(size), set) : 0;
    CPU_FREE(set);
    if (count > 0)
      return count;
  }
  return std::max(1, int(std::thread::hardware_concurrency()));
}
#else
int numAllowedProcessors() {
  return std::max(1, int(std::thread::hardware_concurrency()));
}
#endif

int numUsableProcessors() {
  double quota = readCgroupLimits("").processors;
  double most = std::min(double(numAllowedProcessors()), std::ceil(quota));
  return std::max(1, int(most));
}

//===----------------------------------------------------------------------===//
// cgroups
//===----------------------------------------------------------------------===//

/// The numbers of a file, of which "max" is infinite; nothing without the file.
static std::optional<double> readNumber(std::istream &from) {
  std::string word;
  if (!(from >> word))
    return std::nullopt;
  if (word == "max" || word == "-1")
    return kNoLimit;
  std::istringstream text(word);
  double number = 0;
  return text >> number ? std::optional(number) : std::nullopt;
}
static std::optional<double> readNumber(const std::string &path) {
  std::ifstream file(path);
  return readNumber(file);
}

/// The number behind `name` in a file of lines "name number ...", or 0.
static double readField(const std::string &path, const std::string &name) {
  std::ifstream file(path);
  for (std::string text; std::getline(file, text);) {
    std::istringstream line(text);
    std::string word;
    if (line >> word && word == name)
      return readNumber(line).value_or(0);
  }
  return 0;
}

/// A quota of CPU time as processors: of version 2 ("200000 100000"), or of 1,
/// where two files have the numbers.
static double processorsOf(const std::string &folder) {
  std::ifstream file(folder + "/cpu.max");
  std::optional<double> quota = readNumber(file), period;
  if (quota) {
    period = readNumber(file);
  } else {
    quota = readNumber(folder + "/cpu.cfs_quota_us");
    period = readNumber(folder + "/cpu.cfs_period_us");
  }
  return quota && period && *quota > 0 && *period > 0 ? *quota / *period
                                                      : kNoLimit;
}

static double freeBytesOf(const std::string &folder) {
  auto left = [&](const char *limit, const char *used, const char *cached) {
    std::optional<double> most = readNumber(folder + limit),
                          now = readNumber(folder + used);
    if (!most || !now)
      return kNoLimit;
    double dropped = readField(folder + "/memory.stat", cached);
    return std::max(0.0, *most - *now + std::min(dropped, *now));
  };
  return std::min(left("/memory.max", "/memory.current", "inactive_file"),
                  left("/memory.limit_in_bytes", "/memory.usage_in_bytes",
                       "total_inactive_file"));
}

CgroupLimits readCgroupLimits(const std::string &root) {
  CgroupLimits limits{kNoLimit, kNoLimit};
  std::ifstream groups(root + "/proc/self/cgroup");
  // "0::/a/b" of version 2, "4:cpu,cpuacct:/a/b" of version 1. Where a
  // container sees only its own group, that lies at the mount, whatever the
  // path says.
  for (std::string line; std::getline(groups, line);) {
    size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos)
      continue;
    std::string controllers = line.substr(first + 1, second - first - 1);
    std::string base = root + "/sys/fs/cgroup";
    if (!controllers.empty())
      base += "/" + controllers;
    std::string path = line.substr(second + 1);
    for (bool isTop = false; !isTop;) {
      isTop = path.empty() || path == "/";
      std::string folder = isTop ? base : base + path;
      limits.processors = std::min(limits.processors, processorsOf(folder));
      limits.freeBytes = std::min(limits.freeBytes, freeBytesOf(folder));
      size_t slash = path.find_last_of('/');
      path = slash == std::string::npos ? "" : path.substr(0, slash);
    }
  }
  return limits;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

#ifdef __linux__
/// What RLIMIT_AS leaves.
static double freeAddressSpace() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return kNoLimit;
  double pages = readNumber("/proc/self/statm").value_or(0);
  return std::max(0.0, double(limit.rlim_cur) -
                           pages * double(::sysconf(_SC_PAGESIZE)));
}

uint64_t availableMemory() {
  double kilobytes = readField("/proc/meminfo", "MemAvailable:");
  double bytes = kilobytes * 1024;
  if (kilobytes == 0)
    bytes = double(::sysconf(_SC_PHYS_PAGES)) * double(::sysconf(_SC_PAGESIZE));
  return uint64_t(
      std::min({bytes, readCgroupLimits("").freeBytes, freeAddressSpace()}));
}

bool hasAddressSpace(uint64_t bytes) {
  void *room = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED)
    return false;
  ::munmap(room, bytes);
  return true;
}
#endif

} // namespace aicf
