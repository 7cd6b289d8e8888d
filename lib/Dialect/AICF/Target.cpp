//===- Target.cpp - what an entry is compiled for -------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Dialect/AICF/Target.h"

#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
using namespace aicf;
using namespace aicf::step;

static constexpr StringLiteral kCosts = "costs", kMath = "math";

Target step::targetOf(FunctionOpInterface function) {
  auto attribute = function->getAttrOfType<TargetAttr>(kTargetAttr);
  if (!attribute)
    return {defaultCosts(DeviceKind::CPU)};
  DictionaryAttr fields = attribute.getFields();
  auto name = fields.getAs<StringAttr>(kCosts);
  auto math = fields.getAs<StringAttr>(kMath);
  Target target;
  target.costs = name ? *findCosts(std::string_view(name.getValue()))
                      : defaultCosts(attribute.getDevice());
  target.allowsTF32 = math && math == "tf32";
  for (NamedAttribute field : fields)
    if (const CostField *known =
            findCostField(std::string_view(field.getName().strref())))
      target.costs.*known->member =
          cast<IntegerAttr>(field.getValue()).getInt();
  return target;
}

//===----------------------------------------------------------------------===//
// What is refused
//===----------------------------------------------------------------------===//

static LogicalResult checkCosts(function_ref<InFlightDiagnostic()> emitError,
                                DeviceKind device, Attribute value) {
  auto name = dyn_cast<StringAttr>(value);
  const Costs *costs =
      name ? findCosts(std::string_view(name.getValue())) : nullptr;
  if (costs && costs->device == device)
    return success();
  InFlightDiagnostic diag = emitError()
                            << "no profile of " << StringRef(nameOf(device))
                            << " is named " << value << ", known are";
  StringRef separator = " ";
  for (const Costs &known : allCosts())
    if (known.device == device) {
      diag << separator << StringRef(known.name);
      separator = ", ";
    }
  return diag;
}

static LogicalResult checkNumber(function_ref<InFlightDiagnostic()> emitError,
                                 NamedAttribute field) {
  const CostField *known =
      findCostField(std::string_view(field.getName().strref()));
  if (!known)
    return emitError() << "unknown field " << field.getName()
                       << ", expected costs, math, or a number that `aicf-plan "
                          "costs` prints";
  auto number = dyn_cast<IntegerAttr>(field.getValue());
  // So large that families can multiply two of them.
  const int64_t most = int64_t(1) << (known->unit.empty() ? 30 : 40);
  if (number && number.getType().isInteger(64) && number.getInt() >= -1 &&
      number.getInt() <= most)
    return success();
  return emitError() << field.getName() << " is " << field.getValue()
                     << ", expected a whole number from -1 to " << most;
}

LogicalResult TargetAttr::verify(function_ref<InFlightDiagnostic()> error,
                                 DeviceKind device, DictionaryAttr fields) {
  auto emitError = [&] { return error() << "#aicf.target: "; };
  for (NamedAttribute field : fields) {
    Attribute value = field.getValue();
    if (field.getName() == kCosts) {
      if (failed(checkCosts(emitError, device, value)))
        return failure();
    } else if (field.getName() == kMath) {
      auto math = dyn_cast<StringAttr>(value);
      if (!math || (math != "f32" && math != "tf32"))
        return emitError() << "math is " << value
                           << ", expected \"f32\" or \"tf32\"";
    } else if (failed(checkNumber(emitError, field))) {
      return failure();
    }
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

static ParseResult parseField(AsmParser &parser, NamedAttrList &fields) {
  StringRef name;
  std::string text;
  Builder builder(parser.getContext());
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&name) || parser.parseEqual())
    return failure();
  if (fields.get(name))
    return parser.emitError(loc) << "#aicf.target: " << name << " stands twice";
  if (succeeded(parser.parseOptionalString(&text))) {
    fields.set(name, builder.getStringAttr(text));
    return success();
  }
  int64_t number = 0;
  if (parser.parseInteger(number))
    return failure();
  fields.set(name, builder.getI64IntegerAttr(number));
  return success();
}

Attribute TargetAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef name;
  if (parser.parseLess() || parser.parseKeyword(&name))
    return {};
  auto device = parseEnum<DeviceKind>(std::string_view(name), kNumDeviceKinds);
  if (!device) {
    parser.emitError(loc) << "#aicf.target: device is '" << name
                          << "', expected cpu or cuda";
    return {};
  }
  NamedAttrList fields;
  while (succeeded(parser.parseOptionalComma()))
    if (parseField(parser, fields))
      return {};
  if (parser.parseGreater())
    return {};
  return parser.getChecked<TargetAttr>(
      loc, parser.getContext(), *device,
      fields.getDictionary(parser.getContext()));
}

void TargetAttr::print(AsmPrinter &printer) const {
  printer << "<" << StringRef(nameOf(getDevice()));
  for (NamedAttribute field : getFields()) {
    printer << ", " << field.getName().strref() << " = ";
    if (auto number = dyn_cast<IntegerAttr>(field.getValue()))
      printer << number.getInt();
    else
      printer << field.getValue();
  }
  printer << ">";
}
