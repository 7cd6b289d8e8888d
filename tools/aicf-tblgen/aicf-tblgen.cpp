//===- aicf-tblgen.cpp - the ABI from the records of primitives -----------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Generates, from the `AICFRT_Primitive` records, what is not MLIR:
//   -gen-abi-header     include/aicf/Ops.h
//   -gen-op-views       kernels/OpViews.h
//   -gen-functors       kernels/pointwise/Functors.h
//   -gen-python-table   python/aicf/op_attrs.py
// and from the `KernelFamily` records
//   -gen-kernel-rows         kernels/Rows.def
//   -gen-kernel-definitions  kernels/Definitions.inc
// All are committed; the test abi-up-to-date compares them. Ops themselves come
// from mlir-tblgen.
//===----------------------------------------------------------------------===//

#include "mlir/TableGen/GenInfo.h"
#include "mlir/Tools/mlir-tblgen/MlirTblgenMain.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TableGen/Error.h"
#include "llvm/TableGen/Record.h"

#include <map>

using namespace llvm;

namespace {

struct Field {
  StringRef name, type, format, range, defaultValue;
  bool isComputed() const { return defaultValue == "computed"; }
};

/// An operand or a result; results have a rule too.
struct Operand {
  StringRef name, presence, elements, rule, of;
  bool isGrouped() const { return presence == "Grouped"; }
  bool isOptional() const { return presence == "Optional"; }
};

/// One AICFRT_Primitive record.
struct Primitive {
  const Record *record;
  StringRef name, fourcc, copies, phase, precision, scaling;
  int64_t kind;
  size_t numConstraints;
  std::vector<Field> fields;
  std::vector<Operand> operands, results;
  std::vector<std::pair<size_t, size_t>> ties;
  const DagInit *scalar;

