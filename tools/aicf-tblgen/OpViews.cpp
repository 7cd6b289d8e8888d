//===- OpViews.cpp - lib/Ops/OpViews.h ------------------------------------===//
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

void emitPatternView(const Pattern &p, raw_ostream &os) {
  std::string name = p.cppName() + "View";
  if (p.isGraph) {
    os << "\n/// Pattern " << p.name << "\ntemplate <typename Call> struct "
       << name << " : GraphView<Call> {\n  using GraphView<Call>::GraphView;\n};\n";
    return;
  }
  os << "\n/// Pattern " << p.name << "\ntemplate <typename Call> struct "
     << name << " : PatternView<Call> {\n  " << name
     << "(const Call &call)\n      : PatternView<Call>(call, *patternOf("
        "patterns::"
     << p.cppName() << ")) {}\n";
  for (auto [i, e] : llvm::enumerate(p.nodes)) {
    std::string view = e.kind->cppName() + "View<Call>";
    StringRef parameter = p.maxGroups ? "size_t group" : "";
    StringRef argument = p.maxGroups ? ", group" : "";
    os << "  " << (e.isOptional ? "std::optional<" + view + ">" : view) << " "
       << e.name << "(" << parameter << ") const { return this->template "
       << (e.isOptional ? "optionalNode" : "node") << "<" << view << ">("
       << i << argument << "); }\n";
  }
  os << "};\n";
}

bool emitViews(const RecordKeeper &records, raw_ostream &os) {
  std::vector<Primitive> all = allPrimitives(records);
  std::vector<Pattern> patterns = allBodyPatterns(records, all);
  emitFileTop("OpViews.h", "operands, results and fields by name",
              "AICF_LIB_OPS_OPVIEWS_H", os);
  os << "#include \"lib/Ops/CallView.h\"\n#include \"aicf/Ops.h\"\n\n"
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
  os << "\n\n/// X(op, View): every kind whose operations a rule counts.\n"
        "#define AICF_COUNTED_FLOPS(X)";
  for (const Primitive &p : all)
    if (factOf(p.record, "flops") == "OfRule")
      os << " \\\n  X(" << p.name << ", " << p.cppName() << ")";
  os << "\n\n/// X(View): every kind that only moves elements.\n"
        "#define AICF_WITHOUT_FLOPS(X)";
  for (const Primitive &p : all)
    if (factOf(p.record, "flops") == "None")
      os << " \\\n  X(" << p.cppName() << ")";
  os << "\n\n/// X(View, operand, result): every operand of which as many "
        "elements are read as\n/// the result has.\n"
        "#define AICF_LOOKED_UP(X)";
  for (const Primitive &p : all)
    for (const Record *o : p.record->getValueAsListOfDefs("operandList"))
      if (StringRef result = o->getValueAsString("lookedUp"); !result.empty())
        os << " \\\n  X(" << p.cppName() << ", "
           << positionOf(p.record, p.operands, o->getValueAsString("name"))
           << ", " << positionOf(p.record, p.results, result) << ")";
  os << "\n// clang-format on\n\n} // namespace aicf\n\n#endif // "
        "AICF_LIB_OPS_OPVIEWS_H\n";
  return false;
}

mlir::GenRegistration views("gen-op-views", "Generate typed views of a call",
                            emitViews);

} // namespace
