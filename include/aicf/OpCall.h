//===- OpCall.h - one kernel call -------------------------------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// opCall = resolve + launch. Executors resolve every call once and only launch
// afterwards: there is no other way to a kernel.
//===----------------------------------------------------------------------===//
#ifndef AICF_OPCALL_H
#define AICF_OPCALL_H

#include "aicf/Body.h"
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
  /// What the device put off when it made this, such as loading kernels: it
  /// does so for all calls that wait for it, side by side. Needed before the
  /// first launch; resolve() does it. Errors: DeviceError, FailedState.
  virtual Status finish() const { return {}; }
};

/// Everything about a call but the stream. Operands and results are those of
/// the body; none is absent.
struct CallRequest {
  std::shared_ptr<const Body> body;
  Span<const TensorView> ins, outs;
  std::string_view kid = "auto"; ///< or a KID of the device
  /// Scratch memory; its size decides how some kernels split their sums.
  TensorView workspace = {};
};

/// A checked call with its kernel; owns its lists, not the tensors' memory.
class ResolvedCall : public BodyValues<TensorView> {
public:
  ResolvedCall() = default;
  /// Values inside the body have no memory.
  ResolvedCall(const KernelRow &row, BodyValues<TensorView> values,
               TensorView workspace)
      : BodyValues(std::move(values)), row(&row), workspace(workspace) {}

  const KernelRow *row = nullptr;
  std::shared_ptr<const DeviceCall> deviceCall;
  TensorView workspace;
  /// The position of the plan's call, for traces; -1 for none.
  int32_t tag = -1;
  /// Where it runs: see Stream::reserve. Events are numbered from 0.
  uint32_t stream = 0;
  std::vector<uint32_t> waits, signals;

  /// What the kernel is called with; refers to this call.
  LaunchArgs launchArgs() const;
};

/// Validates a call and finds its kernel. Errors: BadAttrSize, ShapeMismatch,
/// DTypeMismatch, InvalidArgument (a body that no family takes, counts, attr
/// values, null pointers, unknown KID, results that share memory with other
/// tensors where the body may not), Misaligned, NotImplemented (no kernel),
/// DeviceError.
StatusOr<ResolvedCall> resolve(Device &device, const CallRequest &request);
/// The same without DeviceCall::finish(), for many calls: resolve all of them,
/// then finish each.
StatusOr<ResolvedCall> beginResolve(Device &device, const CallRequest &request);

/// Runs a resolved call on `stream`; returns after enqueue.
/// A generated kernel is unloaded with the last call that has it: keep the call
/// until the stream is done with it.
Status launch(const ResolvedCall &call, Stream &stream);

/// resolve + launch of a call of one primitive. Operands and results stand in
/// the order of the op's record; one that is absent has null data. `schema` is
/// the fourcc of the attrs. Errors: resolve()'s, and BadSchema.
Status opCall(Device &device, OpKind kind, Span<const TensorView> ins,
              Span<const TensorView> outs, uint32_t schema,
              Span<const uint8_t> attrs, Stream &stream,
              std::string_view kid = "auto", TensorView workspace = {});
/// The same under its former name.
[[deprecated("use opCall")]] inline Status
op_call(Device &device, OpKind kind, Span<const TensorView> ins,
        Span<const TensorView> outs, uint32_t schema, Span<const uint8_t> attrs,
        Stream &stream, std::string_view kid = "auto",
        TensorView workspace = {}) {
  return opCall(device, kind, ins, outs, schema, attrs, stream, kid, workspace);
}

/// The struct of an attr layout as the bytes that opCall takes.
template <typename T> std::vector<uint8_t> encodeAttrs(const T &attrs) {
  const auto *at = reinterpret_cast<const uint8_t *>(&attrs);
  return std::vector<uint8_t>(at, at + sizeof(T));
}

} // namespace aicf

#endif // AICF_OPCALL_H