  std::string cppName() const {
    return convertToCamelFromSnakeCase(name, /*capitalizeFirst=*/true);
  }
  size_t groupOperands() const {
    return llvm::count_if(operands, [](auto &o) { return o.isGrouped(); });
  }
  size_t groupResults() const {
    return llvm::count_if(results, [](auto &r) { return r.isGrouped(); });
  }
  bool isPointwise() const {
    return cast<DefInit>(scalar->getOperator())->getDef()->getName() != "none";
  }
  /// Attrs struct, or the empty one.
  std::string attrsName() const {
    return fields.empty() ? "NoAttrs" : cppName() + "Attrs";
  }
};

/// The enumerator of a fact that every record must state.
StringRef factOf(const Record *record, StringRef fact) {
  if (record->isValueUnset(fact))
    PrintFatalError(record, "'" + record->getName() + "' does not say its " +
                                fact + ": passes ask for it");
  return record->getValueAsDef(fact)->getValueAsString("cpp");
}

size_t positionOf(const Record *record, ArrayRef<Operand> all, StringRef name) {
  for (auto [i, o] : llvm::enumerate(all))
    if (o.name == name)
      return i;
  PrintFatalError(record, "no operand or result is called '" + name + "'");
}

std::vector<Operand> parseOperands(const Record *record, StringRef list,
                                   bool isResult) {
  std::vector<Operand> all;
  for (const Record *o : record->getValueAsListOfDefs(list))
    all.push_back({o->getValueAsString("name"), o->getValueAsString("presence"),
                   o->getValueAsDef("elements")->getValueAsString("cpp"),
                   isResult ? o->getValueAsString("rule") : "",
                   o->getValueAsString(isResult ? "of" : "like")});
  for (size_t i = 1; i < all.size(); ++i)
    if (all[i].isGrouped() && !all[i - 1].isGrouped())
      PrintFatalError(record, "'" + all[i].name +
                                  "' is grouped behind one that is not");
  return all;
}

/// What the rules, views and passes rely on.
void checkConsistency(const Primitive &p) {
  auto require = [&](bool holds, const Twine &what) {
    if (!holds)
      PrintFatalError(p.record, "'" + p.name + "': " + what);
  };
  for (auto [i, o] : llvm::enumerate(p.operands)) {
    if (o.of.empty())
      continue;
    size_t like = positionOf(p.record, p.operands, o.of);
    require(o.presence == "Plain" && p.operands[like].presence == "Plain" &&
                like < i,
            o.name + " is the same as " + o.of +
                ", which must stand before it, both plain");
  }
  bool hasPlainResults =
      llvm::any_of(p.results, [](const Operand &r) { return !r.isGrouped(); });
  for (const Operand &r : p.results)
    require(!r.isOptional() || &r == &p.results.back(),
            r.name + " may be absent, so it must be the last result");
  require(p.copies.empty() || !hasPlainResults,
          "copies stand behind all results, which must be grouped");
  auto isOptional = [&](StringRef name) {
    return llvm::any_of(p.operands, [&](const Operand &o) {
      return o.name == name && o.isOptional();
    });
  };
  require(p.scaling != "Seed" || isOptional("loss_scale"),
          "scaling is Seed, so it has an optional operand loss_scale");
  StringRef kept =
      p.record->getValueAsDef("precision")->getValueAsString("kept");
  if (!kept.empty())
    (void)positionOf(p.record, p.operands, kept);
}

Primitive parse(const Record *record) {
  Primitive p;
  p.record = record;
  p.name = record->getValueAsString("kindName");
  p.fourcc = record->getValueAsString("fourCC");
  p.copies = record->getValueAsString("copies");
  p.kind = record->getValueAsInt("kind");
  p.phase = factOf(record, "phase");
  p.precision = factOf(record, "precision");
  p.scaling = factOf(record, "scaling");
  p.scalar = record->getValueAsDag("scalar");
  p.numConstraints = record->getValueAsListOfStrings("constraints").size();
  for (const Record *f : record->getValueAsListOfDefs("fields"))
    p.fields.push_back({f->getValueAsString("name"),
                        f->getValueAsString("type"),
                        f->getValueAsString("format"),
                        f->getValueAsDef("range")->getValueAsString("cpp"),
                        f->getValueAsString("defaultValue")});
  p.operands = parseOperands(record, "operandList", false);
  p.results = parseOperands(record, "resultList", true);
  for (const Record *t : record->getValueAsListOfDefs("ties"))
    p.ties.push_back(
        {positionOf(record, p.results, t->getValueAsString("result")),
         positionOf(record, p.operands, t->getValueAsString("operand"))});
  if (p.fourcc.size() != 4 && !p.fourcc.empty())
    PrintFatalError(record, "fourCC must have 4 characters or none");
  checkConsistency(p);
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

void emitFileTop(StringRef path, StringRef purpose, StringRef guard,
                 raw_ostream &os) {
  std::string left = ("//===- " + path + " - " + purpose + " ").str();
  StringRef right = "*- C++ -*-===//";
  left.resize(std::max<size_t>(left.size(), 80 - right.size()), '-');
  os << left << right << R"cpp(
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Generated by aicf-tblgen from kernels/<family>/Family.td; committed, so
// that a machine without LLVM needs no tblgen. Do not edit: change the
// record and run `cmake --build build --target update-abi`.
//===----------------------------------------------------------------------===//
)cpp";
  if (!guard.empty())
    os << "#ifndef " << guard << "\n#define " << guard << "\n\n";
}

//===----------------------------------------------------------------------===//
// Ops.h
//===----------------------------------------------------------------------===//

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
       << ", Elements::" << o.elements << ", ";
    if (o.of.empty())
      os << "-1}";
    else
      os << positionOf(p.record, p.operands, o.of) << "}";
  });
  os << "};\ninline constexpr ResultInfo k" << name << "Results[] = {";
  interleaveComma(p.results, os, [&](const Operand &r) {
    size_t of = r.of.empty() ? 0 : positionOf(p.record, p.operands, r.of);
    os << "{\"" << r.name << "\", Presence::" << r.presence
       << ", Elements::" << r.elements << ", TypeRule::" << r.rule << ", " << of
       << "}";
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
  os << ",\n     " << p.groupOperands() << ", " << p.groupResults() << ", "
     << (p.copies.empty() ? "false" : "true") << ", " << p.numConstraints
     << ",\n     Phase::" << p.phase << ", Precision::" << p.precision
     << ", Scaling::" << p.scaling << "},\n";
}

bool emitHeader(const RecordKeeper &records, raw_ostream &os) {
  std::vector<Primitive> all = allPrimitives(records);
  emitFileTop("Ops.h", "op kinds, attr layouts, facts", "AICF_OPS_H", os);
  os << "#include \"aicf/OpInfo.h\"\n\nnamespace aicf {\n\n"
        "/// Append-only numbers of the backend primitives.\n"
        "enum class OpKind : uint16_t {\n";
  for (const Primitive &p : all)
    os << "  " << p.cppName() << " = " << p.kind << ",\n";
  os << "};\ninline constexpr uint16_t kNumOpKinds = " << all.size()
     << ";\n\n// Attr blobs: little endian, without padding.\n"
        "#pragma pack(push, 1)\n\n";
  for (const Primitive &p : all)
    if (!p.fields.empty())
      emitStruct(p, os);
  os << "#pragma pack(pop)\n\n// clang-format off\n";
  for (const Primitive &p : all)
    emitTables(p, os);
  os << "\ninline constexpr OpInfo kOpInfos[kNumOpKinds] = {\n";
  for (const Primitive &p : all)
    emitInfo(p, os);
  os << R"cpp(};
// clang-format on

constexpr const OpInfo &infoOf(OpKind kind) {
  return kOpInfos[static_cast<uint16_t>(kind)];
}
constexpr std::string_view nameOf(OpKind kind) { return infoOf(kind).name; }

} // namespace aicf

#endif // AICF_OPS_H
)cpp";
  return false;
}

