#!/usr/bin/env python3
# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes PythonAPI.md from the package's docstrings, and TorchOps.md and
JAXOperations.md from the tables of aicf.torch and aicf.jax.

    PYTHONPATH=build/python generate_python_docs.py --out FOLDER
"""

import argparse
import importlib
import inspect
import pathlib
import sys

#: In the order in which users meet them.
MODULES = ["aicf.compiled", "aicf.training", "aicf.torch", "aicf.jax", "aicf.nn", "aicf.losses",
           "aicf.optim", "aicf.data", "aicf.callbacks", "aicf.program", "aicf.functional",
           "aicf.errors", "aicf.ops", "aicf.seeds"]
#: The module behind which CLASSES stand.
BEFORE_CLASSES = "aicf.program"
#: What `import aicf` shows and no public module holds, by section.
CLASSES = {"Tensors and arrays": ["Tensor", "Array", "Device", "array", "zeros", "device"],
           "Descriptions": ["Spec", "spec", "summary", "Summary"]}
TOP = """<!-- Generated from the docstrings. -->

# The Python API

The modules stand in the order in which you meet them: compiling a step, training it, PyTorch
modules, layers, losses and optimizers first; single operations last. [Recipes](Recipes.md) has whole
programs.

`import aicf` gives you the names of `aicf.compiled`, `aicf.program`, `aicf.training`,
`aicf.callbacks` and `aicf.seeds` directly, such as `aicf.compile_step` and `aicf.fit`. You reach the
others as `aicf.nn`, `aicf.ops` and so on. The package has types for type checkers (`py.typed`).
"""


class Raw:
    """An annotation, shown without quotes."""

    def __init__(self, text):
        self.text = text

    def __repr__(self):
        return self.text


def signature_of(value):
    def raw(annotation):
        return Raw(annotation) if isinstance(annotation, str) else annotation
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):
        return "(...)"
    return str(signature.replace(
        parameters=[p.replace(annotation=raw(p.annotation))
                    for p in signature.parameters.values()],
        return_annotation=raw(signature.return_annotation)))


def paragraph(doc, indent=""):
    """A docstring as text that Markdown leaves alone."""
    lines = inspect.cleandoc(doc or "").splitlines()
    return "\n".join(indent + line if line else "" for line in lines)


def own_methods(cls):
    """Those of a class, and of bases that have no section of their own."""
    for owner in cls.__mro__:
        is_own = owner is cls or owner.__name__ == "Operators"
        for name, value in vars(owner).items() if is_own else ():
            if name.startswith("_") and name not in ("__call__", "__getitem__"):
                continue
            target = value.fget if isinstance(value, property) else value
            target = getattr(target, "__func__", target)
            if callable(target) and target.__doc__ and not inspect.isclass(target):
                yield name, value, target


def emit_class(name, cls, out):
    bases = ", ".join(b.__name__ for b in cls.__bases__ if b is not object)
    out.append("### `%s%s`\n" % (name, "(%s)" % bases if bases else ""))
    init = vars(cls).get("__init__")
    if inspect.isfunction(init) and not issubclass(cls, Exception):
        shown = signature_of(init).replace("(self, ", "(").replace("(self)", "()")
        out.append("```text\n%s%s\n```\n" % (name, shown.rpartition(" -> ")[0]))
    out.append("```text\n%s\n```\n" % paragraph(cls.__doc__))
    for method, value, target in own_methods(cls):
        shown = "" if isinstance(value, property) else signature_of(target).replace(
            "(self, ", "(").replace("(self)", "()")
        doc = target.__doc__
        if "(self" in doc.split("\n")[0]:  # nanobind's signature, and what is said of it
            first, _, doc = doc.partition("\n\n")
            shown = "" if isinstance(value, property) else \
                first[len(method):].replace("(self, ", "(").replace("(self)", "()")
        if doc.strip() or shown:
            out.append("- `%s%s`\n\n```text\n%s\n```\n" % (
                method, shown, paragraph(doc)))


def emit_function(name, function, out):
    out.append("### `%s`\n" % name)
    out.append("```text\n%s%s\n\n%s\n```\n" % (name, signature_of(function),
                                               paragraph(function.__doc__)))


def emit(name, value, out):
    if inspect.isclass(value):
        emit_class(name, value, out)
    elif callable(value):
        emit_function(name, value, out)


def page():
    out = [TOP]
    aicf = importlib.import_module("aicf")
    elsewhere = {name for names in CLASSES.values() for name in names}
    for module_name in MODULES:
        module = importlib.import_module(module_name)
        out.append("## `%s`\n" % module_name)
        out.append("```text\n%s\n```\n" % paragraph(module.__doc__))
        machinery = getattr(module, "MACHINERY", ())
        for name in sorted(module.__all__, key=str.lower):
            value = getattr(module, name)
            home = getattr(value, "__module__", module_name)
            is_private = home.startswith("aicf._") and name not in elsewhere
            if (home == module_name or is_private) and name not in machinery:
                emit(name, value, out)  # others have their own place
        if machinery:
            out.append("## `%s`: machinery\n" % module_name)
            out.append("What the compiler makes of a training step: gradients, updates, "
                       "guards. Users rarely write it.\n")
            for name in machinery:
                emit(name, getattr(module, name), out)
        if module_name == BEFORE_CLASSES:
            for title, names in CLASSES.items():
                out.append("## %s\n" % title)
                for name in names:
                    emit(name, getattr(aicf, name), out)
    return "\n".join(out)


TORCH_TOP = """<!-- Generated from aicf.torch's table. -->

