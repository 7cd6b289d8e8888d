//===- PatternTables.cpp - lib/Ops/Patterns.inc ---------------------------===//
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

/// One of the tables of a pattern, and what follows it in a list.
void emitSpan(const Pattern &p, StringRef suffix, size_t size,
              raw_ostream &os) {
  if (size == 0)
    os << "{}, ";
  else
    os << "{k" << p.cppName() << suffix << ", " << size << "}, ";
}

/// Writes the tables of one pattern.
class TableWriter {
public:
  TableWriter(const Pattern &pattern, raw_ostream &os) : p(pattern), os(os) {}

  void write() const {
    table("NodeInfo", "Nodes", map(p.nodes, [](const Node &e) {
            return ("\"" + e.name + "\", OpKind::" + e.kind->cppName() + ", " +
                    (e.isOptional ? "true" : "false"))
                .str();
          }));
    table("BindingInfo", "Bindings", map(p.bindings, [](const Binding &b) {
            return at(b.operand) + ", " + at(b.to) + ", " +
                   (b.to.isResult ? "true" : "false");
          }));
    places("Keeps", p.places("keeps", /*isResult=*/true));
    places("MayKeep", p.places("mayKeep", /*isResult=*/true));
    table("PatternTieInfo", "Ties", map(p.ties, [](const PatternTie &tie) {
            return at(tie.result) + ", " + at(tie.operand);
          }));
    if (p.maxGroups)
      writeBatch();
    if (p.isGraph)
      writeGraph();
  }

private:
  static std::string at(NodeSlot place) {
    return "{" + std::to_string(place.node) + ", " +
           std::to_string(place.slot) + "}";
  }
  template <typename T, typename Text>
  static std::vector<std::string> map(const std::vector<T> &all, Text text) {
    std::vector<std::string> rows;
    for (const T &each : all)
      rows.push_back("{" + text(each) + "}");
    return rows;
  }
  void table(StringRef type, StringRef suffix,
             const std::vector<std::string> &rows) const {
    if (!rows.empty())
      os << "constexpr " << type << " k" << p.cppName() << suffix << "[] = {"
         << join(rows, ", ") << "};\n";
  }
  void places(StringRef suffix, const std::vector<NodeSlot> &all) const {
    std::vector<std::string> rows;
    for (NodeSlot place : all)
      rows.push_back(at(place));
    table("NodeSlot", suffix, rows);
  }
  void writeBatch() const {
    std::vector<std::string> presences;
    for (StringRef field : {"has", "hasNot"})
      for (NodeSlot place : p.places(field, /*isResult=*/false))
        presences.push_back("{" + at(place) +
                            (field == "has" ? ", true}" : ", false}"));
    table("PresenceInfo", "Presences", presences);
    places("Shared", p.places("shared", /*isResult=*/false));
    os << "constexpr BatchInfo k" << p.cppName() << "Batch = {" << p.maxGroups
       << ", ";
    emitSpan(p, "Presences", presences.size(), os);
    emitSpan(p, "Shared", p.list("shared").size(), os);
    os << (p.hasOwnFields() ? "true" : "false") << "};\n";
  }

  void writeGraph() const {
    os << "constexpr GraphInfo k" << p.cppName() << "Graph = {"
       << p.record->getValueAsInt("maxPrimitives") << ", "
       << p.record->getValueAsInt("maxOperands") << ", "
       << p.record->getValueAsInt("maxResults") << ", "
       << p.record->getValueAsInt("maxSums") << ", "
       << p.record->getValueAsInt("maxReductions") << "};\n";
  }

  const Pattern &p;
  raw_ostream &os;
};

void emitPatternInfo(const Pattern &p, raw_ostream &os) {
  os << "    {\"" << p.name << "\", ";
  emitSpan(p, "Nodes", p.nodes.size(), os);
  emitSpan(p, "Bindings", p.list("bindings").size(), os);
  emitSpan(p, "Keeps", p.list("keeps").size(), os);
  emitSpan(p, "MayKeep", p.list("mayKeep").size(), os);
  emitSpan(p, "Ties", p.list("ties").size(), os);
  auto emitExtra = [&](bool isThere, StringRef suffix, StringRef end) {
    if (isThere)
      os << "&k" << p.cppName() << suffix << end;
    else
      os << "nullptr" << end;
  };
  emitExtra(p.maxGroups, "Batch", ", ");
  emitExtra(p.isGraph, "Graph", "},\n");
}

/// The primitive that an elementwise one is with an operand that is repeated.
void emitSpread(const Primitive &p, const std::vector<Primitive> &kinds,
                raw_ostream &os) {
  StringRef operand = p.record->getValueAsString("spreadOperand");
  StringRef as = p.record->getValueAsString("spreadAs");
  if (operand.empty())
    return;
  auto kind = llvm::find_if(
      kinds, [&](const Primitive &other) { return other.name == as; });
  const bool isItself = as == p.name;
  if (kind == kinds.end() || (!isItself && !kind->isElementwise()) ||
      kind->operands.size() != p.operands.size() ||
      (!isItself && (p.fields.size() != 1 || p.fields[0].name != "axis")))
    PrintFatalError(p.record, "'" + p.name + "' is not '" + as +
                                  "' with an operand that is repeated along "
                                  "all dimensions but `axis`");
  os << "    {OpKind::" << p.cppName() << ", "
     << positionOf(p.record, p.operands, operand)
     << ", OpKind::" << kind->cppName() << "},\n";
}

/// The enum of the Provider records, by name.
void emitProviders(const RecordKeeper &records, raw_ostream &os) {
  std::vector<const Record *> all =
      records.getAllDerivedDefinitions("Provider");
  os << "\n#ifdef AICF_KERNEL_PROVIDERS\n#undef AICF_KERNEL_PROVIDERS\n"
        "enum class KernelProvider : uint8_t { ";
  interleaveComma(all, os, [&](const Record *provider) {
    os << provider->getValueAsString("cpp");
  });
  os << " };\nconstexpr bool isOurs(KernelProvider provider) {\n  return false";
  for (const Record *provider : all)
    if (provider->getValueAsBit("isOurs"))
      os << " ||\n         provider == KernelProvider::"
         << provider->getValueAsString("cpp");
  os << ";\n}\n#endif\n";
}

bool emitPatterns(const RecordKeeper &records, raw_ostream &os) {
  std::vector<Primitive> kinds = allPrimitives(records);
  std::vector<Pattern> patterns = allBodyPatterns(records, kinds);
  emitFileTop("Patterns.inc", "bodies that kernel families take", "", os);
  os << "// AICF_PATTERN_NUMBERS: the numbers of kinds and patterns by name. "
        "AICF_PATTERN_TABLES: what the\n// patterns say. AICF_SPREAD_TABLE, "
        "AICF_ROW_TABLE, AICF_KERNEL_PROVIDERS: what records say.\n//===-------------"
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
    TableWriter(p, os).write();
  os << "constexpr PatternInfo kPatterns[] = {\n";
  for (const Pattern &p : patterns)
    emitPatternInfo(p, os);
  os << "};\n#endif\n\n#ifdef AICF_SPREAD_TABLE\n#undef AICF_SPREAD_TABLE\n"
        "constexpr SpreadInfo kSpreads[] = {\n";
  for (const Primitive &p : kinds)
    emitSpread(p, kinds, os);
  os << "};\n#endif\n";
  emitRowDefinitions(kinds, os);
  emitProviders(records, os);
  return false;
}

mlir::GenRegistration patterns("gen-patterns", "Generate body patterns",
                               emitPatterns);

} // namespace