//===----------------------------------------------------------------------===//
// OpViews.h
//===----------------------------------------------------------------------===//

/// `side` is In or Out.
void emitAccessors(const Primitive &p, ArrayRef<Operand> all, StringRef side,
                   size_t perGroup, raw_ostream &os) {
  bool isIn = side == "In";
  StringRef get = isIn ? "inAt" : "outAt";
  size_t numPlain = 0;
  for (auto [i, o] : llvm::enumerate(all)) {
    if (o.isGrouped()) {
      os << "  auto &" << o.name << "(size_t group) const { return this->"
         << get << "(group * " << perGroup << " + " << i << "); }\n";
      continue;
    }
    std::string at = std::to_string(numPlain++);
    if (p.groupOperands() && perGroup)
      at = "numGroups() * " + std::to_string(perGroup) + " + " + at;
    if (o.isOptional())
      os << "  auto *" << o.name << "() const { return this->optional" << side
         << "At(" << at << "); }\n";
    else
      os << "  auto &" << o.name << "() const { return this->" << get << "("
         << at << "); }\n";
  }
}

void emitView(const Primitive &p, raw_ostream &os) {
  std::string name = p.cppName() + "View";
  os << "\n/// " << p.name << "\ntemplate <typename Call> struct " << name
     << " : CallView<Call> {\n  using CallView<Call>::CallView;\n"
     << "  static constexpr OpKind kKind = OpKind::" << p.cppName() << ";\n";
  if (p.fields.empty())
    os << "  NoAttrs attrs() const { return {}; }\n";
  else
    os << "  " << p.attrsName() << " attrs() const { return this->template "
       << "decode<" << p.attrsName() << ">(); }\n";
  if (size_t per = p.groupOperands())
    os << "  size_t numGroups() const { return (this->numIns() - "
       << p.operands.size() - per << ") / " << per << "; }\n";
  emitAccessors(p, p.operands, "In", p.groupOperands(), os);
  emitAccessors(p, p.results, "Out", p.groupResults(), os);
  if (!p.copies.empty())
    os << "  /// Null where the call makes no copies.\n  auto *" << p.copies
       << "(size_t group) const { return this->optionalOutAt(numGroups() * "
       << p.groupResults() << " + group); }\n";
  if (p.isPointwise()) {
    os << "  static constexpr size_t kNumInputs = " << p.operands.size()
       << ";\n  auto inputs() const { return std::array{";
    interleaveComma(p.operands, os,
                    [&](const Operand &o) { os << "&" << o.name << "()"; });
    os << "}; }\n  auto &output() const { return " << p.results[0].name
       << "(); }\n";
  }
  os << "};\n";
}

