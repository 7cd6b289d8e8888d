//===- FakeCudaLibrary.cpp - libaicf_cuda.so over the fake table ----------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// The linker puts this in the place of realCudaApi (--wrap, CMakeLists.txt): all
// else is libaicf_cuda.so as it is shipped. A program that loads it by
// AICF_CUDA_LIBRARY has the device "cuda" on the host's memory; its kernels are
// counted and not run, so results say nothing. A test looks at the fake, and
// lets calls fail, by the C functions here (test/python/package/fake_card.py).
//===----------------------------------------------------------------------===//

#include "unittests/Runtime/CUDA/FakeCuda.h"

namespace aicf::test {
/// A reference, as the function it stands for returns.
const CudaApi &wrappedApi() __asm__("__wrap__ZN4aicf11realCudaApiEv");
const CudaApi &wrappedApi() {
  static const CudaApi api = faultyCudaApi(fakeCudaApi());
  failCall(UINT64_MAX);
  return api;
}
} // namespace aicf::test

#define AICF_FAKE extern "C" __attribute__((visibility("default")))

AICF_FAKE uint64_t aicf_fake_objects_alive() {
  return aicf::test::fakeObjectsAlive();
}
AICF_FAKE uint64_t aicf_fake_kernels_run() {
  return aicf::test::fakeKernelsRun();
}
AICF_FAKE uint64_t aicf_fake_misuses() { return aicf::test::fakeMisuses(); }
AICF_FAKE void aicf_fake_fail_call(uint64_t failing) {
  aicf::test::failCall(failing);
}
AICF_FAKE const char *aicf_fake_failed_call() {
  return aicf::test::failedCall();
}
/// Until the next call of this function.
AICF_FAKE const char *aicf_fake_calls() {
  static std::string names;
  names = aicf::test::callNames();
  return names.c_str();
}
