//===- RowTables.cpp - primitives that are defined by rows ----------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A definition becomes a list of steps, in the order in which a walk of its
// results, from the last operand on, meets them behind their operands.
// lib/Ops/RowGraph.cpp reads it.
//===----------------------------------------------------------------------===//

#include "Records.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TableGen/Error.h"

using namespace llvm;
using namespace aicf::tblgen;

namespace {

/// The steps of one record.
class RowWriter {
public:
  RowWriter(const Primitive &p, ArrayRef<Primitive> kinds) : p(p), kinds(kinds) {}

  void emitTables(raw_ostream &os) {
    std::vector<std::string> results;
    for (const Init *init : *p.record->getValueAsListInit("rows"))
      results.push_back(std::to_string(valueOf(cast<DagInit>(init))));
    if (results.size() != p.results.size())
      fail("has " + Twine(p.results.size()) + " results, and defines " +
           Twine(results.size()) + " by rows");
    os << "constexpr RowNode k" << p.cppName() << "RowNodes[] = {\n    "
       << join(steps, ",\n    ") << "};\nconstexpr int8_t k" << p.cppName()
       << "RowResults[] = {" << join(results, ", ") << "};\n";
  }
  void emitDefinition(raw_ostream &os) const {
    os << "    {OpKind::" << p.cppName() << ", {k" << p.cppName()
       << "RowNodes, std::size(k" << p.cppName() << "RowNodes)}, {k"
       << p.cppName() << "RowResults, std::size(k" << p.cppName()
       << "RowResults)}},\n";
  }

private:
  [[noreturn]] void fail(const Twine &what) const {
    PrintFatalError(p.record, "'" + p.name + "' " + what);
  }

  /// What an argument is: a step (its number), or an operand (-1 - its slot).
  int argument(const DagInit *dag, unsigned i) {
    if (auto *inner = dyn_cast<DagInit>(dag->getArg(i)))
      return valueOf(inner);
    return -1 - int(positionOf(p.record, p.operands, nameOf(dag, i)));
  }
  StringRef nameOf(const DagInit *dag, unsigned i) const {
    if (const StringInit *name = dag->getArgName(i))
      return name->getValue();
    fail("has a definition by rows with an argument that is not a name");
  }

  int valueOf(const DagInit *dag) {
    if (auto it = known.find(dag); it != known.end())
      return it->second;
    const Record *word = cast<DefInit>(dag->getOperator())->getDef();
    std::string step = word->isSubClassOf("Primitive") ? elementwise(dag, word)
                                                       : ofRows(dag, word);
    steps.push_back(std::move(step));
    return known[dag] = int(steps.size()) - 1;
  }
  std::string ofRows(const DagInit *dag, const Record *word) {
    if (!word->isSubClassOf("RowWord") || dag->getNumArgs() != 1)
      fail("has '" + word->getName() + "' in a definition by rows");
    const int operand = argument(dag, 0);
    const StringRef step = word->getValueAsString("step");
    if (!step.empty())
      return ("{RowStep::" + step + ", OpKind::" +
              word->getValueAsString("kind") + ", {" + Twine(operand) +
              "}, 1}")
          .str();
    if (operand >= 0)
      fail("has a row of all rows that is not an operand");
    return ("{RowStep::Elementwise, OpKind::Copy, {" + Twine(operand) +
            "}, 1, -1, /*isOfEachRow=*/true}")
        .str();
  }
  std::string elementwise(const DagInit *dag, const Record *word) {
    auto kind = llvm::find_if(
        kinds, [&](const Primitive &k) { return k.record == word; });
    const size_t numOperands = kind->operands.size();
    if (!kind->isElementwise() || kind->results.size() != 1 ||
        numOperands > 2 || kind->fields.size() > 1 ||
        dag->getNumArgs() != numOperands + kind->fields.size())
      fail("has '" + kind->name + "' in a definition by rows");
    std::vector<std::string> operands(numOperands);
    for (size_t i = numOperands; i-- > 0;) // what is left of rows comes first
      operands[i] = std::to_string(argument(dag, unsigned(i)));
    std::string field;
    for (size_t i = 0; i < kind->fields.size(); ++i)
      field = ", " + std::to_string(fieldNamed(nameOf(dag, numOperands)));
    return "{RowStep::Elementwise, OpKind::" + kind->cppName() + ", {" +
           join(operands, ", ") + "}, " + std::to_string(numOperands) + field +
           "}";
  }
  size_t fieldNamed(StringRef name) const {
    for (auto [i, field] : enumerate(p.fields))
      if (field.name == name)
        return i;
    fail("has no field '" + name + "'");
  }

  const Primitive &p;
  ArrayRef<Primitive> kinds;
  std::vector<std::string> steps;
  DenseMap<const DagInit *, int> known;
};

} // namespace

void aicf::tblgen::emitRowDefinitions(ArrayRef<Primitive> kinds,
                                      raw_ostream &os) {
  std::vector<RowWriter> writers;
  for (const Primitive &p : kinds)
    if (!p.record->getValueAsListInit("rows")->empty())
      writers.emplace_back(p, kinds);
  os << "\n#ifdef AICF_ROW_TABLE\n#undef AICF_ROW_TABLE\n";
  for (RowWriter &writer : writers)
    writer.emitTables(os);
  os << "constexpr RowDefinition kRowDefinitions[] = {\n";
  for (const RowWriter &writer : writers)
    writer.emitDefinition(os);
  os << "};\n#endif\n";
}
