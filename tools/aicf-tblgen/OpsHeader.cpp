//===- OpsHeader.cpp - include/aicf/Ops.h ---------------------------------===//
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

using namespace llvm;
using namespace aicf::tblgen;

namespace {

void emitStruct(const Primitive &p, raw_ostream &os) {
  os << "/// " << p.name << " (fourcc " << (p.fourcc.empty() ? "0" : p.fourcc)
     << "): \"<";
  for (const Field &f : p.fields)
    os << f.format;
  os << "\".\nstruct " << p.cppName() << "Attrs {\n";
  for (const Field &f : p.fields)
    os << "  " << f.type << ' ' << f.name << ";\n";
  os << "};\nstatic_assert(sizeof(" << p.cppName()
     << "Attrs) == " << attrBytes(p) << ");\n\n";
}

void emitTables(const Primitive &p, raw_ostream &os) {
  std::string name = p.cppName();
  os << "inline constexpr OperandInfo k" << name << "Operands[] = {";
  interleaveComma(p.operands, os, [&](const Operand &o) {
    os << "{\"" << o.name << "\", Presence::" << o.presence
       << ", ElementTypes::" << o.elementTypes << ", ";
    if (o.of.empty())
      os << "-1";
    else
      os << positionOf(p.record, p.operands, o.of);
    if (!o.indexed.empty()) {
      os << ", " << positionOf(p.record, p.operands, o.indexed) << ", " << o.axis;
      for (auto [i, field] : llvm::enumerate(p.fields))
        if (field.name == o.exempt)
          os << ", " << i;
    }
    os << "}";
  });
  os << "};\ninline constexpr ResultInfo k" << name << "Results[] = {";
  interleaveComma(p.results, os, [&](const Operand &r) {
    size_t of = r.of.empty() ? 0 : positionOf(p.record, p.operands, r.of);
    os << "{\"" << r.name << "\", Presence::" << r.presence
       << ", ElementTypes::" << r.elementTypes << ", TypeRule::" << r.rule
       << ", " << of << "}";
  });
  os << "};\n";
  if (!p.fields.empty()) {
    os << "inline constexpr FieldInfo k" << name << "Fields[] = {";
    int offset = 0;
    interleaveComma(p.fields, os, [&](const Field &f) {
      bool hasDefault = !f.defaultValue.empty() && !f.isComputed();
      os << "{\"" << f.name << "\", '" << f.format << "', " << offset
         << ", Range::" << f.range << ", " << (hasDefault ? "true" : "false")
         << ", " << (hasDefault ? f.defaultValue : "0") << "}";
      offset += f.bytes();
    });
    os << "};\n";
  }
  if (!p.ties.empty()) {
    os << "inline constexpr TieInfo k" << name << "Ties[] = {";
    interleaveComma(p.ties, os, [&](auto tie) {
      os << "{" << tie.first << ", " << tie.second << "}";
    });
    os << "};\n";
  }
}

void emitInfo(const Primitive &p, raw_ostream &os) {
  std::string name = p.cppName();
  auto table = [&](StringRef suffix, size_t size) {
    if (size == 0)
      os << "nullptr, 0";
    else
      os << "k" << name << suffix << ", " << size;
  };
  os << "    {\"" << p.name << "\", fourcc(\"" << p.fourcc << "\"), "
     << attrBytes(p) << ",\n     ";
  table("Fields", p.fields.size());
  os << ", ";
  table("Operands", p.operands.size());
  os << ",\n     ";
  table("Results", p.results.size());
  os << ", ";
  table("Ties", p.ties.size());
  os << ",\n     " << (p.hasVariadic() ? "true" : "false") << ", "
     << p.numConstraints << ",\n     Phase::" << p.phase
     << ", Precision::" << p.precision << ", "
     << "KeepsZeros::" << p.keepsZeros << ", "
     << (p.isElementwise() ? "true" : "false")
     << ", Reduction::" << p.reduction << "},\n";
}

bool emitHeader(const RecordKeeper &records, raw_ostream &os) {
  std::vector<Primitive> all = allPrimitives(records);
  emitFileTop("Ops.h", "op kinds, attr layouts, facts", "AICF_OPS_H", os);
  os << "#include \"aicf/OpInfo.h\"\n\nnamespace aicf {\n\n"
        "/// Append-only numbers of the backend primitives.\n"
        "enum class OpKind : uint16_t {\n";
  for (const Primitive &p : all)
    os << "  " << p.cppName() << " = " << p.kind << ",\n";
  os << "};\n/// Numbers up to here; some have no kind any more.\n"
        "inline constexpr uint16_t kNumOpKinds = "
     << all.back().kind + 1
     << ";\n\n// Attr blobs: little endian, without padding.\n"
        "#pragma pack(push, 1)\n\n";
  for (const Primitive &p : all)
    if (!p.fields.empty())
      emitStruct(p, os);
  os << "#pragma pack(pop)\n\n// clang-format off\n";
  for (const Primitive &p : all)
    emitTables(p, os);
  os << "\ninline constexpr OpInfo kOpInfos[kNumOpKinds] = {\n";
  int64_t next = 0;
  for (const Primitive &p : all) {
    for (; next < p.kind; ++next)
      os << "    {},\n";
    emitInfo(p, os);
    ++next;
  }
  os << R"cpp(};
// clang-format on

constexpr const OpInfo &infoOf(OpKind kind) {
  return kOpInfos[static_cast<uint16_t>(kind)];
}
constexpr std::string_view nameOf(OpKind kind) { return infoOf(kind).name; }
constexpr bool isKnown(OpKind kind) {
  return static_cast<uint16_t>(kind) < kNumOpKinds && !nameOf(kind).empty();
}

} // namespace aicf

#endif // AICF_OPS_H
)cpp";
  return false;
}

mlir::GenRegistration header("gen-abi-header", "Generate the ABI header",
                             emitHeader);

} // namespace
