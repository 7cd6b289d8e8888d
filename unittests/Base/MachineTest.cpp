//===- MachineTest.cpp - limits of containers and batch systems -----------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Base/Machine.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace aicf;

namespace {

/// A folder with files as /proc and /sys/fs/cgroup have them.
class Cgroups {
public:
  Cgroups()
      : root(testing::TempDir() + "aicf-cgroups-" +
             std::to_string(::getpid())) {}
  ~Cgroups() { std::filesystem::remove_all(root); }
  Cgroups &add(const std::string &path, const std::string &text) {
    std::filesystem::create_directories(
        std::filesystem::path(root + path).parent_path());
    std::ofstream(root + path) << text;
    return *this;
  }
  CgroupLimits limits() const { return readCgroupLimits(root); }

private:
  std::string root;
};

TEST(Cgroup, WithoutFilesThereIsNoLimit) {
  CgroupLimits limits = Cgroups().limits();
  EXPECT_TRUE(std::isinf(limits.processors));
  EXPECT_TRUE(std::isinf(limits.freeBytes));
}

TEST(Cgroup, TheLeastLimitOfAllGroupsAroundCounts) {
  Cgroups groups;
  groups.add("/proc/self/cgroup", "0::/outer/inner\n")
      .add("/sys/fs/cgroup/outer/inner/cpu.max", "max 100000\n")
      .add("/sys/fs/cgroup/outer/inner/memory.max", "max\n")
      .add("/sys/fs/cgroup/outer/inner/memory.current", "1000\n")
      .add("/sys/fs/cgroup/outer/cpu.max", "250000 100000\n")
      .add("/sys/fs/cgroup/outer/memory.max", "5000\n")
      .add("/sys/fs/cgroup/outer/memory.current", "3000\n")
      .add("/sys/fs/cgroup/outer/memory.stat",
           "anon 2000\nfile 1000\ninactive_file 400\n");
  EXPECT_EQ(groups.limits().processors, 2.5);
  EXPECT_EQ(groups.limits().freeBytes, 5000 - 3000 + 400);
}

/// A container that sees only its own group: the path is that of the host.
TEST(Cgroup, OfAContainerLiesAtTheMount) {
  Cgroups groups;
  groups.add("/proc/self/cgroup", "0::/docker/0123\n")
      .add("/sys/fs/cgroup/cpu.max", "50000 100000\n");
  EXPECT_EQ(groups.limits().processors, 0.5);
}

TEST(Cgroup, OfVersion1HasAFolderForEachController) {
  Cgroups groups;
  groups
      .add("/proc/self/cgroup", "4:memory:/job\n2:cpu,cpuacct:/job\n"
                                "1:name=systemd:/\n0::/\n")
      .add("/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "300000\n")
      .add("/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "100000\n")
      .add("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n")
      .add("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n")
      .add("/sys/fs/cgroup/memory/job/memory.limit_in_bytes", "800\n")
      .add("/sys/fs/cgroup/memory/job/memory.usage_in_bytes", "900\n");
  EXPECT_EQ(groups.limits().processors, 3);
  EXPECT_EQ(groups.limits().freeBytes, 0);
}

TEST(Cgroup, WhatIsNotANumberIsNoLimit) {
  Cgroups groups;
  groups.add("/proc/self/cgroup", "nonsense\n0::/\n")
      .add("/sys/fs/cgroup/cpu.max", "many 100000\n")
      .add("/sys/fs/cgroup/memory.max", "")
      .add("/sys/fs/cgroup/memory.current", "?");
  EXPECT_TRUE(std::isinf(groups.limits().processors));
  EXPECT_TRUE(std::isinf(groups.limits().freeBytes));
}

/// Runs `body` in a child, whose result is its exit status.
template <typename Body> int inChild(Body body) {
  pid_t child = ::fork();
  if (child == 0)
    ::_exit(body());
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(Machine, ProcessorsAreThoseThatTheProcessMayUse) {
  EXPECT_LE(numUsableProcessors(), numAllowedProcessors());
  EXPECT_LE(numAllowedProcessors(), int(std::thread::hardware_concurrency()));
  EXPECT_EQ(inChild([] {
              cpu_set_t one;
              CPU_ZERO(&one);
              CPU_SET(::sched_getcpu(), &one);
              ::sched_setaffinity(0, sizeof(one), &one);
              return 10 * numAllowedProcessors() + numUsableProcessors();
            }),
            11);
}

TEST(Machine, MemoryIsWhatTheAddressSpaceHasLeft) {
  EXPECT_GT(availableMemory(), 0u);
  EXPECT_EQ(inChild([] {
              const uint64_t room = uint64_t(64) << 20;
              std::ifstream statm("/proc/self/statm");
              uint64_t pages = 0;
              statm >> pages;
              uint64_t used = pages * uint64_t(::sysconf(_SC_PAGESIZE));
              const rlimit limit{used + room, used + room};
              ::setrlimit(RLIMIT_AS, &limit);
              return int(availableMemory() <= room) +
                     2 * int(hasAddressSpace(room / 2)) +
                     4 * int(hasAddressSpace(2 * room));
            }),
            3);
}

} // namespace
