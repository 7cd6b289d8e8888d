//===- Profile.h - what kernels took ----------------------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_OPS_PROFILE_H
#define AICF_LIB_OPS_PROFILE_H

#include "aicf/Device.h"
#include "aicf/Status.h"
#include "aicf/TensorDesc.h"
#include "lib/Ops/TypedBody.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace aicf {

/// Times of kernels, as `aicf-run --profile` writes them.
struct Profile {
  std::string device; ///< Device::description() of who measured
  /// Microseconds by KID and problem.
  std::map<std::string, std::map<std::string, double>> micros;

  /// Reads what toJson() writes. Errors: InvalidArgument.
  static StatusOr<Profile> parse(std::string_view json);
  std::string toJson() const;
  /// True if such a device measured, or if nothing says which one. A CPU's
  /// description begins with "cpu", and a card's with another name.
  bool isOf(DeviceKind kind) const {
    const bool isCPU = device.rfind("cpu", 0) == 0;
    return device.empty() || isCPU == (kind == DeviceKind::CPU);
  }
  std::optional<double> find(std::string_view kid,
                             const std::string &problem) const;
};

/// The key of a problem: "64x32xf32,8x32xf32->64x8xf32".
std::string problemOf(const std::vector<std::string> &operandTypes,
                      const std::vector<std::string> &resultTypes);
std::string problemOf(Span<const TensorDesc> operands,
                      Span<const TensorDesc> results);
std::string problemOf(const TypedBody &call);

} // namespace aicf

#endif // AICF_LIB_OPS_PROFILE_H
