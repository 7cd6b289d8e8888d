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
// and from the `KernelFamily` and `BodyPattern` records
//   -gen-patterns            kernels/Patterns.inc
//   -gen-primitive-doc       docs/Primitives.md
//   -gen-kernel-rows         kernels/Rows.def
//   -gen-kernel-definitions  kernels/Definitions.inc
// and from the ops of the aicf dialect (PythonOps.cpp)
//   -gen-python-ops          python/aicf/ops.py
// All are committed; the test abi-up-to-date compares them. Ops themselves come
// from mlir-tblgen.
//===----------------------------------------------------------------------===//

#include "mlir/TableGen/GenInfo.h"
#include "mlir/Tools/mlir-tblgen/MlirTblgenMain.h"

#include "llvm/ADT/SmallSet.h"
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
  bool isInferred = false;
  bool isVariadic() const { return presence == "Variadic"; }
  bool isOptional() const { return presence == "Optional"; }
};

/// One AICFRT_Primitive record.
struct Primitive {
  const Record *record;
  StringRef name, fourcc, phase, precision, keepsZeros;
  int64_t kind;
  size_t numConstraints;
  std::vector<Field> fields;
  std::vector<Operand> operands, results;
  std::vector<std::pair<size_t, size_t>> ties;
  const DagInit *scalar;

  std::string cppName() const {
    return convertToCamelFromSnakeCase(name, /*capitalizeFirst=*/true);
  }
  bool hasVariadic() const { return operands.front().isVariadic(); }
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
                   o->getValueAsString(isResult ? "of" : "like"),
                   isResult && o->getValueAsBit("isInferred")});
  for (size_t i = 1; i < all.size(); ++i)
    if (all[i].isVariadic())
      PrintFatalError(record, "'" + all[i].name +
                                  "' is variadic, so it must stand first");
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
  for (const Operand &r : p.results)
    require(!r.isOptional() || &r == &p.results.back(),
            r.name + " may be absent, so it must be the last result");
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
  p.kind = record->getValueAsInt("kind");
  p.keepsZeros = factOf(record, "keepsZeros");
  p.phase = factOf(record, "phase");
  p.precision = factOf(record, "precision");
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
  llvm::SmallSet<int64_t, 16> reserved;
  for (const Record *r :
       records.getAllDerivedDefinitions("AICFRT_ReservedKind"))
    reserved.insert(r->getValueAsInt("kind"));
  int64_t next = 0;
  for (const Primitive &p : all) {
    while (reserved.contains(next))
      ++next;
    if (p.kind != next++)
      PrintFatalError(p.record, "op kinds must be 0..n-1, each used once; '" +
                                    p.name + "' has " + Twine(p.kind) +
                                    " where " + Twine(next - 1) +
                                    " is expected");
  }
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
  os << ",\n     " << (p.hasVariadic() ? "true" : "false") << ", "
     << p.numConstraints << ",\n     Phase::" << p.phase
     << ", Precision::" << p.precision << ", "
     << "KeepsZeros::" << p.keepsZeros << "},\n";
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

