//===- Trace.cpp - aicf IR, built op by op and compiled -------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "python/src/Trace.h"
#include "aicf/Compiler.h"

#include "mlir-c/IR.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"
#include "mlir/IR/Remarks.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include <mutex>

using namespace mlir;

namespace aicf::python {
namespace {

SourceLine sourceLineOf(Location location) {
  SourceLine where;
  location->walk([&](Location inner) {
    auto line = dyn_cast<FileLineColLoc>(inner);
    if (!line)
      return WalkResult::advance();
    where = {line.getFilename().str(), line.getLine()};
    return WalkResult::interrupt();
  });
  return where;
}

Diagnostic readDiagnostic(const mlir::Diagnostic &from) {
  Diagnostic diagnostic;
  switch (from.getSeverity()) {
  case DiagnosticSeverity::Error:
    diagnostic.severity = "error";
    break;
  case DiagnosticSeverity::Warning:
    diagnostic.severity = "warning";
    break;
  case DiagnosticSeverity::Remark:
    diagnostic.severity = "remark";
    break;
  case DiagnosticSeverity::Note:
    diagnostic.severity = "note";
    break;
  }
  llvm::raw_string_ostream(diagnostic.message) << from;
  diagnostic.where = sourceLineOf(from.getLocation());
  for (const mlir::Diagnostic &note : from.getNotes())
    diagnostic.notes.push_back(readDiagnostic(note));
  return diagnostic;
}

/// Diagnostics of this thread go into a list while it lives.
class Collector : public ScopedDiagnosticHandler {
public:
  Collector(MLIRContext *context, Diagnostics &into)
      : ScopedDiagnosticHandler(context, [&into](mlir::Diagnostic &diagnostic) {
          into.push_back(readDiagnostic(diagnostic));
          return success();
        }) {}
};

Type elementTypeOf(MLIRContext *context, StringRef name) {
  return llvm::StringSwitch<Type>(name)
      .Case("f16", Float16Type::get(context))
      .Case("bf16", BFloat16Type::get(context))
      .Case("f32", Float32Type::get(context))
      .Case("f64", Float64Type::get(context))
      .Case("i32", IntegerType::get(context, 32))
      .Case("i64", IntegerType::get(context, 64))
      .Case("i1", IntegerType::get(context, 1))
      .Default(Type());
}

std::string nameOfType(Type type) {
  std::string name;
  llvm::raw_string_ostream(name) << type;
  return name;
}

/// A context without threads (they would cost more to start than they gain),
/// which one thread at a time may use.
struct SharedContext {
  SharedContext() : context(makeRegistry(), MLIRContext::Threading::DISABLED) {
    context.loadAllAvailableDialects();
    context.printOpOnDiagnostic(false);
  }
  static DialectRegistry makeRegistry() {
    DialectRegistry registry;
    registerAllDialects(registry);
    return registry;
  }
  MLIRContext context;
  std::recursive_mutex mutex;
};

} // namespace

struct TracedModule::Impl {
  explicit Impl(std::shared_ptr<SharedContext> made)
      : shared(std::move(made)), context(&shared->context) {}

  Location locationOf(const SourceLine &where) {
    if (where.file.empty())
      return UnknownLoc::get(context);
    Location line = FileLineColLoc::get(context, where.file, where.line, 0);
    if (where.layer.empty())
      return line;
    return NameLoc::get(StringAttr::get(context, where.layer), line);
  }
  /// Null, with a diagnostic, for a name that is not an element type.
  Type parseDType(const std::string &name, Location location) {
    Type type = elementTypeOf(context, name);
    if (!type)
      emitError(location) << "\"" << name
                          << "\" is not an element type, expected f16, bf16, "
                             "f32, f64, i32, i64 or i1";
    return type;
  }
  Attribute convert(const AttributeValue &value, Location location);
  Attribute convert(const Elements &elements, Location location);
  std::optional<NamedAttrList> convertAll(const Attributes &attributes,
                                          Location location);
  bool addOperands(const std::vector<OperandSlot> &slots, Location location,
                   SmallVector<Value> &operands, SmallVector<int32_t> &sizes);
  TracedValue record(Value value) {
    values.push_back(value);
    auto type = cast<RankedTensorType>(value.getType());
    return {values.size() - 1, type.getShape().vec(),
            nameOfType(type.getElementType())};
  }

