//===- AICFRT.cpp - the aicf_rt dialect -----------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// The dialect and the plan's checks; calls are in Call.cpp.
//===----------------------------------------------------------------------===//

#include "aicf/Dialect/AICFRT/AICFRT.h"
#include "lib/Dialect/AICFRT/AbiShape.h"
#include "lib/Ops/Patterns.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpImplementation.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace aicf;
using namespace aicf::rt;

#include "aicf/Dialect/AICFRT/AICFRTDialect.cpp.inc"

static RankedTensorType tensorOf(Type type) {
  if (auto value = dyn_cast<ValueType>(type))
    return value.getTensor();
  return cast<RankedTensorType>(type);
}

TensorDesc aicf::rt::toTensorDesc(Type type) {
  RankedTensorType tensor = tensorOf(type);
  TensorDesc desc = toDenseDesc(tensor);
  if (auto strided = dyn_cast_if_present<StridedAttr>(tensor.getEncoding()))
    return TensorDesc::strided(
        desc.dtype, desc.shape(),
        {strided.getStrides().data(), strided.getStrides().size()});
  desc.layout = layoutOf(tensor).value_or(aicf::Layout::Strided);
  return desc;
}

RankedTensorType aicf::rt::toTensorType(MLIRContext *context,
                                        const TensorDesc &desc) {
  RankedTensorType type = toDenseType(context, desc);
  if (desc.layout != aicf::Layout::Strided)
    return withLayout(type, desc.layout);
  Span<const int64_t> strides = desc.strides.all();
  return RankedTensorType::get(
      type.getShape(), type.getElementType(),
      StridedAttr::get(context, {strides.data(), strides.size()}));
}

std::optional<aicf::Layout> aicf::rt::layoutOf(RankedTensorType type) {
  Attribute encoding = type.getEncoding();
  if (!encoding)
    return aicf::Layout::Dense;
  if (isa<PaddedAttr>(encoding))
    return aicf::Layout::Padded;
  if (isa<StridedAttr>(encoding))
    return aicf::Layout::Strided;
  return std::nullopt;
}

RankedTensorType aicf::rt::withLayout(RankedTensorType type,
                                      aicf::Layout layout) {
  return RankedTensorType::get(type.getShape(), type.getElementType(),
                               layout == aicf::Layout::Padded
                                   ? PaddedAttr::get(type.getContext())
                                   : Attribute());
}

LogicalResult
PaddedAttr::verifyEncoding(ArrayRef<int64_t> shape, Type element,
                           function_ref<InFlightDiagnostic()> emitError) const {
  if (!element) // the parser has refused it, and asks all the same
    return failure();
  std::optional<DType> dtype = toDType(element);
  if (dtype && shape.size() <= kMaxRank) {
    TensorDesc desc(*dtype, {shape.data(), shape.size()});
    desc.layout = aicf::Layout::Padded;
    if (isLegalLayout(desc))
      return success();
  }
  return emitError()
         << "a tensor of rank " << shape.size() << " of " << element
         << " cannot be padded: only 16-bit elements of rank 1 or 2";
}

/// Equal views have equal types: see TensorDesc::strided().
LogicalResult StridedAttr::verifyEncoding(
    ArrayRef<int64_t> shape, Type element,
    function_ref<InFlightDiagnostic()> emitError) const {
  if (!element) // as above
    return failure();
  ArrayRef<int64_t> strides = getStrides();
  bool fits = strides.size() == shape.size() && shape.size() <= kMaxRank &&
              llvm::none_of(strides, [](int64_t s) { return s < 0; });
  if (fits) {
    TensorDesc desc = TensorDesc::strided(toDType(element).value_or(DType::F32),
                                          {shape.data(), shape.size()},
                                          {strides.data(), strides.size()});
    fits = llvm::equal(desc.strides.all(), strides) && !desc.isDense();
  }
  if (fits)
    return success();
  return emitError()
         << "strides [" << strides << "] of shape [" << shape
         << "] are not those of a view: expected one for each dimension, "
            "none negative, 0 for a dimension of 1, and not those of a dense "
            "tensor";
}

/// Shapes the ABI cannot hold are refused before they become a TensorDesc.
LogicalResult aicf::rt::checkAbiShape(Operation *op, Type type) {
  RankedTensorType tensor = tensorOf(type);
  if (!layoutOf(tensor))
    return op->emitOpError()
           << type << " has an encoding that is not "
           << PaddedAttr::get(op->getContext()) << " or #aicf_rt.strided";
  if (tensor.getRank() > static_cast<int64_t>(kMaxRank))
    return op->emitOpError() << type << " has rank " << tensor.getRank()
                             << ", the limit is " << kMaxRank;
  for (int64_t d : tensor.getShape())
    if (d <= 0 || d > INT32_MAX)
      return op->emitOpError() << type << " has a dimension of " << d
                               << ", expected 1 to " << INT32_MAX;
  if (!checkedBytes(toTensorDesc(type)))
    return op->emitOpError() << type << " is larger than 64 TiB";
  return success();
}

