//===- Suite.h - devices that the suite runs on -----------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// One suite for every device: what Device, Stream, Graph and Executor promise
// is tested here once. A new device joins by a line in Devices.cpp.
//===----------------------------------------------------------------------===//
#ifndef AICF_UNITTESTS_CTS_SUITE_H
#define AICF_UNITTESTS_CTS_SUITE_H

#include "aicf/Executor.h"
#include "unittests/Common/SamplePlans.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>

namespace aicf::cts {

struct DeviceUnderTest {
  std::string name;
  std::function<std::shared_ptr<Device>()> make;
  /// False where kernels are counted, not run: no values to look at.
  bool runsKernels = true;
  /// Objects of the device that are alive, where somebody counts.
  std::function<size_t()> objectsAlive;
};

/// cpu and toy; fake and cuda where CUDA is built, the latter with
/// AICF_TEST_DEVICE=cuda.
const std::vector<DeviceUnderTest> &devicesUnderTest();

class DeviceTest : public testing::TestWithParam<size_t> {
protected:
  void SetUp() override {
    alive = under().objectsAlive ? under().objectsAlive() : 0;
    device = under().make();
    ASSERT_NE(device, nullptr);
  }
  /// Whatever a test made is gone with its device.
  void TearDown() override {
    device.reset();
    if (under().objectsAlive) {
      EXPECT_EQ(under().objectsAlive(), alive) << "something leaked";
    }
  }
  const DeviceUnderTest &under() const {
    return devicesUnderTest()[GetParam()];
  }
  bool runsKernels() const { return under().runsKernels; }
  std::unique_ptr<Stream> makeStream() {
    auto stream = device->createStream();
    EXPECT_TRUE(stream.ok()) << stream.status().toString();
    return std::move(*stream);
  }

  std::shared_ptr<Device> device;
  size_t alive = 0;
};

/// Memory of a device that goes with the scope.
class Buffer {
public:
  Buffer(Device &device, uint64_t bytes) : device(device) {
    auto made = device.allocate(bytes);
    EXPECT_TRUE(made.ok()) << made.status().toString();
    memory = made.ok() ? *made : nullptr;
  }
  ~Buffer() { device.deallocate(memory); }
  Buffer(const Buffer &) = delete;
  Buffer &operator=(const Buffer &) = delete;
  char *at(uint64_t offset = 0) const {
    return static_cast<char *>(memory) + offset;
  }

private:
  Device &device;
  void *memory;
};

inline std::string deviceName(const testing::TestParamInfo<size_t> &info) {
  return devicesUnderTest()[info.param].name;
}
#define AICF_INSTANTIATE_FOR_DEVICES(SUITE)                                    \
  INSTANTIATE_TEST_SUITE_P(                                                    \
      Devices, SUITE, testing::Range<size_t>(0, devicesUnderTest().size()),    \
      deviceName)

} // namespace aicf::cts

#endif // AICF_UNITTESTS_CTS_SUITE_H