/// A variadic operand stands first, and takes an index.
void emitAccessors(const Primitive &p, ArrayRef<Operand> all, StringRef side,
                   raw_ostream &os) {
  bool isIn = side == "In";
  StringRef get = isIn ? "inAt" : "outAt";
  for (auto [i, o] : llvm::enumerate(all)) {
    std::string at = std::to_string(i);
    if (o.isVariadic()) {
      os << "  decltype(auto) " << o.name
         << "(size_t i) const { return this->inAt(i); "
         << "}\n";
      continue;
    }
    if (isIn && p.hasVariadic())
      at = "num" + convertToCamelFromSnakeCase(p.operands[0].name, true) +
           "() - 1 + " + at;
    if (o.isOptional())
      os << "  auto " << o.name << "() const { return this->optional" << side
         << "At(" << at << "); }\n";
    else
      os << "  decltype(auto) " << o.name << "() const { return this->" << get
         << "(" << at << "); }\n";
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
  if (p.hasVariadic())
    os << "  size_t num"
       << convertToCamelFromSnakeCase(p.operands[0].name, true)
       << "() const { return this->numIns() - " << p.operands.size() - 1
       << "; }\n";
  emitAccessors(p, p.operands, "In", os);
  emitAccessors(p, p.results, "Out", os);
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

/// A body of several primitives: see BodyPattern.
struct Element {
  StringRef name;
  const Primitive *kind;
  bool isOptional;
};
struct Place {
  size_t element, slot;
  bool isResult;
};
struct Pattern {
  const Record *record;
  StringRef name;
  std::vector<Element> elements;
  int64_t maxGroups; ///< of a BatchPattern, or 0

  std::string cppName() const {
    return convertToCamelFromSnakeCase(name, /*capitalizeFirst=*/true);
  }
  /// "gemm.c".
  Place place(StringRef text) const {
    text = text.trim();
    auto [element, name] = text.split('.');
    for (auto [i, e] : llvm::enumerate(elements)) {
      if (e.name != element)
        continue;
      auto find = [&](ArrayRef<Operand> all) {
        return llvm::find_if(all, [&](auto &o) { return o.name == name; }) -
               all.begin();
      };
      if (size_t at = find(e.kind->operands); at < e.kind->operands.size())
        return {i, at, false};
      if (size_t at = find(e.kind->results); at < e.kind->results.size())
        return {i, at, true};
    }
    PrintFatalError(record, "'" + this->name + "' has no '" + text + "'");
  }
  /// Empty for a field of BatchPattern where this is none.
  std::vector<StringRef> list(StringRef field) const {
    return record->getValue(field) ? record->getValueAsListOfStrings(field)
                                   : std::vector<StringRef>();
  }
  bool takes(StringRef text, bool asResult) const {
    return place(text).isResult == asResult;
  }
};

std::vector<Pattern> allBodyPatterns(const RecordKeeper &records,
                                     const std::vector<Primitive> &kinds) {
  std::vector<Pattern> all;
  for (const Record *r : records.getAllDerivedDefinitions("BodyPattern")) {
    Pattern p{r, r->getValueAsString("name"), {}, 0};
    if (r->getValue("maxGroups"))
      p.maxGroups = r->getValueAsInt("maxGroups");
    for (const Record *e : r->getValueAsListOfDefs("elements")) {
      const Record *kind = e->getValueAsDef("kind");
      auto it = llvm::find_if(
          kinds, [&](const Primitive &k) { return k.record == kind; });
      p.elements.push_back(
          {e->getValueAsString("name"), &*it, e->getValueAsBit("isOptional")});
    }
    if (p.elements.size() < 2 || p.elements.size() > 8 ||
        p.elements[0].isOptional)
      PrintFatalError(r, "'" + p.name +
                             "' must have 2 to 8 elements, the first of which "
                             "is there");
    all.push_back(std::move(p));
  }
  return all;
}

void emitPatternView(const Pattern &p, raw_ostream &os) {
  std::string name = p.cppName() + "View";
  os << "\n/// Pattern " << p.name << "\ntemplate <typename Call> struct "
     << name << " : PatternView<Call> {\n  " << name
     << "(const Call &call)\n      : PatternView<Call>(call, *patternOf("
        "patterns::"
     << p.cppName() << ")) {}\n";
  for (auto [i, e] : llvm::enumerate(p.elements)) {
    std::string view = e.kind->cppName() + "View<Call>";
    StringRef parameter = p.maxGroups ? "size_t group" : "";
    StringRef argument = p.maxGroups ? ", group" : "";
    os << "  " << (e.isOptional ? "std::optional<" + view + ">" : view) << " "
       << e.name << "(" << parameter << ") const { return this->template "
       << (e.isOptional ? "optionalElement" : "element") << "<" << view << ">("
       << i << argument << "); }\n";
  }
  os << "};\n";
}

bool emitViews(const RecordKeeper &records, raw_ostream &os) {
  std::vector<Primitive> all = allPrimitives(records);
  std::vector<Pattern> patterns = allBodyPatterns(records, all);
  emitFileTop("OpViews.h", "operands, results and fields by name",
              "AICF_KERNELS_OPVIEWS_H", os);
  os << "#include \"kernels/CallView.h\"\n#include \"aicf/Ops.h\"\n\n"
        "#include <array>\n\nnamespace aicf {\n// clang-format off\n";
  for (const Primitive &p : all)
    emitView(p, os);
  for (const Pattern &p : patterns)
    emitPatternView(p, os);
  os << "\n/// X(Kind): every kind.\n#define AICF_KINDS(X)";
  for (const Primitive &p : all)
    os << " \\\n  X(" << p.cppName() << ")";
  os << "\n\n/// X(Pattern): every pattern of several.\n"
        "#define AICF_PATTERNS(X)";
  for (const Pattern &p : patterns)
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
  os << "\n\n/// X(op, View, result): every result that may stand inside a "
        "body.\n#define AICF_INFERRED_RESULTS(X)";
  for (const Primitive &p : all)
    for (const Operand &r : p.results)
      if (r.isInferred)
        os << " \\\n  X(" << p.name << ", " << p.cppName() << ", " << r.name
           << ")";
  os << "\n// clang-format on\n\n} // namespace aicf\n\n#endif // "
        "AICF_KERNELS_OPVIEWS_H\n";
  return false;
}

//===----------------------------------------------------------------------===//
// Functors.h
//===----------------------------------------------------------------------===//

/// The two languages of definitions: kernels' functors, and what builds IR.
struct Language {
  StringRef functions; ///< in front of a function's name
  bool picksBySelect;  ///< a function, not `?:`
  std::string (*field)(StringRef name, bool isNumber);
};
constexpr Language kFunctors = {"scalar::", false, [](StringRef name, bool) {
                                  return ("attrs." + name).str();
                                }};
constexpr Language kBuilders = {
    "", true, [](StringRef name, bool isNumber) {
      return "op.get" + convertToCamelFromSnakeCase(name, true) +
             (isNumber ? "().convertToDouble()" : "()");
    }};

/// The C++ expression of a node of a scalar definition.
std::string expressionOf(const Primitive &p, const Init *node, StringRef name,
                         const Language &in) {
  if (const auto *text = dyn_cast<StringInit>(node))
    return ("C(" + text->getValue() + ")").str();
  if (const auto *number = dyn_cast<IntInit>(node))
    return "C(" + std::to_string(number->getValue()) + ")";
  if (isa<UnsetInit>(node)) {
    for (const Field &f : p.fields)
      if (f.name == name) {
        bool isNumber = f.type == "double";
        return (isNumber ? "C(" : "(") + in.field(name, isNumber) + ")";
      }
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
    args.push_back(expressionOf(p, dag->getArg(i), dag->getArgNameStr(i), in));
  // A field is known where IR is built; `?:` computes one side only.
  if (op->getName() == "pick" &&
      (!in.picksBySelect || isa<UnsetInit>(dag->getArg(0))))
    return "(" + args[0] + " ? " + args[1] + " : " + args[2] + ")";
  return (in.functions + op->getValueAsString("cpp") + "(" + join(args, ", ") +
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
       << ";\n  template <typename C>\n  AICF_HOST_DEVICE static C "
          "apply([[maybe_unused]] const Attrs &attrs, ";
    interleaveComma(p.operands, os, [&](const Operand &o) {
      os << "[[maybe_unused]] C " << o.name;
    });
    os << ") {\n    return " << expressionOf(p, p.scalar, "", kFunctors)
       << ";\n  }\n};\n";
  }
  os << "\n// clang-format on\n} // namespace aicf::functor\n\n#endif // "
        "AICF_KERNELS_POINTWISE_FUNCTORS_H\n";
  return false;
}

//===----------------------------------------------------------------------===//
// Definitions.h.inc of lib/Conversion/AICFToLinalg
//===----------------------------------------------------------------------===//

bool emitBuilders(const RecordKeeper &records, raw_ostream &os) {
  os << "// Generated by aicf-tblgen from kernels/<family>/Family.td.\n";
  std::vector<std::string> ops;
  for (const Primitive &p : allPrimitives(records)) {
    if (!p.isPointwise())
      continue;
    ops.push_back("step::" + p.cppName() + "Op");
    os << "\n/// " << p.record->getValueAsString("summary")
       << "\ninline Scalar definitionOf([[maybe_unused]] " << ops.back()
       << " op, llvm::ArrayRef<Scalar> in) {\n"
          "  [[maybe_unused]] auto C = [&](double number) { return "
          "in[0].constant(number); };\n";
    for (auto [i, operand] : enumerate(p.operands))
      os << "  [[maybe_unused]] Scalar " << operand.name << " = in[" << i
         << "];\n";
    os << "  return " << expressionOf(p, p.scalar, "", kBuilders) << ";\n}\n";
  }
  os << "\nusing PointwiseOps = std::tuple<" << join(ops, ", ") << ">;\n";
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
  StringRef pattern;   ///< of a kind, or of several
  std::string cppName; ///< of the same
  StringRef in, out;
  int64_t width;

  StringRef text(StringRef field) const {
    return family->getValueAsString(field);
  }
  /// Of a field that is an enumerator.
  StringRef fact(StringRef field) const { return factOf(family, field); }
  std::string kid() const {
    std::string in(this->in), types = in;
    if (fact("math") == "TF32")
      types = "tf32";
    StringRef rule = fact("kidTypes");
    if (rule == "Both" || (rule == "Different" && in != out))
      types += ("_" + out).str();
    std::string name = (pattern + "_" + types).str();
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
    put("$Kind", cppName);
    put("$Args", cppName + "Args");
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
  if (family->getValueAsBit("everyPointwise") +
          !family->getValueAsListOfDefs("kinds").empty() +
          !family->getValueAsListOfDefs("patterns").empty() !=
      1)
    PrintFatalError(family, "'" + family->getName() +
                                "' has either kinds, patterns or "
                                "everyPointwise");
  if (family->getValueAsString("workspace").empty() !=
      family->getValueAsString("workspaceCap").empty())
    PrintFatalError(family, "'" + family->getName() +
                                "' has a workspace without cap, or a cap "
                                "without workspace");
}

/// Row by row: kinds, then patterns, in each the families by preference.
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
  auto add = [&](const Record *family, StringRef pattern,
                 const std::string &cppName) {
    for (const Record *v : family->getValueAsListOfDefs("variants")) {
      kernels.push_back({family, pattern, cppName, v->getValueAsString("input"),
                         v->getValueAsString("output"),
                         v->getValueAsInt("width")});
      std::string kid = kernels.back().kid();
      if (!names.insert((kernels.back().fact("device") + kid).str()).second)
        PrintFatalError(family, "there are two kernels '" + kid + "'");
    }
  };
  for (const Primitive &kind : kinds)
    for (const Record *family : families)
      if (family->getValueAsBit("everyPointwise")
              ? kind.isPointwise()
              : llvm::is_contained(family->getValueAsListOfDefs("kinds"),
                                   kind.record))
        add(family, kind.name, kind.cppName());
  for (const Pattern &pattern : allBodyPatterns(records, kinds))
    for (const Record *family : families)
      if (llvm::is_contained(family->getValueAsListOfDefs("patterns"),
                             pattern.record))
        add(family, pattern.name, pattern.cppName());
  return kernels;
}

//===----------------------------------------------------------------------===//
// Patterns.inc
//===----------------------------------------------------------------------===//

/// Groups have the same optional operands: shared ones, and what the pattern
/// says of the others.
void checkGroups(const Pattern &p) {
  llvm::StringSet<> known;
  for (StringRef field : {"shared", "has", "hasNot"})
    for (StringRef text : p.list(field))
      known.insert(text);
  for (const Element &e : p.elements)
    for (const Operand &operand : e.kind->operands) {
      std::string place = (e.name + "." + operand.name).str();
      if (operand.isOptional() && !known.contains(place))
        PrintFatalError(p.record, "'" + p.name +
                                      "': groups could differ in whether '" +
                                      place + "' is there");
    }
}

/// One of the tables of a pattern, and what follows it in a list.
void emitSpan(const Pattern &p, StringRef suffix, size_t size,
              raw_ostream &os) {
  if (size == 0)
    os << "{}, ";
  else
    os << "{k" << p.cppName() << suffix << ", " << size << "}, ";
}

void emitPatternTables(const Pattern &p, raw_ostream &os) {
  if (p.maxGroups > 0)
    checkGroups(p);
  std::string name = "k" + p.cppName();
  auto require = [&](bool holds, const Twine &what) {
    if (!holds)
      PrintFatalError(p.record, "'" + p.name + "': " + what);
  };
  auto at = [&](StringRef text, bool isResult) {
    Place place = p.place(text);
    require(place.isResult == isResult,
            "'" + text + "' is " + (isResult ? "no result" : "no operand"));
    return "{" + std::to_string(place.element) + ", " +
           std::to_string(place.slot) + "}";
  };
  auto table = [&](StringRef type, StringRef suffix,
                   const std::vector<std::string> &rows) {
    if (!rows.empty())
      os << "constexpr " << type << " " << name << suffix << "[] = {"
         << join(rows, ", ") << "};\n";
  };
  std::vector<std::string> elements, bindings, keeps, mayKeep, ties, presences,
      shared;
  llvm::SmallPtrSet<const Record *, 8> seen;
  for (const Element &e : p.elements) {
    require(seen.insert(e.kind->record).second,
            "two elements are '" + e.kind->name +
                "', so a call could be either");
    require(!e.kind->hasVariadic(),
            "'" + e.name + "' takes any number of operands");
    elements.push_back(("{\"" + e.name + "\", OpKind::" + e.kind->cppName() +
                        ", " + (e.isOptional ? "true" : "false") + "}")
                           .str());
  }
  for (StringRef text : p.list("bindings")) {
    auto [operand, to] = text.split('=');
    bool isResult = p.place(to).isResult;
    require(p.place(to).element < p.place(operand).element,
            "'" + text + "' refers to no element before");
    require(!p.elements[p.place(to).element].isOptional,
            "'" + text + "' refers to an element that may be absent");
    bindings.push_back("{" + at(operand, false) + ", " + at(to, isResult) +
                       ", " + (isResult ? "true" : "false") + "}");
  }
  auto kept = [&](StringRef text) {
    require(!p.elements[p.place(text).element].isOptional,
            "'" + text + "' is a result of an element that may be absent");
    return at(text, true);
  };
  for (StringRef text : p.list("keeps"))
    keeps.push_back(kept(text));
  for (StringRef text : p.list("mayKeep"))
    mayKeep.push_back(kept(text));
  for (StringRef text : p.list("has"))
    presences.push_back("{" + at(text, false) + ", true}");
  for (StringRef text : p.list("hasNot"))
    presences.push_back("{" + at(text, false) + ", false}");
  for (StringRef text : p.list("shared"))
    shared.push_back(at(text, false));
  for (StringRef text : p.list("ties")) {
    auto [result, operand] = text.split('=');
    ties.push_back("{" + at(result, true) + ", " + at(operand, false) + "}");
  }
  table("ElementInfo", "Elements", elements);
  table("BindingInfo", "Bindings", bindings);
  table("PlaceInfo", "Keeps", keeps);
  table("PlaceInfo", "MayKeep", mayKeep);
  table("PatternTieInfo", "Ties", ties);
  table("PresenceInfo", "Presences", presences);
  table("PlaceInfo", "Shared", shared);
  if (p.maxGroups == 0)
    return;
  os << "constexpr BatchInfo " << name << "Batch = {" << p.maxGroups << ", ";
  emitSpan(p, "Presences", presences.size(), os);
  emitSpan(p, "Shared", shared.size(), os);
  os << "};\n";
}

void emitPatternInfo(const Pattern &p, raw_ostream &os) {
  os << "    {\"" << p.name << "\", ";
  emitSpan(p, "Elements", p.elements.size(), os);
  emitSpan(p, "Bindings", p.list("bindings").size(), os);
  emitSpan(p, "Keeps", p.list("keeps").size(), os);
  emitSpan(p, "MayKeep", p.list("mayKeep").size(), os);
  emitSpan(p, "Ties", p.list("ties").size(), os);
  if (p.maxGroups)
    os << "&k" << p.cppName() << "Batch},\n";
  else
    os << "nullptr},\n";
}

bool emitPatterns(const RecordKeeper &records, raw_ostream &os) {
  std::vector<Primitive> kinds = allPrimitives(records);
  std::vector<Pattern> patterns = allBodyPatterns(records, kinds);
  emitFileTop("Patterns.inc", "bodies that kernel families take", "", os);
  os << "// AICF_PATTERN_NUMBERS: the numbers of kinds and patterns by name. "
        "AICF_PATTERN_TABLES: what the\n// patterns say.\n//===-------------"
        "---------------------------------------------------------===//\n// "
        "clang-format off\n\n#ifdef AICF_PATTERN_NUMBERS\n#undef "
        "AICF_PATTERN_NUMBERS\nnamespace patterns {\ninline constexpr "
        "PatternId\n";
  interleave(
      kinds, os,
      [&](const Primitive &k) {
        os << "    " << k.cppName() << " = " << k.kind;
      },
      ",\n");
  for (auto [i, p] : llvm::enumerate(patterns))
    os << ",\n    " << p.cppName() << " = kNumOpKinds + " << i;
  os << ";\n} // namespace patterns\n#endif\n\n#ifdef AICF_PATTERN_TABLES\n"
        "#undef AICF_PATTERN_TABLES\n";
  for (const Pattern &p : patterns)
    emitPatternTables(p, os);
  os << "constexpr PatternInfo kPatterns[] = {\n";
  for (const Pattern &p : patterns)
    emitPatternInfo(p, os);
  os << "};\n#endif\n";
  return false;
}

//===----------------------------------------------------------------------===//
// Rows.def
//===----------------------------------------------------------------------===//

/// ".field = value" for what differs from a row's defaults.
void emitRow(const Kernel &k, raw_ostream &os) {
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
  if (!k.text("condition").empty())
    os << ", .condition = AICF_CONDITION(" << k.cppName << ", "
       << k.text("condition") << ")";
  if (!k.text("workspace").empty())
    os << ", .workspace = AICF_WORKSPACE(" << k.cppName << ", "
       << k.text("workspace")
       << "), .workspaceCap = " << k.text("workspaceCap");
  if (!k.text("fullSpeed").empty())
    os << ", .fullSpeed = AICF_CONDITION(" << k.cppName << ", "
       << k.text("fullSpeed") << ")";
  if (k.fact("selection") != "Auto")
    os << ", .selection = Selection::" << k.fact("selection");
  for (StringRef flag : {"fusesForFree", "takesPads"})
    if (k.family->getValueAsBit(flag))
      os << ", ." << flag << " = true";
  os << ")\n";
}

bool emitRows(const RecordKeeper &records, raw_ostream &os) {
  std::vector<Kernel> kernels = allKernels(records, allPrimitives(records));
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

//===----------------------------------------------------------------------===//
// docs/Primitives.md
//===----------------------------------------------------------------------===//

void emitPrimitivePage(const Primitive &p, raw_ostream &os) {
  os << "\n### `" << p.name << "`\n\n_" << p.record->getValueAsString("summary")
     << "_\n\n```\n";
  interleaveComma(p.results, os, [&](const Operand &r) { os << r.name; });
  os << " = " << p.name << "(";
  StringRef separator = "";
  for (const Operand &o : p.operands) {
    os << separator << (o.isOptional() ? "[" : "") << o.name
       << (o.isOptional()   ? " = ...]"
           : o.isVariadic() ? "..."
                            : "");
    separator = ", ";
  }
  os << ")";
  separator = " {";
  for (const Field &f : p.fields) {
    os << separator << f.name << " = "
       << (f.defaultValue.empty() ? "..." : f.defaultValue);
    separator = ", ";
  }
  os << (p.fields.empty() ? "" : "}") << "\n```\n";
  // The description is indented as in the .td file.
  SmallVector<StringRef> lines;
  p.record->getValueAsString("description").trim("\n").split(lines, '\n');
  os << "\n";
  for (StringRef line : lines)
    os << (line.starts_with("    ") ? line.drop_front(4) : line) << "\n";
  for (auto [result, operand] : p.ties)
    os << "- " << p.results[result].name << " may take the storage of "
       << p.operands[operand].name << ".\n";
  if (p.keepsZeros != "No")
    os << "- Pads may be computed as values: they stay zeros"
       << (p.keepsZeros == "InColumns" ? " behind the columns" : "") << ".\n";
  os << "- Kind " << p.kind << ", phase " << p.phase << ", precision "
     << p.precision << ", attrs `<";
  for (const Field &f : p.fields)
    os << f.format;
  os << "`" << (p.fourcc.empty() ? "" : (" " + p.fourcc).str()) << ".\n";
}

void emitPatternPage(const Pattern &p, raw_ostream &os) {
  os << "\n### `" << p.name << "`\n\n";
  for (const Element &e : p.elements)
    os << "- " << e.name << ": " << e.kind->name
       << (e.isOptional ? ", perhaps" : "") << "\n";
  auto list = [&](StringRef field, StringRef what) {
    for (StringRef text : p.list(field))
      os << "- " << text << what << "\n";
  };
  list("bindings", "");
  list("keeps", " is a result of the call too");
  list("mayKeep", " may be a result of the call too");
  list("has", " is there");
  list("hasNot", " is absent");
  list("shared", " is the same for all");
  list("ties", " may be in place");
  if (p.maxGroups)
    os << "- up to " << p.maxGroups << " times, with the same fields\n";
}

bool emitPages(const RecordKeeper &records, raw_ostream &os) {
  std::vector<Primitive> all = allPrimitives(records);
  os << "What a call's body is made of. The same records make the ops of the "
        "`aicf` dialect, the\nrules, the ABI and the kernel table.\n\n## "
        "Primitives\n";
  for (const Primitive &p : all)
    emitPrimitivePage(p, os);
  os << "\n## Bodies of several\n\nPatterns that a kernel family takes in one "
        "call; `--aicf-rt-fuse-calls` and\n`--aicf-rt-batch-calls` form "
        "them, the loader refuses any other.\n";
  for (const Pattern &p : allBodyPatterns(records, all))
    emitPatternPage(p, os);
  return false;
}

mlir::GenRegistration pages("gen-primitive-doc",
                            "Generate the primitives' page", emitPages);
mlir::GenRegistration rows("gen-kernel-rows", "Generate the kernel table",
                           emitRows);
mlir::GenRegistration patterns("gen-patterns", "Generate body patterns",
                               emitPatterns);
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
mlir::GenRegistration builders("gen-scalar-builders",
                               "Generate definitions of pointwise primitives "
                               "that build IR",
                               emitBuilders);
mlir::GenRegistration python("gen-python-table",
                             "Generate the Python struct formats", emitPython);

} // namespace

int main(int argc, char **argv) { return mlir::MlirTblgenMain(argc, argv); }
