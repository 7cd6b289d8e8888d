//===- Optimizers.cpp - attributes that are optimizers and schedules ------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Their text, and which ops they are made of. Where they stand in a step is
// --aicf-append-optimizer's.
//===----------------------------------------------------------------------===//

#include "aicf/Dialect/AICF/AICF.h"
#include "lib/Ops/Rules.h"

#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace aicf;
using namespace aicf::step;

//===----------------------------------------------------------------------===//
// Fields
//===----------------------------------------------------------------------===//

static const FieldOfAttr *findField(ArrayRef<FieldOfAttr> fields,
                                    StringRef name) {
  const auto *found =
      llvm::find_if(fields, [&](const auto &f) { return f.name == name; });
  return found == fields.end() ? nullptr : found;
}

static std::optional<double> asNumber(Attribute value) {
  if (auto flag = dyn_cast<BoolAttr>(value))
    return flag.getValue();
  if (auto whole = dyn_cast<IntegerAttr>(value))
    return double(whole.getInt());
  if (auto number = dyn_cast<FloatAttr>(value))
    return number.getValueAsDouble();
  return std::nullopt;
}

double aicf::step::numberOf(DictionaryAttr given, ArrayRef<FieldOfAttr> fields,
                            StringRef name) {
  if (Attribute value = given.get(name))
    return *asNumber(value);
  return *findField(fields, name)->defaultValue;
}

static LogicalResult refuse(AsmParser &parser, SMLoc loc, StringRef mnemonic,
                            const Twine &what) {
  return parser.emitError(loc) << "#aicf." << mnemonic << ": " << what;
}

/// The value, where its field takes it: one of a number is an f64.
static Attribute parseNumber(AsmParser &parser, StringRef mnemonic,
                             const FieldOfAttr &field) {
  SMLoc loc = parser.getCurrentLocation();
  Attribute value;
  if (parser.parseAttribute(value))
    return {};
  std::optional<double> number = asNumber(value);
  std::string text;
  llvm::raw_string_ostream(text) << value;
  bool isKind = number && (field.format == 'd' || !isa<FloatAttr>(value)) &&
                (field.format == 'i') == isa<BoolAttr>(value);
  if (!isKind) {
    (void)refuse(parser, loc, mnemonic,
                 field.name + " is " + text + ", expected " +
                     (field.format == 'i'   ? "true or false"
                      : field.format == 'q' ? "a whole number"
                                            : "a number"));
    return {};
  }
  Status status =
      checkRange(std::string(field.name).c_str(), *number, field.range);
  if (!status.ok()) {
    (void)refuse(parser, loc, mnemonic, status.message());
    return {};
  }
  Builder b(parser.getContext());
  return field.format == 'd' ? Attribute(b.getF64FloatAttr(*number)) : value;
}

static Attribute parseRate(AsmParser &parser, StringRef mnemonic) {
  SMLoc loc = parser.getCurrentLocation();
  Attribute rate;
  if (parser.parseAttribute(rate))
    return {};
  auto name = dyn_cast<StringAttr>(rate);
  if (isa<ScheduleAttrInterface>(rate) || (name && !name.empty()))
    return rate;
  std::string text;
  llvm::raw_string_ostream(text) << rate;
  (void)refuse(parser, loc, mnemonic,
               "lr is " + text +
                   ", expected the name of a hyper (lr = \"lr\") or a schedule "
                   "(lr = #aicf.constant<value = 0.001>)");
  return {};
}

DictionaryAttr aicf::step::parseFields(AsmParser &parser, StringRef mnemonic,
                                       ArrayRef<FieldOfAttr> fields,
                                       bool takesRate) {
  SMLoc start = parser.getCurrentLocation();
  NamedAttrList given;
  auto parseField = [&]() -> ParseResult {
    SMLoc loc = parser.getCurrentLocation();
    std::string name;
    if (parser.parseKeywordOrString(&name) || parser.parseEqual())
      return failure();
    const FieldOfAttr *field = findField(fields, name);
    bool isRate = takesRate && name == "lr";
    if (!field && !isRate) {
      std::string known = takesRate ? "lr, " : "";
      known += llvm::join(
          llvm::map_range(fields, [](const auto &f) { return f.name.str(); }),
          ", ");
      return refuse(parser, loc, mnemonic,
                    "unknown field '" + name + "'; it has " + known);
    }
    if (given.get(name))
      return refuse(parser, loc, mnemonic, name + " is given twice");
    Attribute value = isRate ? parseRate(parser, mnemonic)
                             : parseNumber(parser, mnemonic, *field);
    given.set(name, value ? value : UnitAttr::get(parser.getContext()));
    return success(bool(value));
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::OptionalLessGreater,
                                     parseField))
    return {};
  for (const FieldOfAttr &field : fields)
    if (!field.defaultValue && !given.get(field.name)) {
      (void)refuse(parser, start, mnemonic, field.name + " is missing");
      return {};
    }
  if (takesRate && !given.get("lr")) {
    (void)refuse(
        parser, start, mnemonic,
        "lr is missing: name a hyper (lr = \"lr\") or give a schedule");
    return {};
  }
  return given.getDictionary(parser.getContext());
}

