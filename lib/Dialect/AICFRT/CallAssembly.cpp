//===- CallAssembly.cpp - how calls and bodies are written ----------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A body is written with names for its operands: those of SSA values in a call,
// i0, i1, ... in the attribute. Reading gives a body in any form; the verifiers
// say what is wrong with it.
//===----------------------------------------------------------------------===//

#include "aicf/Dialect/AICFRT/AICFRT.h"
#include "lib/Dialect/Record.h"
#include "lib/Ops/BodyRules.h"
#include "lib/Ops/Rules.h"

#include "mlir/IR/OpImplementation.h"

#include "llvm/ADT/StringMap.h"

#include <cmath>

using namespace mlir;
using namespace aicf;
using namespace aicf::rt;

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

namespace {
using PrintOperand = llvm::function_ref<void(uint32_t)>;

/// `operands` are types of the primitive's slots where the call has them: a
/// default that is computed from them is left out.
void printFields(AsmPrinter &p, const Primitive &primitive,
                 ArrayRef<TensorDesc> operands) {
  const OpInfo &info = infoOf(primitive.kind);
  StringRef separator = " {";
  for (size_t i = 0; i < info.numFields; ++i) {
    const FieldInfo &field = info.fields[i];
    FieldValue value =
        decodeField(field, {primitive.attrs.data(), primitive.attrs.size()});
    bool isKnown = field.hasDefault || !operands.empty();
    if (isKnown && value == fieldDefault(primitive.kind, i,
                                         {operands.data(), operands.size()}))
      continue;
    p << separator << StringRef(field.name) << " = ";
    separator = ", ";
    if (const double *number = std::get_if<double>(&value)) {
      p.printFloat(APFloat(*number));
      if (!std::isfinite(*number)) // in hexadecimal digits, as an integer's
        p << " : f64";
    } else if (int64_t whole = std::get<int64_t>(value);
             field.range == aicf::Range::ZeroOrOne &&
             (whole == 0 || whole == 1))
      p << (whole ? "true" : "false");
    else
      p << whole;
  }
  if (separator == ", ")
    p << "}";
}

/// kind(a, b, name = c) {fields}
void printPrimitive(AsmPrinter &p, const Primitive &primitive,
                    PrintOperand printOperand, ArrayRef<TensorDesc> operands) {
  const OpInfo &info = infoOf(primitive.kind);
  CallSlots slots = *CallSlots::of(info, primitive.operands.size());
  p << StringRef(info.name) << "(";
  StringRef separator = "";
  for (size_t slot = 0; slot < primitive.operands.size(); ++slot) {
    int32_t value = primitive.operands[slot];
    if (value == kAbsentValue)
      continue;
    const OperandInfo &operand = info.operands[slots.operandAt(slot)];
    p << separator;
    if (operand.presence == Presence::Optional)
      p << StringRef(operand.name) << " = ";
    printOperand(uint32_t(value));
    separator = ", ";
  }
  p << ")";
  printFields(p, primitive, operands);
}

/// The names of the values that a body makes, by number.
std::vector<std::string> namesOf(const Body &body) {
  std::vector<std::string> names(body.numValues());
  for (auto [i, value] : llvm::enumerate(valuesMade(body)))
    names[value] = "t" + std::to_string(i);
  return names;
}

/// `t0 = gemm(...)` a line, then `yield t0`.
void printSteps(AsmPrinter &p, const Body &body, PrintOperand printOperand,
                llvm::function_ref<void()> newline) {
  std::vector<std::string> names = namesOf(body);
  auto print = [&](uint32_t value) {
    if (value < body.numOperands)
      printOperand(value);
    else
      p << names[value];
  };
  uint32_t next = body.numOperands;
  for (const Primitive &primitive : body.primitives) {
    newline();
    uint32_t first = next;
    next += primitive.numResults();
    StringRef separator = "";
    for (uint32_t r = first; r < next; ++r) {
      if (names[r].empty())
        continue;
      p << separator << names[r];
      separator = ", ";
    }
    p << " = ";
    printPrimitive(p, primitive, print, {});
  }
  newline();
  p << "yield ";
  llvm::interleaveComma(body.results, p,
                        [&](uint32_t value) { p << names[value]; });
}

void printList(AsmPrinter &p, StringRef name, ArrayRef<int64_t> numbers) {
  if (numbers.empty())
    return;
  p << " " << name << " [";
  llvm::interleaveComma(numbers, p);
  p << "]";
}
} // namespace

