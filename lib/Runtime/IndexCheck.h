//===- IndexCheck.h - are indices in range? ---------------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_RUNTIME_INDEXCHECK_H
#define AICF_LIB_RUNTIME_INDEXCHECK_H

#include "aicf/Device.h"
#include "aicf/OpCall.h"

namespace aicf {

/// Waits for what runs on `stream`, reads the call's operands of indices and returns
/// InvalidArgument, with the first number that is out of range, where there is one.
/// `entry` is for the message.
Status checkIndices(Device &device, Stream &stream, const ResolvedCall &call,
                    std::string_view entry);

} // namespace aicf

#endif // AICF_LIB_RUNTIME_INDEXCHECK_H
