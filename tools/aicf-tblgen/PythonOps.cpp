//===- PythonOps.cpp - python/aicf/ops.py from the aicf dialect -----------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A function an op: operands by position, attributes by keyword, with the types
// and defaults that the op's definition states. Nothing about shapes is said
// here: the op's own inference and verifier run when it is traced.
//===----------------------------------------------------------------------===//

#include "mlir/TableGen/Attribute.h"
#include "mlir/TableGen/GenInfo.h"
#include "mlir/TableGen/Operator.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TableGen/Error.h"
#include "llvm/TableGen/Record.h"

#include <functional>

using namespace llvm;
using mlir::tblgen::NamedAttribute;
using mlir::tblgen::NamedTypeConstraint;
using mlir::tblgen::Operator;

namespace {

/// How Python says an attribute, and what makes the MLIR one of it.
struct PythonType {
  StringRef annotation, convert;
};

PythonType pythonTypeOf(const Operator &op, const NamedAttribute &attr) {
  StringRef type = attr.attr.getBaseAttr().getAttrDefName();
  if (type == "F64Attr")
    return {"float", "_float"};
  if (type == "I64Attr")
    return {"int", "_int"};
  if (type == "BoolAttr")
    return {"bool", "_bool"};
  if (type == "TypeAttr")
    return {"DType", "_dtype"};
  if (type == "DenseI64ArrayAttr")
    return {"Sequence[int]", "_ints"};
  if (type == "ElementsAttr")
    return {"Any", "_elements"};
  PrintFatalError(&op.getDef(), "attribute '" + attr.name + "' is a " + type +
                                    ", which Python has no word for yet");
}

std::string defaultOf(const NamedAttribute &attr) {
  if (!attr.attr.hasDefaultValue())
    return attr.attr.isOptional() ? "None" : "";
  StringRef value = attr.attr.getDefaultValue();
  if (value == "false" || value == "true")
    return value == "true" ? "True" : "False";
  return value.str();
}

/// The lines of a td text, indented for a docstring and without their own
/// indentation.
void emitText(StringRef text, raw_ostream &os) {
  SmallVector<StringRef> lines;
  text.rtrim().split(lines, '\n');
  size_t indent = StringRef::npos;
  for (StringRef line : lines)
    if (!line.trim().empty())
      indent = std::min(indent, line.find_first_not_of(' '));
  bool isFirst = true;
  for (StringRef line : lines) {
    StringRef rest = line.trim().empty() ? StringRef() : line.substr(indent);
    if (isFirst && rest.empty())
      continue;
    isFirst = false;
    os << (rest.empty() ? "" : "    ") << rest << "\n";
  }
}

/// "tensor of f32", without what is said of all tensors.
StringRef shortSummary(const NamedTypeConstraint &value) {
  StringRef summary = value.constraint.getSummary();
  return summary.take_front(summary.find(" with static"));
}

/// What a result is, by the rule of the op's record where it has one.
std::string resultText(const Operator &op, const NamedTypeConstraint &result) {
  const RecordVal *primitive = op.getDef().getValue("primitive");
  if (!primitive)
    return shortSummary(result).str();
  const Record *record = op.getDef().getValueAsDef("primitive");
  for (const Record *each : record->getValueAsListOfDefs("resultList")) {
    if (each->getValueAsString("name") != result.name)
      continue;
    StringRef rule = each->getValueAsString("rule");
    std::string of = each->getValueAsString("of").str();
    if (rule == "Like")
      return "tensor of " + of + "'s type";
    if (rule == "ScalarOf")
      return "0-d, of " + of + "'s element type";
    if (rule == "RowsOf")
      return "of " + of +
             "'s shape without the last dimension, and its "
             "element type";
    if (rule == "WideScalarOf")
      return "0-d, of " + of + "'s element type, f32 where that has 16 bits";
    if (rule == "BoolLike")
      return "i1, of " + of + "'s shape";
    if (rule == "ScalarI32")
      return "0-d, i32";
    return shortSummary(result).str();
  }
  return shortSummary(result).str();
}

/// Whether users write it: a forward function or an operation on data, not what
/// the compiler derives from those.
bool isForUsers(const Record &op) {
  const Record *phase =
      op.getValue("primitive")
          ? op.getValueAsDef("primitive")->getValueAsDef("phase")
      : op.getValue("stepPhase") ? op.getValueAsDef("stepPhase")
                                 : nullptr;
  StringRef name = phase ? phase->getName() : "ForwardPhase";
  return name == "ForwardPhase" || name == "DataPhase" ||
         op.getValueAsString("opName") == "step_inc";
}

void emitSignature(const Operator &op, raw_ostream &os) {
  os << "def " << op.getOperationName().substr(5) << "(";
  ListSeparator separator;
  for (const NamedTypeConstraint &operand : op.getOperands()) {
    if (operand.isVariadicOfVariadic())
      PrintFatalError(&op.getDef(), "an operand of lists of lists");
    if (operand.isOptional())
      os << separator << operand.name << ": Tensor | None = None";
    else if (operand.isVariadic())
      os << separator << operand.name << ": Sequence[Tensor]";
    else
      os << separator << operand.name << ": Tensor";
  }
  if (op.getNumNativeAttributes() > 0)
    os << separator << "*";
  for (const NamedAttribute &attr : op.getAttributes()) {
    std::string value = defaultOf(attr);
    os << separator << attr.name << ": " << pythonTypeOf(op, attr).annotation
       << (value == "None" ? " | None" : "")
       << (value.empty() ? "" : " = " + value);
  }
  os << ") -> ";
  size_t results = op.getNumResults();
  os << (results == 1 ? "Tensor" : "tuple[");
  for (size_t i = 0; results != 1 && i < results; ++i)
    os << (i ? ", " : "") << "Tensor";
  os << (results == 1 ? "" : "]") << ":\n";
}

void emitDocstring(const Operator &op, raw_ostream &os) {
  os << "    r\"\"\"" << op.getSummary() << "\n\n";
  std::string text;
  raw_string_ostream description(text);
  emitText(op.getDescription(), description);
  if (!text.empty())
    os << text << "\n";
  if (op.getNumOperands() > 0)
    os << "    Args:\n";
  for (const NamedTypeConstraint &operand : op.getOperands())
    os << "        " << operand.name << ": " << shortSummary(operand)
       << (operand.isOptional()   ? ", or None"
           : operand.isVariadic() ? ", one or more"
                                  : "")
       << ".\n";
  os << "    Returns:\n";
  for (const NamedTypeConstraint &result : op.getResults())
    os << "        " << result.name << ": " << resultText(op, result) << ".\n";
  os << "    Raises:\n        aicf.TraceError: outside a trace, or an operand "
        "that is not traced.\n        aicf.CompileError: a rule above is "
        "broken.\n    \"\"\"\n";
}

/// Emits an op whose body is a function of its operands' elements.
void emitWithBody(const Operator &op, raw_ostream &os) {
  os << "\n\ndef " << op.getOperationName().substr(5)
     << "(function: Callable[..., Any], *operands: Any) -> Tensor:\n    r\"\"\""
     << op.getSummary() << "\n\n";
  std::string text;
  raw_string_ostream description(text);
  emitText(op.getDescription(), description);
  os << text
     << "\n    Args:\n        function: called once, with the elements of the "
        "operands as 0-d tensors;\n            it returns the element of the "
        "result.\n        operands: tensors, arrays or numbers, which "
        "broadcast.\n    Returns:\n        y: of the operands' shape, and of the "
        "type that the function returns.\n    Raises:\n        aicf.TraceError: outside a trace, or "
        "the function uses what has no element.\n        aicf.CompileError: an op "
        "that is not computed element by element.\n    \"\"\"\n"
        "    from ._tracing.map import map_elements\n"
        "    return map_elements(function, operands)\n";
}

void emitFunction(const Operator &op, raw_ostream &os) {
  if (op.getNumRegions() > 0)
    return emitWithBody(op, os);
  os << "\n\n";
  emitSignature(op, os);
  emitDocstring(op, os);
  unsigned results = op.getNumResults();
  std::string names; // "r0, r1"
  for (unsigned i = 0; i < results; ++i)
    names += (i ? ", r" : "r") + std::to_string(i);
  os << "    " << (results == 1 ? "return _emit1" : names + " = _emit") << "(\""
     << op.getOperationName() << "\", [";
  ListSeparator operands;
  for (const NamedTypeConstraint &operand : op.getOperands())
    os << operands << operand.name;
  os << "], {";
  ListSeparator attrs;
  for (const NamedAttribute &attr : op.getAttributes()) {
    PythonType type = pythonTypeOf(op, attr);
    os << attrs << "\"" << attr.name << "\": ";
    if (attr.attr.isOptional())
      os << "None if " << attr.name << " is None else ";
    os << type.convert << "(" << attr.name << ")";
  }
  os << "}";
  // Those that may be absent stand behind the others.
  auto isOptional = [](const NamedTypeConstraint &operand) {
    return operand.isOptional();
  };
  if (llvm::any_of(op.getOperands(), isOptional))
    os << ", required="
       << llvm::count_if(op.getOperands(), std::not_fn(isOptional));
  os << ")\n";
  if (results != 1)
    os << "    return " << names << "\n";
}

bool emitPythonOps(const RecordKeeper &records, raw_ostream &os) {
  os << "# Generated by aicf-tblgen from the aicf dialect. Do not edit: change "
        "the op and\n# run `cmake --build build --target update-abi`.\n"
        "# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception\n"
        "\"\"\"Every op of the aicf dialect, as a function on traced "
        "tensors.\n\nDimensions are static and 1 or more; Cn are the op's "
        "numbered rules. Called inside a\ntrace (aicf.compile_step, "
        "aicf.compile, aicf.trace); nothing runs.\n\"\"\"\n\n"
        "from __future__ import annotations\n\n"
        "import sys\n"
        "from collections.abc import Callable, Sequence\n"
        "from typing import TYPE_CHECKING, Any\n\n"
        "from ._base.dtypes import DType\n"
        "from ._base.hints import missing as _missing\n"
        "from ._tracing.trace import emit as _emit, emit1 as _emit1\n"
        "from ._tracing.trace import to_bool as _bool, to_dtype as _dtype\n"
        "from ._tracing.trace import to_float as _float, to_int as _int\n"
        "from ._tracing.trace import to_elements as _elements, to_ints as _ints\n\n"
        "if TYPE_CHECKING:\n    from ._tracing.tensor import Tensor\n\n"
        "__all__ = [\n";
  std::vector<const Record *> ops(records.getAllDerivedDefinitions("AICF_Op"));
  llvm::sort(ops, [](const Record *a, const Record *b) {
    return a->getValueAsString("opName") < b->getValueAsString("opName");
  });
  for (const Record *op : ops)
    os << "    \"" << op->getValueAsString("opName") << "\",\n";
  os << "]\n\n#: What the compiler makes of a training step; users rarely "
        "write it.\nMACHINERY = [\n";
  for (const Record *op : ops)
    if (!isForUsers(*op))
      os << "    \"" << op->getValueAsString("opName") << "\",\n";
  os << "]\n";
  for (const Record *op : ops)
    emitFunction(Operator(op), os);
  os << "\n\ndef __getattr__(name: str) -> Any:\n"
        "    raise _missing(\"aicf.ops\", name, sys.modules[__name__])\n";
  return false;
}

mlir::GenRegistration pythonOps("gen-python-ops",
                                "Generate the functions of aicf.ops",
                                emitPythonOps);

} // namespace
