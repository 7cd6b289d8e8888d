# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prediction for any number of rows, in chunks of one size and with one entry."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any

from . import sizes as _sizes
from ..errors import (DTypeMismatchError, FailedStateError, InvalidArgumentError,
                      ShapeMismatchError)
from .convert import Converter, array_of, host_of
from .further import compile_into
from .signature import Signature, Spec, spec_of

if TYPE_CHECKING:
    from ..nn import Module
    from ..program import Entry

NAME = "predict"
#: The rows of a chunk, if no step says how many a batch has.
DEFAULT_ROWS = 256
_ADVICE = ": call step.predict once before step.save, or aicf.compile(model, ..., program=step)"


def forward_inputs(model: Module) -> dict[str, bool]:
    """Returns the names of the arguments of forward(), and whether they have no default."""
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return {p.name: p.default is inspect.Parameter.empty
            for p in inspect.signature(model.forward).parameters.values() if p.kind in kinds}


def _listed(inputs: dict[str, bool]) -> str:
    return ", ".join(name if needed else name + " (optional)"
                     for name, needed in inputs.items())


def _with_optional(step: Entry) -> list[Entry]:
    """The entries of a loaded plan that predict from optional arguments, too: "predict_mask",
    where "predict_b" belongs to the step "b"."""
    entries = step.program.entries
    return [entry for name, entry in entries.items() if name.startswith(NAME + "_")
            and name.removeprefix(NAME + "_") not in entries]


def _of_plan(step: Entry, fits: Callable[[tuple[str, ...]], bool], given: str) -> Entry:
    """Returns the entry of a loaded plan that predicts and whose inputs fit."""
    others = _with_optional(step)
    try:
        known = [entry_of(step, NAME, _ADVICE), *others]
    except FailedStateError:
        known = others
        if not others:
            raise
    for entry in known:
        if fits(entry.signature.inputs):
            return entry
    raise InvalidArgumentError("predict got %s, and this plan predicts from %s" % (
        given, " or ".join(", ".join(e.signature.inputs) for e in known)))


def inputs_of_plan(step: Entry, batch: Collection[str]) -> tuple[str, ...]:
    """Returns the inputs of the entry of a loaded plan that predicts from most of a batch; or
    of the first one, if they have other names."""
    known = [e.signature.inputs for e in _with_optional(step)
             if set(e.signature.inputs) <= set(batch)]
    return max(known, key=len) if known else entry_of(step, NAME, _ADVICE).signature.inputs


def _names_of(step: Entry, arrays: tuple[Any, ...]) -> tuple[list[str], tuple[Any, ...]]:
    """Returns which arguments of the model are given, and the arrays for them: those
    without a default, and others in their order or by name. A loaded plan says which."""
    model = step.family.root.signature.model
    if model is None and step.program.lowered is None:
        if len(arrays) == 1 and isinstance(arrays[0], dict):
            named = arrays[0]
            inputs = _of_plan(step, lambda inputs: set(inputs) == set(named), "the inputs "
                              + ", ".join(map(str, named))).signature.inputs
            return list(inputs), tuple(named[name] for name in inputs)
        if not arrays:
            return [], arrays
        return list(_of_plan(step, lambda inputs: len(inputs) == len(arrays), "%d arrays"
                             % len(arrays)).signature.inputs), arrays
    known = forward_inputs(model) if model else dict.fromkeys(
        step.family.root.signature.specs, True)
    if len(arrays) != 1 or not isinstance(arrays[0], dict):
        if model and arrays and not sum(known.values()) <= len(arrays) <= len(known):
            raise InvalidArgumentError("%s.forward takes %d inputs (%s), got %d arrays" % (
                type(model).__name__, len(known), _listed(known), len(arrays)))
        return list(known)[:len(arrays)], arrays
    given = arrays[0]
    if not set(given) <= set(known) or any(known[n] and n not in given for n in known):
        raise InvalidArgumentError("predict got the inputs %s, the model takes %s" % (
            ", ".join(map(str, given)), _listed(known)))
    names = [name for name in known if name in given]
    return names, tuple(given[name] for name in names)


