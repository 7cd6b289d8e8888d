//===- IndexCheck.cpp - are indices in range? -----------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Which operands are indices, and of what, stands in the records (Index). Indices that
// a call computes for itself have no memory and are not looked at.
//===----------------------------------------------------------------------===//

#include "lib/Runtime/IndexCheck.h"

#include "lib/Base/Element.h"
#include "lib/Ops/Fields.h"

#include <vector>

namespace aicf {

namespace {

/// One operand of indices of one primitive.
struct Indexing {
  const OpInfo &info;
  const OperandInfo &operand;
  const TensorView &index, &indexed;
  std::optional<int64_t> exempt;

  int64_t dimension() const {
    return operand.axis < 0 ? indexed.desc.rank + operand.axis : operand.axis;
  }
};

} // namespace

/// Returns the first element that is out of range, or -1.
static StatusOr<int64_t> findOutOfRange(Device &device, Stream &stream,
                                        const Indexing &what,
                                        std::vector<uint8_t> &bytes) {
  const TensorDesc &desc = what.index.desc;
  bytes.resize(desc.spanBytes());
  AICF_RETURN_IF_ERROR(device.copyToHost(stream, bytes.data(),
                                         what.index.start(), bytes.size()));
  AICF_RETURN_IF_ERROR(stream.synchronize());
  const int64_t size = what.indexed.desc.dims[what.dimension()];
  for (int64_t i = 0; i < desc.elements(); ++i) {
    int64_t row = int64_t(
        loadElement(desc.dtype, bytes.data() + size_t(i) * sizeOf(desc.dtype)));
    if ((row < 0 || row >= size) && row != what.exempt)
      return i;
  }
  return int64_t(-1);
}

static Status check(Device &device, Stream &stream, const Indexing &what,
                    std::string_view entry) {
  std::vector<uint8_t> bytes;
  AICF_ASSIGN_OR_RETURN(int64_t at,
                        findOutOfRange(device, stream, what, bytes));
  if (at < 0)
    return {};
  DType dtype = what.index.desc.dtype;
  const OperandInfo &indexed = what.info.operands[what.operand.indexed];
  std::string exempt =
      what.exempt ? " or " + std::to_string(*what.exempt) : std::string();
  return makeError(
      StatusCode::InvalidArgument, "entry ", entry, ": ", what.info.name,
      " gets index ",
      int64_t(loadElement(dtype, bytes.data() + size_t(at) * sizeOf(dtype))),
      " at element ", at, " of its operand ", what.operand.name,
      ", expected a number in [0, ",
      what.indexed.desc.dims[what.dimension()], ")", exempt, ": dimension ",
      what.dimension(), " of its operand ", indexed.name);
}

Status checkIndices(Device &device, Stream &stream, const ResolvedCall &call,
                    std::string_view entry) {
  const Body &body = call.body();
  for (const Primitive &primitive : body.primitives) {
    const OpInfo &info = infoOf(primitive.kind);
    for (size_t i = 0; i < info.numOperands; ++i) {
      const OperandInfo &operand = info.operands[i];
      // Kinds with indices have no variadic operand: slots are operands. As
      // unsigned, kAbsentValue is above all operands.
      if (operand.indexed < 0 ||
          uint32_t(primitive.operands[i]) >= body.numOperands)
        continue;
      std::optional<int64_t> exempt;
      if (operand.exempt >= 0)
        exempt = std::get<int64_t>(
            decodeField(info.fields[operand.exempt], primitive.attrs));
      const TensorView &indexed =
          call.values()[size_t(primitive.operands[operand.indexed])];
      AICF_RETURN_IF_ERROR(check(
          device, stream,
          {info, operand, call.operand(size_t(primitive.operands[i])), indexed,
           exempt},
          entry));
    }
  }
  return {};
}

} // namespace aicf
