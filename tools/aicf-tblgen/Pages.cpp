//===- Pages.cpp - the page of primitives ---------------------------------===//
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

/// What a graph is, GraphPattern in KernelFamily.td says.
void emitGraphLimits(const Pattern &p, raw_ostream &os) {
  auto limit = [&](StringRef name) { return p.record->getValueAsInt(name); };
  os << "- 2 to " << limit("maxPrimitives")
     << (p.nodes.empty() ? " primitives: elementwise ones"
                         : " primitives: that product, and elementwise ones")
     << ", whichever they are"
     << (limit("maxSums") ? ", and sums"
         : limit("maxReductions")
             ? ", sums and means, expand, and those that are "
               "defined by rows, such as softmax"
             : "")
     << "\n- up to " << limit("maxOperands") << " operands and "
     << limit("maxResults") << " results\n";
  if (limit("maxSums"))
    os << "- 1 to " << limit("maxSums")
       << " sums or means of the others, which none of them reads\n";
  if (limit("maxReductions")) {
    os << "- 1 to " << limit("maxReductions")
       << " reductions, and something inside reads one of them\n- what is "
          "left of them is repeated by expand where whole tensors read it\n- "
          "each result that is whole may be in place on each operand that is\n";
    return;
  }
  os << "- each result" << (limit("maxSums") ? ", but no sum," : "")
     << " may be in place on each operand"
     << (p.nodes.empty() ? "" : " but those that the product multiplies")
     << "\n";
}

void emitPatternPage(const Pattern &p, raw_ostream &os) {
  os << "\n### `" << p.name << "`\n\n";
  for (const Node &e : p.nodes)
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
    os << "- up to " << p.maxGroups << " times"
       << (p.hasOwnFields() ? "" : ", with the same fields") << "\n";
  if (p.isGraph)
    emitGraphLimits(p, os);
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

} // namespace
