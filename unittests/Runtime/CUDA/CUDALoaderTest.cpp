//===- CUDALoaderTest.cpp - the library with the CUDA device --------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Which library a program loads for its CUDA device, and why not another one.
//===----------------------------------------------------------------------===//

#include "CUDATestDevice.h"

#include <cstring>
#include <filesystem>
#include <fstream>

#include <dlfcn.h>
#include <sys/auxv.h>
#include <sys/wait.h>

using namespace aicf;
using namespace aicf::test;

namespace {

/// The library beside the program; on a machine without a GPU it says so.
TEST(CUDALoader, LoadsOrSaysWhyNot) {
  auto device = createCUDADevice();
  if (isReal()) {
    EXPECT_TRUE(device.ok()) << device.status().toString();
    return;
  }
  // Not "no such library": it was built with this test, and loads anywhere.
  if (!device.ok()) {
    EXPECT_EQ(device.status().code(), StatusCode::DeviceError)
        << device.status().toString();
  }
}

std::filesystem::path programFile() {
  return std::filesystem::read_symlink("/proc/self/exe");
}

/// What a process loads that this variable names a file to.
Status loadFrom(const std::string &path) {
  const char *before = std::getenv("AICF_CUDA_LIBRARY");
  std::string kept = before ? before : "";
  ::setenv("AICF_CUDA_LIBRARY", path.c_str(), 1);
  Status status = createCUDADevice().status();
  if (before)
    ::setenv("AICF_CUDA_LIBRARY", kept.c_str(), 1);
  else
    ::unsetenv("AICF_CUDA_LIBRARY");
  return status;
}

TEST(CUDALoader, TakesOnlyTheNamedLibraryAndSaysWhyNot) {
  Status status = loadFrom("/nothing/libaicf_cuda.so");
  EXPECT_EQ(status.code(), StatusCode::NotImplemented);
  EXPECT_EQ(status.message().find(
                "this build has no CUDA device: /nothing/libaicf_cuda.so: "
                "cannot open"),
            0u)
      << status.message();
}

/// Copies of the library in which a function has another name, or which says
/// that it was made of other headers.
TEST(CUDALoader, RefusesLibrariesOfOtherBuilds) {
  std::string path = programFile().parent_path() / "libaicf_cuda.so";
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  std::string interface = reinterpret_cast<const char *(*)()>(
      dlsym(library, "aicf_cuda_interface"))();
  std::ifstream in(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(in)), {});
  std::string other = "!" + interface.substr(1);
  for (const auto &[name, found] :
       {std::pair<std::string, std::string>("aicf_cuda_interface", "none"),
        {"aicf_cuda_create_device", interface},
        {interface, other}}) {
    std::string changed = bytes;
    for (size_t at = 0; (at = changed.find(name, at)) != std::string::npos;)
      changed[at] = '!';
    // What has the name of a library that is open is that library.
    std::string copy = testing::TempDir() + "aicf-without-" + name + ".so";
    std::ofstream(copy, std::ios::binary) << changed;
    Status status = loadFrom(copy);
    EXPECT_EQ(status.code(), StatusCode::NotImplemented) << name;
    EXPECT_NE(status.message().find(" has interface " + found + ","),
              std::string::npos)
        << status.message();
    std::remove(copy.c_str());
  }
}

/// What the first test of the loader prints in another process.
std::string loadedBy(const std::string &program,
                     std::vector<const char *> arguments) {
  std::string file = testing::TempDir() + "aicf-loader.txt";
  std::fflush(stdout); // or the child prints it, too
  pid_t child = fork();
  if (child == 0) {
    arguments.push_back("--gtest_filter=CUDALoader.LoadsOrSaysWhyNot");
    arguments.push_back(nullptr);
    ::unsetenv("AICF_CUDA_LIBRARY");
    if (std::freopen(file.c_str(), "w", stdout))
      execv(program.c_str(), const_cast<char **>(arguments.data()));
    _exit(127);
  }
  EXPECT_GT(child, 0);
  EXPECT_EQ(waitpid(child, nullptr, 0), child);
  std::ifstream in(file);
  std::string text((std::istreambuf_iterator<char>(in)), {});
  std::remove(file.c_str());
  return text;
}

/// Started under a name that says nothing, or by the system's loader, whose
/// folder is the program's then. With neither folder it says where it looked.
TEST(CUDALoader, LooksBesideTheProgramAndBesideItsOwnCode) {
  Dl_info loader{};
  std::string program = programFile();
  ASSERT_NE(dladdr(reinterpret_cast<void *>(getauxval(AT_BASE)), &loader), 0);
  const char *passed = "[  PASSED  ] 1 test", *file = program.c_str();
  std::string output = loadedBy(program, {"nowhere"});
  EXPECT_NE(output.find(passed), std::string::npos) << output;
  output = loadedBy(loader.dli_fname, {"loader", file});
  EXPECT_NE(output.find(passed), std::string::npos) << output;
  output = loadedBy(loader.dli_fname, {"loader", "--argv0", "nowhere", file});
  EXPECT_NE(output.find("no CUDA device: there is no libaicf_cuda.so. "),
            std::string::npos)
      << output;
  EXPECT_NE(output.find("Looked for "), std::string::npos) << output;
}

} // namespace