bool emitViews(const RecordKeeper &records, raw_ostream &os) {
  std::vector<Primitive> all = allPrimitives(records);
  emitFileTop("OpViews.h", "operands, results and fields by name",
              "AICF_KERNELS_OPVIEWS_H", os);
  os << "#include \"kernels/CallView.h\"\n#include \"aicf/Ops.h\"\n\n"
        "#include <array>\n\nnamespace aicf {\n// clang-format off\n";
  for (const Primitive &p : all)
    emitView(p, os);
  os << "\n/// X(Kind): every kind.\n#define AICF_KINDS(X)";
  for (const Primitive &p : all)
    os << " \\\n  X(" << p.cppName() << ")";
  os << "\n\n/// X(op, View, n): every numbered constraint Cn.\n"
        "#define AICF_CONSTRAINTS(X)";
  for (const Primitive &p : all)
    for (size_t i = 1; i <= p.numConstraints; ++i)
      os << " \\\n  X(" << p.name << ", " << p.cppName() << ", " << i << ")";
  os << "\n\n/// X(op, View, field): every default that a rule computes.\n"
        "#define AICF_COMPUTED_DEFAULTS(X)";
  for (const Primitive &p : all)
    for (const Field &f : p.fields)
      if (f.isComputed())
        os << " \\\n  X(" << p.name << ", " << p.cppName() << ", " << f.name
           << ")";
  os << "\n// clang-format on\n\n} // namespace aicf\n\n#endif // "
        "AICF_KERNELS_OPVIEWS_H\n";
  return false;
}

//===----------------------------------------------------------------------===//
// Functors.h
//===----------------------------------------------------------------------===//

/// The C++ expression of a node of a scalar definition.
std::string expressionOf(const Primitive &p, const Init *node, StringRef name) {
  if (const auto *text = dyn_cast<StringInit>(node))
    return ("C(" + text->getValue() + ")").str();
  if (const auto *number = dyn_cast<IntInit>(node))
    return "C(" + std::to_string(number->getValue()) + ")";
  if (isa<UnsetInit>(node)) {
    for (const Field &f : p.fields)
      if (f.name == name)
        return ("attrs." + name).str();
    (void)positionOf(p.record, p.operands, name);
    return name.str();
  }
  const auto *dag = dyn_cast<DagInit>(node);
  if (!dag)
    PrintFatalError(p.record,
                    "not a scalar expression: " + node->getAsString());
  const Record *op = cast<DefInit>(dag->getOperator())->getDef();
  if (dag->getNumArgs() != size_t(op->getValueAsInt("arity")))
    PrintFatalError(p.record, "'" + op->getName() + "' takes " +
                                  Twine(op->getValueAsInt("arity")) +
                                  " operands, got " + Twine(dag->getNumArgs()));
  std::vector<std::string> args;
  for (unsigned i = 0; i < dag->getNumArgs(); ++i)
    args.push_back(expressionOf(p, dag->getArg(i), dag->getArgNameStr(i)));
  if (op->getName() == "pick") // computes one of its two sides only
    return "(" + args[0] + " ? " + args[1] + " : " + args[2] + ")";
  return ("scalar::" + op->getValueAsString("cpp") + "(" + join(args, ", ") +
          ")")
      .str();
}

