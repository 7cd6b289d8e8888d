//===- ConstantOps.cpp - constant, iota -----------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Inference and verifiers.
//===----------------------------------------------------------------------===//

#include "aicf/Dialect/Tensors.h"
#include "lib/Base/Element.h"
#include "lib/Dialect/AICF/Inference.h"

using namespace mlir;
using namespace aicf;
using namespace aicf::step;

//===----------------------------------------------------------------------===//
// constant
//===----------------------------------------------------------------------===//

LogicalResult ConstantOp::inferReturnTypes(MLIRContext *,
                                           std::optional<Location> loc,
                                           Adaptor a,
                                           SmallVectorImpl<Type> &types) {
  ElementsAttr value = attrForInference(a, a.getValueAttr(), "value");
  if (!value || failed(checkOperands<ConstantOp>(loc, a)))
    return failure();
  types.push_back(value.getType());
  return success();
}

LogicalResult ConstantOp::check(Adaptor a, Report report) {
  ElementsAttr value = attrForInference(a, a.getValueAttr(), "value");
  auto dense = dyn_cast<DenseElementsAttr>(value);
  if (!dense || !isAbiTensor(value.getType()))
    return report() << "C1: value is of type " << value.getType()
                    << ", expected dense elements of f16, bf16, f32, f64, i32, "
                       "i64 or i1";
  uint64_t bytes =
      toDenseDesc(cast<RankedTensorType>(value.getType())).spanBytes();
  if (dense.isSplat() || bytes <= kMaxConstantBytes)
    return success();
  return report() << "C1: value has " << bytes << " bytes, the limit is "
                  << kMaxConstantBytes
                  << ": make it a state that the caller writes";
}

LogicalResult ConstantOp::verify() { return checkOperands(*this); }

//===----------------------------------------------------------------------===//
// iota
//===----------------------------------------------------------------------===//

/// What `dtype` says, or i32.
static Type elementOf(IotaOp::Adaptor a, MLIRContext *context) {
  TypeAttr dtype = attrForInference(a, a.getDtypeAttr(), "dtype");
  return dtype ? dtype.getValue() : IntegerType::get(context, 32);
}

LogicalResult IotaOp::inferReturnTypes(MLIRContext *context,
                                       std::optional<Location> loc, Adaptor a,
                                       SmallVectorImpl<Type> &types) {
  auto shape = requiredAttr<IotaOp>(loc, a, a.getShapeAttr(), "shape");
  auto axis = requiredAttr<IotaOp>(loc, a, a.getAxisAttr(), "axis");
  if (!shape || !axis || failed(checkOperands<IotaOp>(loc, a)))
    return failure();
  types.push_back(
      RankedTensorType::get(shape.asArrayRef(), elementOf(a, context)));
  return success();
}

LogicalResult IotaOp::check(Adaptor a, Report report) {
  auto shapeAttr = attrForInference(a, a.getShapeAttr(), "shape");
  ArrayRef<int64_t> shape = shapeAttr.asArrayRef();
  int64_t axis = attrForInference(a, a.getAxisAttr(), "axis").getInt();
  if (failed(checkShapeAttr(report, shape)))
    return failure();
  Type element = elementOf(a, shapeAttr.getContext());
  std::optional<DType> dtype = toDType(element);
  if (!dtype)
    return report() << "C3: dtype is " << element
                    << ", expected f16, bf16, f32, f64, i32, i64 or i1";
  if (axis < 0 || axis >= int64_t(shape.size()) ||
      uint64_t(shape[axis]) * sizeOf(*dtype) > kMaxConstantBytes)
    return report() << "C2: axis is " << axis << ", expected a dimension of ["
                    << shape << "] whose numbers take up to "
                    << kMaxConstantBytes << " bytes";
  auto last = double(shape[axis] - 1);
  // Whatever has the last number but one has all before it, too.
  for (double number : {last, last - 1}) {
    uint8_t bytes[8];
    storeElement(*dtype, bytes, number);
    if (number >= 0 && loadElement(*dtype, bytes) != number)
      return report() << "C3: dtype is " << element
                      << ", expected one that holds " << int64_t(number);
  }
  return success();
}

LogicalResult IotaOp::verify() { return checkOperands(*this); }
