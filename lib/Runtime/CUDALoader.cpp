//===- CUDALoader.cpp - the CUDA device, if there is one ------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// The device lives in a shared library of its own, so that one program runs on
// machines with and without a GPU. The library says which headers it was built
// with; one that was built with others is refused.
//===----------------------------------------------------------------------===//

#include "lib/Runtime/CUDAEntry.h"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>

namespace aicf {
namespace {

std::string programFolder() {
  std::error_code error; // without /proc: an empty path
  std::string text =
      std::filesystem::read_symlink("/proc/self/exe", error).string();
  return text.substr(0, text.rfind('/') + 1);
}

/// Returns the folder of the program or library that this code is linked into.
std::string ownFolder() {
  Dl_info info; // of an address in loaded code, which cannot fail
  dladdr(reinterpret_cast<void *>(&programFolder), &info);
  std::string text(info.dli_fname);
  return text.substr(0, text.rfind('/') + 1);
}

StatusOr<void *> openLibrary() {
  std::vector<std::string> candidates;
  if (const char *path = std::getenv("AICF_CUDA_LIBRARY"))
    candidates.push_back(path);
  else
    candidates = {ownFolder() + kCUDALibrary, programFolder() + kCUDALibrary,
                  programFolder() + "../" AICF_LIBRARY_FOLDER "/" +
                      kCUDALibrary,
                  kCUDALibrary};
  std::string problems;
  for (const std::string &path : candidates) {
    // Never closed: kernels and handles live until the process ends.
    if (void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL))
      return library;
    std::string problem = dlerror();
    std::error_code ignored; // one that is not there is not worth a word
    if (std::filesystem::exists(path, ignored) || candidates.size() == 1)
      problems += (problems.empty() ? "" : "; ") + problem;
  }
  if (problems.empty()) {
    problems = std::string("there is no ") + kCUDALibrary +
               ". A build on a machine with nvcc (CUDA 13) has it; see Installing. "
               "Looked for ";
    for (size_t i = 0; i < candidates.size(); ++i)
      problems += (i == 0 ? "" : ", ") + candidates[i];
  }
  return makeError(StatusCode::NotImplemented,
                   "this build has no CUDA device: ", problems);
}

} // namespace

StatusOr<std::shared_ptr<Device>>
createCUDADevice(const CUDADeviceOptions &options) {
  AICF_ASSIGN_OR_RETURN(void *library, openLibrary());
  auto interface = reinterpret_cast<CUDAInterfaceFunction>(
      dlsym(library, kCUDAInterfaceSymbol));
  auto create =
      reinterpret_cast<CUDACreateFunction>(dlsym(library, kCUDACreateSymbol));
  if (!interface || !create || std::string_view(interface()) != kCUDAInterface)
    return makeError(StatusCode::NotImplemented, kCUDALibrary,
                     " has interface ", interface ? interface() : "none",
                     ", this program needs ", kCUDAInterface,
                     ": they are of different builds");
  StatusOr<std::shared_ptr<Device>> device =
      Status(StatusCode::DeviceError, "no device was made");
  create(options, device);
  return device;
}

} // namespace aicf
