//===- CUDALoader.cpp - the CUDA device, if there is one ------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// The device lives in a shared library of its own, so that one program runs on
// machines with and without a GPU. Library and program come from one build:
// the library names the build it belongs to and another one is refused.
//===----------------------------------------------------------------------===//

#include "CUDA/Entry.h"

#include <dlfcn.h>
#include <unistd.h>

#include <climits>
#include <cstdlib>

namespace aicf {
namespace {

std::string programFolder() {
  char path[PATH_MAX];
  ssize_t length = readlink("/proc/self/exe", path, sizeof(path));
  std::string text(path, length > 0 ? size_t(length) : 0);
  return text.substr(0, text.rfind('/') + 1);
}

StatusOr<void *> openLibrary() {
  std::vector<std::string> candidates;
  if (const char *path = std::getenv("AICF_CUDA_LIBRARY"))
    candidates.push_back(path);
  else
    candidates = {programFolder() + kCUDALibrary,
                  programFolder() + "../lib/" + kCUDALibrary, kCUDALibrary};
  std::string tried;
  for (const std::string &path : candidates) {
    // Never closed: kernels and handles live until the process ends.
    if (void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL))
      return library;
    const char *why = dlerror();
    tried += (tried.empty() ? "" : "; ") + std::string(why ? why : path);
  }
  return makeError(StatusCode::NotImplemented,
                   "this build has no CUDA device: ", tried);
}

} // namespace

StatusOr<std::shared_ptr<Device>>
createCUDADevice(const CUDADeviceOptions &options) {
  AICF_ASSIGN_OR_RETURN(void *library, openLibrary());
  auto version = reinterpret_cast<CUDAVersionFunction>(
      dlsym(library, kCUDAVersionSymbol));
  auto create =
      reinterpret_cast<CUDACreateFunction>(dlsym(library, kCUDACreateSymbol));
  if (!version || !create || version() != kCUDAInterfaceVersion)
    return makeError(StatusCode::NotImplemented, kCUDALibrary,
                     " has interface version ", version ? version() : 0,
                     ", this program needs ", kCUDAInterfaceVersion);
  StatusOr<std::shared_ptr<Device>> device =
      Status(StatusCode::DeviceError, "no device was made");
  create(options, device);
  return device;
}

} // namespace aicf
