//===- Initializer.cpp - how a persistent tensor starts -------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Dialect/AICF/Initializer.h"

#include "mlir/IR/BuiltinAttributes.h"

#include <cmath>

using namespace mlir;
using namespace aicf;
using namespace aicf::step;

std::optional<Initializer> aicf::step::parseInitializer(Attribute attr) {
  if (auto value = dyn_cast<FloatAttr>(attr))
    return std::isfinite(value.getValueAsDouble())
               ? std::optional(
                     Initializer{InitKind::Constant, value.getValueAsDouble()})
               : std::nullopt;
  if (auto value = dyn_cast<IntegerAttr>(attr))
    return value.getType().isSignlessInteger(32) ||
                   value.getType().isSignlessInteger(64)
               ? std::optional(Initializer{InitKind::Constant,
                                           static_cast<double>(value.getInt())})
               : std::nullopt;
  auto text = dyn_cast<StringAttr>(attr);
  if (!text)
    return std::nullopt;
  auto [name, deviation] = text.getValue().split(':');
  bool hasDeviation = name.size() < text.getValue().size();
  auto kind = parseEnum<InitKind>(name, kNumInitKinds);
  if (!kind || *kind == InitKind::Constant ||
      (hasDeviation && *kind != InitKind::Normal))
    return std::nullopt;
  double value = *kind == InitKind::Normal ? 1 : 0;
  if (hasDeviation &&
      (deviation.getAsDouble(value) || value < 0 || !std::isfinite(value)))
    return std::nullopt;
  return Initializer{*kind, value};
}
