//===- Entry.cpp - the signature of an entry ------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/Dialect/Entry.h"
#include "aicf/Dialect/AICF/AICF.h"
#include "aicf/Dialect/AICFRT/AICFRT.h"

using namespace mlir;
using namespace aicf;
using namespace aicf::step;

static bool hasAicfAttr(ArrayAttr dictionaries) {
  if (!dictionaries)
    return false;
  for (Attribute dictionary : dictionaries)
    for (NamedAttribute attr : cast<DictionaryAttr>(dictionary))
      if (attr.getName().strref().starts_with("aicf."))
        return true;
  return false;
}

bool aicf::step::isEntry(func::FuncOp func) {
  if (!func.isPublic() || func.isDeclaration())
    return false; // MLIR itself refuses public declarations
  for (NamedAttribute attr : func->getDiscardableAttrs())
    if (attr.getName().strref().starts_with("aicf."))
      return true;
  return hasAicfAttr(func.getArgAttrsAttr()) ||
         hasAicfAttr(func.getResAttrsAttr());
}

LogicalResult aicf::step::checkOneBlock(func::FuncOp func) {
  if (llvm::hasSingleElement(func.getBody()) &&
      isa<func::ReturnOp>(func.front().back()))
    return success();
  return func.emitError() << "entry @" << func.getName()
                          << " must have one block that ends in func.return, "
                             "got "
                          << func.getBody().getBlocks().size() << " blocks";
}

bool aicf::step::isUpdate(Operation *op) {
  auto step = dyn_cast<StepOpInterface>(op);
  return step && (step.getPhase() == Phase::Update ||
                  step.getPhase() == Phase::Counter);
}

SmallVector<func::FuncOp> aicf::step::getEntries(ModuleOp module) {
  SmallVector<func::FuncOp> entries;
  for (auto func : module.getOps<func::FuncOp>())
    if (isEntry(func))
      entries.push_back(func);
  return entries;
}

LogicalResult aicf::step::checkTensorType(Operation *op, const Twine &what,
                                          Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || tensor.getEncoding() || !rt::toDType(tensor.getElementType()))
    return op->emitError() << what << " is " << type
                           << ", expected a ranked tensor of f16, bf16, f32, "
                              "f64, i32 or i64 without encoding";
  if (!tensor.hasStaticShape())
    return op->emitError()
           << what << " is " << type
           << " with a dynamic dimension; shapes are static: give every "
              "dimension a number, and compile one entry per batch size";
  if (llvm::is_contained(tensor.getShape(), 0))
    return op->emitError() << what << " is " << type
                           << " with a dimension of size 0, expected 1 or more";
  if (tensor.getRank() > static_cast<int64_t>(kMaxRank))
    return op->emitError() << what << " is " << type << " of rank "
                           << tensor.getRank() << ", the limit is " << kMaxRank;
  if (!checkedBytes(rt::toTensorDesc(type)))
    return op->emitError() << what << " is " << type
                           << ", above the limits of 2^31 a dimension or 64 "
                              "TiB";
  return success();
}

static StringRef getString(DictionaryAttr dictionary, StringRef name) {
  if (!dictionary)
    return {};
  auto text = dictionary.getAs<StringAttr>(name);
  return text ? text.getValue() : StringRef();
}

/// The dialect's verifier has checked the attribute.
static Initializer parseInit(Attribute attr, Role role) {
  using Kind = InitKind;
  if (!attr)
    return {role == Role::State ? Kind::Zeros : Kind::None, 0};
  if (auto value = dyn_cast<FloatAttr>(attr))
    return {Kind::Constant, value.getValueAsDouble()};
  if (auto value = dyn_cast<IntegerAttr>(attr))
    return {Kind::Constant, static_cast<double>(value.getInt())};
  StringRef text = cast<StringAttr>(attr).getValue();
  if (text == "zeros")
    return {Kind::Zeros, 0};
  if (text == "ones")
    return {Kind::Ones, 0};
  if (text == "uniform_fan_in")
    return {Kind::UniformFanIn, 0};
  double deviation = 1;
  if (text.consume_front("normal:"))
    (void)text.getAsDouble(deviation);
  return {Kind::Normal, deviation};
}

static DictionaryAttr dictionaryAt(ArrayAttr dictionaries, size_t i) {
  return dictionaries ? cast<DictionaryAttr>(dictionaries[i])
                      : DictionaryAttr();
}

EntrySignature::EntrySignature(func::FuncOp func) {
  ArrayAttr argAttrs = func.getArgAttrsAttr(),
            resAttrs = func.getResAttrsAttr();
  for (size_t i = 0, e = func.getNumArguments(); i < e; ++i) {
    DictionaryAttr attrs = dictionaryAt(argAttrs, i);
    Argument arg;
    arg.name = getString(attrs, kNameAttr);
    arg.roleName = getString(attrs, kRoleAttr);
    for (auto role : {Role::Input, Role::Param, Role::State, Role::Hyper})
      if (arg.roleName == StringRef(nameOf(role)))
        arg.role = role;
    arg.initAttr = attrs ? attrs.get(kInitAttr) : Attribute();
    arg.derivedFrom = getString(attrs, kDerivedFromAttr);
    // A derived state starts as its source does: it is cast from it.
    arg.init = arg.derivedFrom.empty() ? parseInit(arg.initAttr, arg.role)
                                       : Initializer();
    byName.try_emplace(arg.name, i);
    arguments.push_back(arg);
  }
  for (size_t i = 0, e = func.getNumResults(); i < e; ++i) {
    DictionaryAttr attrs = dictionaryAt(resAttrs, i);
    results.push_back(
        {getString(attrs, kNameAttr), getString(attrs, kUpdatesAttr)});
  }
}

int64_t EntrySignature::findArgument(StringRef name) const {
  auto it = byName.find(name);
  return it == byName.end() ? -1 : it->second;
}
