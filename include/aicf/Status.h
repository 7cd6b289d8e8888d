//===- Status.h - error codes, Status, StatusOr -----------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// The only error channel of everything outside the compiler: no exceptions, no
// printing, no exit. Both types are [[nodiscard]].
//===----------------------------------------------------------------------===//
#ifndef AICF_STATUS_H
#define AICF_STATUS_H

#include <cstdint>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

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
  DeviceError,    ///< the device or the system failed (no memory, no GPU)
  InvalidPlan,    ///< a plan file failed verification
  InvalidFile,    ///< a weight, array or checkpoint file is malformed
  NotInitialized, ///< an input, hyper or param was never written
  FailedState,    ///< the call is not legal now (e.g. replay before capture)
  FileNotFound,   ///< there is no file or folder of that name
  FileError,      ///< a file cannot be read or written (rights, a full disk)
};
inline constexpr uint8_t kNumStatusCodes = 15;
constexpr std::string_view nameOf(StatusCode code) {
  constexpr std::string_view names[kNumStatusCodes] = {
      "Ok",          "NotImplemented", "InvalidArgument", "BadSchema",
      "BadAttrSize", "ShapeMismatch",  "DTypeMismatch",   "Misaligned",
      "DeviceError", "InvalidPlan",    "InvalidFile",     "NotInitialized",
      "FailedState", "FileNotFound",   "FileError"};
  return names[static_cast<uint8_t>(code)];
}

class [[nodiscard]] Status {
public:
  Status() = default;
  Status(StatusCode code, std::string message)
      : errorCode(code), text(std::move(message)) {}

  bool ok() const { return errorCode == StatusCode::Ok; }
  StatusCode code() const { return errorCode; }
  const std::string &message() const { return text; }
  /// "<CodeName>: <message>", or "Ok".
  std::string toString() const {
    std::string name(nameOf(errorCode));
    return ok() ? name : name + ": " + text;
  }
  /// The same error with `context` in front of its message.
  Status withContext(const std::string &context) const {
    return ok() ? *this : Status(errorCode, context + ": " + text);
  }

private:
  StatusCode errorCode = StatusCode::Ok;
  std::string text;
};

/// Builds an error whose message is the arguments streamed one after another.
template <typename... Args>
Status makeError(StatusCode code, const Args &...args) {
  std::ostringstream os;
  (os << ... << args);
  return Status(code, os.str());
}

/// A value, or the error that prevented it.
template <typename T> class [[nodiscard]] StatusOr {
public:
  StatusOr(Status error) : error(std::move(error)) {}
  StatusOr(T result) : result(std::move(result)) {}

  bool ok() const { return result.has_value(); }
  const Status &status() const { return error; }
  T &value() { return *result; }
  const T &value() const { return *result; }
  T &operator*() { return *result; }
  const T &operator*() const { return *result; }
  T *operator->() { return &*result; }
  const T *operator->() const { return &*result; }

private:
  Status error;
  std::optional<T> result;
};

} // namespace aicf

/// Returns the error of a Status expression from the enclosing function.
#define AICF_RETURN_IF_ERROR(...)                                              \
  do {                                                                         \
    aicf::Status aicfStatus = (__VA_ARGS__);                                   \
    if (!aicfStatus.ok())                                                      \
      return aicfStatus;                                                       \
  } while (false)

/// `AICF_ASSIGN_OR_RETURN(auto x, f())`: x is the value, or the error returns.
#define AICF_ASSIGN_OR_RETURN(decl, ...)                                       \
  AICF_ASSIGN_OR_RETURN_IMPL(AICF_CONCAT(aicfOr, __LINE__), decl, __VA_ARGS__)
#define AICF_CONCAT_IMPL(a, b) a##b
#define AICF_CONCAT(a, b) AICF_CONCAT_IMPL(a, b)
#define AICF_ASSIGN_OR_RETURN_IMPL(tmp, decl, ...)                             \
  auto tmp = (__VA_ARGS__);                                                    \
  if (!tmp.ok())                                                               \
    return tmp.status();                                                       \
  decl = std::move(*tmp)

#endif // AICF_STATUS_H
