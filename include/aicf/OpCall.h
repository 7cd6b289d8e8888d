//===- OpCall.h - one kernel call -------------------------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// op_call = resolve + launch. Executors resolve every call once and only launch
// afterwards: there is no other way to a kernel.
//===----------------------------------------------------------------------===//
#ifndef AICF_OPCALL_H
#define AICF_OPCALL_H

#include "aicf/Ops.h"
#include "aicf/Status.h"
#include "aicf/TensorDesc.h"

#include <memory>
#include <vector>

namespace aicf {

class Device;
class Stream;
/// A kernel of the table, and what it is called with: not for users.
struct KernelRow;
class LaunchArgs;

/// What a device made of a call: a function, launches, a library's plan.
class DeviceCall {
public:
  virtual ~DeviceCall() = default;
};

/// Everything about a call but the stream. Operands and results stand in the
/// order of the op's record; one that is absent has null data.
struct CallRequest {
  OpKind kind;
  Span<const TensorView> ins, outs;
  uint32_t schema = 0;
  Span<const uint8_t> attrs;
  std::string_view kid = "auto"; ///< or a KID of the device
  TensorView workspace = {};
};

/// A checked call with its kernel; owns its lists, not the tensors' memory.
class ResolvedCall {
public:
  ResolvedCall() = default;
  ResolvedCall(const KernelRow &row, const CallRequest &request)
      : row(&row), workspace(request.workspace),
        ins(request.ins.begin(), request.ins.end()),
        outs(request.outs.begin(), request.outs.end()),
        attrs(request.attrs.begin(), request.attrs.end()) {}

  const KernelRow *row = nullptr;
  std::shared_ptr<const DeviceCall> deviceCall;
  TensorView workspace;
  /// Whose call this is, for traces; -1 for none.
  int32_t tag = -1;
  /// Where it runs: see Stream::reserve. Events are numbered from 0.
  uint32_t stream = 0;
  std::vector<uint32_t> waits, signals;

  /// What the kernel is called with; refers to this call.
  LaunchArgs launchArgs() const;

private:
  std::vector<TensorView> ins, outs;
  std::vector<uint8_t> attrs;
};

/// Validates a call and finds its kernel. Errors: BadSchema, BadAttrSize,
/// ShapeMismatch, DTypeMismatch, InvalidArgument (counts, attr values, null
/// pointers, unknown KID, results that share memory with other tensors where
/// the op may not), Misaligned, NotImplemented (no kernel), DeviceError.
StatusOr<ResolvedCall> resolve(Device &device, const CallRequest &request);

/// Runs a resolved call on `stream`; returns after enqueue.
Status launch(const ResolvedCall &call, Stream &stream);

/// resolve + launch.
Status op_call(Device &device, OpKind kind, Span<const TensorView> ins,
               Span<const TensorView> outs, uint32_t schema,
               Span<const uint8_t> attrs, Stream &stream,
               std::string_view kid = "auto", TensorView workspace = {});

/// The struct of an attr layout as the bytes that op_call takes.
template <typename T> std::vector<uint8_t> encodeAttrs(const T &attrs) {
  const auto *at = reinterpret_cast<const uint8_t *>(&attrs);
  return std::vector<uint8_t>(at, at + sizeof(T));
}

} // namespace aicf

#endif // AICF_OPCALL_H
