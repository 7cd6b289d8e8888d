//===- Errors.h - Status as a Python exception ------------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// The runtime returns Status; here, and only here, it becomes an exception: of
// the class of aicf.errors that is named after the code.
//===----------------------------------------------------------------------===//
#ifndef AICF_PYTHON_ERRORS_H
#define AICF_PYTHON_ERRORS_H

#include "aicf/Status.h"

#include <exception>

namespace aicf::python {

class StatusException : public std::exception {
public:
  explicit StatusException(Status status) : reason(std::move(status)) {}
  const Status &status() const { return reason; }
  const char *what() const noexcept override {
    return reason.message().c_str();
  }

private:
  Status reason;
};

inline void check(const Status &status) {
  if (!status.ok())
    throw StatusException(status);
}

template <typename T> T check(StatusOr<T> result) {
  check(result.status());
  return std::move(*result);
}

template <typename... Args>
[[noreturn]] void fail(StatusCode code, const Args &...args) {
  throw StatusException(makeError(code, args...));
}

/// Has exceptions of this kind raised as classes of aicf.errors.
void registerErrors();

} // namespace aicf::python

#endif // AICF_PYTHON_ERRORS_H
