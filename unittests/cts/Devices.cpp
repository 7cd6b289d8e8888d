//===- Devices.cpp - devices that the suite runs on -----------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "unittests/cts/Suite.h"
#include "unittests/cts/ToyDevice.h"

#ifdef AICF_CTS_HAVE_CUDA
#include "lib/Runtime/CUDA/CUDADevice.h"
#include "unittests/Runtime/CUDA/FakeCuda.h"
#endif

#include <cstdlib>

namespace aicf::cts {

static std::vector<DeviceUnderTest> makeDevices() {
  std::vector<DeviceUnderTest> devices = {
      {"cpu", [] { return createCPUDevice({2}); }, true, {}},
      {"toy", createToyDevice, true, toyObjectsAlive}};
#ifdef AICF_CTS_HAVE_CUDA
  auto fromTable = [](const CudaApi &api) -> std::shared_ptr<Device> {
    auto made = CUDADevice::create(api, {});
    EXPECT_TRUE(made.ok()) << made.status().toString();
    return made.ok() ? *made : nullptr;
  };
  devices.push_back({"fake", [=] { return fromTable(test::fakeCudaApi()); },
                     false, [] { return test::fakeObjectsAlive(); }});
  const char *name = std::getenv("AICF_TEST_DEVICE");
  if (name && std::string_view(name) == "cuda")
    devices.push_back(
        {"cuda", [=] { return fromTable(realCudaApi()); }, true, {}});
#endif
  return devices;
}

const std::vector<DeviceUnderTest> &devicesUnderTest() {
  static const std::vector<DeviceUnderTest> devices = makeDevices();
  return devices;
}

} // namespace aicf::cts