void BodyAttr::print(AsmPrinter &p) const {
  const Body &body = getBody();
  p << "<" << body.numOperands << " {";
  printSteps(
      p, body, [&](uint32_t value) { p << "i" << value; }, [&] { p << " "; });
  p << " }>";
}

void LaunchAttr::print(AsmPrinter &p) const {
  StringRef separator = "";
  auto field = [&](StringRef name) -> AsmPrinter & {
    p << separator << name << " = ";
    separator = ", ";
    return p;
  };
  auto list = [&](StringRef name, ArrayRef<int64_t> numbers) {
    if (numbers.empty())
      return;
    field(name) << "[";
    llvm::interleaveComma(numbers, p);
    p << "]";
  };
  p << "<";
  if (getKernel())
    field("kernel") << getKernel();
  if (getWorkspace())
    field("workspace") << getWorkspace();
  if (getStream())
    field("stream") << getStream();
  list("waits", getWaits());
  list("signals", getSignals());
  p << ">";
}

/// What each slot of a one-primitive call holds.
static SmallVector<TensorDesc> slotDescs(CallOp op) {
  SmallVector<TensorDesc> descs;
  for (int32_t value : op.getCode().primitives.front().operands)
    descs.push_back(value == kAbsentValue
                        ? TensorDesc::absent()
                        : toTensorDesc(op.getArgs()[value].getType()));
  return descs;
}

/// Names results as the records do.
void CallOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  const Body &body = getCode();
  uint32_t first = body.numOperands;
  for (const Primitive &primitive : body.primitives) {
    const OpInfo &info = infoOf(primitive.kind);
    for (uint32_t i = 0; i < primitive.numResults(); ++i)
      if (Value result = getYielded(first + i))
        setName(result, StringRef(info.results[i].name));
    first += primitive.numResults();
  }
}

void CallOp::print(OpAsmPrinter &p) {
  const Body &body = getCode();
  auto printOperand = [&](uint32_t value) { p << getArgs()[value]; };
  if (body.primitives.size() == 1) {
    p << " ";
    printPrimitive(p, body.primitives.front(), printOperand, slotDescs(*this));
  } else {
    p << " {";
    p.increaseIndent();
    printSteps(p, body, printOperand, [&] { p.printNewline(); });
    p.decreaseIndent();
    p.printNewline();
    p << "}";
  }
  if (!getDests().empty())
    p << " outs(" << getDests() << ")";
  if (getScratch())
    p << " workspace(" << getScratch() << ")";
  printList(p, "inplace", getInplace());
  printList(p, "in_vids", getInVids());
  printList(p, "vids", getVids());
  if (getProtective())
    p << " protective";
  if (LaunchAttr launch = getLaunchAttr()) {
    p << " launch";
    launch.print(p);
  }
  p.printOptionalAttrDictWithKeyword(
      (*this)->getDiscardableAttrDictionary().getValue());
  p << " : ";
  p.printFunctionalType(getArgs().getTypes(), getResultTypesOfBody());
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

namespace {
/// One primitive as it is written.
struct ParsedStep {
  SMLoc loc;
  OpKind kind = OpKind::Gemm;
  std::vector<int32_t> positional;
  SmallVector<std::pair<StringRef, int32_t>> named;
  NamedAttrList fields;
};

using ParseOperand = llvm::function_ref<ParseResult(int32_t &)>;

ParseResult parsePrimitive(AsmParser &parser, ParsedStep &primitive,
                           ParseOperand parseOperand) {
  StringRef name;
  primitive.loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&name))
    return failure();
  std::optional<OpKind> kind =
      parseEnum<OpKind>(std::string_view(name), kNumOpKinds);
  if (!kind)
    return parser.emitError(primitive.loc)
           << "unknown primitive '" << name << "'";
  primitive.kind = *kind;
  const OpInfo &info = infoOf(*kind);
  auto isOptional = [&](StringRef word) {
    return llvm::any_of(
        llvm::make_range(info.operands, info.operands + info.numOperands),
        [&](const OperandInfo &o) {
          return o.presence == Presence::Optional && StringRef(o.name) == word;
        });
  };
  auto parseOne = [&]() -> ParseResult {
    StringRef word;
    int32_t value;
    for (size_t i = 0; i < info.numOperands && word.empty(); ++i) {
      StringRef candidate(info.operands[i].name);
      if (isOptional(candidate) &&
          succeeded(parser.parseOptionalKeyword(candidate)))
        word = candidate;
    }
    if ((!word.empty() && parser.parseEqual()) || parseOperand(value))
      return failure();
    if (word.empty())
      primitive.positional.push_back(value);
    else
      primitive.named.push_back({word, value});
    return success();
  };
  return failure(
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, parseOne) ||
      parser.parseOptionalAttrDict(primitive.fields));
}