void aicf::step::printFields(AsmPrinter &printer, DictionaryAttr given) {
  printer << "<";
  llvm::interleaveComma(given, printer, [&](NamedAttribute field) {
    printer << field.getName().getValue() << " = ";
    printer.printAttributeWithoutType(field.getValue());
  });
  printer << ">";
}

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

namespace {
struct Curve {
  double start, peak, end;
  int64_t warmup, steps;
  bool cosine;
};
} // namespace

/// What a rate is computed in: f32 where `element` has 16 bits.
static Type wideOf(Type element) {
  return element.isF64() ? element : Float32Type::get(element.getContext());
}

static Value castRate(OpBuilder &b, Location loc, Value rate, Type element) {
  return getElementTypeOrSelf(rate) == element
             ? rate
             : CastOp::create(b, loc, rate, TypeAttr::get(element)).getResult();
}

static Value buildCurve(OpBuilder &b, Location loc, Value step, Type element,
                        const Curve &curve) {
  return castRate(b, loc,
                  LearningRateOp::create(
                      b, loc, step, llvm::APFloat(curve.start),
                      llvm::APFloat(curve.peak), llvm::APFloat(curve.end),
                      curve.warmup, curve.steps, curve.cosine,
                      TypeAttr::get(wideOf(element))),
                  element);
}

Value ConstantAttr::buildRate(OpBuilder &b, Location loc, Value step, Value,
                              Type element) const {
  double value = get("value");
  return buildCurve(b, loc, step, element, {value, value, value, 0, 0, false});
}

Value LinearScheduleAttr::buildRate(OpBuilder &b, Location loc, Value step,
                                    Value, Type element) const {
  double start = get("start");
  return buildCurve(
      b, loc, step, element,
      {start, start, get("end"), 0, int64_t(get("steps")), false});
}

Value WarmupCosineAttr::buildRate(OpBuilder &b, Location loc, Value step, Value,
                                  Type element) const {
  return buildCurve(b, loc, step, element,
                    {0, get("peak"), get("end"), int64_t(get("warmup")),
                     int64_t(get("steps")), true});
}

Value CosineAttr::buildRate(OpBuilder &b, Location loc, Value step, Value,
                            Type element) const {
  double start = get("start");
  return buildCurve(b, loc, step, element,
                    {start, start, get("end"), 0, int64_t(get("steps")), true});
}

Value StepDecayAttr::buildRate(OpBuilder &b, Location loc, Value step, Value,
                               Type element) const {
  Value rate = StepDecayOp::create(
      b, loc, step, llvm::APFloat(get("start")), llvm::APFloat(get("factor")),
      int64_t(get("every")), TypeAttr::get(wideOf(element)));
  return castRate(b, loc, rate, element);
}

Value PolynomialAttr::buildRate(OpBuilder &b, Location loc, Value step, Value,
                                Type element) const {
  Value rate = PolynomialDecayOp::create(
      b, loc, step, llvm::APFloat(get("start")), llvm::APFloat(get("end")),
      int64_t(get("steps")), llvm::APFloat(get("power")),
      TypeAttr::get(wideOf(element)));
  return castRate(b, loc, rate, element);
}

int64_t TableAttr::getTableRows() const { return int64_t(get("rows")); }

Value TableAttr::buildRate(OpBuilder &b, Location loc, Value step, Value table,
                           Type element) const {
  return castRate(b, loc, RateTableOp::create(b, loc, step, table), element);
}

//===----------------------------------------------------------------------===//
// Optimizers
//===----------------------------------------------------------------------===//

template <typename Attr>
static Value buildCorrection(Attr attr, OpBuilder &b, Location loc, Value step,
                             Type element) {
  return BiasCorrOp::create(b, loc, step, llvm::APFloat(attr.get("beta1")),
                            llvm::APFloat(attr.get("beta2")),
                            TypeAttr::get(element));
}
/// adam_step or adam_l2_step.
template <typename Op, typename Attr>
static SmallVector<Value> buildAdam(Attr attr, OpBuilder &b, Location loc,
                                    const ParameterStep &s) {
  auto op = Op::create(
      b, loc, s.param, s.grad, s.states[0], s.states[1], s.shared, s.rate,
      s.gradFactor, s.ok, llvm::APFloat(attr.get("beta1")),
      llvm::APFloat(attr.get("beta2")), llvm::APFloat(attr.get("eps")),
      llvm::APFloat(s.weightDecay));
  return {op.getPOut(), op.getMOut(), op.getVOut()};
}

