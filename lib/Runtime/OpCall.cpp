//===- OpCall.cpp - one kernel call ---------------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "aicf/OpCall.h"
#include "aicf/Device.h"
#include "lib/Ops/Rules.h"
#include "lib/Runtime/CallArgs.h"
#include "lib/Schedule/Region.h"

#include <algorithm>
#include <tuple>

namespace aicf {
namespace {

/// "relu: operand 0 (x)" or "relu: result 0 (y)".
std::string nameOperand(const CallRequest &request, bool isResult, size_t i) {
  return primitiveNames(*request.body) + ": " +
         (isResult ? describeResult(*request.body, i)
                   : describeOperand(*request.body, i));
}

/// Every operand and result has memory and a type that a plan could hold.
Status checkViews(const CallRequest &request) {
  for (bool isResult : {false, true}) {
    Span<const TensorView> views = isResult ? request.outs : request.ins;
    for (size_t i = 0; i < views.size(); ++i) {
      if (isAbsent(views[i]))
        return makeError(StatusCode::InvalidArgument,
                         nameOperand(request, isResult, i),
                         " has a null pointer");
      if (!checkedBytes(views[i].desc))
        return makeError(
            StatusCode::ShapeMismatch, nameOperand(request, isResult, i),
            " has a rank above ", kMaxRank, ", a dimension outside 1 to ",
            INT32_MAX, ", or more than ", kMaxTensorBytes, " bytes");
    }
  }
  return {};
}

Status checkPointers(const CallRequest &request, const KernelRow &row) {
  for (bool isResult : {false, true}) {
    Span<const TensorView> views = isResult ? request.outs : request.ins;
    for (size_t i = 0; i < views.size(); ++i) {
      auto address = reinterpret_cast<uintptr_t>(views[i].start());
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
      addresses.push_back(reinterpret_cast<uintptr_t>(view.start()));
  return addresses;
}

bool overlap(const TensorView &a, const TensorView &b) {
  auto beginA = reinterpret_cast<uintptr_t>(a.start());
  auto beginB = reinterpret_cast<uintptr_t>(b.start());
  uintptr_t origin = std::min(beginA, beginB);
  return Region(beginA - origin, a.desc)
      .overlaps(Region(beginB - origin, b.desc));
}

/// Results share memory with operands only where the body may work in place,
/// and never with each other.
Status checkAliasing(const CallRequest &request, const BodyFacts &facts) {
  for (size_t r = 0; r < request.outs.size(); ++r) {
    for (size_t o = 0; o < r; ++o)
      if (overlap(request.outs[r], request.outs[o]))
        return makeError(StatusCode::InvalidArgument,
                         nameOperand(request, true, r),
                         " shares memory with result ", o);
    for (size_t i = 0; i < request.ins.size(); ++i) {
      if (!overlap(request.outs[r], request.ins[i]))
        continue;
      bool inPlace = request.outs[r].start() == request.ins[i].start() &&
                     request.outs[r].desc == request.ins[i].desc &&
                     facts.mayShareStorage(r, i);
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
  if (!w.start())
    return {};
  std::string op = primitiveNames(*request.body);
  auto address = reinterpret_cast<uintptr_t>(w.start());
  if (!checkedBytes(w.desc) || address % kTensorAlignment != 0)
    return makeError(StatusCode::Misaligned, op, ": the workspace at ", address,
                     " has no valid shape, or is not a multiple of ",
                     kTensorAlignment, " bytes");
  for (Span<const TensorView> views : {request.ins, request.outs})
    for (const TensorView &view : views)
      if (overlap(view, w))
        return makeError(StatusCode::InvalidArgument, op,
                         ": the workspace shares memory with an operand or "
                         "result");
  return {};
}

std::vector<TensorDesc> descsOf(Span<const TensorView> views) {
  std::vector<TensorDesc> descs;
  for (const TensorView &view : views)
    descs.push_back(isAbsent(view) ? TensorDesc::absent() : view.desc);
  return descs;
}

StatusOr<const KernelRow *> findRow(const Device &device,
                                    const CallRequest &request,
                                    const TypedBody &typed) {
  std::vector<uintptr_t> addresses = addressesOf(request);
  bool isAuto = request.kid == "auto";
  const KernelRow *row =
      isAuto ? selectKernel(device.kind(), typed, {false, addresses})
             : findKernel(device.kind(), request.kid);
  std::string op = primitiveNames(*request.body);
  if (!isAuto && (!row || !row->accepts(typed)))
    return makeError(StatusCode::InvalidArgument, op, ": kid \"", request.kid,
                     "\" is ",
                     row ? "not a kernel for these operands" : "unknown",
                     " on ", nameOf(device.kind()));
  if (!row)
    return makeError(StatusCode::NotImplemented, op, ": no kernel on ",
                     nameOf(device.kind()), " for ",
                     typed.operand(0).toString(), " -> ",
                     typed.result(0).toString());
  return row;
}

} // namespace

StatusOr<ResolvedCall> resolve(Device &device, const CallRequest &request) {
  AICF_ASSIGN_OR_RETURN(ResolvedCall call, beginResolve(device, request));
  AICF_RETURN_IF_ERROR(call.deviceCall->finish());
  return call;
}

StatusOr<ResolvedCall> beginResolve(Device &device,
                                    const CallRequest &request) {
  if (!request.body)
    return makeError(StatusCode::InvalidArgument, "the call has no body");
  device.countLookup();
  AICF_RETURN_IF_ERROR(checkForm(*request.body));
  if (request.ins.size() != request.body->numOperands ||
      request.outs.size() != request.body->results.size())
    return makeError(StatusCode::InvalidArgument, primitiveNames(*request.body),
                     ": got ", request.ins.size(), " operands and ",
                     request.outs.size(), " results, expected ",
                     request.body->numOperands, " and ",
                     request.body->results.size());
  AICF_RETURN_IF_ERROR(checkViews(request));
  BodyFacts facts = factsOf(*request.body);
  AICF_ASSIGN_OR_RETURN(TypedBody typed,
                        TypedBody::create(request.body, facts,
                                          descsOf(request.ins),
                                          descsOf(request.outs)));
  AICF_ASSIGN_OR_RETURN(const KernelRow *row, findRow(device, request, typed));
  AICF_RETURN_IF_ERROR(checkPointers(request, *row));
  AICF_RETURN_IF_ERROR(checkAliasing(request, facts));
  AICF_RETURN_IF_ERROR(checkWorkspace(request));

  typed = *row->launched(typed); // which the row accepts
  std::vector<TensorView> values;
  for (const TensorDesc &desc : typed.values())
    values.push_back({nullptr, desc});
  auto place = [&](TensorView &value, const TensorView &given) {
    value = {given.start(), value.desc};
  };
  for (size_t i = 0; i < request.ins.size(); ++i)
    place(values[i], request.ins[i]);
  for (size_t r = 0; r < request.outs.size(); ++r)
    place(values[request.body->results[r]], request.outs[r]);
  ResolvedCall call(*row, {request.body, std::move(values)}, request.workspace);
  AICF_ASSIGN_OR_RETURN(call.deviceCall, device.prepareCall(call));
  return call;
}

Status launch(const ResolvedCall &call, Stream &stream) {
  return stream.enqueue(call);
}

Status opCall(Device &device, OpKind kind, Span<const TensorView> ins,
              Span<const TensorView> outs, uint32_t schema,
              Span<const uint8_t> attrs, Stream &stream, std::string_view kid,
              TensorView workspace) {
  if (!isKnown(kind))
    return makeError(StatusCode::NotImplemented, "op kind ",
                     static_cast<int>(kind), " is unknown");
  for (Span<const TensorView> views : {ins, outs})
    for (const TensorView &view : views)
      if (!isAbsent(view) && !checkedBytes(view.desc))
        return makeError(StatusCode::ShapeMismatch, nameOf(kind),
                         ": an operand or result", " has a rank above ",
                         kMaxRank, ", a dimension outside 1 to ", INT32_MAX,
                         ", or more than ", kMaxTensorBytes, " bytes");
  AICF_RETURN_IF_ERROR(
      checkCall(kind, descsOf(ins), descsOf(outs), schema, attrs));
  std::vector<bool> hasOperand, hasResult;
  std::vector<TensorView> in, out;
  for (auto [views, has, dense] : {std::tuple(&ins, &hasOperand, &in),
                                   std::tuple(&outs, &hasResult, &out)})
    for (const TensorView &view : *views) {
      has->push_back(!isAbsent(view));
      if (!isAbsent(view))
        dense->push_back(view);
    }
  auto body = std::make_shared<Body>(
      makeBody(kind, {attrs.begin(), attrs.end()}, hasOperand, hasResult));
  AICF_ASSIGN_OR_RETURN(ResolvedCall call,
                        resolve(device, {body, in, out, kid, workspace}));
  return launch(call, stream);
}

} // namespace aicf