bool emitFunctors(const RecordKeeper &records, raw_ostream &os) {
  emitFileTop("Functors.h", "pointwise primitives as functions of scalars",
              "AICF_KERNELS_POINTWISE_FUNCTORS_H", os);
  os << "#include \"kernels/OpViews.h\"\n"
        "#include \"kernels/pointwise/Scalars.h\"\n\n"
        "namespace aicf::functor {\n// clang-format off\n";
  for (const Primitive &p : allPrimitives(records)) {
    if (!p.isPointwise())
      continue;
    os << "\n/// " << p.record->getValueAsString("summary") << "\nstruct "
       << p.cppName()
       << " {\n  template <typename Call> using View = " << p.cppName()
       << "View<Call>;\n  using Attrs = " << p.attrsName()
       << ";\n  template <typename C> AICF_HOST_DEVICE static C apply(const "
          "Attrs &attrs, ";
    interleaveComma(p.operands, os,
                    [&](const Operand &o) { os << "C " << o.name; });
    os << ") {\n    (void)attrs;\n    return " << expressionOf(p, p.scalar, "")
       << ";\n  }\n};\n";
  }
  os << "\n// clang-format on\n} // namespace aicf::functor\n\n#endif // "
        "AICF_KERNELS_POINTWISE_FUNCTORS_H\n";
  return false;
}

//===----------------------------------------------------------------------===//
// op_attrs.py
//===----------------------------------------------------------------------===//