/// The slots of a primitive; an error where the record does not take its operands.
ParseResult placeOperands(AsmParser &parser, const ParsedStep &parsed,
                          Primitive &primitive) {
  const OpInfo &info = infoOf(parsed.kind);
  primitive.kind = parsed.kind;
  primitive.operands = parsed.positional;
  size_t plain = info.numOperands;
  for (size_t i = 0; i < info.numOperands; ++i) {
    if (info.operands[i].presence != Presence::Optional)
      continue;
    --plain;
    int32_t value = kAbsentValue;
    for (auto [name, number] : parsed.named)
      if (name == StringRef(info.operands[i].name))
        value = number;
    primitive.operands.push_back(value);
  }
  size_t given = parsed.positional.size();
  if (info.hasVariadic ? given >= plain : given == plain)
    return success();
  return parser.emitError(parsed.loc)
         << StringRef(info.name) << " got " << given << " operands, expected "
         << plain << (info.hasVariadic ? " or more" : "");
}

/// Fields by name; `operands` where a default is computed from their types.
ParseResult encodeParsedFields(AsmParser &parser, const ParsedStep &parsed,
                               ArrayRef<TensorDesc> operands,
                               Primitive &primitive) {
  const OpInfo &info = infoOf(parsed.kind);
  auto range = llvm::make_range(info.fields, info.fields + info.numFields);
  for (NamedAttribute attr : parsed.fields) {
    const auto *field = llvm::find_if(range, [&](const FieldInfo &field) {
      return StringRef(field.name) == attr.getName().getValue();
    });
    if (field == range.end())
      return parser.emitError(parsed.loc)
             << StringRef(info.name) << " has no field '"
             << attr.getName().getValue() << "'";
    bool isReal = field->format == 'd';
    if (!isa<IntegerAttr>(attr.getValue()) &&
        !(isReal && isa<FloatAttr>(attr.getValue())))
      return parser.emitError(parsed.loc)
             << StringRef(info.name) << ": " << attr.getName().getValue()
             << " is " << attr.getValue() << ", expected a "
             << (isReal ? "number" : "whole number");
  }
  for (auto [i, field] : llvm::enumerate(range)) {
    bool isGiven = parsed.fields.get(StringRef(field.name)) != nullptr;
    if (!isGiven && !field.hasDefault &&
        (operands.empty() ||
         !fieldDefault(parsed.kind, i, {operands.data(), operands.size()})))
      return parser.emitError(parsed.loc)
             << StringRef(info.name) << " needs a value for "
             << StringRef(field.name);
  }
  SmallVector<uint8_t> blob = encodeFields(
      parsed.kind, [&](StringRef name) { return parsed.fields.get(name); },
      operands);
  primitive.attrs.assign(blob.begin(), blob.end());
  return success();
}

/// `t0, t1 = primitive ... yield t0`: numbers follow from the names. A result
/// that the record calls optional is absent where it has no name.
class BodyParser {
public:
  BodyParser(AsmParser &parser, ParseOperand parseOperand)
      : parser(parser), parseOperand(parseOperand) {}

  ParseResult parse() {
    while (failed(parser.parseOptionalKeyword("yield"))) {
      SmallVector<StringRef> results;
      ParsedStep primitive;
      auto parseName = [&]() {
        return parser.parseKeyword(&results.emplace_back());
      };
      if (parser.parseCommaSeparatedList(parseName) || parser.parseEqual() ||
          parsePrimitive(parser, primitive,
                         [&](int32_t &value) { return parseValue(value); }))
        return failure();
      // Numbered from -2 down until the number of operands is known.
      for (StringRef result : results)
        if (!numbers.try_emplace(result, nextMade()).second)
          return parser.emitError(primitive.loc)
                 << "'" << result << "' is the name of two results";
      const OpInfo &info = infoOf(primitive.kind);
      if (results.size() > info.numResults)
        return parser.emitError(primitive.loc)
               << StringRef(info.name) << " has " << info.numResults
               << " results, got " << results.size() << " names";
      for (size_t i = results.size(); i < info.numResults; ++i)
        (void)nextMade();
      primitives.push_back(std::move(primitive));
    }
    return parser.parseCommaSeparatedList([&]() {
      int32_t value;
      if (parseValue(value))
        return failure();
      yielded.push_back(value);
      return success();
    });
  }

