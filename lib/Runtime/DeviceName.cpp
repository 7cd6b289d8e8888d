//===- DeviceName.cpp - "cpu", "cuda", "cuda:N" ---------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "aicf/Device.h"

#include <charconv>

namespace aicf {

StatusOr<DeviceName> parseDeviceName(std::string_view name) {
  size_t colon = name.find(':');
  auto kind = parseEnum<DeviceKind>(name.substr(0, colon), kNumDeviceKinds);
  DeviceName device{kind.value_or(DeviceKind::CPU), 0};
  bool isKnown = kind.has_value();
  if (colon != name.npos) {
    const char *end = name.data() + name.size();
    auto [at, error] =
        std::from_chars(name.data() + colon + 1, end, device.ordinal);
    isKnown &= kind == DeviceKind::CUDA && error == std::errc() && at == end;
  }
  if (!isKnown)
    return makeError(StatusCode::InvalidArgument, "device is \"", name,
                     "\", expected cpu, cuda or cuda:N");
  return device;
}

} // namespace aicf
