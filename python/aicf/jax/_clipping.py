# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Clipping by the global norm, found in the primitives that optax makes of it.

As in _raising.py, each result that is a part of it is noted with what it means:

    squared     x x                         squares      x, or two notes, whose x x are summed
    norm        sqrt(squares)               below        norm < bound
    over        x / norm                    bounded      x / norm bound
    clipped     x where below, else bounded

The norm of several tensors is aicf.global_norm. A clipped gradient is x times one factor
for all of them, 1 or bound / norm, which the ops of optimizers take as an operand
(_optimizers.py); for others it is a product.
"""

from __future__ import annotations

from typing import Any

from .. import ops
from .._tracing.pointwise import FLOATS, broadcast, where
from ._table import Call, Found, Notes, Rules, is_constant, uniform

#: Of one norm, at most.
MOST_TENSORS = 4096


def _flat(squares: Any) -> list[Any]:
    """The tensors of a note of squares, up to one more than MOST_TENSORS."""
    tensors: list[Any] = []
    waiting = [] if squares is None else [squares]
    while waiting and len(tensors) <= MOST_TENSORS:
        note = waiting.pop()
        if isinstance(note, tuple):
            waiting += reversed(note)
        else:
            tensors.append(note)
    return tensors


class ClippingRaiser(Rules):
    """Looks at each equation behind its row, and tells `found` what it raised."""

    def __init__(self, notes: Notes, found: Found) -> None:
        self._factors: dict[Any, Any] = {}
        super().__init__(notes, found, {
            "mul": self._mul, "square": self._square, "integer_pow": self._square,
            "add": self._add, "reduce_sum": self._reduce_sum, "sqrt": self._sqrt,
            "lt": self._lt, "div": self._div, "select_n": self._select_n})

    # Rules

    def _mul(self, call: Call, made: Any, a: Any, b: Any) -> None:
        if a is b:
            self.notes.add("squared", made, a)
        for x, bound in ((a, uniform(b)), (b, uniform(a))):
            over = self.notes.of("over", x)
            if over is not None and bound is not None:
                self.notes.add("bounded", made, (*over, bound))

    def _square(self, call: Call, made: Any, x: Any) -> None:
        if call.params.get("y", 2) == 2:
            self.notes.add("squared", made, x)

    def _add(self, call: Call, made: Any, a: Any, b: Any) -> None:
        for x, y in ((a, b), (b, a)):
            if uniform(y) == 0 and tuple(made.shape) == tuple(x.shape):
                for kind in ("squared", "squares"):
                    if self.notes.of(kind, x) is not None:
                        self.notes.add(kind, made, self.notes.of(kind, x))
        first, second = self.notes.of("squares", a), self.notes.of("squares", b)
        if first is not None and second is not None and a is not b:
            self.notes.add("squares", made, (first, second))

    def _reduce_sum(self, call: Call, made: Any, value: Any) -> None:
        x = self.notes.of("squared", value)
        if x is not None and not call.shape and x.dtype in FLOATS:
            self.notes.add("squares", made, x)

    def _sqrt(self, call: Call, made: Any, x: Any) -> Any:
        tensors = _flat(self.notes.of("squares", x))
        if call.shape or not 2 <= len(tensors) <= MOST_TENSORS \
                or any(t.dtype != call.dtype for t in tensors):
            return None
        norm = ops.global_norm(tensors)
        norm = ops.sqrt(norm * norm)  # the same, but infinite where JAX's is
        self.found("global_norm")
        self.notes.add("norm", norm, True)
        return norm

    def _lt(self, call: Call, made: Any, a: Any, b: Any) -> None:
        if not call.shape and self.notes.of("norm", a) is not None \
                and uniform(b) is not None:
            self.notes.add("below", made, (a, uniform(b)))

    def _div(self, call: Call, made: Any, a: Any, b: Any) -> None:
        # A norm may have been repeated in a's shape: then it has no note.
        if self.notes.of("norm", b) is not None and not is_constant(a) \
                and tuple(made.shape) == tuple(a.shape):
            self.notes.add("over", made, (a, b))

    def _select_n(self, call: Call, made: Any, which: Any, *cases: Any) -> Any:
        below = self.notes.of("below", which)
        if below is None or len(cases) != 2:
            return None
        bounded, x = self.notes.of("bounded", cases[0]), cases[1]
        if bounded is None or bounded[0] is not x or bounded[1] is not below[0] \
                or bounded[2] != below[1] or x.dtype != below[0].dtype:
            return None
        factor = self._factor(which, *below)
        clipped = x * broadcast(factor, x.shape)
        self.notes.add("clipped", clipped, (x, factor))
        return clipped

    def _factor(self, is_below: Any, norm: Any, bound: float) -> Any:
        key = id(norm), bound
        if key not in self._factors:
            self._factors[key] = where(is_below, 1.0, bound / norm)
        return self._factors[key]