bool emitPython(const RecordKeeper &records, raw_ostream &os) {
  os << "# Generated by aicf-tblgen from kernels/<family>/Family.td. Do not "
        "edit:\n"
        "# change the record and run `cmake --build build --target "
        "update-abi`.\n"
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

//===----------------------------------------------------------------------===//
// Rows.def and Definitions.inc
//===----------------------------------------------------------------------===//

/// One kernel of a family.
struct Kernel {
  const Record *family;
  const Primitive *kind;
  StringRef in, out;
  int64_t width;

  StringRef text(StringRef field) const {
    return family->getValueAsString(field);
  }
  std::string kid() const {
    std::string in(this->in), types = in;
    if (text("math") == "TF32")
      types = "tf32";
    StringRef rule = text("kidTypes");
    if (rule == "Both" || (rule == "Different" && in != out))
      types += ("_" + out).str();
    std::string name = (kind->name + "_" + types).str();
    if (!text("variantName").empty())
      name += ("_" + text("variantName")).str();
    else if (width > 1)
      name += "_vec" + std::to_string(width);
    return name + "_v" + std::to_string(family->getValueAsInt("version"));
  }
  std::string definition() const {
    std::string code(text("kernel"));
    auto put = [&](StringRef name, const std::string &value) {
      for (size_t at; (at = code.find(name)) != std::string::npos;)
        code.replace(at, name.size(), value);
    };
    put("$Kind", kind->cppName());
    put("$Args", kind->cppName() + "Args");
    put("$T", in.str());
    put("$U", out.str());
    put("$V", std::to_string(width));
    return code;
  }
};

/// Element type in Types.h, and bytes of an element.
std::pair<std::string, int64_t> dtypeOf(const Record *family, StringRef name) {
  int64_t bits = 0;
  StringRef digits = name.ltrim("bfi");
  if (digits.getAsInteger(10, bits) || bits % 16 != 0)
    PrintFatalError(family, "'" + name + "' is not an element type");
  return {name.upper(), bits / 8};
}

void checkFamily(const Record *family) {
  if (family->getValueAsBit("everyPointwise") !=
      family->getValueAsListOfDefs("kinds").empty())
    PrintFatalError(family, "'" + family->getName() +
                                "' has either kinds or everyPointwise");
  if (family->getValueAsString("workspace").empty() !=
      family->getValueAsString("workspaceCap").empty())
    PrintFatalError(family, "'" + family->getName() +
                                "' has a workspace without cap, or a cap "
                                "without workspace");
}

/// All kernels: by kind, then by preference of their families.
std::vector<Kernel> allKernels(const RecordKeeper &records,
                               const std::vector<Primitive> &kinds) {
  std::vector<const Record *> families =
      records.getAllDerivedDefinitions("KernelFamily");
  llvm::stable_sort(families, [](const Record *a, const Record *b) {
    return a->getValueAsInt("preference") < b->getValueAsInt("preference");
  });
  for (const Record *family : families)
    checkFamily(family);
  std::vector<Kernel> kernels;
  llvm::StringSet<> names;
  for (const Primitive &kind : kinds)
    for (const Record *family : families) {
      bool takesKind =
          family->getValueAsBit("everyPointwise")
              ? kind.isPointwise()
              : llvm::is_contained(family->getValueAsListOfDefs("kinds"),
                                   kind.record);
      for (const Record *v : family->getValueAsListOfDefs("variants")) {
        if (!takesKind)
          continue;
        kernels.push_back({family, &kind, v->getValueAsString("input"),
                           v->getValueAsString("output"),
                           v->getValueAsInt("width")});
        std::string kid = kernels.back().kid();
        if (!names.insert((family->getValueAsString("device") + kid).str())
                 .second)
          PrintFatalError(family, "there are two kernels '" + kid + "'");
      }
    }
  return kernels;
}

bool emitRows(const RecordKeeper &records, raw_ostream &os) {
  std::vector<Primitive> kinds = allPrimitives(records);
  emitFileTop("Rows.def", "every kernel of every device", "", os);
  os << "// AICF_ROW(KID, kind, device, provider, math, dtype of operand 0, of "
        "result 0,\n//          width, alignment in bytes, condition, "
        "workspace, "
        "its cap in bytes,\n//          selection, fuses for free)\n// The "
        "columns are explained in "
        "KernelFamily.td.\n//===-------------------------------------------"
        "---------------------------===//\n// clang-format off\n\n";
  for (const Kernel &k : allKernels(records, kinds)) {
    auto [in, bytes] = dtypeOf(k.family, k.in);
    auto function = [&](StringRef kind, StringRef field) {
      StringRef name = k.text(field);
      return name.empty()
                 ? std::string("nullptr")
                 : (kind + "(" + k.kind->cppName() + ", " + name + ")").str();
    };
    int64_t alignment = k.family->getValueAsInt("alignment");
    StringRef cap = k.text("workspaceCap");
    os << "AICF_ROW(" << k.kid() << ", " << k.kind->cppName() << ", "
       << k.text("device") << ", " << k.text("provider") << ", "
       << k.text("math") << ", " << in << ", " << dtypeOf(k.family, k.out).first
       << ", " << k.width << ", " << (alignment ? alignment : bytes) << ", "
       << function("AICF_CONDITION", "condition") << ", "
       << function("AICF_WORKSPACE", "workspace") << ", "
       << (cap.empty() ? StringRef("0") : cap) << ", " << k.text("selection")
       << ", " << (k.family->getValueAsBit("fusesForFree") ? "true" : "false")
       << ")\n";
  }
  os << "\n#undef AICF_ROW\n";
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
      sections[(k.text("unit") + "_" + k.text("device")).str()].push_back(k);
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
mlir::GenRegistration header("gen-abi-header", "Generate the ABI header",
                             emitHeader);
mlir::GenRegistration views("gen-op-views", "Generate typed views of a call",
                            emitViews);
mlir::GenRegistration functors("gen-functors",
                               "Generate functors of pointwise primitives",
                               emitFunctors);
mlir::GenRegistration python("gen-python-table",
                             "Generate the Python struct formats", emitPython);

} // namespace

int main(int argc, char **argv) { return mlir::MlirTblgenMain(argc, argv); }
