//===- aicf-tblgen.cpp - the ABI from the aicf_rt records -----------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Generates, from the `AICFRT_Primitive` records,
//   -gen-abi-header     include/aicf/ABI/Ops.h
//   -gen-python-table   python/aicf/op_attrs.py
//   -gen-op-methods     the interface methods that repeat the record in C++
// The first two are committed; test/abi-up-to-date compares them. Ops
// themselves come from mlir-tblgen.
//===----------------------------------------------------------------------===//

#include "mlir/TableGen/GenInfo.h"
#include "mlir/Tools/mlir-tblgen/MlirTblgenMain.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TableGen/Error.h"
#include "llvm/TableGen/Record.h"

using namespace llvm;

namespace {

struct Field {
  StringRef name, type, format, value, defaultValue;
};

/// One AICFRT_Primitive record, with names split from their "?" and "...".
struct Primitive {
  const Record *record;
  StringRef name, fourcc;
  int64_t kind, groupOperands, groupResults;
  std::vector<Field> fields;
  std::vector<StringRef> operands, results;
  std::vector<std::pair<int64_t, int64_t>> ties;

  std::string cppName() const {
    return convertToCamelFromSnakeCase(name, /*capitalizeFirst=*/true);
  }
  /// C++ class of the op: the def's name without "AICFRT_".
  StringRef opClass() const { return record->getName().drop_front(7); }
};

Primitive parse(const Record *record) {
  Primitive p;
  p.record = record;
  p.name = record->getValueAsString("kindName");
  p.fourcc = record->getValueAsString("fourCC");
  p.kind = record->getValueAsInt("kind");
  p.groupOperands = record->getValueAsInt("groupOperands");
  p.groupResults = record->getValueAsInt("groupResults");
  for (const Record *f : record->getValueAsListOfDefs("layout"))
    p.fields.push_back(
        {f->getValueAsString("name"), f->getValueAsString("type"),
         f->getValueAsString("format"), f->getValueAsString("value"),
         f->getValueAsString("defaultValue")});
  const Record *signature = record->getValueAsDef("signature");
  p.operands = signature->getValueAsListOfStrings("operands");
  p.results = signature->getValueAsListOfStrings("results");
  for (const Record *t : record->getValueAsListOfDefs("ties"))
    p.ties.push_back({t->getValueAsInt("result"), t->getValueAsInt("operand")});
  if (p.fourcc.size() != 4 && !p.fourcc.empty())
    PrintFatalError(record, "fourCC must have 4 characters or none");
  return p;
}

/// All primitives by kind; kinds must be 0..n-1, each once.
std::vector<Primitive> allPrimitives(const RecordKeeper &records) {
  std::vector<Primitive> all;
  for (const Record *r : records.getAllDerivedDefinitions("AICFRT_Primitive"))
    all.push_back(parse(r));
  llvm::sort(all, [](const Primitive &a, const Primitive &b) {
    return a.kind < b.kind;
  });
  for (auto [i, p] : llvm::enumerate(all))
    if (p.kind != static_cast<int64_t>(i))
      PrintFatalError(p.record, "op kinds must be 0..n-1, each used once; '" +
                                    p.name + "' has " + Twine(p.kind) +
                                    " where " + Twine(i) + " is expected");
  return all;
}

int formatBytes(char c) { return c == 'd' || c == 'q' ? 8 : 4; }

int attrBytes(const Primitive &p) {
  int bytes = 0;
  for (const Field &f : p.fields)
    bytes += formatBytes(f.format[0]);
  return bytes;
}

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

void emitNames(StringRef table, const Primitive &p, ArrayRef<StringRef> names,
               raw_ostream &os) {
  os << "inline constexpr OperandInfo k" << p.cppName() << table << "[] = {";
  interleaveComma(names, os, [&](StringRef n) {
    bool optional = n.consume_back("?"), variadic = n.consume_back("...");
    os << "{\"" << n << "\", " << (optional ? "true" : "false") << ", "
       << (variadic ? "true" : "false") << "}";
  });
  os << "};\n";
}

void emitTables(const Primitive &p, raw_ostream &os) {
  std::string name = p.cppName();
  emitNames("Operands", p, p.operands, os);
  emitNames("Results", p, p.results, os);
  if (!p.fields.empty()) {
    os << "inline constexpr FieldInfo k" << name << "Fields[] = {";
    int offset = 0;
    interleaveComma(p.fields, os, [&](const Field &f) {
      os << "{\"" << f.name << "\", '" << f.format << "', " << offset << ", "
         << (f.defaultValue.empty() ? "false, 0" : "true, ") << f.defaultValue
         << "}";
      offset += formatBytes(f.format[0]);
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
  os << ", " << p.groupOperands << ", " << p.groupResults << "},\n";
}

constexpr StringLiteral kHeaderTop =
    R"cpp(//===- Ops.h - op kinds, attr layouts, aliasing facts ----------*- C++ -*-===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Generated by aicf-tblgen from AICFRTOps.td; committed, so that a machine
// without LLVM needs no tblgen. Do not edit: change the record and run
// `cmake --build build --target update-abi`.
//===----------------------------------------------------------------------===//
#ifndef AICF_ABI_OPS_H
#define AICF_ABI_OPS_H

#include "aicf/ABI/Types.h"

namespace aicf {

/// Append-only numbers of the backend primitives.
enum class OpKind : uint16_t {
)cpp";

constexpr StringLiteral kHeaderStructs = R"cpp(
/// An operand or result by position.
struct OperandInfo {
  std::string_view name;
  bool optional;
  bool variadic; ///< stands for one or more
};

/// One field of an attr blob; `format` is Python's struct character.
struct FieldInfo {
  std::string_view name;
  char format;
  uint32_t offset; ///< bytes
  bool hasDefault;
  double defaultValue;
};

/// Result `result` may take over the storage of operand `operand`.
struct TieInfo {
  uint8_t result;
  uint8_t operand;
};

/// Everything about an op kind that does not depend on the call.
struct OpInfo {
  std::string_view name;
  uint32_t schema;    ///< fourcc of the attr layout, 0 for none
  uint32_t attrBytes; ///< size of the attr blob
  const FieldInfo *fields;
  size_t numFields;
  const OperandInfo *operands;
  size_t numOperands;
  const OperandInfo *results;
  size_t numResults;
  const TieInfo *ties;
  size_t numTies;
  /// Multi-tensor kinds: operands and results of one group; ties hold within
  /// each group. 0 for other kinds.
  size_t groupOperands, groupResults;
};

// Attr blobs: little endian, without padding.
#pragma pack(push, 1)

)cpp";

constexpr StringLiteral kHeaderEnd = R"cpp(};

constexpr const OpInfo &infoOf(OpKind kind) {
  return kOpInfos[static_cast<uint16_t>(kind)];
}
constexpr std::string_view nameOf(OpKind kind) { return infoOf(kind).name; }

/// True when result `result` of `kind` may share storage with `operand`.
constexpr bool mayShareStorage(OpKind kind, size_t result, size_t operand) {
  const OpInfo &info = infoOf(kind);
  if (info.groupOperands) {
    if (result / info.groupResults != operand / info.groupOperands)
      return false;
    result %= info.groupResults;
    operand %= info.groupOperands;
  }
  for (size_t i = 0; i < info.numTies; ++i)
    if (info.ties[i].result == result && info.ties[i].operand == operand)
      return true;
  return false;
}

} // namespace aicf

#endif // AICF_ABI_OPS_H
)cpp";

bool emitHeader(const RecordKeeper &records, raw_ostream &os) {
  std::vector<Primitive> all = allPrimitives(records);
  os << kHeaderTop;
  for (const Primitive &p : all)
    os << "  " << p.cppName() << " = " << p.kind << ",\n";
  os << "};\ninline constexpr uint16_t kNumOpKinds = " << all.size() << ";\n"
     << kHeaderStructs;
  for (const Primitive &p : all)
    if (!p.fields.empty())
      emitStruct(p, os);
  os << "#pragma pack(pop)\n\n";
  for (const Primitive &p : all)
    emitTables(p, os);
  os << "\ninline constexpr OpInfo kOpInfos[kNumOpKinds] = {\n";
  for (const Primitive &p : all)
    emitInfo(p, os);
  os << kHeaderEnd;
  return false;
}

bool emitPython(const RecordKeeper &records, raw_ostream &os) {
  os << "# Generated by aicf-tblgen from AICFRTOps.td. Do not edit: change "
        "the\n"
        "# record and run `cmake --build build --target update-abi`.\n"
        "# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception\n"
        "\"\"\"Attr blobs of the backend primitives.\n\n"
        "OP_ATTRS[name] = (kind, fourcc, struct format, field "
        "names).\n\"\"\"\n\n"
        "OP_ATTRS = {\n";
  for (const Primitive &p : allPrimitives(records)) {
    os << "    \"" << p.name << "\": (" << p.kind << ", \"" << p.fourcc
       << "\", \"<";
    for (const Field &f : p.fields)
      os << f.format;
    os << "\", (";
    for (const Field &f : p.fields)
      os << "\"" << f.name << "\", ";
    os << ")),\n";
  }
  os << "}\n";
  return false;
}

bool emitMethods(const RecordKeeper &records, raw_ostream &os) {
  for (const Primitive &p : allPrimitives(records)) {
    StringRef op = p.opClass();
    os << "::aicf::OpKind " << op
       << "::getOpKind() { return ::aicf::OpKind::" << p.cppName() << "; }\n"
       << "uint32_t " << op << "::getSchema() { return ::aicf::fourcc(\""
       << p.fourcc << "\"); }\n"
       << "void " << op << "::encodeAttrs(::llvm::SmallVectorImpl<uint8_t> &"
       << (p.fields.empty() ? "" : "bytes") << ") {\n";
    if (!p.fields.empty()) {
      os << "  ::aicf::" << p.cppName() << "Attrs attrs{};\n";
      for (const Field &f : p.fields)
        os << "  attrs." << f.name << " = static_cast<" << f.type << ">("
           << f.value << ");\n";
      os << "  appendBytes(bytes, attrs);\n";
    }
    os << "}\n"
       << "::llvm::StringRef " << op
       << "::getKidOrEmpty() { return getKid().value_or(\"\"); }\n"
       << "void " << op << "::setKid(::llvm::StringRef kid) { "
       << "setKid(std::optional<::llvm::StringRef>(kid)); }\n"
       << "::mlir::LogicalResult " << op
       << "::verify() { return verifyPrimitive(*this); }\n\n";
  }
  return false;
}

mlir::GenRegistration header("gen-abi-header", "Generate the ABI header",
                             emitHeader);
mlir::GenRegistration python("gen-python-table",
                             "Generate the Python struct formats", emitPython);
mlir::GenRegistration methods("gen-op-methods",
                              "Generate methods of the primitives",
                              emitMethods);

} // namespace

int main(int argc, char **argv) { return mlir::MlirTblgenMain(argc, argv); }