/// The enumerator whose name comes next.
template <typename Enum>
static FailureOr<Enum> parseEnumName(AsmParser &parser, uint16_t count) {
  StringRef name;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&name))
    return failure();
  std::optional<Enum> value = parseEnum<Enum>(std::string_view(name), count);
  if (value)
    return *value;
  InFlightDiagnostic diag = parser.emitError(loc)
                            << "'" << name << "' is unknown, expected one of";
  for (uint16_t i = 0; i < count; ++i)
    diag << (i ? ", " : " ") << StringRef(nameOf(static_cast<Enum>(i)));
  return failure();
}

/// #aicf_rt.role<param>; `param` in an op that takes nothing else there.
#define AICF_ENUM_ASSEMBLY(ENUM)                                               \
  Attribute ENUM##Attr::parse(AsmParser &parser, Type) {                       \
    if (parser.parseLess())                                                    \
      return {};                                                               \
    auto value = parseEnumName<aicf::ENUM>(parser, kNum##ENUM##s);             \
    if (failed(value) || parser.parseGreater())                                \
      return {};                                                               \
    return ENUM##Attr::get(parser.getContext(), *value);                       \
  }                                                                            \
  void ENUM##Attr::print(AsmPrinter &p) const {                                \
    p << "<" << StringRef(nameOf(getValue())) << ">";                          \
  }                                                                            \
  static ParseResult parseEnumName(OpAsmParser &parser, ENUM##Attr &attr) {    \
    auto value = parseEnumName<aicf::ENUM>(parser, kNum##ENUM##s);             \
    if (failed(value))                                                         \
      return failure();                                                        \
    attr = ENUM##Attr::get(parser.getContext(), *value);                       \
    return success();                                                          \
  }                                                                            \
  static void printEnumName(OpAsmPrinter &p, Operation *, ENUM##Attr attr) {   \
    p << StringRef(nameOf(attr.getValue()));                                   \
  }
AICF_ENUM_ASSEMBLY(DeviceKind)
AICF_ENUM_ASSEMBLY(Role)
AICF_ENUM_ASSEMBLY(InitKind)
#undef AICF_ENUM_ASSEMBLY

#define GET_TYPEDEF_CLASSES
#include "aicf/Dialect/AICFRT/AICFRTTypes.cpp.inc"
#define GET_OP_CLASSES
#include "aicf/Dialect/AICFRT/AICFRTOps.cpp.inc"

//===----------------------------------------------------------------------===//
// Buffers and enums
//===----------------------------------------------------------------------===//

Type ValueType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type element;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseDimensionList(shape, false) ||
      parser.parseType(element))
    return {};
  Attribute layout;
  if (succeeded(parser.parseOptionalComma())) {
    if (succeeded(parser.parseOptionalKeyword("strided")))
      layout = StridedAttr::parse(parser, Type());
    else if (succeeded(parser.parseKeyword("padded")))
      layout = PaddedAttr::get(parser.getContext());
    if (!layout)
      return {};
  }
  if (parser.parseGreater())
    return {};
  auto tensor = RankedTensorType::getChecked(
      [&] { return parser.emitError(loc); }, shape, element, layout);
  if (!tensor)
    return {};
  if (!toDType(element)) {
    parser.emitError(loc) << "a value holds f16, bf16, f32, f64, i32 or i64, "
                             "not "
                          << element;
    return {};
  }
  return ValueType::get(parser.getContext(), tensor);
}

