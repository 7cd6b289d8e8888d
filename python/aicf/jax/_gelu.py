# Part of AICF, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""gelu and its gradient, found in the primitives that JAX takes them apart into.

A derivative arrives as a sum of terms, among others' of the same tensor. Each term is looked
at once, when it is made, and is noted then:

    part       a term of the gradient: which one, of which way, with x and dy
    terms      of a sum that has parts: they and all others, MOST_TERMS at most

Where all terms of a gradient are there, aicf.gelu_bwd takes their place. At ±∞, where some of
them are ∞ · 0, one may be NaN where the other is not.
"""

from __future__ import annotations

import functools
import math
import operator
from dataclasses import dataclass
from typing import Any

from .. import ops
from ._formulas import Formula, Matcher, function, variable
from ._table import Call, Found, Notes, Rules

X, DY = variable("x"), variable("dy")
#: Of jax.nn.gelu's approximation.
C, K = math.sqrt(2 / math.pi), 0.044715
_TANH = function("tanh", C * (X + K * X ** 3))
_CDF = 0.5 * (1.0 + _TANH)
_ROOT = math.sqrt(0.5)
#: The two ways of 1 + erf(root x), with what erf is of in each.
_EXACT = ((function("erfc", -_ROOT * X), -_ROOT * X),
          (1.0 + function("erf", _ROOT * X), _ROOT * X))

#: By whether it is the approximation: what gelu looks like.
FORMS: dict[bool, tuple[Formula, ...]] = {
    True: (X * _CDF,),
    False: tuple(0.5 * X * twice for twice, _ in _EXACT)}


def _bent(slope: Formula) -> Formula:
    """The gradient with respect to what tanh is of, in the two ways of JAX's releases."""
    return 0.5 * X * DY * slope


_HALF = _bent(1.0 - _TANH)
_SLOPES = (_HALF + _HALF * _TANH, _bent(1.0 - _TANH ** 2),
           _bent(function("one_minus_square", _TANH)))
#: The ways in which a gradient is a sum.
GRADIENTS: dict[bool, tuple[tuple[Formula, ...], ...]] = {
    True: tuple((DY * _CDF, C * slope, 3 * K * C * X ** 2 * slope) for slope in _SLOPES),
    False: tuple((0.5 * DY * twice, 1 / math.sqrt(2 * math.pi) * X * DY
                  * function("exp", -1.0 * of ** 2)) for twice, of in _EXACT)}


#: Of a sum, at most: those of a gradient are next to each other.
MOST_TERMS = 16


@dataclass(frozen=True)
class Part:
    """Term `number` of the sum that is a gradient in the `way` of its form."""

    way: int
    number: int
    x: Any
    dy: Any


#: All of them, with whether it is the approximation.
_WAYS = [(approximate, way) for approximate, ways in GRADIENTS.items() for way in ways]


class GeluRaiser(Rules):
    """Finds gelu and its gradient."""

    def __init__(self, notes: Notes, found: Found) -> None:
        self._matcher = Matcher(lambda value: notes.of("definition", value))
        self._bends = False  # without tanh or erf there is no gelu
        super().__init__(notes, found, {
            "tanh": self._bend, "erf": self._bend, "erfc": self._bend,
            "mul": self._product, "div": self._product, "neg": self._product,
            "add_any": self._sum})

    def _bend(self, call: Call, made: Any, x: Any) -> None:
        self._bends = True

    def _product(self, call: Call, made: Any, *operands: Any) -> Any:
        if not self._bends:
            return None
        better = self._gelu(made)
        if better is None:
            self._note_parts(made)
        return better

    def _gelu(self, made: Any) -> Any:
        for approximate, forms in FORMS.items():
            for form in forms:
                found = self._matcher.find(form, made)
                if found is not None:
                    self.found("gelu")
                    return ops.gelu(found["x"], approximate=approximate)
        return None

    def _note_parts(self, made: Any) -> None:
        """A term may belong to several ways: those of the exact form share none, those of
        the approximation share the first."""
        parts = []
        for i, (_, way) in enumerate(_WAYS):
            for number, formula in enumerate(way):
                found = self._matcher.find(formula, made)
                if found is not None:
                    parts.append(Part(i, number, found["x"], found["dy"]))
        if parts:
            self.notes.add("part", made, parts)

    def _is_of_parts(self, value: Any) -> bool:
        return any(self.notes.of(kind, value) for kind in ("part", "terms"))

    def _sum(self, call: Call, made: Any, a: Any, b: Any) -> Any:
        """a + b with gelu_bwd in the place of its terms, where all of one are there."""
        if not self._is_of_parts(a) and not self._is_of_parts(b):
            return None
        terms = [t for value in (a, b) for t in self.notes.of("terms", value) or [value]]
        if len(terms) > MOST_TERMS:
            return None
        taken = self._gradient(terms)
        if taken is not None:
            first = taken[0][1]
            rest = [t for i, t in enumerate(terms) if all(i != own for own, _ in taken)]
            self.found("gelu_bwd")
            terms = [*rest, ops.gelu_bwd(first.dy, first.x,
                                         approximate=_WAYS[first.way][0])]
            made = functools.reduce(operator.add, map(call.tensor, terms))
        self.notes.add("terms", made, terms)
        return made

    def _gradient(self, terms: list[Any]) -> list[tuple[int, Part]] | None:
        """The places of the terms of one gradient, with what they are; or None."""
        sums: dict[tuple[int, int, int], dict[int, tuple[int, Part]]] = {}
        for i, term in enumerate(terms):
            for part in self.notes.of("part", term) or ():
                own = sums.setdefault((part.way, id(part.x), id(part.dy)), {})
                own[part.number] = i, part
                if len({place for place, _ in own.values()}) == len(_WAYS[part.way][1]):
                    return list(own.values())
        return None