def _kind_of(step: Entry, names: list[str]) -> str:
    """What an entry that predicts is called: with the optional arguments that it takes."""
    model = step.family.root.signature.model
    needed = forward_inputs(model) if model else {}
    return "_".join([NAME, *(name for name in names if not needed.get(name, True))])


def predict(step: Entry, arrays: tuple[Any, ...], batch_size: int | None) -> Any:
    """Does what Entry.predict says."""
    if batch_size is not None and (isinstance(batch_size, bool) or not isinstance(
            batch_size, int) or batch_size < 1):
        raise ValueError("batch_size is %r, expected an int of 1 or more"
                         % (batch_size,))
    names, arrays = _names_of(step, arrays)
    arrays, is_row = _as_rows(step, names, arrays)
    rows = _rows_of(arrays)
    entry = _predictor(step, names, arrays, batch_size)
    chunk = batch_size or _sizes.common_rows(entry.signature.specs)
    if not chunk:
        raise InvalidArgumentError(
            "%r takes inputs without a common number of rows: call the entry itself"
            % entry.name)
    convert = Converter(entry.signature.specs)
    parts = [entry(*[convert(name, chunk_of(array, start, chunk))
                     for name, array in zip(entry.signature.inputs, arrays)])
             for start in range(0, rows, chunk)]
    joined = _join(parts, rows, chunk)
    return _first(joined) if is_row else joined


def _as_rows(step: Entry, names: list[str],
             arrays: tuple[Any, ...]) -> tuple[tuple[Any, ...], bool]:
    """Returns the arrays with a dimension of rows in front, and whether they had none: one
    row is a batch of one. The shapes are those of an entry that predicts or of the step."""
    specs = (_known_predictor(step, names) or step.family.root).signature.specs
    found = [array_of(array, name) for name, array in zip(names, arrays)]
    found += arrays[len(found):]
    known = [specs.get(name) for name in names[:len(found)]]
    is_row = len(known) == len(found) and all(
        spec is not None and len(spec.shape) > 1
        and tuple(getattr(array, "shape", ())) == spec.shape[1:]
        for spec, array in zip(known, found))
    return tuple(array[None] for array in found) if is_row else tuple(found), bool(
        found and is_row)


def _first(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: each[0] for name, each in value.items()}
    return tuple(each[0] for each in value) if isinstance(value, tuple) else value[0]


def _rows_of(arrays: tuple[Any, ...]) -> int:
    shapes = [tuple(getattr(array, "shape", ())) for array in arrays]
    if not all(shapes) or len({shape[0] for shape in shapes}) != 1:
        raise InvalidArgumentError(
            "predict takes arrays with one common number of rows, got %s"
            % (", ".join(map(str, shapes)) or "none"))
    if shapes[0][0] == 0:
        raise InvalidArgumentError("predict got arrays with no rows, expected 1 or more")
    return int(shapes[0][0])


def _predictor(step: Entry, names: list[str], arrays: tuple[Any, ...],
               batch_size: int | None) -> Entry:
    """Returns the entry that predicts. It is compiled from the step's model if there is
    none yet."""
    known = _known_predictor(step, names)
    if known:
        return known
    with step.program.compiling():
        return _known_predictor(step, names) or _compile_predictor(
            step, names, arrays, batch_size)


def _known_predictor(step: Entry, names: list[str] | None = None) -> Entry | None:
    """Returns an entry that predicts, for these arguments of the model if given."""
    model = step.family.root.signature.model
    for entry in step.program.entries.values():  # one for other rows is behind its root
        if _predicts_for(entry.signature, model, names):
            return entry
    return None


