//===- Entry.cpp - the signature of an entry ------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "aicf/Analysis/Entry.h"
#include "aicf/Dialect/AICF/AICF.h"

using namespace mlir;
using namespace mlir::aicf;

static bool hasAicfAttr(ArrayAttr dictionaries) {
  if (!dictionaries)
    return false;
  for (Attribute dictionary : dictionaries)
    for (NamedAttribute attr : cast<DictionaryAttr>(dictionary))
      if (attr.getName().strref().starts_with("aicf."))
        return true;
  return false;
}

bool mlir::aicf::isEntry(func::FuncOp func) {
  if (!func.isPublic() || func.isDeclaration())
    return false; // MLIR itself refuses public declarations
  for (NamedAttribute attr : func->getDiscardableAttrs())
    if (attr.getName().strref().starts_with("aicf."))
      return true;
  return hasAicfAttr(func.getArgAttrsAttr()) ||
         hasAicfAttr(func.getResAttrsAttr());
}

SmallVector<func::FuncOp> mlir::aicf::getEntries(ModuleOp module) {
  SmallVector<func::FuncOp> entries;
  for (auto func : module.getOps<func::FuncOp>())
    if (isEntry(func))
      entries.push_back(func);
  return entries;
}

static StringRef getString(DictionaryAttr dictionary, StringRef name) {
  if (!dictionary)
    return {};
  auto text = dictionary.getAs<StringAttr>(name);
  return text ? text.getValue() : StringRef();
}

/// The dialect's verifier has checked the attribute.
static Initializer parseInit(Attribute attr, ::aicf::Role role) {
  using Kind = ::aicf::InitKind;
  if (!attr)
    return {role == ::aicf::Role::State ? Kind::Zeros : Kind::None, 0};
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
  ArrayAttr argAttrs = func.getArgAttrsAttr(), resAttrs = func.getResAttrsAttr();
  for (size_t i = 0, e = func.getNumArguments(); i < e; ++i) {
    DictionaryAttr attrs = dictionaryAt(argAttrs, i);
    Argument arg;
    arg.name = getString(attrs, kNameAttr);
    arg.roleName = getString(attrs, kRoleAttr);
    for (auto role : {::aicf::Role::Input, ::aicf::Role::Param,
                      ::aicf::Role::State, ::aicf::Role::Hyper})
      if (arg.roleName == StringRef(::aicf::nameOf(role)))
        arg.role = role;
    arg.initAttr = attrs ? attrs.get(kInitAttr) : Attribute();
    arg.init = parseInit(arg.initAttr, arg.role);
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