  /// Between begin and end of a function; else a diagnostic says so.
  bool checkOpen(Location location) {
    if (!function)
      emitError(location) << "no function is open";
    return bool(function);
  }

  /// Where ops are added: the function, the repeat, or the map.
  Block &block() {
    return map.body ? *map.body
           : repeat ? repeat.getBody().front()
                    : function->front();
  }
  /// The body of a repeat reads what is made in front of it.
  bool isKnown(Value value) {
    Block *of = value.getParentBlock();
    return of == &block() ||
           (!map.body && repeat && of == &function->front());
  }

  /// Shared with copies that were lowered.
  std::shared_ptr<SharedContext> shared;
  MLIRContext *context;
  OwningOpRef<ModuleOp> module;
  OwningOpRef<func::FuncOp> function; ///< between begin and end
  std::vector<Value> values;
  SmallVector<DictionaryAttr> argumentAttributes;
  /// What is computed for each element, as ops on 0-d tensors.
  struct {
    std::unique_ptr<Block> body; ///< null outside of a map
    SmallVector<Value> operands;
    std::optional<Location> location;
  } map;
  std::vector<std::unique_ptr<Block>> finishedMaps; ///< of the function
  step::RepeatOp repeat; ///< whose body is made now; null outside

  /// Says that an op of the function belongs to `recomputed`.
  void mark(Operation *op) {
    if (!recomputed.empty() && !map.body)
      op->setAttr(step::kRecomputeAttr, StringAttr::get(context, recomputed));
  }
  std::string recomputed; ///< a block, or ""
};

TracedModule::TracedModule()
    : impl(std::make_unique<Impl>(std::make_shared<SharedContext>())) {
  impl->module = ModuleOp::create(UnknownLoc::get(impl->context));
}
TracedModule::TracedModule(const Impl &from)
    : impl(std::make_unique<Impl>(from.shared)) {
  impl->module = from.module.get().clone();
}
TracedModule::~TracedModule() {
  abandonFunction();
  std::lock_guard<std::recursive_mutex> lock(impl->shared->mutex);
  impl->module = {};
}

std::unique_ptr<TracedModule> TracedModule::parse(const std::string &text,
                                                  const std::string &fileName,
                                                  Diagnostics &diagnostics) {
  auto parsed = std::make_unique<TracedModule>();
  MLIRContext *context = parsed->impl->context;
  Collector collector(context, diagnostics);
  ParserConfig config(context);
  parsed->impl->module =
      parseSourceString<ModuleOp>(text, config, /*sourceName=*/fileName);
  return parsed->impl->module ? std::move(parsed) : nullptr;
}

Attribute TracedModule::Impl::convert(const Elements &elements,
                                      Location location) {
  Type element = parseDType(elements.dtype.name, location);
  if (!element)
    return {};
  auto type = RankedTensorType::get(elements.shape, element);
  std::vector<uint8_t> bytes(elements.bytes.begin(), elements.bytes.end());
  size_t size = sizeOf(*toDType(element));
  if (bytes.size() == size) {
    auto one = RankedTensorType::get({}, element);
    return elementsOf(one, bytes).resizeSplat(type);
  }
  if (bytes.size() == uint64_t(type.getNumElements()) * size)
    return elementsOf(type, bytes);
  emitError(location) << "the elements have " << bytes.size()
                      << " bytes, expected "
                      << uint64_t(type.getNumElements()) * size << " for "
                      << type;
  return {};
}

Attribute TracedModule::Impl::convert(const AttributeValue &value,
                                      Location location) {
  Builder builder(context);
  if (auto *flag = std::get_if<bool>(&value))
    return builder.getBoolAttr(*flag);
  if (auto *number = std::get_if<int64_t>(&value))
    return builder.getI64IntegerAttr(*number);
  if (auto *number = std::get_if<double>(&value))
    return builder.getF64FloatAttr(*number);
  if (auto *text = std::get_if<std::string>(&value))
    return builder.getStringAttr(*text);
  if (auto *list = std::get_if<std::vector<int64_t>>(&value))
    return builder.getDenseI64ArrayAttr(*list);
  if (auto *dtype = std::get_if<DTypeName>(&value)) {
    Type type = parseDType(dtype->name, location);
    return type ? TypeAttr::get(type) : Attribute();
  }
  if (auto *elements = std::get_if<Elements>(&value))
    return convert(*elements, location);
  const std::string &text = std::get<AttributeText>(value).text;
  Attribute parsed = parseAttribute(text, context);
  if (!parsed) // what the parser says has no line of the user's
    emitError(location) << "in attribute '" << text << "'";
  return parsed;
}

std::optional<NamedAttrList>
TracedModule::Impl::convertAll(const Attributes &attributes,
                               Location location) {
  NamedAttrList list;
  for (const auto &[name, value] : attributes) {
    Attribute attribute = convert(value, location);
    if (!attribute)
      return std::nullopt;
    list.set(name, attribute);
  }
  return list;
}

bool TracedModule::Impl::addOperands(const std::vector<OperandSlot> &slots,
                                     Location location,
                                     SmallVector<Value> &operands,
                                     SmallVector<int32_t> &sizes) {
  auto add = [&](size_t id) {
    if (id >= values.size()) {
      emitError(location) << "there is no value " << id;
      return false;
    }
    if (!isKnown(values[id])) {
      emitError(location) << (map.body
                                  ? "a map computes from elements of its "
                                    "operands: pass it this tensor, too"
                          : isa_and_present<step::RepeatOp>(
                                values[id].getParentBlock()->getParentOp())
                              ? "a value from inside of a loop is known there "
                                "only"
                              : "an element of a map is known in the map's "
                                "function only");
      return false;
    }
    operands.push_back(values[id]);
    return true;
  };
  for (const OperandSlot &slot : slots) {
    size_t before = operands.size();
    if (auto *id = std::get_if<size_t>(&slot)) {
      if (!add(*id))
        return false;
    } else if (auto *list = std::get_if<std::vector<size_t>>(&slot)) {
      for (size_t each : *list)
        if (!add(each))
          return false;
    }
    sizes.push_back(int32_t(operands.size() - before));
  }
  return true;
}

bool TracedModule::beginFunction(const std::string &name,
                                 const SourceLine &where,
                                 Diagnostics &diagnostics) {
  std::lock_guard<std::recursive_mutex> lock(impl->shared->mutex);
  Collector collector(impl->context, diagnostics);
  Location location = impl->locationOf(where);
  if (impl->function) {
    emitError(location) << "function \"" << impl->function->getName().str()
                        << "\" is not finished";
    return false;
  }
  if (impl->module->lookupSymbol(name)) {
    emitError(location) << "there is an entry \"" << name
                        << "\" already: give this one another name with name=...";
    return false;
  }
  Builder builder(impl->context);
  impl->function =
      func::FuncOp::create(location, name, builder.getFunctionType({}, {}));
  impl->function->addEntryBlock();
  return true;
}

std::optional<TracedValue>
TracedModule::addArgument(const std::vector<int64_t> &shape,
                          const std::string &dtype,
                          const Attributes &attributes, const SourceLine &where,
                          Diagnostics &diagnostics) {
  std::lock_guard<std::recursive_mutex> lock(impl->shared->mutex);
  Collector collector(impl->context, diagnostics);
  Location location = impl->locationOf(where);
  Type element = impl->parseDType(dtype, location);
  if (!element || !impl->checkOpen(location))
    return std::nullopt;
  for (int64_t dim : shape)
    if (dim < 1) {
      emitError(location) << "a dimension is " << dim << ", expected 1 or more";
      return std::nullopt;
    }
  auto converted = impl->convertAll(attributes, location);
  if (!converted)
    return std::nullopt;
  impl->argumentAttributes.push_back(converted->getDictionary(impl->context));
  return impl->record(impl->function->front().addArgument(
      RankedTensorType::get(shape, element), location));
}

std::optional<std::vector<TracedValue>>
TracedModule::emit(const std::string &op,
                   const std::vector<OperandSlot> &operands,
                   const Attributes &attributes, const SourceLine &where,
                   Diagnostics &diagnostics) {
  std::lock_guard<std::recursive_mutex> lock(impl->shared->mutex);
  Collector collector(impl->context, diagnostics);
  Location location = impl->locationOf(where);
  auto name = RegisteredOperationName::lookup(op, impl->context);
  if (!name) {
    emitError(location) << "there is no op \"" << op << "\"";
    return std::nullopt;
  }
  if (!impl->checkOpen(location))
    return std::nullopt;
  SmallVector<Value> values;
  SmallVector<int32_t> sizes;
  auto converted = impl->convertAll(attributes, location);
  if (!converted || !impl->addOperands(operands, location, values, sizes))
    return std::nullopt;
  if (name->hasTrait<OpTrait::AttrSizedOperandSegments>())
    converted->set(
        OpTrait::AttrSizedOperandSegments<void>::getOperandSegmentSizeAttr(),
        DenseI32ArrayAttr::get(impl->context, sizes));

  // The C API's way to an op whose result types are inferred.
  MlirOperationState state =
      mlirOperationStateGet(wrap(StringRef(op)), wrap(location));
  SmallVector<MlirValue> ins =
      llvm::map_to_vector(values, [](Value value) { return wrap(value); });
  mlirOperationStateAddOperands(&state, intptr_t(ins.size()), ins.data());
  SmallVector<MlirNamedAttribute> named;
  for (NamedAttribute attribute : *converted)
    named.push_back(mlirNamedAttributeGet(wrap(attribute.getName()),
                                          wrap(attribute.getValue())));
  mlirOperationStateAddAttributes(&state, intptr_t(named.size()), named.data());
  mlirOperationStateEnableResultTypeInference(&state);
  Operation *made = unwrap(mlirOperationCreate(&state));
  if (!made)
    return std::nullopt;
  impl->block().push_back(made);
  if (failed(verify(made))) {
    made->erase();
    return std::nullopt;
  }
  impl->mark(made);
  std::vector<TracedValue> results;
  for (Value result : made->getResults())
    results.push_back(impl->record(result));
  return results;
}

std::optional<std::vector<TracedValue>>
TracedModule::beginMap(const std::vector<size_t> &operands,
                       const SourceLine &where, Diagnostics &diagnostics) {
  std::lock_guard<std::recursive_mutex> lock(impl->shared->mutex);
  Collector collector(impl->context, diagnostics);
  Location location = impl->locationOf(where);
  SmallVector<Value> values;
  SmallVector<int32_t> sizes;
  if (!impl->checkOpen(location))
    return std::nullopt;
  if (impl->map.body) {
    emitError(location) << "a map inside a map is not possible";
    return std::nullopt;
  }
  std::vector<OperandSlot> slots(operands.begin(), operands.end());
  if (!impl->addOperands(slots, location, values, sizes))
    return std::nullopt;
  impl->map.body = std::make_unique<Block>();
  impl->map.operands = values;
  impl->map.location = location;
  std::vector<TracedValue> elements;
  for (Value value : values)
    elements.push_back(impl->record(impl->map.body->addArgument(
        RankedTensorType::get({}, getElementTypeOrSelf(value)), location)));
  return elements;
}

std::optional<TracedValue> TracedModule::endMap(size_t element,
                                                Diagnostics &diagnostics) {
  std::lock_guard<std::recursive_mutex> lock(impl->shared->mutex);
  Collector collector(impl->context, diagnostics);
  SmallVector<Value> values;
  SmallVector<int32_t> sizes;
  if (!impl->map.body) {
    emitError(UnknownLoc::get(impl->context)) << "no map is open";
    return std::nullopt;
  }
  if (!impl->addOperands({element}, *impl->map.location, values, sizes))
    return std::nullopt;
  std::unique_ptr<Block> body = std::move(impl->map.body);
  OpBuilder builder = OpBuilder::atBlockEnd(&impl->block());
  FailureOr<Value> result = step::buildMap(builder, *impl->map.location,
                                           impl->map.operands, *body, values[0]);
  impl->finishedMaps.push_back(std::move(body));
  if (failed(result))
    return std::nullopt;
  impl->mark(result->getDefiningOp());
  return impl->record(*result);
}

std::optional<std::vector<TracedValue>>
TracedModule::beginRepeat(int64_t times, const std::vector<size_t> &inits,
                          const SourceLine &where, Diagnostics &diagnostics) {
  std::lock_guard<std::recursive_mutex> lock(impl->shared->mutex);
  Collector collector(impl->context, diagnostics);
  Location location = impl->locationOf(where);
  SmallVector<Value> values;
  SmallVector<int32_t> sizes;
  if (!impl->checkOpen(location))
    return std::nullopt;
  if (impl->map.body || impl->repeat) {
    emitError(location) << "a loop inside of a map or of another loop is not "
                           "possible";
    return std::nullopt;
  }
  std::vector<OperandSlot> slots(inits.begin(), inits.end());
  if (!impl->addOperands(slots, location, values, sizes))
    return std::nullopt;
  OpBuilder builder = OpBuilder::atBlockEnd(&impl->block());
  impl->repeat = step::RepeatOp::create(
      builder, location, ValueRange(values).getTypes(), times, values);
  SmallVector<Type> types{RankedTensorType::get({}, builder.getI64Type())};
  llvm::append_range(types, ValueRange(values).getTypes());
  Block *body = builder.createBlock(&impl->repeat.getBody());
  std::vector<TracedValue> arguments;
  for (Type type : types)
    arguments.push_back(impl->record(body->addArgument(type, location)));
  return arguments;
}

std::optional<std::vector<TracedValue>>
TracedModule::endRepeat(const std::vector<size_t> &next,
                        Diagnostics &diagnostics) {
  std::lock_guard<std::recursive_mutex> lock(impl->shared->mutex);
  Collector collector(impl->context, diagnostics);
  SmallVector<Value> values;
  SmallVector<int32_t> sizes;
  step::RepeatOp repeat = impl->repeat;
  if (!repeat || impl->map.body) {
    emitError(UnknownLoc::get(impl->context))
        << (repeat ? "a map is open" : "no loop is open");
    return std::nullopt;
  }
  std::vector<OperandSlot> slots(next.begin(), next.end());
  if (!impl->addOperands(slots, repeat.getLoc(), values, sizes))
    return std::nullopt;
  OpBuilder builder = OpBuilder::atBlockEnd(&impl->block());
  step::NextOp::create(builder, repeat.getLoc(), values);
  impl->repeat = {};
  if (failed(verify(repeat)))
    return std::nullopt;
  std::vector<TracedValue> results;
  for (Value result : repeat.getResults())
    results.push_back(impl->record(result));
  return results;
}

void TracedModule::abandonRepeat() {
  std::lock_guard<std::recursive_mutex> lock(impl->shared->mutex);
  impl->repeat = {}; // the whole function will go
}

void TracedModule::setRecomputed(const std::string &block) {
  std::lock_guard<std::recursive_mutex> lock(impl->shared->mutex);
  impl->recomputed = block;
}

void TracedModule::abandonMap() {
  std::lock_guard<std::recursive_mutex> lock(impl->shared->mutex);
  impl->finishedMaps.push_back(std::move(impl->map.body)); // null where none is
}

bool TracedModule::endFunction(const std::vector<TracedResult> &results,
                               const Attributes &attributes,
                               Diagnostics &diagnostics) {
  std::lock_guard<std::recursive_mutex> lock(impl->shared->mutex);
  Collector collector(impl->context, diagnostics);
  if (!impl->checkOpen(UnknownLoc::get(impl->context)))
    return false;
  func::FuncOp function = *impl->function;
  Location location = function.getLoc();
  if (impl->map.body || impl->repeat) {
    emitError(location) << (impl->map.body ? "a map is open"
                                           : "a loop is open");
    return false;
  }
  OpBuilder builder = OpBuilder::atBlockEnd(&function.front());
  SmallVector<Value> returned;
  SmallVector<DictionaryAttr> resultAttributes;
  for (const TracedResult &result : results) {
    auto converted = impl->convertAll(result.attributes, location);
    if (!converted)
      return false;
    if (result.value >= impl->values.size()) {
      emitError(location) << "there is no value " << result.value;
      return false;
    }
    returned.push_back(impl->values[result.value]);
    if (!impl->isKnown(returned.back())) {
      emitError(location) << "value " << result.value
                          << " is known in a map or a loop only";
      return false;
    }
    resultAttributes.push_back(converted->getDictionary(impl->context));
  }
  auto converted = impl->convertAll(attributes, location);
  if (!converted)
    return false;
  func::ReturnOp::create(builder, location, returned);
  function.setFunctionType(
      builder.getFunctionType(function.front().getArgumentTypes(),
                              ValueRange(returned).getTypes()));
  function.setAllArgAttrs(impl->argumentAttributes);
  function.setAllResultAttrs(resultAttributes);
  for (NamedAttribute attribute : *converted)
    function->setAttr(attribute.getName(), attribute.getValue());
  if (failed(verify(function)))
    return false;
  impl->module->push_back(impl->function.release());
  abandonFunction();
  return true;
}

void TracedModule::abandonFunction() {
  std::lock_guard<std::recursive_mutex> lock(impl->shared->mutex);
  impl->function = {};
  impl->values.clear();
  impl->argumentAttributes.clear();
  impl->map.body = {};
  impl->repeat = {};
  impl->finishedMaps.clear();
}

bool TracedModule::eraseFunction(const std::string &name) {
  std::lock_guard<std::recursive_mutex> lock(impl->shared->mutex);
  auto function = impl->module->lookupSymbol<func::FuncOp>(name);
  if (function)
    function.erase();
  return bool(function);
}

std::string TracedModule::text(bool withLocations) const {
  std::lock_guard<std::recursive_mutex> lock(impl->shared->mutex);
  std::string text;
  llvm::raw_string_ostream os(text);
  OpPrintingFlags flags;
  if (withLocations)
    flags.enableDebugInfo(true, /*prettyForm=*/false);
  impl->module->getOperation()->print(os, flags);
  os << "\n";
  return text;
}

std::unique_ptr<TracedModule>
TracedModule::lower(const std::string &options, Stage stage, bool remarks,
                    const std::vector<std::string> &only,
                    Diagnostics &diagnostics) const {
  std::lock_guard<std::recursive_mutex> lock(impl->shared->mutex);
  auto lowered = std::unique_ptr<TracedModule>(new TracedModule(*impl));
  MLIRContext *context = impl->context;
  Collector collector(context, diagnostics);
  LowerToBackendOptions parsed;
  std::string why;
  llvm::raw_string_ostream os(why);
  if (failed(parsed.parseFromString(options, os))) {
    diagnostics.push_back(
        {"error", "options \"" + options + "\": " + why, {}, {}});
    return nullptr;
  }
  if (!only.empty())
    for (auto function : llvm::make_early_inc_range(
             lowered->impl->module->getOps<func::FuncOp>()))
      if (!llvm::is_contained(only, function.getSymName()))
        function.erase();
  if (stage == Stage::Traced)
    return lowered;
  if (remarks && failed(enableRemarks(*context)))
    return nullptr;
  PassManager pm(context);
  pm.enableVerifier(false); // each phase ends with a check of its own
  buildLowerToBackendPipeline(pm, parsed,
                              stage == Stage::AICF     ? LoweredTo::AICF
                              : stage == Stage::AICFRT ? LoweredTo::AICFRT
                                                       : LoweredTo::Plan);
  bool ok = succeeded(pm.run(*lowered->impl->module));
  context->setRemarkEngine(nullptr);
  return ok ? std::move(lowered) : nullptr;
}

std::optional<std::vector<uint8_t>>
TracedModule::plan(Diagnostics &diagnostics) const {
  std::lock_guard<std::recursive_mutex> lock(impl->shared->mutex);
  Collector collector(impl->context, diagnostics);
  FailureOr<Plan> plan = translateToPlan(*impl->module);
  if (failed(plan))
    return std::nullopt;
  return plan->serialize();
}

std::string TracedModule::dumpCalls(Diagnostics &diagnostics) const {
  std::lock_guard<std::recursive_mutex> lock(impl->shared->mutex);
  Collector collector(impl->context, diagnostics);
  FailureOr<std::string> text = aicf::dumpCalls(*impl->module);
  return succeeded(text) ? *text : std::string();
}

} // namespace aicf::python