  /// Gives values their numbers.
  ParseResult finish(uint32_t numOperands, Body &body) {
    auto number = [&](int32_t value) {
      return value <= -2 ? int32_t(numOperands) - 2 - value : value;
    };
    body.numOperands = numOperands;
    for (const ParsedStep &parsed : primitives) {
      Primitive primitive;
      if (placeOperands(parser, parsed, primitive) ||
          encodeParsedFields(parser, parsed, {}, primitive))
        return failure();
      for (int32_t &operand : primitive.operands)
        operand = number(operand);
      body.primitives.push_back(std::move(primitive));
    }
    for (int32_t value : yielded)
      body.results.push_back(uint32_t(number(value)));
    return success();
  }

private:
  int32_t nextMade() { return -2 - int32_t(numMade++); }
  ParseResult parseValue(int32_t &value) {
    for (auto &[name, number] : numbers)
      if (succeeded(parser.parseOptionalKeyword(name))) {
        value = number;
        return success();
      }
    return parseOperand(value);
  }

  AsmParser &parser;
  ParseOperand parseOperand;
  std::vector<ParsedStep> primitives;
  llvm::StringMap<int32_t> numbers;
  uint32_t numMade = 0;
  SmallVector<int32_t> yielded;
};
} // namespace

Attribute BodyAttr::parse(AsmParser &parser, Type) {
  uint32_t numOperands = 0;
  Body body;
  SMLoc loc = parser.getCurrentLocation();
  auto parseOperand = [&](int32_t &value) -> ParseResult {
    StringRef word;
    SMLoc at = parser.getCurrentLocation();
    if (parser.parseKeyword(&word))
      return failure();
    uint32_t number;
    if (!word.consume_front("i") || word.getAsInteger(10, number) ||
        number >= numOperands)
      return parser.emitError(at) << "expected a value made before, or i0 to i"
                                  << int64_t(numOperands) - 1;
    value = int32_t(number);
    return success();
  };
  BodyParser primitives(parser, parseOperand);
  if (parser.parseLess() || parser.parseInteger(numOperands) ||
      parser.parseLBrace() || primitives.parse() || parser.parseRBrace() ||
      parser.parseGreater() || primitives.finish(numOperands, body))
    return {};
  return BodyAttr::getChecked([&] { return parser.emitError(loc); },
                              parser.getContext(), body);
}

Attribute LaunchAttr::parse(AsmParser &parser, Type) {
  StringAttr kernel;
  int64_t workspace = 0, stream = 0;
  SmallVector<int64_t> waits, signals;
  auto parseNumbers = [&](SmallVectorImpl<int64_t> &numbers) {
    return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&]() {
      return parser.parseInteger(numbers.emplace_back());
    });
  };
  auto parseField = [&]() -> ParseResult {
    StringRef name;
    SMLoc at = parser.getCurrentLocation();
    if (parser.parseKeyword(&name) || parser.parseEqual())
      return failure();
    if (name == "kernel")
      return parser.parseAttribute(kernel);
    if (name == "workspace")
      return parser.parseInteger(workspace);
    if (name == "stream")
      return parser.parseInteger(stream);
    if (name == "waits")
      return parseNumbers(waits);
    if (name == "signals")
      return parseNumbers(signals);
    return parser.emitError(at)
           << "a launch has no '" << name
           << "', expected kernel, workspace, stream, waits or signals";
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater,
                                     parseField))
    return {};
  return LaunchAttr::get(parser.getContext(), kernel, workspace, stream, waits,
                         signals);
}

/// `name [1, 2]` if `name` comes next.
static ParseResult parseOptionalList(OpAsmParser &parser, StringRef name,
                                     SmallVectorImpl<int64_t> &numbers) {
  if (failed(parser.parseOptionalKeyword(name)))
    return success();
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&]() {
    return parser.parseInteger(numbers.emplace_back());
  });
}

