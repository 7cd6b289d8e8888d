//===- Functors.cpp - pointwise primitives as functions -------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// kernels/pointwise/Functors.h, kernels/graph/Scalars.inc, and
// Definitions.h.inc of lib/Transforms/Scalar: the scalar definitions in two
// languages.
//===----------------------------------------------------------------------===//

#include "Records.h"

#include "mlir/TableGen/GenInfo.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TableGen/Error.h"

using namespace llvm;
using namespace aicf::tblgen;

namespace {

/// The two languages of definitions: kernels' functors, and what builds IR.
struct Language {
  StringRef functions; ///< in front of a function's name
  bool picksBySelect;  ///< a function, not `?:`
  bool hasResultBits;  ///< kTo16Bits is there to pass on
  std::string (*field)(StringRef name, bool isNumber);
};
constexpr Language kFunctors = {
    "scalar::", false, true, [](StringRef name, bool isNumber) {
      return ((isNumber ? "scalar::number<C>(attrs." : "(attrs.") + name + ")")
          .str();
    }};
constexpr Language kBuilders = {
    "", true, false, [](StringRef name, bool isNumber) {
      return (isNumber ? "C(op.get" : "(op.get") +
             convertToCamelFromSnakeCase(name, true) +
             (isNumber ? "().convertToDouble())" : "())");
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
      if (f.name == name)
        return in.field(name, f.type == "double");
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
  bool isField = llvm::any_of(p.fields, [&](const Field &f) {
    return isa<UnsetInit>(dag->getArg(0)) && f.name == dag->getArgNameStr(0);
  });
  if (op->getName() == "pick" && (!in.picksBySelect || isField))
    return "(" + args[0] + " ? " + args[1] + " : " + args[2] + ")";
  bool passesBits = in.hasResultBits && op->getValueAsBit("knowsResultBits");
  return (in.functions + op->getValueAsString("cpp") +
          (passesBits ? "<kTo16Bits>(" : "(") + join(args, ", ") + ")")
      .str();
}

bool givesBool(const Primitive &p) {
  const Operand &y = p.results[0];
  return y.rule == "BoolLike" ||
         p.operands[positionOf(p.record, p.operands, y.of)].isBool();
}

bool emitFunctors(const RecordKeeper &records, raw_ostream &os) {
  emitFileTop("Functors.h", "pointwise primitives as functions of scalars",
              "AICF_KERNELS_POINTWISE_FUNCTORS_H", os);
  os << "#include \"lib/Ops/OpViews.h\"\n"
        "#include \"kernels/pointwise/Scalars.h\"\n\n"
        "namespace aicf::functor {\n// clang-format off\n";
  for (const Primitive &p : allPrimitives(records)) {
    if (!p.isPointwise())
      continue;
    os << "\n/// " << p.record->getValueAsString("summary") << "\nstruct "
       << p.cppName()
       << " {\n  template <typename Call> using View = " << p.cppName()
       << "View<Call>;\n  using Attrs = " << p.attrsName()
       << ";\n  static constexpr bool kIsBool[] = {";
    interleaveComma(p.operands, os, [&](const Operand &o) {
      os << (o.isBool() ? "true" : "false");
    });
    os << "};\n  static constexpr bool kGivesBool = "
       << (givesBool(p) ? "true" : "false")
       << ";\n  template <typename C, bool kTo16Bits = false>\n  AICF_HOST_DEVICE static "
       << (givesBool(p) ? "bool" : "C")
       << " apply([[maybe_unused]] const Attrs &attrs, ";
    interleaveComma(p.operands, os, [&](const Operand &o) {
      os << "[[maybe_unused]] " << (o.isBool() ? "bool " : "C ") << o.name;
    });
    os << ") {\n    return " << expressionOf(p, p.scalar, "", kFunctors)
       << ";\n  }\n};\n";
  }
  os << "\n// clang-format on\n} // namespace aicf::functor\n\n#endif // "
        "AICF_KERNELS_POINTWISE_FUNCTORS_H\n";
  return false;
}

//===----------------------------------------------------------------------===//
// kernels/graph/Scalars.inc
//===----------------------------------------------------------------------===//

/// The types that a primitive computes in: f32 stands for 16-bit types, i1 for
/// what has no other.
std::vector<StringRef> computeTypes(const Primitive &p) {
  std::vector<StringRef> types;
  for (const Record *v :
       p.record->getValueAsDef("types")->getValueAsListOfDefs("cpu")) {
    StringRef in = v->getValueAsString("input");
    StringRef type = in == "i1" ? v->getValueAsString("output") : in;
    if (type.ends_with("f16"))
      type = "f32";
    if (!llvm::is_contained(types, type))
      types.push_back(type);
  }
  return types;
}

/// `extern "C"` functions of scalars. A field is a parameter, and i1 a number.
bool emitScalars(const RecordKeeper &records, raw_ostream &os) {
  emitFileTop("Scalars.inc", "pointwise primitives with C linkage", "", os);
  os << "// clang-format off\n\n";
  for (const Primitive &p : allPrimitives(records)) {
    if (!p.isPointwise())
      continue;
    for (StringRef type : computeTypes(p)) {
      // Of what computes with i1 alone, any type would do.
      StringRef c = type == "i1" ? "i32" : type;
      os << "AICF_SCALAR(" << (givesBool(p) ? "i1_result" : c) << ", " << p.name
         << "_" << type << ", (";
      std::vector<std::string> parameters, fields, operands;
      for (const Field &f : p.fields) {
        parameters.push_back((f.type + " " + f.name).str());
        fields.push_back(f.name.str());
      }
      for (const Operand &o : p.operands) {
        parameters.push_back(((o.isBool() ? "i1_operand" : c) + " " + o.name).str());
        operands.push_back((o.isBool() ? o.name + " != 0" : o.name).str());
      }
      os << join(parameters, ", ") << "), " << p.cppName() << "::apply<" << c
         << ">({" << join(fields, ", ") << "}, " << join(operands, ", ")
         << "))\n";
    }
  }
  os << "\n#undef AICF_SCALAR\n";
  return false;
}

//===----------------------------------------------------------------------===//
// Definitions.h.inc of lib/Transforms/Scalar
//===----------------------------------------------------------------------===//

/// The first operand that is not i1: numbers are of its type.
size_t numberOperand(const Primitive &p) {
  auto it = llvm::find_if(p.operands,
                          [](const Operand &o) { return !o.isBool(); });
  return it == p.operands.end() ? 0 : it - p.operands.begin();
}

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
          "  [[maybe_unused]] auto C = [&](double number) { return in["
       << numberOperand(p) << "].constant(number); };\n";
    for (auto [i, operand] : enumerate(p.operands))
      os << "  [[maybe_unused]] Scalar " << operand.name << " = in[" << i
         << "];\n";
    os << "  return " << expressionOf(p, p.scalar, "", kBuilders) << ";\n}\n";
  }
  os << "\nusing PointwiseOps = std::tuple<" << join(ops, ", ") << ">;\n";
  return false;
}

mlir::GenRegistration functors("gen-functors",
                               "Generate functors of pointwise primitives",
                               emitFunctors);
mlir::GenRegistration scalars("gen-scalar-functions",
                              "Generate functions for generated kernels",
                              emitScalars);
mlir::GenRegistration builders("gen-scalar-builders",
                               "Generate definitions of pointwise primitives "
                               "that build IR",
                               emitBuilders);

} // namespace
