//===- KernelChoice.cpp - which kernel a call would get ------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "aicf/Analysis/KernelChoice.h"
#include "aicf/Dialect/AICF/AICF.h"

using namespace mlir;
using namespace mlir::aicf_rt;

FailureOr<::aicf::DeviceKind> mlir::aicf_rt::parseTarget(Operation *op,
                                                         StringRef target) {
  if (target == "cpu")
    return ::aicf::DeviceKind::CPU;
  if (target == "cuda")
    return ::aicf::DeviceKind::CUDA;
  return op->emitError() << "target is \"" << target
                         << "\", expected cpu or cuda";
}

SmallVector<::aicf::TensorDesc>
mlir::aicf_rt::toTensorDescs(TypeRange types) {
  SmallVector<::aicf::TensorDesc> descs;
  for (Type type : types)
    descs.push_back(toTensorDesc(type));
  return descs;
}

static ::aicf::Span<const ::aicf::TensorDesc>
span(const SmallVector<::aicf::TensorDesc> &descs) {
  return {descs.data(), descs.size()};
}

KernelChooser::KernelChooser(func::FuncOp func, ::aicf::DeviceKind device)
    : device(device) {
  auto math = func->getAttrOfType<StringAttr>(mlir::aicf::kMathAttr);
  allowTF32 = math && math.getValue() == "tf32";
}

const ::aicf::KernelRow *KernelChooser::choose(::aicf::OpKind kind,
                                               TypeRange ins,
                                               TypeRange outs) const {
  return ::aicf::selectKernel(device, kind, span(toTensorDescs(ins)),
                              span(toTensorDescs(outs)), {allowTF32});
}

const ::aicf::KernelRow *KernelChooser::choose(PrimitiveOpInterface op) const {
  StringRef kid = op.getKidOrEmpty();
  if (kid.empty())
    return choose(op.getOpKind(), op->getOperandTypes(), op->getResultTypes());
  const auto *row = ::aicf::findKernel(device, std::string_view(kid));
  bool accepted =
      row && row->accepts(op.getOpKind(),
                          span(toTensorDescs(op->getOperandTypes())),
                          span(toTensorDescs(op->getResultTypes())));
  return accepted ? row : nullptr;
}
