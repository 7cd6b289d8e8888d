//===- KernelRows.cpp - kernels/Rows.def and Definitions.inc --------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Records.h"

#include "mlir/TableGen/GenInfo.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TableGen/Error.h"

#include <map>

using namespace llvm;
using namespace aicf::tblgen;

namespace {

/// See `stridesEverywhere`.
bool takesViewedResultAlone(const Kernel &k) {
  return k.family->getValueAsBit("everyPointwise") &&
         k.family->getValueAsBit("stridesEverywhere") &&
         k.kinds[0]->operands.size() == 1;
}

/// The operands and results that may be views, of the kinds that the row is
/// for.
void emitStrided(const Kernel &k, raw_ostream &os) {
  StringRef separator = ", .strided = kStrided<";
  auto emit = [&](const Primitive &kind, bool isResult, size_t slot,
                  StringRef rule) {
    os << separator << "StridedSlot{OpKind::" << kind.cppName() << ", " << slot
       << ", StrideRule::" << rule << (isResult ? ", true}" : "}");
    separator = ", ";
  };
  if (takesViewedResultAlone(k))
    emit(*k.kinds[0], /*isResult=*/true, 0, "Any");
  for (const Record *s : k.family->getValueAsListOfDefs("strided")) {
    auto kind = llvm::find_if(k.kinds, [&](const Primitive *p) {
      return p->record == s->getValueAsDef("kind");
    });
    if (kind == k.kinds.end())
      continue;
    const Primitive &p = **kind;
    StringRef name = s->getValueAsString("slot");
    bool isResult = llvm::any_of(
        p.results, [&](const auto &result) { return result.name == name; });
    emit(p, isResult,
         isResult ? positionOf(p.record, p.results, name)
                  : positionOf(p.record, p.operands, name),
         factOf(s, "rule"));
  }
  if (separator == ", ")
    os << ">";
}

/// What a family asks of a call, and the workspace that its kernel gets.
void emitFunctions(const Kernel &k, raw_ostream &os) {
  if (!k.text("takes").empty())
    os << ", .takes = AICF_CONDITION(" << k.cppName << ", " << k.text("takes")
       << ")";
  if (!k.text("pays").empty())
    os << ", .pays = AICF_PAYS(" << k.cppName << ", " << k.text("pays") << ")";
  if (!k.text("workspace").empty())
    os << ", .workspace = AICF_WORKSPACE(" << k.cppName << ", "
       << k.text("workspace")
       << "), .workspaceCap = " << k.text("workspaceCap");
}

/// The row of a graph's kernel.
void emitAnyTypesRow(const Kernel &k, raw_ostream &os) {
  os << "AICF_ROW_" << k.fact("provider") << "(" << k.kid() << ", " << k.cppName
     << ", .provider = KernelProvider::" << k.fact("provider");
  emitFunctions(k, os);
  os << ", .anyTypes = true";
  if (k.family->getValueAsBit("stridesEverywhere") &&
      !takesViewedResultAlone(k))
    os << ", .anyStrides = true";
  emitStrided(k, os);
  os << ")\n";
}

/// ".field = value" for what differs from a row's defaults.
void emitRow(const Kernel &k, raw_ostream &os) {
  if (k.isOfAnyTypes())
    return emitAnyTypesRow(k, os);
  auto [in, bytes] = dtypeOf(k.family, k.in);
  int64_t alignment = k.family->getValueAsInt("alignment");
  os << "AICF_ROW_" << k.fact("provider") << "(" << k.kid() << ", " << k.cppName
     << ", .provider = KernelProvider::" << k.fact("provider");
  if (k.fact("math") != "Exact")
    os << ", .math = Math::" << k.fact("math");
  os << ", .in0 = DType::" << in
     << ", .out0 = DType::" << dtypeOf(k.family, k.out).first;
  if (k.width != 1)
    os << ", .width = " << k.width;
  os << ", .alignment = " << (alignment ? alignment : bytes);
  emitFunctions(k, os);
  if (!k.text("fullSpeed").empty())
    os << ", .fullSpeed = AICF_CONDITION(" << k.cppName << ", "
       << k.text("fullSpeed") << ")";
  if (k.fact("selection") != "Auto")
    os << ", .selection = Selection::" << k.fact("selection");
  for (StringRef flag : {"fusesForFree", "takesPads"})
    if (k.family->getValueAsBit(flag))
      os << ", ." << flag << " = true";
  emitStrided(k, os);
  os << ")\n";
}

bool emitRows(const RecordKeeper &records, raw_ostream &os) {
  std::vector<Primitive> kinds = allPrimitives(records);
  std::vector<Kernel> kernels = allKernels(records, kinds);
  emitFileTop("Rows.def", "the kernels of each device", "", os);
  os << "// Define AICF_ROWS_OF_<device>, and AICF_ROW(KID, kind or pattern, "
        "fields of KernelRow) for all\n// rows or AICF_ROW_<provider> for "
        "those "
        "of one; the others are left out. What the fields\n// mean stands at "
        "KernelFamily.\n//===-------------------------------------------"
        "---------------------------===//\n// clang-format off\n\n#ifndef "
        "AICF_ROW\n#define AICF_ROW(...)\n#endif\n";
  std::vector<const Record *> providers =
      records.getAllDerivedDefinitions("Provider");
  for (const Record *provider : providers) {
    std::string macro = ("AICF_ROW_" + provider->getValueAsString("cpp")).str();
    os << "#ifndef " << macro << "\n#define " << macro
       << "(...) AICF_ROW(__VA_ARGS__)\n#endif\n";
  }
  for (const Record *device : records.getAllDerivedDefinitions("Device")) {
    StringRef name = device->getValueAsString("cpp");
    os << "\n#ifdef AICF_ROWS_OF_" << name << "\n";
    for (const Kernel &k : kernels)
      if (k.fact("device") == name)
        emitRow(k, os);
    os << "#undef AICF_ROWS_OF_" << name << "\n#endif\n";
  }
  os << "\n#undef AICF_ROW\n";
  for (const Record *provider : providers)
    os << "#undef AICF_ROW_" << provider->getValueAsString("cpp") << "\n";
  return false;
}

bool emitDefinitions(const RecordKeeper &records, raw_ostream &os) {
  std::vector<Primitive> kinds = allPrimitives(records);
  emitFileTop("Definitions.inc", "kernels from their families", "", os);
  os << "// A file of kernels defines AICF_KERNELS_OF_<unit>_<device>; "
        "AICF_KERNEL(KID, code) is its "
        "device's.\n//===------------------------------------"
        "----------------------------------===//\n// clang-format off\n";
  std::map<std::string, std::vector<Kernel>> sections;
  for (const Kernel &k : allKernels(records, kinds))
    if (!k.text("kernel").empty())
      sections[(k.text("unit") + "_" + k.fact("device")).str()].push_back(k);
  for (const auto &[section, kernels] : sections) {
    os << "\n#ifdef AICF_KERNELS_OF_" << section << "\n";
    for (const Kernel &k : kernels)
      os << "AICF_KERNEL(" << k.kid() << ", " << k.definition() << ")\n";
    os << "#endif\n";
  }
  os << "\n#undef AICF_KERNEL\n";
  return false;
}

mlir::GenRegistration rows("gen-kernel-rows", "Generate the kernel table",
                           emitRows);
mlir::GenRegistration definitions("gen-kernel-definitions",
                                  "Generate kernel definitions",
                                  emitDefinitions);

} // namespace
