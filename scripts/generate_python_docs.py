#!/usr/bin/env python3
# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes TorchOps.md and JAXOperations.md from the tables of aicf.torch and aicf.jax.

    PYTHONPATH=build/python generate_python_docs.py --out FOLDER
"""

import argparse
import importlib
import pathlib

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
    for name, text in (("TorchOps.md", torch_page()), ("JAXOperations.md", jax_page())):
        (out / name).write_text(text)


if __name__ == "__main__":
    main()