SmallVector<StringRef> AdamWAttr::getStateNames() const {
  return {"exp_avg", "exp_avg_sq"};
}
bool AdamWAttr::countsSteps() const { return true; }
Value AdamWAttr::buildShared(OpBuilder &b, Location loc, Value step, Value,
                             Type element) const {
  return buildCorrection(*this, b, loc, step, element);
}
SmallVector<Value> AdamWAttr::buildStep(OpBuilder &b, Location loc,
                                        const ParameterStep &s) const {
  return buildAdam<AdamStepOp>(*this, b, loc, s);
}

SmallVector<StringRef> AdamAttr::getStateNames() const {
  return {"exp_avg", "exp_avg_sq"};
}
bool AdamAttr::countsSteps() const { return true; }
Value AdamAttr::buildShared(OpBuilder &b, Location loc, Value step, Value,
                            Type element) const {
  return buildCorrection(*this, b, loc, step, element);
}
SmallVector<Value> AdamAttr::buildStep(OpBuilder &b, Location loc,
                                       const ParameterStep &s) const {
  return buildAdam<AdamL2StepOp>(*this, b, loc, s);
}

SmallVector<StringRef> SGDAttr::getStateNames() const {
  return get("momentum") == 0 ? SmallVector<StringRef>()
                              : SmallVector<StringRef>{"momentum_buffer"};
}

SmallVector<Value> SGDAttr::buildStep(OpBuilder &b, Location loc,
                                      const ParameterStep &s) const {
  bool hasMomentum = !s.states.empty();
  auto op = SgdStepOp::create(
      b, loc, s.param, s.grad, s.rate, hasMomentum ? s.states[0] : Value(),
      s.gradFactor, s.ok, llvm::APFloat(get("momentum")),
      llvm::APFloat(s.weightDecay), get("nesterov") != 0);
  if (!hasMomentum)
    return {op.getPOut()};
  return {op.getPOut(), op.getMOut()};
}

SmallVector<StringRef> AdamGroupsAttr::getStateNames() const {
  return {"exp_avg", "exp_avg_sq"};
}
int64_t AdamGroupsAttr::getGroupSize() const { return 5; }
bool AdamGroupsAttr::countsSteps() const { return true; }
Value AdamGroupsAttr::buildShared(OpBuilder &b, Location loc, Value step,
                                  Value rate, Type element) const {
  return GroupBiasCorrOp::create(b, loc, step, rate, TypeAttr::get(element));
}
SmallVector<Value> AdamGroupsAttr::buildStep(OpBuilder &b, Location loc,
                                             const ParameterStep &s) const {
  auto op = AdamGroupStepOp::create(b, loc, s.param, s.grad, s.states[0],
                                    s.states[1], s.shared, s.rate, s.gradFactor,
                                    s.ok, get("l2") != 0);
  return {op.getPOut(), op.getMOut(), op.getVOut()};
}

SmallVector<StringRef> SGDGroupsAttr::getStateNames() const {
  return get("momentum") == 0 ? SmallVector<StringRef>()
                              : SmallVector<StringRef>{"momentum_buffer"};
}
int64_t SGDGroupsAttr::getGroupSize() const { return 3; }
SmallVector<Value> SGDGroupsAttr::buildStep(OpBuilder &b, Location loc,
                                            const ParameterStep &s) const {
  bool hasMomentum = !s.states.empty();
  auto op = SgdGroupStepOp::create(b, loc, s.param, s.grad, s.rate,
                                   hasMomentum ? s.states[0] : Value(),
                                   s.gradFactor, s.ok, get("nesterov") != 0);
  if (!hasMomentum)
    return {op.getPOut()};
  return {op.getPOut(), op.getMOut()};
}

SmallVector<StringRef> LionAttr::getStateNames() const { return {"exp_avg"}; }

SmallVector<Value> LionAttr::buildStep(OpBuilder &b, Location loc,
                                       const ParameterStep &s) const {
  auto op = LionStepOp::create(b, loc, s.param, s.grad, s.states[0], s.rate,
                               s.gradFactor, s.ok, llvm::APFloat(get("beta1")),
                               llvm::APFloat(get("beta2")),
                               llvm::APFloat(s.weightDecay));
  return {op.getPOut(), op.getMOut()};
}

//===----------------------------------------------------------------------===//

#include "aicf/Dialect/AICF/AICFAttrInterfaces.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "aicf/Dialect/AICF/AICFAttrs.cpp.inc"

void AICFDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "aicf/Dialect/AICF/AICFAttrs.cpp.inc"
      >();
}
