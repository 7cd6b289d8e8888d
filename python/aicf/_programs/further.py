# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Adds entries to a program: they are traced into its module, and compiled with the
others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from . import sizes as _sizes
from ..errors import FailedStateError
from .signature import specs_of

if TYPE_CHECKING:
    from ..nn import Module
    from ..program import Entry, Program
    from .traced import Traced


def entry_name(function: Callable[..., Any]) -> str:
    """Returns the name of an entry to which the user gave none."""
    name = getattr(function, "__name__", "predict")
    return name if name.isidentifier() else "predict"


def traced_of(program: Program) -> Traced:
    if program.lowered is None:
        raise FailedStateError("a program from a plan file takes no further entries, "
                               "because its IR is not there")
    return program.lowered.traced


def entry_of_another_size(program: Program, source: Any, model: Any,
                           inputs: Mapping[str, Any], name: str) -> Entry | None:
    """Returns the entry of this name for these inputs, if the program has the function
    under this name: the entry itself, or one for another number of rows. Else None."""
    entry = program.entries.get(name)
    if entry is None or entry.signature.source != source \
            or (entry.signature.model or source) is not model:
        return None
    specs = specs_of(inputs)
    if specs == entry.signature.specs:
        return entry
    rows = _sizes.other_rows(entry.signature.specs, specs)
    if not rows:
        return None
    again = entry.signature.trace_again
    assert again is not None  # because the entry has a source
    return entry.family.by_rows.get(rows) or program.add_entry(
        again(specs, _sizes.sized_name(name, rows)))


def compile_into(program: Program, function: Callable[..., Any],
                 inputs: Mapping[str, Any], *, model: Module | None = None,
                 name: str | None = None, training: bool = False, seed: int = 0,
                 shapes: str = "batch") -> Entry:
    """Does what aicf.compile(..., program=program) does."""
    traced = traced_of(program)
    with program.compiling():
        known = entry_of_another_size(program, function, model or function, inputs,
                                      name or entry_name(function))
        return known or program.add_entry(
            traced.add(function, inputs, model=model, name=name, training=training,
                       seed=seed, shapes=shapes))
