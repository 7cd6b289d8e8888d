//===- OpCall.cpp - one kernel call ---------------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "aicf/OpCall.h"
#include "aicf/Device.h"
#include "kernels/Rules.h"
#include "lib/Runtime/CallArgs.h"

#include <algorithm>

namespace aicf {
namespace {

/// Names "relu: operand 0 (x)" or "relu: result 0 (y)".
std::string nameOperand(const CallRequest &request, bool isResult, size_t i) {
  const OpInfo &info = infoOf(request.kind);
  std::optional<CallSlots> slots = CallSlots::of(info, request.ins.size());
  std::string_view name;
  if (slots && !isResult)
    name = info.operands[slots->operandAt(i)].name;
  if (slots && isResult && slots->takesResults(request.outs.size()))
    name = slots->result(i, request.outs.size()).name;
  return std::string(info.name) + ": " + (isResult ? "result " : "operand ") +
         std::to_string(i) +
         (name.empty() ? "" : " (" + std::string(name) + ")");
}

Status checkPointers(const CallRequest &request, const KernelRow &row) {
  for (bool isResult : {false, true}) {
    Span<const TensorView> views = isResult ? request.outs : request.ins;
    for (size_t i = 0; i < views.size(); ++i) {
      if (isAbsent(views[i]))
        continue;
      auto address = reinterpret_cast<uintptr_t>(views[i].data);
      uint64_t needed = row.neededAlignment(views[i].desc);
      if (address % needed != 0)
        return makeError(StatusCode::Misaligned,
                         nameOperand(request, isResult, i), " has address ",
                         address, ", which is not a multiple of ", needed,
                         " bytes");
    }
  }
  return {};
}

std::vector<uintptr_t> addressesOf(const CallRequest &request) {
  std::vector<uintptr_t> addresses;
  for (Span<const TensorView> views : {request.ins, request.outs})
    for (const TensorView &view : views)
      addresses.push_back(reinterpret_cast<uintptr_t>(view.data));
  return addresses;
}

bool overlap(const TensorView &a, const TensorView &b) {
  if (isAbsent(a) || isAbsent(b))
    return false;
  auto begin = [](const TensorView &v) {
    return reinterpret_cast<uintptr_t>(v.data);
  };
  return begin(a) < begin(b) + b.desc.numBytes() &&
         begin(b) < begin(a) + a.desc.numBytes();
}

/// Results share memory with operands only where the op may work in place, and
/// never with each other.
Status checkAliasing(const CallRequest &request) {
  const auto slots = *CallSlots::of(infoOf(request.kind), request.ins.size());
  for (size_t r = 0; r < request.outs.size(); ++r) {
    for (size_t o = 0; o < r; ++o)
      if (overlap(request.outs[r], request.outs[o]))
        return makeError(StatusCode::InvalidArgument,
                         nameOperand(request, true, r),
                         " shares memory with result ", o);
    for (size_t i = 0; i < request.ins.size(); ++i) {
      if (!overlap(request.outs[r], request.ins[i]))
        continue;
      bool inPlace = request.outs[r].data == request.ins[i].data &&
                     request.outs[r].desc == request.ins[i].desc &&
                     slots.mayShareStorage(r, request.outs.size(), i);
      if (!inPlace)
        return makeError(StatusCode::InvalidArgument,
                         nameOperand(request, true, r),
                         " shares memory with operand ", i,
                         ", where the op may not work in place");
    }
  }
  return {};
}

/// Scratch memory is aligned like a plan's, and apart from everything else.
Status checkWorkspace(const CallRequest &request) {
  const TensorView &w = request.workspace;
  if (!w.data)
    return {};
  auto address = reinterpret_cast<uintptr_t>(w.data);
  if (!checkedBytes(w.desc) || address % kTensorAlignment != 0)
    return makeError(StatusCode::Misaligned, nameOf(request.kind),
                     ": the workspace at ", address,
                     " has no valid shape, or is not a multiple of ",
                     kTensorAlignment, " bytes");
  for (Span<const TensorView> views : {request.ins, request.outs})
    for (const TensorView &view : views)
      if (overlap(view, w))
        return makeError(StatusCode::InvalidArgument, nameOf(request.kind),
                         ": the workspace shares memory with an operand or "
                         "result");
  return {};
}

} // namespace

StatusOr<ResolvedCall> resolve(Device &device, const CallRequest &request) {
  device.countLookup();
  if (static_cast<uint16_t>(request.kind) >= kNumOpKinds)
    return makeError(StatusCode::NotImplemented, "op kind ",
                     static_cast<int>(request.kind), " is unknown, there are ",
                     kNumOpKinds);
  for (bool isResult : {false, true}) {
    Span<const TensorView> views = isResult ? request.outs : request.ins;
    for (size_t i = 0; i < views.size(); ++i)
      if (!isAbsent(views[i]) && !checkedBytes(views[i].desc))
        return makeError(
            StatusCode::ShapeMismatch, nameOperand(request, isResult, i),
            " has a rank above ", kMaxRank, ", a dimension outside 1 to ",
            INT32_MAX, ", or more than ", kMaxTensorBytes, " bytes");
  }
  std::vector<TensorDesc> ins = descsOf(request.ins);
  std::vector<TensorDesc> outs = descsOf(request.outs);
  AICF_RETURN_IF_ERROR(
      checkCall(request.kind, ins, outs, request.schema, request.attrs));
  std::vector<uintptr_t> addresses = addressesOf(request);
  bool isAuto = request.kid == "auto";
  const KernelRow *row = isAuto ? selectKernel(device.kind(), request.kind, ins,
                                               outs, {false, addresses})
                                : findKernel(device.kind(), request.kid);
  if (!isAuto && (!row || !row->accepts(request.kind, ins, outs)))
    return makeError(StatusCode::InvalidArgument, nameOf(request.kind),
                     ": kid \"", request.kid, "\" is ",
                     row ? "not a kernel for these operands" : "unknown",
                     " on ", nameOf(device.kind()));
  if (!row)
    return makeError(StatusCode::NotImplemented, nameOf(request.kind),
                     ": no kernel on ", nameOf(device.kind()), " for ",
                     ins[0].toString(), " -> ", outs[0].toString());
  AICF_RETURN_IF_ERROR(checkPointers(request, *row));
  AICF_RETURN_IF_ERROR(checkAliasing(request));
  AICF_RETURN_IF_ERROR(checkWorkspace(request));

  ResolvedCall call(*row, request);
  AICF_ASSIGN_OR_RETURN(call.deviceCall, device.prepareCall(call));
  return call;
}

Status launch(const ResolvedCall &call, Stream &stream) {
  return stream.enqueue(call);
}

Status op_call(Device &device, OpKind kind, Span<const TensorView> ins,
               Span<const TensorView> outs, uint32_t schema,
               Span<const uint8_t> attrs, Stream &stream, std::string_view kid,
               TensorView workspace) {
  AICF_ASSIGN_OR_RETURN(
      ResolvedCall call,
      resolve(device, {kind, ins, outs, schema, attrs, kid, workspace}));
  return launch(call, stream);
}

StatusOr<std::unique_ptr<Stream>> graph_stream(Device &device) {
  return device.createStream();
}
Status graph_begin(Stream &stream) { return stream.beginCapture(); }
StatusOr<std::unique_ptr<Graph>> graph_end(Stream &stream) {
  return stream.endCapture();
}
Status graph_launch(Graph &graph, Stream &stream) {
  return stream.launch(graph);
}
void graph_reset(std::unique_ptr<Graph> &graph) { graph.reset(); }

} // namespace aicf
