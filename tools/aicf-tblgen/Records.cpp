//===- Records.cpp - the records of kernels/, as back ends see them -------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Records.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SmallSet.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace aicf::tblgen;

/// The enumerator of a fact that every record must state.
StringRef aicf::tblgen::factOf(const Record *record, StringRef fact) {
  if (record->isValueUnset(fact))
    PrintFatalError(record, "'" + record->getName() + "' does not say its " +
                                fact + ": passes ask for it");
  return record->getValueAsDef(fact)->getValueAsString("cpp");
}

size_t aicf::tblgen::positionOf(const Record *record, ArrayRef<Operand> all,
                                StringRef name) {
  for (auto [i, o] : llvm::enumerate(all))
    if (o.name == name)
      return i;
  PrintFatalError(record, "no operand or result is called '" + name + "'");
}

static std::vector<Operand> parseOperands(const Record *record, StringRef list,
                                          bool isResult) {
  std::vector<Operand> all;
  for (const Record *o : record->getValueAsListOfDefs(list))
    all.push_back({o->getValueAsString("name"), o->getValueAsString("presence"),
                   o->getValueAsDef("elementTypes")->getValueAsString("cpp"),
                   isResult ? o->getValueAsString("rule") : "",
                   o->getValueAsString(isResult ? "of" : "like"),
                   isResult && o->getValueAsBit("isInferred"),
                   isResult ? "" : o->getValueAsString("indexed"),
                   isResult ? "" : o->getValueAsString("exempt"),
                   isResult ? 0 : o->getValueAsInt("axis")});
  for (size_t i = 1; i < all.size(); ++i)
    if (all[i].isVariadic())
      PrintFatalError(record, "'" + all[i].name +
                                  "' is variadic, so it must stand first");
  return all;
}

/// What the rules, views and passes rely on.
static void checkConsistency(const Primitive &p) {
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
  require(!p.isElementwise() || (p.results.size() == 1 && !p.hasVariadic() &&
                                 llvm::all_of(p.operands,
                                              [](const Operand &o) {
                                                return o.presence == "Plain";
                                              })),
          "an elementwise primitive has one result and plain operands");
  require(!p.isSum() || (!p.isElementwise() && p.operands.size() == 1 &&
                         p.results.size() == 1 && p.fields.size() == 1 &&
                         p.fields[0].name == "axis"),
          "a sum has one operand, one result and the field `axis`");
  StringRef kept =
      p.record->getValueAsDef("precision")->getValueAsString("kept");
  if (!kept.empty())
    (void)positionOf(p.record, p.operands, kept);
}