def _compile_predictor(step: Entry, names: list[str], arrays: tuple[Any, ...],
                       batch_size: int | None) -> Entry:
    program, signature = step.program, step.family.root.signature
    if program.lowered is None and signature.model is None:
        return _of_plan(step, lambda inputs: list(inputs) == names, "")
    kind = _kind_of(step, names)
    if program.lowered is None:
        return entry_of(step, kind, _ADVICE)
    model = signature.model
    if model is None:
        raise FailedStateError(
            "%r was traced without a model: aicf.compile(function, ..., program=step, "
            "name=%r) gives the program an entry to predict with" % (step.name, NAME))
    batch = signature.resident[1] if signature.resident \
        else _sizes.common_rows(signature.specs)
    rows = batch_size or batch or DEFAULT_ROWS
    specs = {}
    for name, array in zip(names, arrays):
        own = signature.specs.get(name)
        given = spec_of(Converter({name: own})(name, array[:1]) if own else array, name)
        _check_like_the_step(own, given, name)
        specs[name] = Spec((rows, *given.shape[1:]), given.dtype)
    return compile_into(program, model, specs, name=own_name(step, kind))


def _check_like_the_step(own: Spec | None, given: Spec, name: str) -> None:
    """Checks that an input that the step has, too, has the step's element type, and the
    step's shape but for the rows."""
    if own is None or not own.shape:
        return
    if given.dtype != own.dtype:
        raise DTypeMismatchError("predict: input \"%s\" is %s, expected %s, as in the step"
                                 % (name, given.dtype, own.dtype))
    if given.shape[1:] != own.shape[1:]:
        raise ShapeMismatchError(
            "predict: input \"%s\" has rows of the shape %s, expected %s" % (
                name, given.shape[1:], own.shape[1:]))


def _predicts_for(own: Signature, model: Module | None, names: list[str] | None) -> bool:
    """Whether the entry is the model itself with these arguments, or has the model and the
    name "predict"."""
    if model is None or own.model is not model or own.is_training:
        return False
    if own.source is model:
        return names is None or list(own.inputs) == names
    return own.name == NAME and (names is None or len(own.inputs) == len(names))


def own_name(step: Entry, kind: str) -> str:
    """Returns the name for the entry that does `kind` for a step: `kind` itself if it is
    free, else "kind_step"."""
    taken = kind in step.program.entries
    return "%s_%s" % (kind, step.family.root.name) if taken else kind


def entry_of(step: Entry, kind: str, advice: str = "") -> Entry:
    """Returns the entry of a loaded program that own_name() has named. A plan does not
    say to which step the entry `kind` itself belongs. If other steps have their own, it
    belongs to the first one that has none."""
    entries = step.program.entries
    root = step.family.root.name
    own = "%s_%s" % (kind, root)
    if own in entries:
        return entries[own]
    without = [name for name, _ in map(_sizes.split_name, entries)
               if "%s_%s" % (kind, name) not in entries]
    if kind in entries and (len(without) == len(entries) or root == without[0]):
        return entries[kind]
    raise FailedStateError(
        "this program is from a plan file, and %r has no entry %r; it has %s%s"
        % (root, kind, ", ".join(entries), advice))


def chunk_of(array: Any, start: int, rows: int) -> Any:
    """Returns `rows` rows from `start` on, the last one repeated where there are fewer."""
    part = array[start:start + rows]
    missing = rows - len(part)
    if not missing:
        return part
    import numpy
    host = numpy.asarray(part)
    return numpy.concatenate([host, numpy.repeat(host[-1:], missing, axis=0)])


def _join(parts: list[Any], rows: int, chunk: int) -> Any:
    import numpy
    if isinstance(parts[0], dict):
        return {name: _join([p[name] for p in parts], rows, chunk) for name in parts[0]}
    if isinstance(parts[0], tuple):
        return tuple(_join([p[i] for p in parts], rows, chunk)
                     for i in range(len(parts[0])))
    if parts[0].shape[:1] != (chunk,):
        raise InvalidArgumentError(
            "the model returns shape %s for %d rows, but predict joins results that have "
            "a row for each row of the input" % (parts[0].shape, chunk))
    return numpy.concatenate([host_of(part) for part in parts])[:rows]
