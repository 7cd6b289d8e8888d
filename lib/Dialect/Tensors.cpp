//===- Tensors.cpp - tensor types and the ABI's descriptions --------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "aicf/Dialect/Tensors.h"

#include "lib/Base/Element.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace aicf;

std::optional<DType> aicf::toDType(Type element) {
  if (element.isF32())
    return DType::F32;
  if (element.isF16())
    return DType::F16;
  if (element.isBF16())
    return DType::BF16;
  if (element.isF64())
    return DType::F64;
  if (element.isSignlessInteger(32))
    return DType::I32;
  if (element.isSignlessInteger(64))
    return DType::I64;
  if (element.isSignlessInteger(1))
    return DType::I1;
  return std::nullopt;
}

static Type elementOf(DType dtype, Builder builder) {
  switch (dtype) {
  case DType::F32:
    return builder.getF32Type();
  case DType::F16:
    return builder.getF16Type();
  case DType::BF16:
    return builder.getBF16Type();
  case DType::F64:
    return builder.getF64Type();
  case DType::I32:
    return builder.getI32Type();
  case DType::I1:
    return builder.getI1Type();
  case DType::I64:
    break;
  }
  return builder.getI64Type();
}

TensorDesc aicf::toDenseDesc(RankedTensorType type) {
  ArrayRef<int64_t> shape = type.getShape();
  return TensorDesc(*toDType(type.getElementType()),
                    {shape.data(), shape.size()});
}

RankedTensorType aicf::toDenseType(MLIRContext *context,
                                   const TensorDesc &desc) {
  Span<const int64_t> shape = desc.shape();
  return RankedTensorType::get({shape.data(), shape.size()},
                               elementOf(desc.dtype, Builder(context)));
}

/// MLIR does not promise how it keeps i1.
std::vector<uint8_t> aicf::bytesOf(DenseElementsAttr elements) {
  if (elements.getElementType().isSignlessInteger(1)) {
    auto bits = elements.getValues<bool>();
    return {bits.begin(), bits.end()};
  }
  ArrayRef<char> raw = elements.getRawData();
  std::vector<uint8_t> bytes(raw.begin(), raw.end());
  if (!elements.isSplat())
    return bytes;
  std::vector<uint8_t> all;
  for (int64_t i = 0; i < elements.getNumElements(); ++i)
    all.insert(all.end(), bytes.begin(), bytes.end());
  return all;
}

DenseElementsAttr aicf::elementsOf(RankedTensorType type,
                                   const std::vector<uint8_t> &bytes) {
  if (type.getElementType().isSignlessInteger(1))
    return DenseElementsAttr::get(
        type, ArrayRef<bool>(SmallVector<bool>(bytes.begin(), bytes.end())));
  return DenseElementsAttr::getFromRawBuffer(
      type, {reinterpret_cast<const char *>(bytes.data()), bytes.size()});
}

DenseElementsAttr aicf::countUp(RankedTensorType type) {
  DType dtype = *toDType(type.getElementType());
  std::vector<uint8_t> bytes(uint64_t(type.getNumElements()) * sizeOf(dtype));
  for (int64_t i = 0; i < type.getNumElements(); ++i)
    storeElement(dtype, &bytes[uint64_t(i) * sizeOf(dtype)], double(i));
  return elementsOf(type, bytes);
}
