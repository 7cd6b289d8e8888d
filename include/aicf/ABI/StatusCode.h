//===- StatusCode.h - error codes of the runtime ----------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_ABI_STATUSCODE_H
#define AICF_ABI_STATUSCODE_H

#include <cstdint>
#include <string_view>

namespace aicf {

/// Why a call was refused. Append-only.
enum class StatusCode : uint8_t {
  Ok = 0,
  NotImplemented,  ///< no kernel for this kind, dtype and device
  InvalidArgument, ///< unknown name, wrong count, value out of range
  BadSchema,       ///< the attr blob's fourcc is not that of the kind
  BadAttrSize,     ///< the attr blob's size is not that of its fourcc
  ShapeMismatch,
  DTypeMismatch,
  Misaligned,     ///< pointer below the kernel's or dtype's alignment
  DeviceError,    ///< the device or the system failed (memory, files)
  InvalidPlan,    ///< a plan file failed verification
  InvalidFile,    ///< a weight, array or checkpoint file is malformed
  NotInitialized, ///< an input, hyper or param was never written
  FailedState,    ///< the call is not legal now (e.g. replay before capture)
};
inline constexpr uint8_t kNumStatusCodes = 13;
constexpr std::string_view nameOf(StatusCode code) {
  constexpr std::string_view names[kNumStatusCodes] = {
      "Ok",          "NotImplemented", "InvalidArgument", "BadSchema",
      "BadAttrSize", "ShapeMismatch",  "DTypeMismatch",   "Misaligned",
      "DeviceError", "InvalidPlan",    "InvalidFile",     "NotInitialized",
      "FailedState"};
  return names[static_cast<uint8_t>(code)];
}

} // namespace aicf

#endif // AICF_ABI_STATUSCODE_H
