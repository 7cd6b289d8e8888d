//===- ToyDevice.h - a device that runs nothing until it must ---*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// The example of docs/NewDevice.md: the kernels of the CPU, on a queue of their
// own, with memory that nobody else may touch. Work waits in the queue until
// somebody waits for it, and a pointer that is not the device's is an error.
//===----------------------------------------------------------------------===//
#ifndef AICF_UNITTESTS_CTS_TOYDEVICE_H
#define AICF_UNITTESTS_CTS_TOYDEVICE_H

#include "aicf/Device.h"

namespace aicf::cts {

std::shared_ptr<Device> createToyDevice();
/// Allocations, streams and graphs of toy devices that are alive.
size_t toyObjectsAlive();

} // namespace aicf::cts

#endif // AICF_UNITTESTS_CTS_TOYDEVICE_H
