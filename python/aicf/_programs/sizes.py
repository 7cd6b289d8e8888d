# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The same function for another number of rows: one entry per batch size.

A plan has fixed shapes. So if the inputs of a call differ from those of an entry in their
common leading dimension and in nothing else, the call goes to another entry of the same
program: `train_step@29` beside `train_step`. That entry is traced and compiled when it is
first needed. It shares parameters, moments, learning rate and random states. Another
rank, trailing dimension or element type stays an error.
"""

from __future__ import annotations

import logging
import sys
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..errors import (AICFError, CompileError, DTypeMismatchError, ShapeMismatchError,
                      TraceError)
from .signature import Spec, spec_of

if TYPE_CHECKING:
    from ..program import Entry

#: If a function has more batch sizes than this, a warning says so.
MANY_SIZES = 8


class _NoteHandler(logging.StreamHandler):  # type: ignore[type-arg]
    """Writes to stderr, above a bar that tqdm shows there, and not in the middle of it."""

    def emit(self, record: logging.LogRecord) -> None:
        tqdm = getattr(sys.modules.get("tqdm"), "tqdm", None)
        if tqdm is None or not getattr(tqdm, "_instances", None):
            super().emit(record)
            return
        tqdm.write(self.format(record), file=sys.stderr)


def note(text: str) -> None:
    """Logs a line with the logger "aicf". It goes to stderr unless the program has set up
    its own logging. `logging.getLogger("aicf").setLevel("WARNING")` silences it."""
    logger = logging.getLogger("aicf")
    if not logger.hasHandlers():
        handler = _NoteHandler()
        handler.setFormatter(logging.Formatter("aicf: %(message)s"))
        logger.addHandler(handler)
        if logger.level == logging.NOTSET:
            logger.setLevel(logging.INFO)
    logger.info(text)


def sized_name(name: str, rows: int) -> str:
    return "%s@%d" % (name, rows)


def split_name(name: str) -> tuple[str, int]:
    """Returns the function's name and the rows of this entry, or 0 if the name does not
    say them."""
    root, _, rows = name.rpartition("@")
    return (root, int(rows)) if root and rows.isdecimal() else (name, 0)


def other_rows(specs: Mapping[str, Spec], other: Mapping[str, Spec]) -> int:
    """Returns the rows of `other` if it differs from `specs` in nothing else: all inputs
    that had the batch's leading dimension have the same new one. Else 0."""
    before, after = batch_rows(specs), 0
    for name, own in specs.items():
        given = other.get(name)
        if given is None or len(given.shape) != len(own.shape) \
                or given.shape[1:] != own.shape[1:]:
            return 0
        if given.shape != own.shape:
            if own.shape[0] != before or after not in (0, given.shape[0]):
                return 0
            after = given.shape[0]
    unchanged = any(own.shape and own.shape[0] == before
                    and other[name].shape == own.shape for name, own in specs.items())
    return 0 if unchanged or len(other) != len(specs) else after


def batch_rows(specs: Mapping[str, Spec]) -> int:
    """Returns the rows of a batch: the leading dimension that most inputs have, or the
    first such one. 0 if no input has a dimension."""
    leading = [spec.shape[0] for spec in specs.values() if spec.shape]
    return max(leading, key=leading.count) if leading else 0


def common_rows(specs: Mapping[str, Spec]) -> int:
    """Returns the leading dimension, if all inputs that have one share it, or 0."""
    rows = {spec.shape[0] for spec in specs.values() if spec.shape}
    return rows.pop() if len(rows) == 1 else 0


class Family:
    """The entries of one function. They share the count of batches in the open update."""

    def __init__(self, root: Entry) -> None:
        self.root = root
        self.by_rows: dict[int, Entry] = {}
        self.batch = 0

    def entry_for(self, args: tuple[Any, ...], kwargs: Mapping[str, Any],
                  error: ShapeMismatchError) -> Entry:
        """Returns the entry for these inputs. If they differ in more than the number of
        rows, it raises `error`, which says why `root` does not take them."""
        signature = self.root.signature
        own = signature.specs  # of what is not given, which the call found to be bound
        specs = _given_specs({**own, **dict(zip(own, args)), **kwargs}, own)
        if specs == signature.specs:  # another of the family was called
            return self.root
        rows = other_rows(signature.specs, specs)
        if not rows:
            raise error
        for name, wanted in signature.specs.items():
            if specs[name].dtype != wanted.dtype:
                raise DTypeMismatchError("input \"%s\" is %s, expected %s" % (
                    name, specs[name].dtype, wanted.dtype)) from None
        known = self.by_rows.get(rows)
        if known:
            return known
        with self.root.program.compiling():
            return self.by_rows.get(rows) or self._compile(rows, specs, error)

    def _compile(self, rows: int, specs: dict[str, Spec],
                 error: ShapeMismatchError) -> Entry:
        signature = self.root.signature
        sizes = "it has %s" % ", ".join(
            [repr(signature.name), *(repr(e.name) for e in self.by_rows.values())])
        if signature.trace_again is None:
            raise ShapeMismatchError(
                "%s. A new batch size needs the compiler, but this program is from a "
                "plan file: %s; compile it with an entry for %d rows"
                % (error, sizes, rows)) from None
        if signature.is_fixed:
            raise ShapeMismatchError(
                "%s. %r was compiled with shapes=\"fixed\"; without it, %d rows would "
                "get their own entry" % (error, signature.name, rows)) from None
        name = sized_name(signature.name, rows)
        note("compiling %r, for batches of %d rows" % (name, rows))
        try:
            made = signature.trace_again(specs, name)
            entry = self.root.program.add_entry(made)
        except (TraceError, CompileError) as reason:
            raise ShapeMismatchError(
                "%s. The function cannot be compiled for %d rows: %s"
                % (error, rows, reason)) from reason
        self._take_bindings(entry)
        if len(self.by_rows) + 1 == MANY_SIZES + 1:
            warnings.warn(
                "%r has been compiled for %d batch sizes, and each takes time and "
                "memory: pad the batches, or sort them into a few sizes"
                % (signature.name, MANY_SIZES + 1), stacklevel=4)
        return entry

    def _take_bindings(self, entry: Entry) -> None:
        """Binds the inputs that do not change with the batch to the root's arrays."""
        for name in self.root.signature.specs:
            array = self.root.program.bound_arrays.get("%s/%s" % (self.root.name, name))
            if array is not None:
                self.share_binding(entry, name, array)

    def share_binding(self, entry: Entry, name: str, array: Any) -> None:
        if entry.signature.specs[name] == self.root.signature.specs[name]:
            entry.bind(**{name: array})


def _given_specs(given: Mapping[str, Any], wanted: Mapping[str, Spec]) -> dict[str, Spec]:
    """Returns the specs of arrays and Specs. None of them if one is not an array."""
    specs = {}
    for name, own in wanted.items():
        value = given[name]
        if isinstance(value, (int, float)) and not own.shape:
            specs[name] = own
            continue
        if not hasattr(value, "dtype"):
            return {}
        try:
            specs[name] = spec_of(value, name)
        except (TypeError, ValueError, AICFError):
            return {}
    return specs
