//===- CompilerModule.cpp - aicf._compiler --------------------------------===//
//
// Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Traces and compiles; the plan leaves it as bytes. MLIR is linked in, its
// symbols hidden: PyTorch and JAX bring LLVMs of their own into the process.
//===----------------------------------------------------------------------===//

#include "python/src/ToolCall.h"
#include "python/src/Trace.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;

int aicfCompileMain(int argc, char **argv);

using namespace aicf::python;

namespace {

/// (severity, message, file, line, notes)
nb::tuple toTuple(const Diagnostic &diagnostic) {
  nb::list notes;
  for (const Diagnostic &note : diagnostic.notes)
    notes.append(toTuple(note));
  return nb::make_tuple(diagnostic.severity, diagnostic.message,
                        diagnostic.where.file, diagnostic.where.line, notes);
}

nb::list toList(const Diagnostics &diagnostics) {
  nb::list list;
  for (const Diagnostic &diagnostic : diagnostics)
    list.append(toTuple(diagnostic));
  return list;
}

[[noreturn]] void raise(const Diagnostics &diagnostics) {
  nb::object type = nb::module_::import_("aicf.errors").attr("CompileError");
  nb::object error = type(toList(diagnostics));
  PyErr_SetObject(type.ptr(), error.ptr());
  throw nb::python_error();
}

AttributeValue toAttribute(nb::handle value) {
  if (PyBool_Check(value.ptr()))
    return value.ptr() == Py_True;
  if (PyLong_Check(value.ptr()))
    return nb::cast<int64_t>(value);
  if (PyFloat_Check(value.ptr()))
    return nb::cast<double>(value);
  if (PyUnicode_Check(value.ptr()))
    return nb::cast<std::string>(value);
  if (nb::isinstance<DTypeName>(value))
    return nb::cast<DTypeName>(value);
  if (nb::isinstance<Elements>(value))
    return nb::cast<Elements>(value);
  if (nb::isinstance<AttributeText>(value))
    return nb::cast<AttributeText>(value);
  return nb::cast<std::vector<int64_t>>(value);
}

/// Attributes that are None are left out.
Attributes toAttributes(nb::dict dict) {
  Attributes attributes;
  for (auto [name, value] : dict)
    if (!value.is_none())
      attributes.emplace_back(nb::cast<std::string>(name), toAttribute(value));
  return attributes;
}

std::vector<OperandSlot> toSlots(nb::list operands) {
  std::vector<OperandSlot> slots;
  for (nb::handle operand : operands) {
    if (operand.is_none())
      slots.emplace_back(std::monostate());
    else if (PyLong_Check(operand.ptr()))
      slots.emplace_back(nb::cast<size_t>(operand));
    else
      slots.emplace_back(nb::cast<std::vector<size_t>>(operand));
  }
  return slots;
}

/// (id, shape, dtype)
nb::tuple toTuple(const TracedValue &value) {
  nb::object shape = nb::tuple(nb::cast(value.shape));
  return nb::make_tuple(value.id, shape, value.dtype);
}

nb::list toList(const std::vector<TracedValue> &values) {
  nb::list list;
  for (const TracedValue &value : values)
    list.append(toTuple(value));
  return list;
}

Stage toStage(const std::string &name) {
  if (name == "traced")
    return Stage::Traced;
  if (name == "aicf")
    return Stage::AICF;
  if (name == "aicf_rt")
    return Stage::AICFRT;
  if (name == "plan")
    return Stage::Plan;
  throw nb::value_error(("\"" + name +
                         "\" is not a stage: expected traced, aicf, "
                         "aicf_rt or plan")
                            .c_str());
}

nb::tuple lower(TracedModule &module, const std::string &options,
                const std::string &stage, bool remarks,
                const std::vector<std::string> &only) {
  Stage to = toStage(stage);
  Diagnostics diagnostics;
  std::unique_ptr<TracedModule> lowered;
  {
    nb::gil_scoped_release release;
    lowered = module.lower(options, to, remarks, only, diagnostics);
  }
  if (!lowered)
    raise(diagnostics);
  return nb::make_tuple(std::move(lowered), toList(diagnostics));
}

nb::bytes plan(TracedModule &module) {
  Diagnostics diagnostics;
  std::optional<std::vector<uint8_t>> bytes;
  {
    nb::gil_scoped_release release;
    bytes = module.plan(diagnostics);
  }
  if (!bytes)
    raise(diagnostics);
  return nb::bytes(bytes->data(), bytes->size());
}

} // namespace