static Primitive parse(const Record *record) {
  Primitive p;
  p.record = record;
  p.name = record->getValueAsString("kindName");
  p.fourcc = record->getValueAsString("fourCC");
  p.kind = record->getValueAsInt("kind");
  p.keepsZeros = factOf(record, "keepsZeros");
  p.reduction = factOf(record, "reduction");
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

/// All primitives by kind; kinds must be 0..n-1, each once, and so must be the
/// names of attr layouts.
std::vector<Primitive>
aicf::tblgen::allPrimitives(const RecordKeeper &records) {
  std::vector<Primitive> all;
  for (const Record *r : records.getAllDerivedDefinitions("Primitive"))
    all.push_back(parse(r));
  llvm::sort(all, [](const Primitive &a, const Primitive &b) {
    return a.kind < b.kind;
  });
  llvm::SmallSet<int64_t, 16> reserved;
  for (const Record *r : records.getAllDerivedDefinitions("ReservedKind"))
    reserved.insert(r->getValueAsInt("kind"));
  int64_t next = 0;
  llvm::StringMap<StringRef> byFourCC;
  for (const Primitive &p : all) {
    auto [same, isFirst] = byFourCC.try_emplace(p.fourcc, p.name);
    if (!p.fourcc.empty() && !isFirst)
      PrintFatalError(p.record, "'" + p.name + "' and '" + same->second +
                                    "' both name their attrs '" + p.fourcc +
                                    "'");
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

int aicf::tblgen::attrBytes(const Primitive &p) {
  int bytes = 0;
  for (const Field &f : p.fields)
    bytes += f.bytes();
  return bytes;
}

void aicf::tblgen::emitFileTop(StringRef path, StringRef purpose,
                               StringRef guard, raw_ostream &os) {
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

NodeSlot Pattern::place(StringRef text) const {
  text = text.trim();
  auto [node, name] = text.split('.');
  for (auto [i, e] : llvm::enumerate(nodes)) {
    if (e.name != node)
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

NodeSlot Pattern::place(StringRef text, bool isResult) const {
  NodeSlot found = place(text);
  if (found.isResult != isResult)
    PrintFatalError(record, "'" + name + "': '" + text.trim() + "' is " +
                                (isResult ? "not a result" : "not an operand"));
  return found;
}

/// Groups have the same optional operands: shared ones, and what the pattern
/// says of the others.
static void checkGroups(const Pattern &p) {
  llvm::StringSet<> known;
  for (StringRef field : {"shared", "has", "hasNot"})
    for (StringRef text : p.list(field))
      known.insert(text);
  for (const Node &e : p.nodes)
    for (const Operand &operand : e.kind->operands) {
      std::string place = (e.name + "." + operand.name).str();
      if (operand.isOptional() && !known.contains(place))
        PrintFatalError(p.record, "'" + p.name +
                                      "': groups could differ in whether '" +
                                      place + "' is there");
    }
}

/// Reads what a pattern says of its nodes, which the matcher must be able to
/// tell apart.
static void readPattern(Pattern &p) {
  auto require = [&](bool holds, const Twine &what) {
    if (!holds)
      PrintFatalError(p.record, "'" + p.name + "': " + what);
  };
  llvm::SmallPtrSet<const Record *, 8>
      absent; // of nodes that may be, till here
  for (const Node &e : p.nodes) {
    require(!absent.contains(e.kind->record),
            "a '" + e.kind->name + "' could be '" + e.name +
                "', or the node before it that may be absent");
    require(!e.kind->hasVariadic(),
            "'" + e.name + "' takes any number of operands");
    if (!e.isOptional)
      absent.clear();
    else
      absent.insert(e.kind->record);
  }
  for (StringRef text : p.list("bindings")) {
    auto [operand, to] = text.split('=');
    p.bindings.push_back({p.place(operand), p.place(to)});
    require(p.bindings.back().to.node < p.bindings.back().operand.node,
            "'" + text + "' refers to no node before");
    require(!p.nodes[p.bindings.back().to.node].isOptional,
            "'" + text + "' refers to a node that may be absent");
    (void)p.place(operand, /*isResult=*/false);
  }
  for (StringRef field : {"keeps", "mayKeep"})
    for (StringRef text : p.list(field))
      require(!p.nodes[p.place(text, /*isResult=*/true).node].isOptional,
              "'" + text + "' is a result of a node that may be absent");
  for (StringRef text : p.list("ties")) {
    auto [result, operand] = text.split('=');
    p.ties.push_back({p.place(result, /*isResult=*/true),
                      p.place(operand, /*isResult=*/false)});
  }
  for (size_t node = 1; node < p.nodes.size(); ++node) {
    auto isFound = [&](const auto &binding) {
      return binding.operand.node == node &&
             !p.nodes[node].kind->operands[binding.operand.slot].isOptional();
    };
    require(llvm::any_of(p.bindings, isFound),
            "nothing binds an operand that '" + p.nodes[node].name +
                "' always has, by which it could be found");
  }
  if (p.maxGroups > 0)
    checkGroups(p);
}

std::vector<Pattern>
aicf::tblgen::allBodyPatterns(const RecordKeeper &records,
                              const std::vector<Primitive> &kinds) {
  std::vector<Pattern> all;
  for (const Record *r : records.getAllDerivedDefinitions("BodyPattern")) {
    bool isGraph = r->getValue("maxPrimitives");
    Pattern p{r, r->getValueAsString("name"), {}, 0, isGraph, {}, {}};
    if (r->getValue("maxGroups"))
      p.maxGroups = r->getValueAsInt("maxGroups");
    for (const Record *e : r->getValueAsListOfDefs("nodes")) {
      const Record *kind = e->getValueAsDef("kind");
      auto it = llvm::find_if(
          kinds, [&](const Primitive &k) { return k.record == kind; });
      p.nodes.push_back(
          {e->getValueAsString("name"), &*it, e->getValueAsBit("isOptional")});
    }
    const size_t fewest = p.maxGroups ? 1 : 2;
    if (isGraph ? p.nodes.size() > 1
                : p.nodes.size() < fewest || p.nodes.size() > 8 ||
                      p.nodes[0].isOptional)
      PrintFatalError(r, "'" + p.name + "' must have " + Twine(fewest) +
                             " to 8 nodes, the first of which is there; a "
                             "graph has one at most");
    readPattern(p);
    all.push_back(std::move(p));
  }
  // A body is of the first pattern that it matches: a graph takes what no other
  // one does.
  llvm::stable_sort(all, [](const Pattern &a, const Pattern &b) {
    return a.isGraph < b.isGraph;
  });
  return all;
}

/// Element type in Types.h, and bytes of an element.
std::pair<std::string, int64_t> aicf::tblgen::dtypeOf(const Record *family,
                                                      StringRef name) {
  int64_t bits = 0;
  StringRef digits = name.ltrim("bfi");
  if (digits.getAsInteger(10, bits) || (bits != 1 && bits % 16 != 0))
    PrintFatalError(family, "'" + name + "' is not an element type");
  return {name.upper(), (bits + 7) / 8};
}

static void checkFamily(const Record *family) {
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

/// Whether a family for every pointwise primitive is for this one.
static bool isOfUnit(const Primitive &kind, const Record *family) {
  return kind.isPointwise() &&
         (!family->getValueAsListOfDefs("variants").empty() ||
          kind.record->getValueAsString("unit") ==
              family->getValueAsString("unit"));
}

/// Types and widths: the family's, or the pointwise primitive's.
static std::vector<const Record *>
variantsOf(const Record *family, const std::vector<const Primitive *> &of) {
  std::vector<const Record *> own = family->getValueAsListOfDefs("variants");
  return own.empty() && family->getValueAsBit("everyPointwise")
             ? of.front()->record->getValueAsDef("types")->getValueAsListOfDefs(
                   factOf(family, "device").lower())
             : own;
}

/// Row by row: kinds, then patterns, in each the families by preference.
std::vector<Kernel>
aicf::tblgen::allKernels(const RecordKeeper &records,
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
                 const std::string &cppName,
                 const std::vector<const Primitive *> &of) {
    for (const Record *v : variantsOf(family, of)) {
      kernels.push_back({family, pattern, cppName, v->getValueAsString("input"),
                         v->getValueAsString("output"),
                         v->getValueAsInt("width"), of});
      std::string kid = kernels.back().kid();
      if (!names.insert((kernels.back().fact("device") + kid).str()).second)
        PrintFatalError(family, "there are two kernels '" + kid + "'");
    }
  };
  for (const Primitive &kind : kinds)
    for (const Record *family : families)
      if (family->getValueAsBit("everyPointwise")
              ? isOfUnit(kind, family)
              : llvm::is_contained(family->getValueAsListOfDefs("kinds"),
                                   kind.record))
        add(family, kind.name, kind.cppName(), {&kind});
  for (const Pattern &pattern : allBodyPatterns(records, kinds)) {
    std::vector<const Primitive *> of;
    for (const Node &node : pattern.nodes)
      of.push_back(node.kind);
    for (const Record *family : families)
      if (llvm::is_contained(family->getValueAsListOfDefs("patterns"),
                             pattern.record))
        add(family, pattern.name, pattern.cppName(), of);
  }
  return kernels;
}
