//===- TypedBody.h - a body with the types of its values --------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef AICF_LIB_OPS_TYPEDBODY_H
#define AICF_LIB_OPS_TYPEDBODY_H

#include "aicf/TensorDesc.h"
#include "lib/Ops/BodyRules.h"
#include "lib/Ops/Patterns.h"

#include <memory>

namespace aicf {

/// A body with the types of its values: what the table is asked about.
class TypedBody : public BodyValues<TensorDesc> {
public:
  /// A call of `body` with these operands and results. Errors: InvalidArgument
  /// (the body is of no pattern, counts), those of the primitives' rules.
  static StatusOr<TypedBody> create(std::shared_ptr<const Body> body,
                                    Span<const TensorDesc> ins,
                                    Span<const TensorDesc> outs);
  /// The same where the facts are known.
  static StatusOr<TypedBody> create(std::shared_ptr<const Body> body,
                                    const BodyFacts &facts,
                                    Span<const TensorDesc> ins,
                                    Span<const TensorDesc> outs);
  /// One primitive; slots in the record's order, absent ones included.
  static StatusOr<TypedBody> create(OpKind kind, Span<const uint8_t> attrs,
                                    Span<const TensorDesc> ins,
                                    Span<const TensorDesc> outs);

  PatternId pattern() const { return id; }
  bool isDense() const;
  bool hasPads() const;
  bool hasViews() const;
  /// Every tensor in its stored shape, pads as elements: the same call, where
  /// all that would have pads are padded and every primitive keeps zeros. Else
  /// nothing.
  std::optional<TypedBody> stored() const;

private:
  TypedBody(BodyValues<TensorDesc> types, PatternId id)
      : BodyValues(std::move(types)), id(id) {}
  /// With every tensor padded: the pads of its results are zeros.
  bool keepsZeros(const Primitive &primitive) const;
  PatternId id;
};

} // namespace aicf

#endif // AICF_LIB_OPS_TYPEDBODY_H
