//===- Reshaping.cpp - an elementwise call in another shape ---------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Transforms/RT/Reshaping.h"
#include "lib/Ops/Fields.h"
#include "lib/Ops/Graphs.h"

#include <numeric>

using namespace mlir;
using namespace aicf;
using namespace aicf::rt;

static Span<const int64_t> span(ArrayRef<int64_t> numbers) {
  return {numbers.data(), numbers.size()};
}
static int64_t product(ArrayRef<int64_t> sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t(1),
                         std::multiplies<>());
}

/// The dimension of `shape` that has `size` elements and `inner` behind each.
static std::optional<int64_t> dimensionOf(ArrayRef<int64_t> shape, int64_t size,
                                          int64_t inner) {
  for (size_t i = 0; i < shape.size(); ++i)
    if (shape[i] == size && product(shape.drop_front(i + 1)) == inner)
      return int64_t(i);
  return std::nullopt;
}

llvm::SmallBitVector aicf::rt::repeatedOperands(CallOp call) {
  llvm::SmallBitVector repeated(call.getArgs().size());
  for (const Primitive &primitive : call.getCode().primitives)
    if (const SpreadInfo *spread = spreadOf(primitive.kind))
      repeated.set(size_t(primitive.operands[spread->operand]));
  return repeated;
}

bool Reshaping::planOperands() {
  const llvm::SmallBitVector repeated = repeatedOperands(call);
  for (auto [i, operand] : llvm::enumerate(call.getArgs())) {
    ViewOp view = viewOf(operand);
    ViewDesc seen{toTensorDesc(operand.getType()),
                  view ? view.getOffset() : int64_t(0)};
    if (repeated[i]) {
      operands.push_back(seen);
      continue;
    }
    if (seen.desc.layout == aicf::Layout::Padded)
      return false;
    auto moved = reshaped(seen, span(shape));
    if (!moved)
      return false;
    operands.push_back(*moved);
  }
  return true;
}

/// The field `axis` for sums of `size` elements with `inner` behind each, and
/// the shape that is left of the new one.
std::optional<int64_t> Reshaping::planSum(int64_t size, int64_t inner,
                                          Shape &left) const {
  left.assign(shape.begin(), shape.end());
  if (auto axis = dimensionOf(shape, size, inner)) {
    left.erase(left.begin() + *axis);
    return axis;
  }
  // All that is in front of some dimension is summed.
  size_t first = shape.size();
  while (first > 0 && product(shape.drop_front(first)) < inner)
    --first;
  if (size * inner != product(shape) || first == 0 ||
      product(shape.drop_front(first)) != inner)
    return std::nullopt;
  left.erase(left.begin(), left.begin() + first);
  return int64_t(first) - 1;
}

/// Finds what the fields `axis` mean in the new shape, and the shapes of
/// results.
bool Reshaping::planPrimitives() {
  auto typeOf = [&](size_t result) {
    return cast<RankedTensorType>(call.getResult(result).getType());
  };
  for (auto [p, primitive] : llvm::enumerate(body.primitives)) {
    const OpInfo &info = infoOf(primitive.kind);
    auto result = llvm::find(body.results, body.numOperands + uint32_t(p));
    Shape left(shape);
    if (info.isSum() || hasSpreadAxis(primitive.kind)) {
      int64_t axis =
          std::get<int64_t>(decodeField(info.fields[0], primitive.attrs));
      axis = axis < 0 ? int64_t(before.size()) - 1 : axis;
      const int64_t inner = product(before.drop_front(size_t(axis) + 1));
      std::optional<int64_t> found;
      if (info.isSum()) {
        auto sums = typeOf(result - body.results.begin()).getShape();
        found = planSum(product(before) / product(sums), inner, left);
      } else {
        found = dimensionOf(shape, before[size_t(axis)], inner);
      }
      if (!found)
        return false;
      encodeField(info.fields[0], *found, primitive.attrs);
    }
    if (result != body.results.end())
      resultTypes.push_back(typeOf(result - body.results.begin()).clone(left));
  }
  return true;
}

/// True unless somebody wants the result in the very shape that it has.
bool Reshaping::mayChangeType(Value result) const {
  return toTensorDesc(result.getType()).isDense() && !isReturned(result) &&
         !joinOf(result) && !anyRead(result, [](CallOp reader, unsigned) {
           return reader.isOnly(OpKind::Concat);
         });
}

bool Reshaping::hasKernel(const KernelChooser &chooser) {
  MLIRContext *context = call->getContext();
  SmallVector<Type> operandTypes;
  SmallVector<uintptr_t> places;
  for (auto [operand, seen] : llvm::zip_equal(call.getArgs(), operands)) {
    operandTypes.push_back(toTensorType(context, seen.desc));
    places.push_back(uintptr_t(chooser.offsetOf(baseOf(operand)) +
                               seen.offset * int64_t(sizeOf(seen.desc.dtype))));
  }
  places.append(call.getResults().size(), 0); // each has storage of its own
  StatusOr<TypedBody> typed =
      typedBodyOf(BodyAttr::get(context, body), operandTypes, resultTypes);
  return typed.ok() && chooser.choose(*typed, places);
}

bool Reshaping::plan(const KernelChooser &chooser) {
  return planOperands() && planPrimitives() &&
         llvm::all_of(
             call.getResults(),
             [&](Value result) {
               return resultTypes[cast<OpResult>(result).getResultNumber()] ==
                          result.getType() ||
                      mayChangeType(result);
             }) &&
         hasKernel(chooser);
}

CallOp Reshaping::create(OpBuilder &builder) {
  SmallVector<Value> values;
  for (auto [operand, seen] : llvm::zip_equal(call.getArgs(), operands)) {
    Value base = baseOf(operand);
    Type type = toTensorType(builder.getContext(), seen.desc);
    values.push_back(
        seen.offset == 0 && type == base.getType()
            ? base
            : ViewOp::create(builder, call.getLoc(), type, base, seen.offset)
                  .getView());
  }
  return CallOp::create(builder, call.getLoc(), resultTypes, values, body,
                        call.getVids());
}
