//===- BadAlloc.h - out of host memory as a Status --------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// The standard library reports a failed allocation by an exception; our API has
// none. Wraps the places where sizes come from outside.
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_BASE_BADALLOC_H
#define AICF_LIB_BASE_BADALLOC_H

#include "aicf/Status.h"

#include <new>
#include <stdexcept>

namespace aicf {

/// `body()`, or DeviceError when it runs out of host memory. `body` returns a
/// Status or a StatusOr.
template <typename Body> auto catchBadAlloc(Body body) -> decltype(body()) {
  try {
    return body();
  } catch (const std::bad_alloc &) {
    return Status(StatusCode::DeviceError, "out of host memory");
  } catch (const std::length_error &) {
    return Status(StatusCode::DeviceError, "out of host memory");
  }
}

} // namespace aicf

#endif // AICF_LIB_BASE_BADALLOC_H
