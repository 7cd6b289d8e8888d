//===- TypedBody.cpp - a body with the types of its values ----------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Ops/TypedBody.h"
#include "lib/Ops/Fields.h"

#include <algorithm>

namespace aicf {

bool TypedBody::isDense() const {
  return std::all_of(values().begin(), values().end(),
                     [](const TensorDesc &desc) { return desc.isDense(); });
}

bool TypedBody::hasPads() const {
  return std::any_of(
      values().begin(), values().end(),
      [](const TensorDesc &desc) { return desc.layout == Layout::Padded; });
}

bool TypedBody::hasViews() const {
  return std::any_of(
      values().begin(), values().end(),
      [](const TensorDesc &desc) { return desc.layout == Layout::Strided; });
}

bool TypedBody::keepsZeros(const Primitive &primitive) const {
  const OpInfo &info = infoOf(primitive.kind);
  if (info.keepsZeros != KeepsZeros::InColumns)
    return info.keepsZeros == KeepsZeros::Everywhere;
  TensorDesc into = values()[size_t(primitive.operands[0])];
  into.layout = Layout::Padded;
  if (into.stored().rows() != into.rows())
    return false;
  // The first field is `axis`.
  auto axis = std::get<int64_t>(decodeField(info.fields[0], primitive.attrs));
  return axis == -1 || axis + 1 == into.rank;
}

std::optional<TypedBody> TypedBody::stored() const {
  if (hasViews())
    return std::nullopt;
  for (const Primitive &primitive : body().primitives)
    if (!keepsZeros(primitive))
      return std::nullopt;
  std::vector<TensorDesc> ins, outs;
  for (size_t i = 0; i < body().numOperands; ++i)
    ins.push_back(operand(i));
  for (size_t r = 0; r < body().results.size(); ++r)
    outs.push_back(result(r));
  for (std::vector<TensorDesc> *descs : {&ins, &outs})
    for (TensorDesc &desc : *descs) {
      if (desc.isDense() && desc.hasPadsIfPadded())
        return std::nullopt;
      desc = desc.stored();
    }
  StatusOr<std::vector<TensorDesc>> types = describeValues(body(), ins, outs);
  if (!types.ok())
    return std::nullopt;
  return TypedBody({sharedBody(), std::move(*types)}, id);
}

StatusOr<TypedBody> TypedBody::create(std::shared_ptr<const Body> body,
                                      const BodyFacts &facts,
                                      Span<const TensorDesc> ins,
                                      Span<const TensorDesc> outs) {
  if (!facts.pattern)
    return makeError(StatusCode::InvalidArgument, "no kernel family takes ",
                     primitiveNames(*body), " in one call");
  AICF_ASSIGN_OR_RETURN(std::vector<TensorDesc> types,
                        describeValues(*body, ins, outs));
  return TypedBody({std::move(body), std::move(types)}, *facts.pattern);
}

StatusOr<TypedBody> TypedBody::create(std::shared_ptr<const Body> body,
                                      Span<const TensorDesc> ins,
                                      Span<const TensorDesc> outs) {
  AICF_RETURN_IF_ERROR(checkForm(*body));
  BodyFacts facts = factsOf(*body);
  return create(std::move(body), facts, ins, outs);
}

StatusOr<TypedBody> TypedBody::create(OpKind kind, Span<const uint8_t> attrs,
                                      Span<const TensorDesc> ins,
                                      Span<const TensorDesc> outs) {
  std::vector<bool> hasOperand, hasResult;
  std::vector<TensorDesc> in, out;
  for (auto [descs, has, dense] : {std::tuple(&ins, &hasOperand, &in),
                                   std::tuple(&outs, &hasResult, &out)})
    for (const TensorDesc &desc : *descs) {
      has->push_back(!desc.isAbsent);
      if (!desc.isAbsent)
        dense->push_back(desc);
    }
  return create(std::make_shared<Body>(makeBody(
                    kind, {attrs.begin(), attrs.end()}, hasOperand, hasResult)),
                in, out);
}

} // namespace aicf