void ValueType::print(AsmPrinter &p) const {
  p << "<";
  for (int64_t d : getTensor().getShape())
    p << d << "x";
  p << getTensor().getElementType();
  if (Attribute layout = getTensor().getEncoding()) {
    p << (isa<PaddedAttr>(layout) ? ", padded" : ", strided");
    if (auto strided = dyn_cast<StridedAttr>(layout))
      strided.print(p);
  }
  p << ">";
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

/// The base is not padded and no view itself, and the view lies in it.
LogicalResult ViewOp::verify() {
  if (failed(checkAbiShape(*this, getBase().getType())) ||
      failed(checkAbiShape(*this, getView().getType())))
    return failure();
  if (getBase().getDefiningOp<ViewOp>())
    return emitOpError() << "is a view of a view, expected a view of the base";
  TensorDesc base = toTensorDesc(getBase().getType());
  TensorDesc view = toTensorDesc(getView().getType());
  if (base.layout == aicf::Layout::Padded ||
      view.layout == aicf::Layout::Padded)
    return emitOpError() << "views " << getBase().getType() << " as "
                         << getView().getType()
                         << ", expected a base and a view that are dense or "
                            "strided";
  if (base.dtype != view.dtype)
    return emitOpError() << "views " << getBase().getType() << " as "
                         << getView().getType()
                         << ", expected the same element type";
  auto span = [](const TensorDesc &desc) {
    return int64_t(desc.spanBytes() / sizeOf(desc.dtype));
  };
  int64_t last = getOffset() + span(view);
  if (getOffset() < 0 || last > span(base))
    return emitOpError() << "covers the elements [" << getOffset() << ", "
                         << last << ") of " << getBase().getType()
                         << ", expected a range in [0, " << span(base) << ")";
  return success();
}

//===----------------------------------------------------------------------===//
// The plan
//===----------------------------------------------------------------------===//

static LogicalResult checkEntry(EntryOp entry) {
  Block &body = entry.getBody().front();
  for (Operation &op : body) // nothing makes a tensor
    if (!isa<GetOp, AllocOp, ValueOp, CallOp, RepeatOp>(op))
      return op.emitOpError() << "is not legal in aicf_rt.entry";
  auto calls = body.getOps<CallOp>();
  if (!calls.empty() && !body.getOps<RepeatOp>().empty())
    return (*calls.begin()).emitOpError()
           << "stands beside aicf_rt.repeat: all calls of an entry stand in "
              "parts, or none";
  return success();
}

LogicalResult RepeatOp::verify() {
  Block &body = getBody().front();
  for (Operation &op : body)
    if (!isa<CallOp>(op))
      return op.emitOpError() << "is not legal in aicf_rt.repeat";
  if (body.empty())
    return emitOpError() << "has no calls";
  if (int64_t(getTimes()) < 1 || int64_t(getTimes()) > INT32_MAX)
    return emitOpError() << "runs " << int64_t(getTimes())
                         << " times, expected 1 to " << INT32_MAX;
  return success();
}

LogicalResult PlanOp::verifyRegions() {
  llvm::StringSet<> names; // of entries: they are not symbols
  llvm::StringSet<> globals;
  for (auto global : getBody().front().getOps<GlobalOp>())
    globals.insert(global.getSymName());
  for (Operation &op : getBody().front()) {
    if (!isa<GlobalOp, EntryOp>(op))
      return op.emitOpError() << "is not legal in aicf_rt.plan";
    auto entry = dyn_cast<EntryOp>(op);
    if (entry && !names.insert(entry.getName()).second)
      return entry.emitOpError()
             << "is called @" << entry.getName() << ", as another entry";
    if (entry && failed(checkEntry(entry)))
      return failure();
    auto global = dyn_cast<GlobalOp>(op);
    auto source = global ? global.getDerivedFromAttr() : FlatSymbolRefAttr();
    if (source && !globals.contains(source.getValue()))
      return global.emitOpError()
             << "is derived from " << source << ", which is not in the plan";
  }
  return success();
}

LogicalResult GlobalOp::verify() {
  aicf::Role role = getRole().getValue();
  if (segmentOf(role) != Segment::Persistent)
    return emitOpError() << "has role " << StringRef(nameOf(role))
                         << ", expected param, state, hyper or constant";
  if (failed(checkAbiShape(*this, getType())))
    return failure();
  if (!getDataAttr())
    return success();
  auto data = dyn_cast<DenseElementsAttr>(getDataAttr());
  RankedTensorType type = toDenseType(getContext(), toTensorDesc(getType()));
  if (data && data.getType() == type)
    return success();
  return emitOpError() << "has data of " << getDataAttr().getType()
                       << ", expected dense elements of " << type;
}

LogicalResult AllocOp::verify() {
  aicf::Role role = getRole().getValue();
  if (segmentOf(role) == Segment::Persistent)
    return emitOpError() << "has role " << StringRef(nameOf(role))
                         << ": persistent buffers are aicf_rt.global";
  // Passes add sizes up: their sums must fit into 64 bits.
  if (int64_t(getBytes()) <= 0 || uint64_t(getBytes()) > kMaxTensorBytes)
    return emitOpError() << "has " << int64_t(getBytes())
                         << " bytes, expected 1 or more, up to 64 TiB";
  return success();
}

LogicalResult ValueOp::verify() {
  if (int64_t(getByteOffset()) < 0)
    return emitOpError() << "lies at byte " << int64_t(getByteOffset())
                         << ", expected 0 or more";
  return checkAbiShape(*this, getValue().getType());
}

/// What a buffer is called; empty for most temps.
static StringRef nameOfBuffer(Operation *maker) {
  if (auto get = dyn_cast_or_null<GetOp>(maker))
    return get.getName();
  auto alloc = dyn_cast_or_null<AllocOp>(maker);
  if (!alloc)
    return {};
  return alloc.getName().value_or(
      StringRef(nameOf(alloc.getRole().getValue())));
}

void GetOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getBuffer(), (nameOfBuffer(*this) + "_buffer").str());
}

void AllocOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getBuffer(), (nameOfBuffer(*this) + "_buffer").str());
}

void ValueOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getValue(), nameOfBuffer(getBuffer().getDefiningOp()));
}

LogicalResult GetOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (symbols.lookupNearestSymbolFrom<GlobalOp>(
          (*this)->getParentOp()->getParentOp(), getNameAttr()))
    return success();
  return emitOpError() << "names " << getNameAttr()
                       << ", which is not an aicf_rt.global of the plan";
}

void AICFRTDialect::initialize() {
  registerAttributes();
  addTypes<
#define GET_TYPEDEF_LIST
#include "aicf/Dialect/AICFRT/AICFRTTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "aicf/Dialect/AICFRT/AICFRTOps.cpp.inc"
      >();
}