/// A body of one primitive from how it is written and the call's types.
static ParseResult makeOne(OpAsmParser &parser, const ParsedStep &parsed,
                           TypeRange ins, size_t numResults, Body &body) {
  Primitive primitive;
  if (placeOperands(parser, parsed, primitive))
    return failure();
  // As they are written; then in the order of slots.
  SmallVector<TensorDesc> descs;
  for (int32_t value : primitive.operands) {
    Type type = value == kAbsentValue ? Type() : ins[value];
    auto tensor = dyn_cast_or_null<RankedTensorType>(type);
    bool isKnown = isa_and_nonnull<ValueType>(type) ||
                   (tensor && toDType(tensor.getElementType()));
    descs.push_back(isKnown ? toTensorDesc(type) : TensorDesc::absent());
  }
  if (encodeParsedFields(parser, parsed, descs, primitive))
    return failure();
  body.numOperands = uint32_t(ins.size());
  for (uint32_t i = 0; i < numResults; ++i)
    body.results.push_back(body.numOperands + i);
  body.primitives.push_back(std::move(primitive));
  return success();
}

namespace {
/// Operands of a call in the order of their first use.
struct ParsedOperands {
  SmallVector<OpAsmParser::UnresolvedOperand> all;
  llvm::StringMap<int32_t> numberOf;

  ParseResult parse(OpAsmParser &parser, bool isShared, int32_t &value) {
    OpAsmParser::UnresolvedOperand operand;
    if (parser.parseOperand(operand))
      return failure();
    value = int32_t(all.size());
    std::string name = (operand.name + "#" + Twine(operand.number)).str();
    auto [it, isFresh] = numberOf.try_emplace(name, value);
    if (isShared && !isFresh)
      value = it->second;
    else
      all.push_back(operand);
    return success();
  }
};
} // namespace

ParseResult CallOp::parse(OpAsmParser &parser, OperationState &state) {
  ParsedOperands operands;
  bool isMany = succeeded(parser.parseOptionalLBrace());
  auto parseOperand = [&](int32_t &value) {
    return operands.parse(parser, isMany, value);
  };
  ParsedStep one;
  BodyParser many(parser, parseOperand);
  if (isMany && (many.parse() || parser.parseRBrace()))
    return failure();
  if (!isMany && parsePrimitive(parser, one, parseOperand))
    return failure();
  SMLoc loc = parser.getCurrentLocation();
  auto &properties = state.getOrAddProperties<Properties>();
  FunctionType type;
  SmallVector<OpAsmParser::UnresolvedOperand> dests, scratch;
  auto parseOperands = [&](StringRef name, auto &all) -> ParseResult {
    if (failed(parser.parseOptionalKeyword(name)))
      return success();
    return parser.parseOperandList(all, AsmParser::Delimiter::Paren);
  };
  if (parseOperands("outs", dests) || parseOperands("workspace", scratch) ||
      parseOptionalList(parser, "inplace", properties.inplace) ||
      parseOptionalList(parser, "in_vids", properties.in_vids) ||
      parseOptionalList(parser, "vids", properties.vids))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("protective")))
    properties.protective = parser.getBuilder().getUnitAttr();
  if (succeeded(parser.parseOptionalKeyword("launch"))) {
    properties.launch =
        dyn_cast_or_null<LaunchAttr>(LaunchAttr::parse(parser, {}));
    if (!properties.launch)
      return failure();
  }
  if (parser.parseOptionalAttrDictWithKeyword(state.attributes) ||
      parser.parseColonType(type) ||
      parser.resolveOperands(operands.all, type.getInputs(), loc,
                             state.operands))
    return failure();
  if (dests.empty())
    state.addTypes(type.getResults());
  else if (parser.resolveOperands(dests, type.getResults(), loc,
                                  state.operands))
    return failure();
  if (parser.resolveOperands(scratch, BufferType::get(parser.getContext()),
                             state.operands))
    return failure();
  properties.operandSegmentSizes = {int32_t(operands.all.size()),
                                    int32_t(dests.size()),
                                    int32_t(scratch.size())};
  Body body;
  if (isMany
          ? many.finish(uint32_t(operands.all.size()), body)
          : makeOne(parser, one, type.getInputs(), type.getNumResults(), body))
    return failure();
  properties.body = BodyAttr::getChecked([&] { return parser.emitError(loc); },
                                         parser.getContext(), body);
  return success(properties.body != nullptr);
}