# PyTorch's operations

`aicf.torch.compile_step` imports a module whose ops are in this table. Names are those of
`torch.export`: `add.Tensor` is `aten.add.Tensor`. An op that is not here is taken apart by
PyTorch (`torch.export.default_decompositions`), and imported if its parts are here. What is
left is one error, which lists every op with its place in the module and the line in Python.

| op | limits |
|---|---|
"""


def torch_page():
    module = importlib.import_module("aicf.torch._table")
    module.fill_tables()
    return TORCH_TOP + _rows(module.TABLE) + TORCH_COMPLEX + _rows(module.COMPLEX)


def _rows(table):
    groups = {}
    for name, row in table.items():
        groups.setdefault((name.partition(".")[0], row.limits), []).append(
            name.partition(".")[2])
    lines = ["| `%s` (%s) | %s |" % (name, ", ".join(overloads), limits)
             if overloads != ["default"] else "| `%s` | %s |" % (name, limits)
             for (name, limits), overloads in sorted(groups.items())]
    return "\n".join(lines) + "\n"


TORCH_COMPLEX = """
## Complex numbers

A complex tensor is two real ones inside of a step: no input, parameter or state is complex. Ops
that move or add elements take both parts; these have a row of their own.

| op | limits |
|---|---|
"""


JAX_TOP = """<!-- Generated from aicf.jax's table. -->

# JAX's operations

`aicf.jax.compile_step` imports a function whose primitives are in this table, under the names
that a jaxpr shows. `jit`, `custom_jvp_call`, `custom_vjp_call`, `checkpoint` and a `cond` on a constant are
inlined. A short `scan`, or a `while` that constants decide, is unrolled, and a long one is a
loop of the plan. Of a `cond` on a value all branches are computed. `random_bits`,
`random_split`, `random_fold_in` and `random_seed` become what JAX makes of them, for the
generators threefry, rbg and unsafe_rbg, and `rng_bit_generator` what XLA does (Philox). `uint32` has the bits of an i32
inside of a step, and `uint8`, `int8`, `uint16` and `int16` the numbers. What is left is one
error, which lists every primitive with the line in Python.

| primitive | limits |
|---|---|
"""


def jax_page():
    table = importlib.import_module("aicf.jax._table").whole_table()
    return JAX_TOP + "".join("| `%s` | %s |\n" % (name, row.limits)
                             for name, row in sorted(table.items()))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=pathlib.Path, required=True)
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    for name, text in (("PythonAPI.md", page()), ("TorchOps.md", torch_page()),
                       ("JAXOperations.md", jax_page())):
        (out / name).write_text(text)


if __name__ == "__main__":
    main()