NB_MODULE(_compiler, m) {
  m.doc() = "AICF's compiler: aicf IR, built op by op, to a plan.";
  nb::class_<DTypeName>(m, "DTypeName", "An element type as an attribute.")
      .def(nb::init<std::string>(), nb::arg("name"))
      .def("__repr__", [](const DTypeName &own) { return own.name; });
  nb::class_<AttributeText>(m, "AttributeText", "An attribute in MLIR's words.")
      .def(nb::init<std::string>(), nb::arg("text"))
      .def("__repr__", [](const AttributeText &own) { return own.text; });
  nb::class_<Elements>(m, "Elements", "Numbers as an attribute.")
      .def(
          "__init__",
          [](Elements *self, std::vector<int64_t> shape, std::string dtype,
             nb::bytes data) {
            new (self) Elements{std::move(shape),
                                {std::move(dtype)},
                                std::string(data.c_str(), data.size())};
          },
          nb::arg("shape"), nb::arg("dtype"), nb::arg("data"))
      .def_prop_ro("bytes", [](const Elements &e) { return e.bytes.size(); });
  nb::class_<TracedModule>(m, "Module", "A module of aicf IR.")
      .def(nb::init<>())
      .def_static(
          "parse",
          [](const std::string &text, const std::string &fileName) {
            Diagnostics diagnostics;
            std::unique_ptr<TracedModule> parsed;
            {
              nb::gil_scoped_release release;
              parsed = TracedModule::parse(text, fileName, diagnostics);
            }
            if (!parsed)
              raise(diagnostics);
            return parsed;
          },
          nb::arg("text"), nb::arg("file_name") = "<string>")
      .def(
          "begin_function",
          [](TracedModule &module, const std::string &name,
             const std::string &file, unsigned line) {
            Diagnostics diagnostics;
            if (!module.beginFunction(name, {file, line}, diagnostics))
              raise(diagnostics);
          },
          nb::arg("name"), nb::arg("file"), nb::arg("line"))
      .def(
          "add_argument",
          [](TracedModule &module, const std::vector<int64_t> &shape,
             const std::string &dtype, nb::dict attributes,
             const std::string &file, unsigned line) {
            Diagnostics diagnostics;
            auto value =
                module.addArgument(shape, dtype, toAttributes(attributes),
                                   {file, line}, diagnostics);
            if (!value)
              raise(diagnostics);
            return toTuple(*value);
          },
          nb::arg("shape"), nb::arg("dtype"), nb::arg("attributes"),
          nb::arg("file"), nb::arg("line"),
          nb::sig(
              "def add_argument(self, shape: typing.Sequence[int], dtype: str,"
              " attributes: dict[str, typing.Any], file: str, line: int) -> "
              "tuple[int, tuple[int, ...], str]"))
      .def(
          "emit",
          [](TracedModule &module, const std::string &op, nb::list operands,
             nb::dict attributes, const std::string &file, unsigned line,
             const std::string &layer) {
            Diagnostics diagnostics;
            auto results =
                module.emit(op, toSlots(operands), toAttributes(attributes),
                            {file, line, layer}, diagnostics);
            if (!results)
              raise(diagnostics);
            return toList(*results);
          },
          nb::arg("op"), nb::arg("operands"), nb::arg("attributes"),
          nb::arg("file"), nb::arg("line"), nb::arg("layer") = "",
          nb::sig(
              "def emit(self, op: str, operands: list[typing.Any], attributes: "
              "dict[str, typing.Any], file: str, line: int, layer: str = '') "
              "-> list[tuple[int, tuple[int, ...], str]]"))
      .def(
          "begin_map",
          [](TracedModule &module, const std::vector<size_t> &operands,
             const std::string &file, unsigned line, const std::string &layer) {
            Diagnostics diagnostics;
            auto elements =
                module.beginMap(operands, {file, line, layer}, diagnostics);
            if (!elements)
              raise(diagnostics);
            return toList(*elements);
          },
          nb::arg("operands"), nb::arg("file"), nb::arg("line"),
          nb::arg("layer") = "",
          nb::sig("def begin_map(self, operands: typing.Sequence[int], file: "
                  "str, line: int, layer: str = '') -> list[tuple[int, "
                  "tuple[int, ...], str]]"))
      .def(
          "end_map",
          [](TracedModule &module, size_t element) {
            Diagnostics diagnostics;
            auto value = module.endMap(element, diagnostics);
            if (!value)
              raise(diagnostics);
            return toTuple(*value);
          },
          nb::arg("element"),
          nb::sig("def end_map(self, element: int) -> tuple[int, tuple[int, "
                  "...], str]"))
      .def("abandon_map", &TracedModule::abandonMap)
      .def(
          "begin_repeat",
          [](TracedModule &module, int64_t times,
             const std::vector<size_t> &inits, const std::string &file,
             unsigned line, const std::string &layer) {
            Diagnostics diagnostics;
            auto values = module.beginRepeat(times, inits, {file, line, layer},
                                             diagnostics);
            if (!values)
              raise(diagnostics);
            return toList(*values);
          },
          nb::arg("times"), nb::arg("inits"), nb::arg("file"), nb::arg("line"),
          nb::arg("layer") = "",
          nb::sig("def begin_repeat(self, times: int, inits: "
                  "typing.Sequence[int], file: str, line: int, layer: str = "
                  "'') -> list[tuple[int, tuple[int, ...], str]]"))
      .def(
          "end_repeat",
          [](TracedModule &module, const std::vector<size_t> &next) {
            Diagnostics diagnostics;
            auto values = module.endRepeat(next, diagnostics);
            if (!values)
              raise(diagnostics);
            return toList(*values);
          },
          nb::arg("next"),
          nb::sig("def end_repeat(self, next: typing.Sequence[int]) -> "
                  "list[tuple[int, tuple[int, ...], str]]"))
      .def("abandon_repeat", &TracedModule::abandonRepeat)
      .def("set_recomputed", &TracedModule::setRecomputed, nb::arg("block"))
      .def(
          "end_function",
          [](TracedModule &module, nb::list results, nb::dict attributes) {
            std::vector<TracedResult> list;
            for (nb::handle result : results)
              list.push_back({nb::cast<size_t>(result[0]),
                              toAttributes(nb::cast<nb::dict>(result[1]))});
            Diagnostics diagnostics;
            if (!module.endFunction(list, toAttributes(attributes),
                                    diagnostics))
              raise(diagnostics);
          },
          nb::arg("results"), nb::arg("attributes"),
          nb::sig("def end_function(self, results: list[tuple[int, dict[str, "
                  "typing.Any]]], attributes: dict[str, typing.Any]) -> None"))
      .def("abandon_function", &TracedModule::abandonFunction)
      .def("erase_function", &TracedModule::eraseFunction, nb::arg("name"))
      .def("text", &TracedModule::text, nb::arg("with_locations") = false)
      .def("lower", &lower, nb::arg("options"), nb::arg("stage"),
           nb::arg("remarks") = false,
           nb::arg("only") = std::vector<std::string>(),
           nb::sig(
               "def lower(self, options: str, stage: str, "
               "remarks: bool = False, only: list[str] = []) -> tuple[Module, "
               "list[typing.Any]]"))
      .def("plan", &plan)
      .def("dump_calls", [](TracedModule &module) {
        Diagnostics diagnostics;
        std::string text = module.dumpCalls(diagnostics);
        if (!diagnostics.empty())
          raise(diagnostics);
        return text;
      });
  m.def(
      "aicf_compile",
      [](std::vector<std::string> arguments) {
        return callTool(aicfCompileMain, std::move(arguments));
      },
      nb::arg("arguments"), "The tool aicf-compile; returns its exit code.");
}
