# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The table of JAX's primitives: what each of them is made of here.

A row belongs to one primitive, by the name that a jaxpr shows. A primitive that contains
a jaxpr (jit, scan, custom_jvp_call) has no row: _import.py runs what is inside. No
primitive is in here: they are in the modules beside this one, by family.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._base.dtypes import NUMPY_TYPES
from .._importing.rows import Unsupported as Unsupported
from .._importing.rows import adds_to, import_all
from .._tracing.constants import constant
from .._tracing.pointwise import FLOATS, broadcast
from .._tracing.tensor import Tensor
from .._tracing.trace import as_tensor


@dataclass(frozen=True)
class Row:
    """How one primitive is said.

    Attributes:
        function: takes a Call and the operands; returns a tensor, or a list of them.
        limits: what does not hold, in words for the page; "" if all does.
        of_bits: whether it moves, compares or combines bits of integers, so that it is the
            same with and without a sign.
    """

    function: Callable[..., Any]
    limits: str
    of_bits: bool = False

    @property
    def is_elementwise(self) -> bool:
        """Whether each element of the result is of the same element of the operands."""
        return self.function.__module__.endswith("._elementwise")


TABLE: dict[str, Row] = {}
#: The modules that fill it.
_FAMILIES = "_attention", "_bits", "_boxes", "_elementwise", "_lookups", "_orders", "_products", "_shapes"


def whole_table() -> dict[str, Row]:
    """Returns the table with the rows of all modules."""
    import_all(__package__, _FAMILIES)
    return TABLE


def primitive(*names: str, limits: str = "", of_bits: bool = False
              ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Adds a row for each name."""
    return adds_to(TABLE, names, lambda function: Row(function, limits, of_bits))


def is_constant(value: Any) -> bool:
    """Whether an operand is NumPy's: what follows from constants alone."""
    return isinstance(value, np.ndarray)


def once(array: Any, dims: Sequence[int]) -> Any:
    """An array without its repetitions along these dimensions, whose sizes become 1."""
    return array[tuple(slice(0, 1) if dim in dims else slice(None)
                       for dim in range(array.ndim))]


def repeated_dims(array: Any) -> list[int]:
    """The dimensions along which an array repeats itself in memory."""
    return [dim for dim, (stride, size) in enumerate(zip(array.strides, array.shape))
            if stride == 0 or size == 1]


def uniform(value: Any) -> Any:
    """The one number that a constant consists of, as Python's, or None."""
    if not is_constant(value) or value.size == 0:
        return None
    if any(stride and size > 1 for stride, size in zip(value.strides, value.shape)):
        if value.size > 4096 or not (value == value.reshape(-1)[0]).all():
            return None
    return value.reshape(-1)[0].item()


def is_along_rows(call: Call, x: Any) -> bool:
    """Whether a reduction is over the last dimension of x, and beside it over sizes of 1."""
    axes, last = {int(a) for a in call.params["axes"]}, len(x.shape) - 1
    return last in axes and all(x.shape[a] == 1 for a in axes - {last})


class Notes:
    """How tensors of a trace were made, for rows that have a better op then. Constants have
    no notes."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, int], tuple[Any, Any]] = {}

    def add(self, kind: str, tensor: Any, note: Any) -> None:
        if not is_constant(tensor):
            self._kept[kind, id(tensor)] = tensor, note  # the tensor keeps its id()

    def of(self, kind: str, tensor: Any) -> Any:
        """The note, or None."""
        own = None if is_constant(tensor) else self._kept.get((kind, id(tensor)))
        return own[1] if own else None

    def pass_on(self, made: Any, value: Any, kinds: Sequence[str], wide: Sequence[str]) -> None:
        """Notes of a value for what it was converted to; those of `wide` are "wide KIND"."""
        for kind in (*kinds, *wide):
            if self.of(kind, value) is not None:
                self.add(kind if kind in kinds else "wide " + kind, made, self.of(kind, value))


class Found:
    """Which ops were raised.

    Attributes:
        lines: by op, file and line of each.
    """

    def __init__(self, places: Sequence[tuple[str, int]]) -> None:
        self.lines: dict[str, list[tuple[str, int]]] = {}
        self._places = places

    def __call__(self, op: str) -> None:
        """Notes one, of the equation that is looked at."""
        self.lines.setdefault(op, []).append(self._places[-1])


class Rules:
    """Looks at each equation behind its row. A rule of a primitive takes the Call, what the
    row made and the operands; it notes what that means, and returns what is better, or
    None. `found` is told what was raised."""

    def __init__(self, notes: Notes, found: Found,
                 rules: Mapping[str, Callable[..., Any]]) -> None:
        self.notes, self.found, self._rules = notes, found, rules

    def see(self, name: str, call: Call, operands: Sequence[Any], made: Any) -> Any:
        """Returns the result of an equation: `made`, or what is better."""
        rule = self._rules.get(name)
        better = rule(call, made, *operands) if rule else None
        return made if better is None else better


@dataclass
class Call:
    """One equation of a jaxpr.

    Attributes:
        params: the primitive's parameters, as JAX has them.
        shape, dtype: of the result, as JAX has it; of the first of several.
        notes: what is known of tensors.
    """

    params: Mapping[str, Any]
    shape: tuple[int, ...]
    dtype: str
    notes: Notes

    def tensor(self, value: Any) -> Tensor:
        """An operand as a traced tensor. What repeats in a constant is kept once."""
        if not is_constant(value):
            return as_tensor(value)
        made = constant(np.asarray(once(value, repeated_dims(value)), order="C"))
        return broadcast(made, value.shape)

    def operand(self, value: Any) -> Any:
        """The same, where a finite number that repeats is Python's number."""
        number = uniform(value)
        if number is None or isinstance(number, (bool, complex)) \
                or number != number or number in (np.inf, -np.inf):
            return self.tensor(value)
        return number

    def constant(self, number: Any) -> Any:
        """A constant of the result's shape that is one number everywhere."""
        return np.broadcast_to(np.asarray(number, NUMPY_TYPES[self.dtype]), self.shape)

    @property
    def is_float(self) -> bool:
        return self.dtype in FLOATS
